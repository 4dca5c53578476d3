"""Tree searches by the workers of an executor (``mdplay.runtime.executors``), such as a Ray cluster.

Each of its workers has one search at a time, and the same ``Worker`` as the process beside the server.  The server
calls it in turns: a turn brings what the server wants of the search, and takes back what was told meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any

from mdplay.runtime.executors import Actors, Executor
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.work.backends import DIED, Backend
from mdplay.web.work.jobs import LAST, PART, Tell, event_bytes
from mdplay.web.work.worker import STATUS, Worker

TURN_SECONDS = 0.05  # that a turn waits for something to be told
Told = tuple[int, str, bytes]


def is_search(kind: str, given: dict[str, Any]) -> bool:
    """Return whether a request is a tree search, which needs nothing that a worker has kept."""
    return kind == "search" or (kind == "agent" and given["agent"] == "mcts")


class Visited:
    """What lives in a worker of the executor."""

    def __init__(self, _: int, games: Sequence[str]) -> None:
        self._told: SimpleQueue[Told] = SimpleQueue()
        self._worker = Worker(Catalogue(games, tried=True), lambda *told: self._told.put(told), apart=True)

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request."""
        self._worker.begin(number, kind, given)

    def turn(self, number: int, more: bool, stop: bool) -> list[Told]:
        """Pass on what the server wants, and return what was told of the request by now or soon."""
        if more:
            self._worker.more(number)
        if stop:
            self._worker.stop(number)
        found: list[Told] = []
        try:
            found.append(self._told.get(timeout=TURN_SECONDS))
            while True:
                found.append(self._told.get_nowait())
        except Empty:
            pass
        if not found and not self._worker.has(number):  # it was made anew: the one that began this has died
            return [(number, LAST, event_bytes("failed", {"message": DIED, "code": 503}))]
        return [told for told in found if told[0] != STATUS]


class OnExecutor:
    """Hands searches on to free workers of an executor, and all else, or one search too many, to another doer."""

    def __init__(self, tell: Tell, other: Backend, executor: Executor, games: Sequence[str] = ()) -> None:
        self._tell, self._other = tell, other
        self._free = [executor.actors(Visited, 1, games) for _ in range(executor.workers)]
        self._wants: dict[int, set[str]] = {}  # of the searches there: more, stop
        self._turns: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(executor.workers, thread_name_prefix="executor")
        self._closed = False

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request."""
        if not self._free or not is_search(kind, given):
            self._other.begin(number, kind, given)
            return
        self._wants[number] = set()
        task = asyncio.get_running_loop().create_task(self._search(self._free.pop(), number, kind, given))
        self._turns.add(task)
        task.add_done_callback(self._turns.discard)

    def more(self, number: int) -> None:
        """Deliver the next part of a stream."""
        self._want(number, "more")

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""
        self._want(number, "stop")

    def _want(self, number: int, what: str) -> None:
        if number in self._wants:
            self._wants[number].add(what)
        else:
            getattr(self._other, what)(number)

    async def _search(self, actor: Actors, number: int, kind: str, given: dict[str, Any]) -> None:
        """Take turns with a worker until its search is over."""
        sign = PART
        try:
            await self._call(actor, "begin", number, kind, given)
            while sign == PART and not self._closed:
                wants, self._wants[number] = self._wants[number], set()
                [told] = await self._call(actor, "turn", number, "more" in wants, "stop" in wants)
                for _, sign, body in told:
                    self._tell(number, sign, body)
        except Exception:  # a worker that died too often, an executor that is gone: the client gets a sentence
            self._tell(number, LAST, event_bytes("failed", {"message": DIED, "code": 503}))
        del self._wants[number]
        self._free.append(actor)

    async def _call(self, actor: Actors, method: str, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: actor.call(method, *arguments)
        )

    def close(self) -> None:
        """End all work."""
        self._closed = True
        self._other.close()

    async def ended(self) -> None:
        """Wait until the last turns are over, and end the workers."""
        await asyncio.gather(*self._turns, return_exceptions=True)
        for actor in self._free:
            actor.close()
        self._threads.shutdown(wait=False)
        await self._other.ended()
