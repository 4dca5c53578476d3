"""The objects that all routes use: the games, the worker and its status, and the load of the server.

Nothing is computed here, and no compiled code is imported; the worker (work/) is a separate process.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response

from mdplay.runtime.executors import Executor
from mdplay.web.games.catalogue import Catalogue, Entry, agents_that_learned
from mdplay.web.safety import Refused, refusal
from mdplay.web.work.backends import Backend, EventStream, InProcess, InThreads, Pool
from mdplay.web.work.jobs import Tell
from mdplay.web.work.on_executor import OnExecutor

T = TypeVar("T")
PULSE_SECONDS = 0.02


class Service:
    """The objects that the routes use; ``apart``: the specs of the games that a separate process computes.

    ``executor``: its workers run tree searches.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        apart: Sequence[str] | None = None,
        executor: Executor | None = None,
        reproduction: Path = Path("reproduction"),
    ) -> None:
        self.catalogue = catalogue

        def doer(tell: Tell) -> Backend:
            beside = InThreads(tell, catalogue) if apart is None else InProcess(tell, apart)
            return beside if executor is None else OnExecutor(tell, beside, executor, apart or ())

        self.pool = Pool(doer)
        self.reproduction = reproduction / "index.html"  # what ``mdplay reproduce`` wrote, if it did
        self.listed: dict[bool, list[dict[str, Any]]] = {}  # the games with pictures, and without
        self.lags: deque[float] = deque(maxlen=500)  # of the event loop, the last ten seconds
        self.own_lags: deque[float] = deque(maxlen=500)  # what this process computed meanwhile, at most as long
        self.began = time.monotonic()
        self._solvers: dict[str, str] = {}

    # ---------------------------------------------------------------- what is known
    def entry(self, game: str) -> Entry:
        """Return the game of an id, or answer 404; 409 if its file has changed since the server read it."""
        if game not in self.catalogue:
            raise Refused(404, "no such game")
        entry = self.catalogue[game]
        if entry.has_changed:
            raise Refused(409, "the file of this game has changed since the server read it; restart the server")
        return entry

    async def solver(self, entry: Entry) -> str:
        """Return how a game is evaluated, in a word."""
        if not entry.about.evaluator and not self._solvers:
            self._solvers = await self.ask("solvers")
        return entry.about.evaluator or self._solvers[entry.id]

    def learned(self, game: str, params: str) -> list[dict[str, Any]]:
        """Return the agents that learned a game on the page."""
        return agents_that_learned(self.pool.status.get("learned", []), game, params)

    async def prepare(self) -> None:
        """Make the evaluators of the first games before the first request."""
        with suppress(Refused):
            await self.ask("prepare")

    # ---------------------------------------------------------------- answers
    async def quick(self, task: Callable[[], T]) -> T:
        """Return the result of a short task; an error is reported without the text of the request."""
        try:
            return await self.pool.quick(task)
        except Exception as error:
            raise refusal(error) or error from None

    async def ask(self, kind: str, /, **given: Any) -> Any:
        """Return the worker's answer to a question."""
        return await self.pool.ask(kind, given)

    async def stream(self, kind: str, /, **given: Any) -> Response:
        """Return the events of the worker as a stream."""
        return EventStream(await self.pool.begin(kind, given))

    # ---------------------------------------------------------------- load
    async def monitor_event_loop_lag(self) -> None:
        """Measure continuously the lag of the event loop, and the part of it that this process computed."""
        while True:
            before, computed = time.perf_counter(), time.process_time()
            await asyncio.sleep(PULSE_SECONDS)
            late = time.perf_counter() - before - PULSE_SECONDS
            self.lags.append(late)
            self.own_lags.append(min(late, time.process_time() - computed))

    def status(self) -> dict[str, Any]:
        """Return what is being prepared, and the load of the server."""
        told = self.pool.status
        return {
            "busy": told.get("busy", []),
            "training": told.get("training", {}),
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


async def service_of(request: Request) -> Service:
    """Return what the application works with; async, or a thread would be asked for it at every request."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
