"""Work told as a stream of events (server-sent events), in the worker.

A ``Job`` runs in a thread.  It tells by ``emit``.  When the client leaves, or does not read, the job is stopped:
its next ``emit`` or ``show`` raises ``Cancelled``, which ends kernels too.

What was told goes to the server in parts, the next one when the client has taken the last (``more``).  Meanwhile
it waits here: of statistics only the newest, of the rest up to ``WAITING`` events, and then the work waits.

The time limit of the labs.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mdplay import LimitError, MdplayError
from mdplay.errors import sentence
from mdplay.web.safety import Refused

WAITING = 512  # events that may wait for a client; then the work waits
LATEST = frozenset({"stats", "curve", "table"})  # of these only the newest matters
PART_BYTES = 256 << 10  # that are sent at once
PART, LAST, REFUSED, ANSWER = "+", ".", "!", "="  # kinds of messages: of a stream, or to a question

Tell = Callable[[int, str, bytes], None]  # the number of a request, one of the signs above, the message
Send = Callable[[str, bytes], None]

log = logging.getLogger("mdplay.web")


class Cancelled(Exception):
    """The client of this work has left."""


def event_bytes(event: str, data: dict[str, Any]) -> bytes:
    """Return an event as it stands in a stream."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return f"event: {event}\ndata: {text}\n\n".encode()


class Job:
    """Work for one stream: it tells events, and can be stopped from any thread."""

    def __init__(self, send: Send) -> None:
        self._send, self._wanted = send, True
        self._events: deque[tuple[str, bytes]] = deque()
        self._lock = threading.Lock()
        self._over = self._ended = False
        self.stopped = threading.Event()

    # ---------------------------------------------------------------- for the work
    def emit(self, event: str, data: dict[str, Any]) -> None:
        """Queue an event for the client; of statistics only the newest is kept."""
        told = event_bytes(event, data)
        while len(self._events) >= WAITING and event not in LATEST:
            self.check()
            self.stopped.wait(0.02)
        self.check()
        with self._lock:
            if event in LATEST and self._events and self._events[-1][0] == event:
                self._events.pop()
            self._events.append((event, told))
            self._hand_on()

    def check(self) -> None:
        """Raise Cancelled if the client has left."""
        if self.stopped.is_set():
            raise Cancelled

    def show(self, _: int) -> None:
        """Be the ``show`` of a solver, search or learner: raising here ends its kernels."""
        self.check()

    # ---------------------------------------------------------------- for the worker
    def run(self, work: Callable[[Job], None]) -> None:
        """Do the work in this thread and tell how it ended."""
        with self._lock:
            self._events.append(("begin", b": begin\n\n"))  # a comment: the request was in order
            self._hand_on()
        with suppress(Cancelled):
            try:
                work(self)
                self.emit("end", {})
            except Cancelled:
                raise
            except Refused as refused:
                self.emit("failed", {"message": refused.words, "code": refused.code})
            except MdplayError as error:
                self.emit("failed", {"message": sentence(str(error))})
            except Exception:  # a fault of ours, or of a user's game: say so, and nothing of what is inside
                log.exception("a job failed")
                self.emit("failed", {"message": "the server met a fault"})
        with self._lock:
            self._over = True
            self._hand_on()

    def more(self) -> None:
        """Send the next part as soon as there is one."""
        with self._lock:
            self._wanted = True
            self._hand_on()

    def stop(self) -> None:
        """Let the work end as soon as it can."""
        self.stopped.set()
        with self._lock:
            self._hand_on()

    def _hand_on(self) -> None:
        """Send a part, if one is wanted and there is one; of work that was stopped, only that it is over."""
        if self._ended:
            return
        if self._over and self.stopped.is_set():
            self._events.clear()
        elif not self._wanted or not (self._events or self._over):
            return
        part = self._taken()
        self._wanted, self._ended = False, self._over and not self._events
        self._send(LAST if self._ended else PART, part)

    def _taken(self) -> bytes:
        """Take what one part holds; the rest of a long event waits as an event of its own."""
        part = bytearray()
        while self._events and len(part) < PART_BYTES:
            part += self._events.popleft()[1]
        if len(part) > PART_BYTES:
            self._events.appendleft(("rest", bytes(part[PART_BYTES:])))
        return bytes(part[:PART_BYTES])


def notice_of(job: Job) -> Callable[[str], None]:
    """Return a function that sends the client a notice: why it waits."""
    return lambda text: job.emit("notice", {"text": text})


class Deadline:
    """The ``show`` of a job with a limit of ``seconds``."""

    def __init__(self, job: Job, seconds: float) -> None:
        self._job, self._until, self._seconds = job, time.monotonic() + seconds, seconds

    def __call__(self, *_: Any) -> None:
        """Raise when the client has gone or the time is up."""
        self._job.check()
        if time.monotonic() > self._until:
            raise LimitError(f"this takes longer than the {self._seconds:.0f} seconds that the page allows")
