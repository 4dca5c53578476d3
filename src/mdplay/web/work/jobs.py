"""Work beside the event loop, told as a stream of events (server-sent events).

A ``Job`` runs in a worker thread.  It tells by ``emit``; the event loop only passes on.  When the client
leaves, or does not read, the job is stopped: its next ``emit`` or ``show`` raises ``Cancelled``, which ends
kernels too.

    pool      so many jobs at once and no more: beyond that the answer is 503, and when to come again
    quick     threads of their own for what takes milliseconds, so that it never waits behind a search
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mdplay.errors import MdplayError, sentence

T = TypeVar("T")
JOBS = 6  # at once; more would only share the cores
QUICK = 2
WAITING = 512  # events that may wait for a client; then the work waits
LATEST = frozenset({"stats", "curve", "table"})  # of these only the newest matters
SEND_SECONDS = 20.0  # that a client may take to read an event
PULSE_SECONDS = 10.0  # without a word, until a comment is sent that shows whether anybody listens

log = logging.getLogger("mdplay.web")


class Cancelled(Exception):
    """Nobody waits for this work any more."""


class Busy(Exception):
    """All workers are busy."""


class Job:
    """Work for one stream: it tells events, and can be stopped from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._ready = loop, asyncio.Event()
        self._events: deque[tuple[str, str]] = deque()
        self._lock = threading.Lock()
        self.stopped = threading.Event()
        self.over = False

    def emit(self, event: str, data: dict[str, Any]) -> None:
        """Tell an event; of statistics only the newest waits for the client."""
        text = f"event: {event}\ndata: {json.dumps(data, separators=(',', ':'), allow_nan=False)}\n\n"
        while len(self._events) >= WAITING and event not in LATEST:
            self.check()
            self.stopped.wait(0.02)
        self.check()
        with self._lock:
            if event in LATEST and self._events and self._events[-1][0] == event:
                self._events.pop()
            self._events.append((event, text))
        self._wake()

    def check(self) -> None:
        """Raise Cancelled if nobody waits any more."""
        if self.stopped.is_set():
            raise Cancelled

    def show(self, _: int) -> None:
        """Be the ``show`` of a solver, search or learner: raising here ends its kernels."""
        self.check()

    def stop(self) -> None:
        """Let the work end as soon as it can."""
        self.stopped.set()

    def abandon(self) -> None:
        """End the stream now, whatever the work is at."""
        self.stop()
        self.over = True
        self._wake()

    def run(self, work: Callable[[Job], None]) -> None:
        """Do the work in this thread and tell how it ended."""
        with suppress(Cancelled):
            try:
                work(self)
                self.emit("end", {})
            except Cancelled:
                raise
            except MdplayError as error:
                self.emit("failed", {"message": sentence(str(error))})
            except Exception:  # a fault of ours, or of a user's game: say so, and nothing of what is inside
                log.exception("a job failed")
                self.emit("failed", {"message": "the server met a fault"})
        self.over = True
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._ready.set)

    async def next(self) -> str | None:
        """Return what is to be sent next, a comment if there is nothing for long, None at the end."""
        while True:
            with self._lock:
                if self._events:
                    return "".join(self._take_all())
            if self.over:
                return None
            self._ready.clear()
            if self._events or self.over:
                continue
            try:
                await asyncio.wait_for(self._ready.wait(), PULSE_SECONDS)
            except TimeoutError:
                return ": waiting\n\n"

    def _take_all(self) -> list[str]:
        texts = [text for _, text in self._events]
        self._events.clear()
        return texts


class Pool:
    """The workers, and their jobs."""

    def __init__(self, jobs: int = JOBS) -> None:
        self.size = jobs
        self._slots = threading.BoundedSemaphore(jobs)
        self._workers = ThreadPoolExecutor(jobs, "mdplay-work")
        self._quick = ThreadPoolExecutor(QUICK, "mdplay-quick")
        self._live: set[Job] = set()
        self._closed = False

    @property
    def busy(self) -> int:
        """The number of jobs that run."""
        return len(self._live)

    def start(self, work: Callable[[Job], None]) -> Job:
        """Begin a job; raise Busy if no worker is free."""
        if self._closed or not self._slots.acquire(blocking=False):
            raise Busy
        job = Job(asyncio.get_running_loop())
        self._live.add(job)
        self._workers.submit(self._work, job, work)
        return job

    def _work(self, job: Job, work: Callable[[Job], None]) -> None:
        try:
            job.run(work)
        finally:
            self._live.discard(job)
            self._slots.release()

    async def quick(self, task: Callable[[], T]) -> T:
        """Return what a short task gives, done beside the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, task)

    def close(self) -> None:
        """Stop all jobs and take no more; nobody is waited for."""
        self._closed = True
        for job in list(self._live):
            job.abandon()
        for workers in (self._workers, self._quick):
            workers.shutdown(wait=False, cancel_futures=True)


class EventStream(Response):
    """The events of a job as they come; the job ends with the connection, and with a client that does not read."""

    media_type = "text/event-stream"

    def __init__(self, job: Job) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self.headers["content-type"] = "text/event-stream; charset=utf-8"
        del self.headers["content-length"]
        self._job = job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the job is over or the client has gone."""
        leaving = asyncio.ensure_future(self._gone(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._job.stop()
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)

    async def _gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": b": begin\n\n", "more_body": True})
        while (text := await self._job.next()) is not None:
            async with asyncio.timeout(SEND_SECONDS):
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
