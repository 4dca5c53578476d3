"""The server's side of the worker: backends that run requests, their streams, and the pool of requests.

A backend is a worker in a separate process or in threads of this one.  The events of a request are passed on to
the client as they arrive.  The pool limits the requests in progress:

begin    a stream, one of at most ``size``: further requests get 503 and the time to retry; the pool waits for
         streams whose clients have left
ask      a question with a short answer
quick    threads of this process for tasks of milliseconds without compiled code
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any, Protocol, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mdplay.web.games.catalogue import Catalogue
from mdplay.web.safety import Refused, busy
from mdplay.web.work.jobs import ANSWER, LAST, PART, REFUSED, Tell, event_bytes
from mdplay.web.work.worker import STATUS, Worker

DIED = "the solver stopped and was restarted"
READ_BYTES = 1 << 20  # that may wait to be read
END_SECONDS = 1.0  # that a process gets to end by itself


class Backend(Protocol):
    """Runs requests; its methods are called, and its events are delivered, in the event loop."""

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request; its events have this number."""

    def more(self, number: int) -> None:
        """Deliver the next part of a stream."""

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""

    def close(self) -> None:
        """End all work."""

    async def ended(self) -> None:
        """Wait until it has ended."""


class InProcess:
    """A worker in a process of its own, which starts with the first request; one that dies is replaced."""

    def __init__(self, tell: Tell, games: Sequence[str] = ()) -> None:
        self._tell, self._games = tell, games
        self._up = self._closed = False
        self._runs: set[asyncio.Task[None]] = set()  # one, and those whose process has ended and is waited for
        self._child: asyncio.subprocess.Process | None = None
        self._waiting: list[bytes] = []  # for a process that is being started
        self._under_way: set[int] = set()

    def start(self) -> None:
        """Start the process, if there is none."""
        if not self._up and not self._closed:
            self._up = True
            run = asyncio.get_running_loop().create_task(self._run())
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request."""
        self._under_way.add(number)
        self.start()
        self._write("begin", number, kind, given)

    def more(self, number: int) -> None:
        """Deliver the next part of a stream."""
        self._write("more", number)

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""
        self._write("stop", number)

    def _write(self, *message: Any) -> None:
        line = json.dumps(message).encode() + b"\n"
        if self._child is None:
            self._waiting.append(line)
        elif self._child.stdin is not None:
            self._child.stdin.write(line)

    async def _run(self) -> None:
        """Start a process and listen until it ends; then requests that wait for it fail."""
        child = None
        with suppress(OSError):
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mdplay.web.work.worker", *self._games),
                stdin=PIPE,
                stdout=PIPE,
                limit=READ_BYTES,
                process_group=0,  # Ctrl-C is for us; we end it.  In our session: Linux weighs processes within one
            )
            self._child = child
            await self._listen(child)
        self._child, self._up, self._waiting = None, False, []
        for number in list(self._under_way):
            self._told(number, LAST, event_bytes("failed", {"message": DIED, "code": 503}))
        if child is not None:
            await _reaped(child)

    async def _listen(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdin is not None and child.stdout is not None
        if self._closed:  # while it was being started
            child.kill()
        child.stdin.writelines(self._waiting)
        with suppress(asyncio.IncompleteReadError):
            while head := await child.stdout.readline():
                number, sign, length = head.decode().split()
                self._told(int(number), sign, await child.stdout.readexactly(int(length)))

    def _told(self, number: int, sign: str, body: bytes) -> None:
        if sign != PART:
            self._under_way.discard(number)
        self._tell(number, sign, body)

    def close(self) -> None:
        """Close the process's stdin, by which it ends its work and itself."""
        self._closed = True
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()

    async def ended(self) -> None:
        """Wait until the process has ended; one that does not is killed."""
        if self._child is not None:
            await _reaped(self._child)
        await asyncio.gather(*self._runs)


async def _reaped(child: asyncio.subprocess.Process) -> None:
    """Wait until a process has ended; one that does not is killed."""
    try:
        await asyncio.wait_for(child.wait(), END_SECONDS)
    except TimeoutError:
        child.kill()
        await child.wait()


class InThreads:
    """A worker in this process, whose threads tell by way of the event loop."""

    def __init__(self, tell: Tell, catalogue: Catalogue) -> None:
        self._tell, self._catalogue = tell, catalogue
        self._worker: Worker | None = None

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request; the first one makes the worker."""
        if self._worker is None:
            loop = asyncio.get_running_loop()

            def tell(number: int, sign: str, body: bytes) -> None:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._tell, number, sign, body)

            self._worker = Worker(self._catalogue, tell)
        self._worker.begin(number, kind, given)

    def more(self, number: int) -> None:
        """Deliver the next part of a stream."""
        assert self._worker is not None
        self._worker.more(number)

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""
        assert self._worker is not None
        self._worker.stop(number)

    def close(self) -> None:
        """End all work."""
        if self._worker is not None:
            self._worker.close()

    async def ended(self) -> None:
        """Return at once: threads that do not stop end with the program."""


SEND_SECONDS = 20.0  # that a client may take to read a part
PULSE_SECONDS = 10.0  # without a word, until a comment is sent that shows whether anybody listens


class Stream:
    """What a worker tells of one request: parts, each asked for when the one before was sent."""

    def __init__(self, more: Callable[[], None], stop: Callable[[], None]) -> None:
        self._more, self.stop = more, stop
        self._parts: deque[tuple[str, bytes]] = deque()
        self._ready = asyncio.Event()
        self._owed, self._over = True, False  # the first part comes unasked

    def put(self, sign: str, body: bytes) -> None:
        """Take what the worker tells."""
        self._parts.append((sign, body))
        self._ready.set()

    async def first(self) -> bytes:
        """Return the first part, which stays the next one; raise Refused if the request was not in order."""
        await self._ready.wait()
        sign, body = self._parts[0]
        if sign == REFUSED:
            raise Refused(*json.loads(body))
        return body

    async def next(self) -> bytes | None:
        """Return what is to be sent next, a comment if there is nothing for long, None at the end."""
        if self._over:
            return None
        if not self._owed:
            self._more()
            self._owed = True
        try:
            async with asyncio.timeout(PULSE_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            return b": waiting\n\n"
        sign, body = self._parts.popleft()
        self._owed, self._over = False, sign == LAST
        if not self._parts:
            self._ready.clear()
        return body

    async def answer(self) -> Any:
        """Return the answer to a question; raise Refused if it has none, or if the worker has died."""
        body = await self.first()
        if self._parts[0][0] != ANSWER:
            raise Refused(503, "the worker is restarting; try again in a second")
        return json.loads(body)


class EventStream(Response):
    """A stream as a response; the work ends with the connection, and with a client that does not read."""

    media_type = "text/event-stream"

    def __init__(self, stream: Stream) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self.headers["content-type"] = "text/event-stream; charset=utf-8"
        del self.headers["content-length"]
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the work is over or the client has gone."""
        leaving = asyncio.ensure_future(self._gone(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stream.stop()
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)

    async def _gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while (part := await self._stream.next()) is not None:
            async with asyncio.timeout(SEND_SECONDS):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


T = TypeVar("T")
JOBS = 8  # at a time; more would only share the cores
QUESTIONS = 2
LEAVE_SECONDS = 2.0  # that work gets to end when its client has left


class Pool:
    """The requests under way; all its methods belong to the event loop."""

    def __init__(self, doer: Callable[[Tell], Backend], size: int = JOBS) -> None:
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
        """Wait up to LEAVE_SECONDS for the place of a client that has left."""
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
        """End all streams at once and accept no more."""
        if self._closed:
            return
        self._closed = True
        for stream in self._streams.values():
            stream.put(LAST, b"")
        self._doer.close()
        self._quick.shutdown(wait=False, cancel_futures=True)

    async def ended(self) -> None:
        """Wait until the backend has ended."""
        await self._doer.ended()
