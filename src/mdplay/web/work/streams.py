"""Streams on the server's side: what a worker tells, passed on to the client as it comes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mdplay.web.refusing import Refused
from mdplay.web.work.jobs import ANSWER, LAST, REFUSED

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
        """Return the answer to a question; raise Refused if it has none, or whoever was to give it is gone."""
        body = await self.first()
        if self._parts[0][0] != ANSWER:
            raise Refused(503, "nobody is there to answer; come again in a second")
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
