"""Learning by self-play with any network: the training loop, its limits and its checkpoints.

`Training` is the state of a run, `SelfPlayLearner` holds its options and the training loop:

    begin or resume  ->  episodes, a block at a time  ->  a point of the curve  ->  ...  ->  the last checkpoint

Each network defines how it learns episodes (``task``) and which results it stores (``add``).  `Budget` is the
length of a run and the positions of the points of its curve.  Checkpoints are written atomically, at intervals,
at the end and on interruption; saving takes at most a twentieth of the time.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar

from mdplay.errors import FormatError, LimitError
from mdplay.game import Between, Game
from mdplay.learning.curves import NO_JUDGE, Found
from mdplay.learning.learned import Actor, LearningRun
from mdplay.runtime.signals import StillRunning, defer_exit
from mdplay.runtime.threads import MAX_THREADS, Show, TaskGroup, WorkSlice, num_threads

FIRST_BLOCK, BLOCK_SECONDS = 64, 0.5  # episodes of the first run of a kernel; how long a run should take
POINTS = 10  # of the curve of a run
NO_END = 1 << 40  # episodes of a run that ends by time
SAVE_SHARE = 20  # saving takes at most 1 / SAVE_SHARE of the time


class Saved(Protocol):
    """What can be kept."""

    def save(self, path: str | Path) -> None:
        """Write everything to a file, atomically."""


T = TypeVar("T", bound=Saved)


class Checkpoints:
    """When a training is written to its file; without a path nothing is written."""

    def __init__(self, training: Saved, path: str | Path | None, seconds: float) -> None:
        self._training, self._path, self._seconds = training, path, seconds
        self._wait, self._saved = seconds, time.monotonic()

    def save_if_due(self) -> None:
        """Write a checkpoint if the last one is old enough, and saving is not too slow for that."""
        if self._path is None or time.monotonic() - self._saved < self._wait:
            return
        began = time.monotonic()
        self._training.save(self._path)
        self._saved = time.monotonic()
        self._wait = max(self._seconds, SAVE_SHARE * (self._saved - began)) if self._seconds else 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write the checkpoint before a run and, however it ends, after it.

        A path that cannot be written is better known at once.  Where a kernel still writes into the weights the
        last checkpoint stays.
        """
        if self._path is not None:
            self._training.save(self._path)
            self._saved = time.monotonic()
        try:
            yield
        except StillRunning:
            self._path = None
            raise
        finally:
            if self._path is not None:
                with defer_exit():
                    self._training.save(self._path)


def begin_or_resume(
    file: str | Path | None, again: bool, begin: Callable[[], T], resume: Callable[[str | Path], T]
) -> T:
    """Return a new training, or that of the file to go on with; never one that would overwrite another."""
    if again and file is None:
        raise FormatError("resume needs a file to go on from")
    if file is not None and Path(file).exists():
        if again:
            return resume(file)
        raise FormatError(f"{file} is already there; resume it, or name another file")
    return begin()


def check_settings(path: str | Path, settings: object, wanted: Mapping[str, Any]) -> None:
    """Raise FormatError where a training to go on with has not the settings that are asked for."""
    for name, value in wanted.items():
        if (has := getattr(settings, name)) != value:
            raise FormatError(f"{path} was learned with {name} {has}, not {value}; leave it out or start anew")


class Timed(Protocol):
    """A training, as far as a budget asks."""

    episodes: int
    seconds: float


@dataclass
class Budget:
    """The length of a run: a number of episodes, or seconds of learning."""

    episodes: int | None
    seconds: float | None = None
    began: float = 0.0  # the seconds that the training had before
    every: int | None = None  # episodes from point to point of the curve; else the run has POINTS

    def share(self, training: Timed) -> float:
        """Return which part of the run is done."""
        if self.seconds is None:
            return training.episodes / (self.episodes or 1)
        return (training.seconds - self.began) / self.seconds

    def next_point(self, training: Timed) -> int:
        """Return the number of the point of the curve that comes next, from 1; beyond the last one at the end."""
        if self.every is not None:
            return training.episodes // self.every + 1
        if self.seconds is None:
            return training.episodes * POINTS // (self.episodes or 1) + 1
        return int(self.share(training) * POINTS) + 1

    def planned(self, training: Timed) -> int:
        """Return how many episodes the run will have in all, as far as that can be told."""
        if self.seconds is None:
            return self.episodes or 1
        share = self.share(training)
        return int(training.episodes / share) + 1 if share > 0 else NO_END

    def block(self, training: Timed, point: int, most: int | None = None) -> int:
        """Return how many episodes to learn before the clock is asked again, at most up to the next point.

        At most ``most``, up to the next point; without it, as many as take about BLOCK_SECONDS.
        """
        speed = training.episodes / training.seconds if training.seconds else 0.0
        count = most or max(FIRST_BLOCK, int(speed * BLOCK_SECONDS))
        return max(1, min(count, self._until(training, point, speed)))

    def _until(self, training: Timed, point: int, speed: float) -> int:
        """Return how many episodes there are up to a point or the end, whichever is first."""
        points = POINTS if self.every is None else point  # with points of their own the end is no point
        left = -(-(self.episodes or 1) * point // points) - training.episodes
        if self.seconds is not None:
            left = int((self.seconds * point / points + self.began - training.seconds) * speed) or 1
        return left if self.every is None else min(left, point * self.every - training.episodes)


Learn = Callable[[int, int], None]  # arguments: the episodes to learn now, and those of the whole run
Played = TypeVar(
    "Played", bound=tuple[Any, ...]
)  # what came of episodes: a NamedTuple of arrays, moves among them


class Training(ABC, Generic[Played]):
    """What has been learned so far, and how long it took."""

    episodes: int
    seconds: float

    @property
    @abstractmethod
    def num_moves(self) -> int:
        """The moves of all episodes."""

    @property
    def moves_per_second(self) -> float:
        """The mean speed, all threads together."""
        return self.num_moves / self.seconds if self.seconds else 0.0

    @abstractmethod
    def room(self, episodes: int) -> Played:
        """Return arrays for the results of ``count`` episodes; -1 moves: not played."""

    @abstractmethod
    def task(self, worker: WorkSlice, planned: int, out: Played) -> Callable[[], None]:
        """Return the work of one thread: a kernel with all its arguments."""

    def check(self, played: Played) -> None:
        """Raise GameError for an episode that could not be learned."""

    @abstractmethod
    def add(self, played: Played) -> None:
        """Count episodes that were learned."""

    @abstractmethod
    def add_point(self, found: Found = NO_JUDGE) -> Any:
        """End a stretch of episodes with a point of the curve and what judges found there; return the point."""

    @abstractmethod
    def agent(self) -> Actor:
        """Return an agent that plays by the trained network."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the checkpoint, which is also the network's file."""

    @abstractmethod
    def save_compact(self, path: str | Path) -> None:
        """Write the network alone, rounded, in a fraction of the room."""

    def run(self, episodes: int, threads: int, planned: int, show: Show | None = None) -> None:
        """Learn some more episodes of a run that has ``planned`` in all.  Ctrl-C ends it after those at work."""
        out, before = self.room(episodes), self.num_moves
        watch = TaskGroup(threads, None if show is None else lambda more: show(before + more))
        began = time.perf_counter()
        try:
            watch.run([self.task(watch.worker(i, threads), planned, out) for i in range(threads)])
        finally:
            self.seconds += time.perf_counter() - began
            self.check(out)
            self.add(done(out))

    def prepare(self) -> None:
        """Compile what there is to compile, so that the clock measures learning."""
        watch = TaskGroup()
        watch.run([self.task(watch.worker(), 1, self.room(0))])


def done(out: Any) -> Any:
    """Return what came of those episodes that were played."""
    played = out.moves >= 0
    return type(out)(*(column[played] for column in out))


L = TypeVar("L", bound=Training[Any])


@dataclass(frozen=True)
class SelfPlayLearner(ABC, Generic[L]):
    """The options that every way to learn by self-play has, and the course of a run."""

    EPISODES: ClassVar[int]  # unless given
    POINT_EPISODES: ClassVar[int | None] = None  # from point to point of the curve; None: a tenth of the run

    minutes: Annotated[float | None, Between(0, 1e7), "How long to learn, instead of a number of episodes."] = None
    threads: Annotated[int, Between(1, MAX_THREADS), "Only 1 repeats exactly."] = 1
    resume: Annotated[bool, "Go on from the file; start anew if there is none yet."] = False
    save_every: Annotated[float, Between(0, 1e9), "Seconds between checkpoints."] = 60.0
    compact: Annotated[str | None, "Write the network alone there, rounded, in a fraction of the room."] = None

    @abstractmethod
    def settings(self, game: Game[Any], run: LearningRun) -> dict[str, Any]:
        """Return the settings of a training that are given."""

    @abstractmethod
    def begin(self, game: Game[Any], given: Mapping[str, Any]) -> L:
        """Return a new training with the settings given, the others as they suit the game."""

    @abstractmethod
    def resumed(self, game: Game[Any], given: Mapping[str, Any], path: str | Path) -> L:
        """Read a checkpoint to go on with; the settings given must be its own."""

    def learn(self, game: Game[Any], run: LearningRun) -> L:
        """Begin a training, or go on with that of the file, until the run is over."""
        budget, given = self.budget(run.episodes), self.settings(game, run)
        begin, go_on = partial(self.begin, game, given), partial(self.resumed, game, given)
        training = begin_or_resume(run.file, self.resume, begin, go_on)
        self.go_on(training, budget, run)
        if self.compact is not None:
            training.save_compact(self.compact)
        return training

    def budget(self, episodes: Any) -> Budget:
        """Return the length of a run: ``episodes``, or the minutes that are given instead."""
        if episodes is not None and (not isinstance(episodes, int) or episodes < 1):
            raise LimitError("a network is learned in one go; give one number of episodes, at least 1")
        if episodes is not None and self.minutes is not None:
            raise LimitError("give a number of episodes or of minutes, not both")
        if self.minutes is not None and not self.minutes > 0:
            raise LimitError(f"minutes={self.minutes} is no time to learn in; give a number above 0")
        seconds = None if self.minutes is None else 60.0 * self.minutes
        return Budget(episodes or self.EPISODES, seconds, every=self.POINT_EPISODES)

    def go_on(self, training: L, budget: Budget, run: LearningRun) -> None:
        """Go on with a training until its budget is spent."""
        budget.began = training.seconds
        checkpoints = Checkpoints(training, run.file, self.save_every)
        with checkpoints.running(), self.learning(training, run.show) as (learn, most):
            while budget.share(training) < 1.0:
                point = budget.next_point(training)
                learn(budget.block(training, point, most), budget.planned(training))
                if budget.next_point(training) > point or budget.share(training) >= 1.0:
                    found = training.add_point(self.judged(training))
                    if run.report is not None:
                        run.report(found.line())
                if budget.share(training) < 1.0:
                    checkpoints.save_if_due()

    def judged(self, training: L) -> Found:
        """Return what judges find at a point of the curve; here there are none."""
        return NO_JUDGE

    @contextmanager
    def learning(self, training: L, show: Show | None) -> Iterator[tuple[Learn, int | None]]:
        """Yield the function that learns episodes, and the number per call if it is fixed."""
        training.prepare()
        most = self.POINT_EPISODES if self.minutes is None else None  # else the clock is asked more often
        yield lambda episodes, planned: training.run(episodes, num_threads(self.threads), planned, show), most
