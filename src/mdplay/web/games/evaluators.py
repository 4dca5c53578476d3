"""Evaluators of games: each is made once, in its own thread, and cached while there is room.

Making one may compile kernels and fill a table.  It continues while a request waits for it, and ends
``LEAVE_SECONDS`` after the last one has left.  At most ``MAX_MAKING`` are made at a time; further requests are
refused (503).  ``MAX_CACHED`` evaluators are cached, fewer if this process uses more than ``MAX_CACHED_BYTES``.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from mdplay import Evaluator, Game, LimitError
from mdplay.playing.evaluators import SOLVE_SECONDS, SearchEvaluator, evaluator_for
from mdplay.runtime.threads import Show
from mdplay.states.enumeration import Enumeration
from mdplay.web.games.catalogue import Entry
from mdplay.web.games.requests import Ask
from mdplay.web.safety import busy
from mdplay.web.work.jobs import Cancelled
from mdplay.web.work.workshop import LEAVE_SECONDS, POLL_SECONDS, CompileService

MAX_CACHED = 24  # evaluators; each has a table or the memory of a prover
MAX_CACHED_BYTES = 2 << 30  # memory of this process, above which the least recently used evaluator is dropped
MAX_MAKING = 3  # with the tasks of the workshop fewer than the places for requests: one is free for quick ones
MAX_RANDOM_STATES = 2_000_000  # states of a game whose values against a random opponent are computed
RANDOM_BYTES = 512 << 20  # memory for the list of these states
NOTICE_SECONDS = 0.12  # until a notice says that an evaluator is being made
Key = tuple[str, str, str]  # the game's id, its parameters, the opponent
POINT = re.compile(
    r"\s*(?P<episodes>[\d,]+).*?(?:mean|first player)\s+(?P<mean>[-+]?[\d,.]*\d)"
)  # a point of a learning curve as `Point.line` prints it


class Making:
    """An evaluator that is being made, or was: the requests that wait for it, and when the last one left."""

    def __init__(self) -> None:
        self.future: Future[Evaluator] = Future()
        self.listeners, self.left = 0, time.monotonic()

    @property
    def failed(self) -> bool:
        """Whether making the evaluator has failed."""
        return self.future.done() and self.future.exception() is not None


class Evaluators:
    """The evaluators of games, each made once for all requests."""

    def __init__(self, workshop: CompileService | None = None) -> None:
        self.workshop = workshop or CompileService()
        self._lock = threading.Lock()
        self._made: OrderedDict[Key, Making] = OrderedDict()
        self._busy: dict[Key, str] = {}  # what is being made, as text for the status page
        self.curves: dict[str, list[list[float]]] = {}  # of what is being trained, by the game's id

    @property
    def busy(self) -> list[str]:
        """What is being prepared, as text."""
        return list(dict.fromkeys([*list(self._busy.values()), *self.workshop.busy]))

    def evaluator(
        self,
        entry: Entry,
        params: str = "",
        opponent: str = "perfect",
        *,
        check: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
        meanwhile: Callable[[Future[Evaluator]], bool] | None = None,
    ) -> Evaluator:
        """Return the evaluator of a game; wait for it if it is being made.

        ``check`` is called meanwhile and may raise, and so is ``meanwhile`` until it returns True.  Raise Refused
        (503) if too many are being made, and what the making raises.
        """
        making = self._joined(entry, params, opponent)
        try:
            return self._awaited(making.future, entry, check, notice, meanwhile)
        finally:
            with self._lock:
                making.listeners -= 1
                making.left = time.monotonic()

    def _awaited(
        self,
        future: Future[Evaluator],
        entry: Entry,
        check: Callable[[], None],
        notice: Callable[[str], None],
        meanwhile: Callable[[Future[Evaluator]], bool] | None,
    ) -> Evaluator:
        try:
            return future.result(timeout=NOTICE_SECONDS)
        except TimeoutError:
            if future.done():
                raise
        notice(f"Preparing {entry.about.title} …")
        while not future.done():
            if meanwhile is not None and meanwhile(future):
                meanwhile = None
            check()
            time.sleep(POLL_SECONDS)
        found = future.result()
        notice("")
        return found

    def _joined(self, entry: Entry, params: str, opponent: str) -> Making:
        """Return the making of an evaluator, which a thread begins if it is not under way."""
        key = entry.id, params, opponent
        with self._lock:
            making = self._made.get(key)
            if making is not None and not making.failed:
                self._made.move_to_end(key)
                making.listeners += 1
                return making
            under_way = sum(not one.future.done() for one in self._made.values())
            if under_way >= (MAX_MAKING - 1 if params else MAX_MAKING):  # one is left for games as they come
                raise busy(under_way)
            making = self._made[key] = Making()
            self._made.move_to_end(key)
            making.listeners = 1
            self._forget()
        threading.Thread(target=self._fill, args=(entry, key, making), daemon=True).start()
        return making

    def _forget(self) -> None:
        """Drop the least recently used evaluator if there are too many or they use too much memory.

        Games with other parameters are dropped first, so that they do not displace the tables of the games.
        """
        done = [key for key, one in self._made.items() if one.future.done()]
        if done and (len(self._made) > MAX_CACHED or resident_bytes() > MAX_CACHED_BYTES):
            del self._made[next((key for key in done if key[1]), done[0])]

    def _fill(self, entry: Entry, key: Key, making: Making) -> None:
        self._busy[key] = f"preparing {entry.about.title}"
        _, params, opponent = key
        task = {"kind": "evaluate", "game": entry.told(params), "opponent": opponent}

        def check(*_: Any) -> None:
            self._leave(key, making)

        try:
            game = entry.make(params)
            made = self.workshop.done(
                entry.about.title, task, lambda: self._make(entry, game, key, check), check=check
            )
            making.future.set_result(made)
            if hasattr(made, "improve"):
                self._improve(entry, params, key)
        except BaseException as error:  # the requests that listen raise it
            making.future.set_exception(_without_frames(error))
        finally:
            self._busy.pop(key, None)

    def _leave(self, key: Key, making: Making) -> None:
        """Raise Cancelled, and let the next request begin anew, if no request listens any more."""
        with self._lock:
            if making.listeners or time.monotonic() - making.left < LEAVE_SECONDS:
                return
            if self._made.get(key) is making:
                del self._made[key]
        raise Cancelled

    def _make(self, entry: Entry, game: Game[Any], key: Key, show: Show) -> Evaluator:
        """Return the evaluator of a game: tree search if it has no solver."""
        _, params, opponent = key
        if entry.solver == "search" and not params and opponent == "perfect":
            return SearchEvaluator(game)
        return make_evaluator(game, opponent, show=show)

    def _improve(self, entry: Entry, params: str, key: Key) -> None:
        """Train the network that the evaluator lacks in a child process; then the evaluator is made again."""
        curve: list[list[float]] = []

        def add_points(line: str) -> None:
            curve.extend(points_of(line))

        def trained(_: Any) -> None:
            self.curves.pop(entry.id, None)
            with self._lock:
                self._made.pop(key, None)

        task = {"kind": "improve", "game": entry.told(params)}
        training = self.workshop.train(f"a network for {entry.about.title}", task, add_points)
        if training is not None:
            self.curves[entry.id] = curve
            training.add_done_callback(trained)

    def done(self, asked: Ask, work: Callable[[], Any], task: dict[str, Any], job: Any) -> None:
        """Do a job's work, which may need kernels."""
        title = asked.entry.about.title
        task = {**task, "game": asked.entry.told(asked.params)}
        self.workshop.done(
            title, task, work, check=job.check, notice=lambda text: job.emit("notice", {"text": text})
        )


def make_evaluator(
    game: Game[Any], opponent: str, *, seconds: float = SOLVE_SECONDS, show: Show | None = None
) -> Evaluator:
    """Return the evaluator of a game; raise LimitError if the table against a random opponent is too large."""
    if opponent != "perfect":
        refuse_many_states(game, show)
    return evaluator_for(game, opponent=opponent, seconds=seconds, show=show)


def refuse_many_states(game: Game[Any], show: Show | None = None) -> None:
    """Raise LimitError unless a game has at most ``MAX_RANDOM_STATES`` states."""
    if not has_at_most(game, MAX_RANDOM_STATES, show):
        needed = "values against a random opponent need a table of all states"
        raise LimitError(f"{needed}, and this game has more than {MAX_RANDOM_STATES:,}")


def has_at_most(game: Game[Any], states: int, show: Show | None = None) -> bool:
    """Return whether a game has at most ``states`` states; they are counted unless the game numbers them."""
    if game.has_size:
        return game.size() <= states
    try:
        Enumeration(game, memory=RANDOM_BYTES, max_states=states).finish(show)
    except LimitError:
        return False
    return True


def resident_bytes() -> int:
    """Return the memory that this process holds; 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _without_frames(error: BaseException) -> BaseException:
    """Return an exception without its frames, which would keep the arrays of the work that failed."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def points_of(line: str) -> list[list[float]]:
    """Return the point of a line such as ``1,000  mean  2,345.6  max ...``; none if it is another line."""
    found = POINT.match(line)
    return [[float(found[name].replace(",", "")) for name in ("episodes", "mean")]] if found else []
