"""Many numbered games of the same agents: played in threads or by an executor, saved as they end, resumed.

Games 2k and 2k + 1 have opening k, the second with sides exchanged.  If the side of the first agent is fixed,
every game has an opening of its own.  A game depends on the schedule and its number alone.

Numbered games played in threads, so that neither their number nor their luck changes anything.

Numbers are handed out in order.  When a game fails, no further one is begun, those under way are finished, and
the failure with the smallest number is raised: it is the same whatever the number of threads.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar

from mdplay.checking.contract_checks import spot_check
from mdplay.errors import MdplayError, check_integer
from mdplay.game import Between, Game
from mdplay.naming.registry import name_of
from mdplay.playing.agents import NamedAgent, leave
from mdplay.playing.matches.games import Opening, make_openings, openings_label, play_game
from mdplay.playing.matches.results import Results
from mdplay.playing.records import Record
from mdplay.playing.time_limits import entered
from mdplay.runtime.run import Run
from mdplay.runtime.signals import KERNEL_SECONDS

if TYPE_CHECKING:
    from mdplay.naming.transfer import GameSpec

T = TypeVar("T")
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class _Done(Generic[T]):
    number: int
    value: T | None = None
    error: BaseException | None = None


class _Feed:
    """Numbers handed out in order, to any thread, until it is closed."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers, self._lock, self._closed = iter(numbers), threading.Lock(), False

    def close(self) -> None:
        self._closed = True

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            if self._closed:
                raise StopIteration
            return next(self._numbers)


def run_numbered(
    numbers: Iterable[int],
    task: Callable[[int, Callable[[], bool]], T],
    done: Callable[[int, T], None],
    *,
    threads: int = 1,
) -> None:
    """Call ``task(number, stopped)`` for each number and ``done(number, value)`` with what it returns.

    ``done`` is called in this thread, as games end.  Ctrl-C makes ``stopped()`` true and waits for the tasks, but
    not for long: an agent that is still thinking is abandoned.
    """
    if threads == 1:
        for number in numbers:
            done(number, task(number, lambda: False))
        return
    _run_threads(_Feed(numbers), task, done, threads)


def _run_threads(
    feed: _Feed, task: Callable[[int, Callable[[], bool]], T], done: Callable[[int, T], None], threads: int
) -> None:
    stop, box = threading.Event(), SimpleQueue[_Done[T] | None]()
    workers: list[threading.Thread] = []
    try:
        for _ in range(threads):
            worker = threading.Thread(target=_work, args=(feed, task, stop, box), daemon=True)
            worker.start()
            workers.append(worker)
        failed = _collect(box, done, threads)
    finally:
        feed.close()
        stop.set()
        until = time.monotonic() + KERNEL_SECONDS
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
    if failed:
        raise min(failed, key=lambda one: one.number).error  # type: ignore[misc]


def _work(
    feed: _Feed,
    task: Callable[[int, Callable[[], bool]], T],
    stop: threading.Event,
    box: SimpleQueue[_Done[T] | None],
) -> None:
    for number in feed:
        try:
            box.put(_Done(number, value=task(number, stop.is_set)))
        except BaseException as error:
            feed.close()
            box.put(_Done(number, error=error))
    box.put(None)


def _collect(box: SimpleQueue[_Done[T] | None], done: Callable[[int, T], None], threads: int) -> list[_Done[T]]:
    """Pass on what the workers finish until all have left; return the failures."""
    failed, working = [], threads
    while working:
        try:
            one = box.get(timeout=POLL_SECONDS)  # a wait without end would not hear Ctrl-C everywhere
        except Empty:
            continue
        if one is None:
            working -= 1
        elif one.error is not None:
            failed.append(one)
        else:
            done(one.number, one.value)  # type: ignore[arg-type]
    return failed


OPENINGS = "random:2"


@dataclass(frozen=True)
class MatchOptions:
    """The options of a match; those of a tournament are the same but ``side``.

    Games without ``max_moves`` are truncated as the game says, or when positions repeat.  ``side`` is the player
    that the first agent is in every game; None: sides alternate.
    """

    games: Annotated[int, Between(1, 1 << 62), "Number of games."] = 100
    openings: Annotated[str, "none, random:N (N random moves), or a file with one position per line."] = OPENINGS
    seed: Annotated[int, "Seed of the random numbers."] = 0
    max_moves: Annotated[
        int | None,
        Between(1, 1 << 62),
        "Truncate games after this number of moves.  [default: max_moves of the game, else automatic]",
    ] = None
    move_seconds: Annotated[
        float | None, "Time limit per move; an agent that exceeds it or fails loses the game."
    ] = None
    side: Annotated[int | None, "Player of the first agent in every game."] = None

    def __post_init__(self) -> None:
        check_integer("games", self.games)


@dataclass(frozen=True)
class Schedule:
    """Which games are to be played."""

    game: Game[Any]
    named_agents: tuple[NamedAgent, ...]
    options: MatchOptions

    @property
    def key(self) -> str:
        """The text under which the games are filed; it leaves out how many they are."""
        name, given = name_of(self.game)
        agents = [one.name for one in self.named_agents]
        parts = [name, given, agents, openings_label(self.options.openings), self.options.seed]
        if self.options.move_seconds is not None:
            parts += [self.options.max_moves, self.options.move_seconds]
        elif self.options.max_moves is not None:
            parts += [self.options.max_moves]
        if self.options.side is not None:
            parts += [{"side": self.options.side}]
        return json.dumps(parts, sort_keys=True)

    def play(self, run: Run, results: Results | None = None) -> tuple[Record, ...]:
        """Play the games that the results do not have yet, and return all of them in order.

        ``run.threads`` games are played in parallel, in threads of this process or by workers of an executor.
        ``results`` are opened from ``run.file`` unless they are given.
        """
        spot_check(self.game)
        for one in self.named_agents:
            leave(one.fresh())  # an agent that cannot be made raises before the first game
        with ExitStack() as stack:
            store = stack.enter_context(Results(run.file)) if run.file is not None else results
            found = self._found(store) if store else {}

            def done(number: int, record: Record) -> None:
                found[number] = record
                if store:
                    store.add(self.key, record)
                if run.progress:
                    run.progress(len(found))

            missing = [number for number in range(self.options.games) if number not in found]
            openings = self.make_openings()
            try:
                if run.executor is None:
                    run_numbered(missing, partial(self.play_one, openings), done, threads=run.threads or 1)
                elif missing:
                    from mdplay.runtime.executors import using

                    with using(run.executor, run.threads) as chosen:
                        order = self._order()
                        chosen.run(play_ordered, missing, order, done=partial(self._received, openings, done))
            except (MdplayError, KeyboardInterrupt) as error:
                error.__dict__["records"] = tuple(
                    found[number] for number in sorted(found)
                )  # for the caller to save
                raise
        return tuple(found[number] for number in range(self.options.games))

    def make_openings(self) -> list[Opening]:
        """Return the opening of every game."""
        count = self.options.games if self.options.side is not None else (self.options.games + 1) // 2
        found = make_openings(self.game, self.options.openings, count, self.options.seed)
        return (
            found
            if self.options.side is not None
            else [found[number // 2] for number in range(self.options.games)]
        )

    def _order(self) -> Order:
        """Return what another process needs to play the games."""
        names = tuple(one.sent for one in self.named_agents)
        openings = (
            str(Path(self.options.openings).resolve())
            if Path(self.options.openings).is_file()
            else self.options.openings
        )
        from mdplay.naming.transfer import recipe_of

        return Order(recipe_of(self.game), names, replace(self.options, openings=openings))

    def _received(
        self, openings: list[Opening], done: Callable[[int, Record], None], number: int, played: Played
    ) -> None:
        """Pass on a game that another process played."""
        opening, names = openings[number], [one.name for one in self._sides(number)]
        given = (self.options.seed, number, opening.start, len(opening.events))
        done(number, Record(self.game, tuple(names), played.events, played.result, *given, *played.end))

    def _sides(self, number: int) -> tuple[NamedAgent, ...]:
        return self.named_agents[::-1] if first_player(number, self.options.side) else self.named_agents

    def _found(self, store: Results) -> dict[int, Record]:
        """Return the games that the results have, if the rules and the agents are still those that played them."""
        from mdplay.compiling.identity import game_identity

        parts = {"the rules have": game_identity(self.game)}
        store.claim(self.key, parts | {f"agent {one.name} has": one.identity for one in self.named_agents})
        return store.records(self.key, self.game, self.options.games)

    def play_one(self, openings: list[Opening], number: int, stopped: Callable[[], bool]) -> Record:
        """Play a game of the schedule from its opening."""
        return play_game(
            self.game,
            self._sides(number),
            seed=self.options.seed,
            number=number,
            opening=openings[number],
            max_moves=self.options.max_moves,
            stopped=stopped,
        )


def first_player(number: int, side: int | None) -> int:
    """Return which player the first agent is in a game: always ``side``, or 0 and 1 in turn."""
    return number % 2 if side is None else side


# ---------------------------------------------------------------- in another process
class Order(NamedTuple):
    """A schedule as plain data."""

    recipe: GameSpec
    agents: tuple[str, ...]
    options: MatchOptions


class Played(NamedTuple):
    """What a game adds to its schedule."""

    events: tuple[int, ...]
    result: float | None
    end: tuple[bool, int | None, str]  # by_limit, forfeit and reason of a record


def play_ordered(number: int, order: Order) -> Played:
    """Play a game of a schedule, and return what another process needs to know of it."""
    schedule, openings = _ordered(order)
    record = schedule.play_one(openings, number, lambda: False)
    return Played(record.events, record.result, (record.by_limit, record.forfeit, record.reason))


@lru_cache(maxsize=2)
def _ordered(order: Order) -> tuple[Schedule, list[Opening]]:
    from mdplay.naming.transfer import rebuild

    game = rebuild(order.recipe)
    agents = tuple(entered(game, text, order.options.move_seconds) for text in order.agents)
    schedule = Schedule(game, agents, order.options)
    return schedule, schedule.make_openings()
