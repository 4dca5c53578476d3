"""The requests that a worker has, on the server's side: so many at once and no more.

begin    a stream, in one of the places for work: beyond these the answer is 503, and when to come again; a place
         whose client has left is waited for
ask      a question with a short answer
quick    threads of this process for what takes milliseconds and needs no compiled code
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from mdplay.web.refusing import busy
from mdplay.web.work.doers import Doer
from mdplay.web.work.jobs import LAST, PART, Tell
from mdplay.web.work.streams import Stream
from mdplay.web.work.worker import STATUS

T = TypeVar("T")
JOBS = 8  # at a time; more would only share the cores
QUESTIONS = 2
LEAVE_SECONDS = 2.0  # that work gets to end when its client has left


class Pool:
    """The requests under way; all its methods belong to the event loop."""

    def __init__(self, doer: Callable[[Tell], Doer], size: int = JOBS) -> None:
        self.size, self._closed = size, False
        self._doer, self._numbers = doer(self._told), count(STATUS + 1)
        self._streams: dict[int, Stream] = {}
        self._jobs: set[int] = set()  # those that have a place for work
        self._leaving: set[int] = set()  # those of them that were told to stop
        self._freed = asyncio.Event()
        self._questions = asyncio.Semaphore(QUESTIONS)
        self._quick = ThreadPoolExecutor(QUESTIONS, thread_name_prefix="quick")
        self.status: dict[str, Any] = {}  # what the worker tells of itself

    @property
    def busy(self) -> int:
        """How many streams are worked for."""
        return len(self._jobs)

    async def begin(self, kind: str, given: dict[str, Any]) -> Stream:
        """Begin a stream; raise Refused if all places are taken, or if what is given is not in order."""
        if self.busy >= self.size > self.busy - len(self._leaving):
            await self._free_place()
        if self._closed or self.busy >= self.size:
            raise busy(self.busy)
        number = next(self._numbers)
        self._jobs.add(number)
        stream = self._begin(number, kind, given)
        try:
            await stream.first()
        except asyncio.CancelledError:
            stream.stop()
            raise
        return stream

    async def _free_place(self) -> None:
        """Wait a moment for the place of somebody who has left."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                while self.busy >= self.size and not self._closed:
                    self._freed.clear()
                    await self._freed.wait()

    async def ask(self, kind: str, given: dict[str, Any]) -> Any:
        """Return the answer to a question; raise Refused if it has none."""
        async with self._questions:
            if self._closed:
                raise busy(self.busy)
            return await self._begin(next(self._numbers), kind, given).answer()

    def _begin(self, number: int, kind: str, given: dict[str, Any]) -> Stream:
        stream = Stream(lambda: self._doer.more(number), lambda: self._stop(number))
        self._streams[number] = stream
        self._doer.begin(number, kind, given)
        return stream

    def _stop(self, number: int) -> None:
        if number in self._jobs:
            self._leaving.add(number)
        self._doer.stop(number)

    def _told(self, number: int, sign: str, body: bytes) -> None:
        """Take what the worker tells."""
        if number == STATUS:
            self.status = json.loads(body)
            return
        stream = self._streams.get(number)
        if stream is not None:
            stream.put(sign, body)
        if sign != PART:
            self._streams.pop(number, None)
            self._jobs.discard(number)
            self._leaving.discard(number)
            self._freed.set()

    async def quick(self, task: Callable[[], T]) -> T:
        """Return what a short task gives, done beside the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, task)

    def close(self) -> None:
        """End all streams and take no more; nobody is waited for."""
        if self._closed:
            return
        self._closed = True
        for stream in self._streams.values():
            stream.put(LAST, b"")
        self._doer.close()
        self._quick.shutdown(wait=False, cancel_futures=True)

    async def ended(self) -> None:
        """Wait until nothing is left of whoever did the work."""
        await self._doer.ended()
