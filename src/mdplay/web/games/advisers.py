"""Advisers of games: made once, beside the event loop, and kept while they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from mdplay.game import Game
from mdplay.playing.advising import Adviser, SearchAdviser, adviser_for
from mdplay.web.games.asking import Ask
from mdplay.web.games.catalogue import Entry
from mdplay.web.numbers import points_of
from mdplay.web.work.workshop import Workshop

KEPT = 8  # advisers: a table or a prover's memory each
Key = tuple[str, str, str]  # the game's id, its parameters, the opponent


class Advisers:
    """The advisers of games, each made once however many ask for it."""

    def __init__(self, workshop: Workshop | None = None) -> None:
        self.workshop = workshop or Workshop()
        self._lock = threading.Lock()
        self._made: OrderedDict[Key, Future[Adviser]] = OrderedDict()
        self.busy: dict[Key, str] = {}  # what is being made, for the notice on the page
        self.curves: dict[str, list[list[float]]] = {}  # of what is being trained, by the game's id

    def adviser(self, entry: Entry, params: str = "", opponent: str = "perfect") -> Future[Adviser]:
        """Return who will advise a game; a thread of its own makes them if nobody has asked before."""
        key = entry.id, params, opponent
        with self._lock:
            found = self._made.get(key)
            if found is not None and not (found.done() and found.exception() is not None):
                self._made.move_to_end(key)
                return found
            future = self._made[key] = Future()
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        threading.Thread(target=self._fill, args=(entry, key, future), daemon=True).start()
        return future

    def _fill(self, entry: Entry, key: Key, future: Future[Adviser]) -> None:
        self.busy[key] = f"preparing {entry.profile.title}"
        _, params, opponent = key
        task = {"kind": "advise", "game": entry.told(params), "opponent": opponent}
        game = entry.make(params)
        try:
            made = self.workshop.done(entry.profile.title, task, lambda: self._make(entry, game, key))
            future.set_result(made)
            if hasattr(made, "improve"):
                self._improve(entry, params, key)
        except BaseException as error:  # whatever it is belongs to who asks
            future.set_exception(error)
        finally:
            self.busy.pop(key, None)

    def _make(self, entry: Entry, game: Game[Any], key: Key) -> Adviser:
        """Return the adviser of a game; of one that nobody solves, tree search at once."""
        _, params, opponent = key
        if entry.solver == "search" and not params and opponent == "perfect":
            return SearchAdviser(game)
        return adviser_for(game, opponent=opponent)

    def _improve(self, entry: Entry, params: str, key: Key) -> None:
        """Let a child train what the adviser lacks; then the adviser is made anew."""
        curve = self.curves[entry.id] = []

        def told(line: str) -> None:
            curve.extend(points_of(line))

        def trained(_: Any) -> None:
            self.curves.pop(entry.id, None)
            with self._lock:
                self._made.pop(key, None)

        task = {"kind": "improve", "game": entry.told(params)}
        self.workshop.run(f"a network for {entry.profile.title}", task, told).add_done_callback(trained)

    def done(self, asked: Ask, work: Callable[[], Any], task: dict[str, Any], job: Any) -> None:
        """Do a job's work, which may need kernels."""
        title = asked.entry.profile.title
        task = {**task, "game": asked.entry.told(asked.params)}
        self.workshop.done(
            title, task, work, check=job.check, notice=lambda text: job.emit("notice", {"text": text})
        )
