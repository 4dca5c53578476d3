"""Who does what the server is asked: a worker in a process of its own, or in this one."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from mdplay.web.games.catalogue import Catalogue
from mdplay.web.work.jobs import LAST, PART, Tell, event_bytes
from mdplay.web.work.worker import Worker

DIED = "the solver stopped and was restarted"
READ_BYTES = 1 << 20  # that may wait to be read
END_SECONDS = 1.0  # that a process gets to end by itself


class Doer(Protocol):
    """Whoever does requests; all its methods belong to the event loop, and so does what it tells."""

    def begin(self, number: int, kind: str, given: dict[str, Any]) -> None:
        """Begin a request; it is told of by this number until it is over."""

    def more(self, number: int) -> None:
        """Tell the next part of a stream."""

    def stop(self, number: int) -> None:
        """End a stream as soon as possible."""

    def close(self) -> None:
        """End all work."""

    async def ended(self) -> None:
        """Wait until nothing is left of it."""


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
        """Tell the next part of a stream."""
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
        """Start a process and listen until it ends; who waits for it then is told that it died."""
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
        """Tell the next part of a stream."""
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
        """Wait for nobody: threads that do not stop end with the program."""
