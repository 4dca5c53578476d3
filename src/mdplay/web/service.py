"""What all routes work with: the games, the workers, what is known; and how the server feels.

Compiled code is imported beside the event loop, when it is first needed: a page is shown before that.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Request, Response

from mdplay.errors import IllegalMove, MdplayError, PositionError
from mdplay.web.games.catalogue import AT_ONCE, Catalogue, Entry
from mdplay.web.work.jobs import Busy, EventStream, Job, Pool

if TYPE_CHECKING:
    from mdplay.web.games.advisers import Advisers
    from mdplay.web.games.learned import LearnedAgents

T = TypeVar("T")
PULSE_SECONDS = 0.02


class Service:
    """What the routes work with."""

    def __init__(
        self,
        catalogue: Catalogue,
        pool: Pool | None = None,
        *,
        apart: bool = False,
        reproduction: Path = Path("reproduction"),
    ) -> None:
        self.catalogue, self.pool = catalogue, pool or Pool()
        self.reproduction = reproduction / "index.html"  # what ``mdplay reproduce`` wrote, if it did
        self._apart = apart  # kernels are compiled in a process of their own
        self.listed: dict[bool, list[dict[str, Any]]] = {}  # the games with pictures, and without
        self.lags: deque[float] = deque(maxlen=500)  # of the event loop, the last ten seconds
        self.own_lags: deque[float] = deque(maxlen=500)  # what this process computed meanwhile, at most as long
        self.began = time.monotonic()
        self._lock = threading.RLock()

    # ---------------------------------------------------------------- what is known
    @property
    def advisers(self) -> Advisers:
        """The advisers; to be asked for in a worker thread, since it imports compiled code."""
        with self._lock:
            return self._advisers

    @cached_property
    def _advisers(self) -> Advisers:
        from mdplay.running import compiling
        from mdplay.web.games.advisers import Advisers

        compiling.elsewhere = self._apart
        return Advisers()

    @property
    def learned_agents(self) -> LearnedAgents:
        """What was learned on the page; to be asked for in a worker thread."""
        with self._lock:
            return self._learned_agents

    @cached_property
    def _learned_agents(self) -> LearnedAgents:
        from mdplay.web.games.learned import LearnedAgents

        return LearnedAgents()

    def learned(self, game: str, params: str) -> list[dict[str, Any]]:
        """Return the agents that learned a game on the page."""
        kept: Any = self.__dict__.get("_learned_agents")
        return [] if kept is None else kept.agents(game, params)

    def prepare(self) -> None:
        """Make the advisers of the first games, one after the other, before anybody asks."""
        for entry in self.catalogue.values():
            if not entry.own and entry.id not in AT_ONCE:
                continue
            with suppress(Exception):  # who asks hears of it
                self.advisers.adviser(entry).result()

    # ---------------------------------------------------------------- answers
    def entry(self, game: str) -> Entry:
        """Return the game of an id, or answer 404."""
        if game not in self.catalogue:
            raise HTTPException(404, "no such game")
        return self.catalogue[game]

    async def quick(self, task: Callable[[], T]) -> T:
        """Return what a short task gives; what was wrong with the question is told without repeating it."""
        try:
            return await self.pool.quick(task)
        except (PositionError, IllegalMove):
            raise HTTPException(422, "these moves, or this position, are not possible in this game") from None
        except MdplayError:
            raise HTTPException(422, "these parameters make no game") from None
        except (ValueError, OverflowError, RecursionError, IndexError, KeyError, TypeError):
            raise HTTPException(422, "that is not a position") from None

    def stream(self, work: Callable[[Job], None]) -> Response:
        """Return the events of a job as they come."""
        try:
            return EventStream(self.pool.start(work))
        except Busy:
            raise HTTPException(503, "too much at once; come again in a second", {"Retry-After": "1"}) from None

    # ---------------------------------------------------------------- how it feels
    async def feel(self) -> None:
        """Measure without end how long the event loop keeps anybody waiting, and how much of that is our doing."""
        while True:
            before, computed = time.perf_counter(), time.process_time()
            await asyncio.sleep(PULSE_SECONDS)
            late = time.perf_counter() - before - PULSE_SECONDS
            self.lags.append(late)
            self.own_lags.append(min(late, time.process_time() - computed))

    def status(self) -> dict[str, Any]:
        """Return what is being prepared, and how the server feels."""
        known: Any = self.__dict__.get("_advisers")
        busy = [*known.busy.values(), *known.workshop.busy.values()] if known else []
        return {
            "busy": list(dict.fromkeys(busy)),
            "training": {game: list(curve) for game, curve in (known.curves if known else {}).items()},
            "jobs": self.pool.busy,
            "slots": self.pool.size,
            "lag_ms": round(1000 * self.lags[-1], 1) if self.lags else 0.0,
            "max_lag_ms": round(1000 * max(self.lags), 1) if self.lags else 0.0,
            "max_own_lag_ms": round(1000 * max(self.own_lags), 1) if self.own_lags else 0.0,
            "up": round(time.monotonic() - self.began, 1),
        }

    def close(self) -> None:
        """Stop all work."""
        self.pool.close()
        known: Any = self.__dict__.get("_advisers")
        if known is not None:
            known.workshop.close()


async def service_of(request: Request) -> Service:
    """Return what the application works with; async, or a thread would be asked for it at every request."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
