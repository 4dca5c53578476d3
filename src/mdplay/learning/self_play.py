"""Learning by self-play, whatever the network: a training that is run, judged, stopped, killed and gone on with.

`Training` is what has been learned so far, `SelfPlayLearner` the options of a run and its course:

    begin or resume  ->  episodes, a block at a time  ->  a point of the curve  ->  ...  ->  the last checkpoint

Each network says how it learns episodes (``task``) and what it keeps of them (``add``); all else is here.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from mdplay.errors import LimitError
from mdplay.game import Between, Game
from mdplay.learning.checkpoints import Budget, Checkpoints, begin_or_resume
from mdplay.learning.curves import NO_JUDGE, Found
from mdplay.learning.learned import Actor, LearningRun
from mdplay.runtime.threads import MAX_THREADS, Show, TaskGroup, WorkSlice, num_threads

Learn = Callable[[int, int], None]  # so many episodes of a run that has so many in all
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
        """Return room for what comes of so many episodes; -1 moves: not played."""

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


T = TypeVar("T", bound=Training[Any])


@dataclass(frozen=True)
class SelfPlayLearner(ABC, Generic[T]):
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
    def begin(self, game: Game[Any], given: Mapping[str, Any]) -> T:
        """Return a new training with the settings given, the others as they suit the game."""

    @abstractmethod
    def resumed(self, game: Game[Any], given: Mapping[str, Any], path: str | Path) -> T:
        """Read a checkpoint to go on with; the settings given must be its own."""

    def learn(self, game: Game[Any], run: LearningRun) -> T:
        """Begin a training, or go on with that of the file, until the run is over."""
        budget, given = self.budget(run.episodes), self.settings(game, run)
        begin, go_on = partial(self.begin, game, given), partial(self.resumed, game, given)
        training = begin_or_resume(run.file, self.resume, begin, go_on)
        self.go_on(training, budget, run)
        if self.compact is not None:
            training.save_compact(self.compact)
        return training

    def budget(self, episodes: Any) -> Budget:
        """Return how long a run of so many episodes is, or of the minutes that are given instead."""
        if episodes is not None and (not isinstance(episodes, int) or episodes < 1):
            raise LimitError("a network is learned in one go; give one number of episodes, at least 1")
        if episodes is not None and self.minutes is not None:
            raise LimitError("give a number of episodes or of minutes, not both")
        if self.minutes is not None and not self.minutes > 0:
            raise LimitError(f"minutes={self.minutes} is no time to learn in; give a number above 0")
        seconds = None if self.minutes is None else 60.0 * self.minutes
        return Budget(episodes or self.EPISODES, seconds, every=self.POINT_EPISODES)

    def go_on(self, training: T, budget: Budget, run: LearningRun) -> None:
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

    def judged(self, training: T) -> Found:
        """Return what judges find at a point of the curve; here there are none."""
        return NO_JUDGE

    @contextmanager
    def learning(self, training: T, show: Show | None) -> Iterator[tuple[Learn, int | None]]:
        """Give what learns so many episodes, and how many at once if that is fixed."""
        training.prepare()
        most = self.POINT_EPISODES if self.minutes is None else None  # else the clock is asked more often
        yield lambda episodes, planned: training.run(episodes, num_threads(self.threads), planned, show), most
