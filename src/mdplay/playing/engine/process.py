"""An engine as a process: asked with a deadline, read within bounds, ended for certain.

Three threads per process read its stdout, read its stderr and write its stdin: neither an engine that says nothing
nor one that listens to nothing can hold up whoever asks.  What it says is taken in as far as somebody asks, so an
engine that floods its pipe waits there.  The process leads a group of its own, and the whole group is ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event, Thread
from typing import Any, BinaryIO, cast

from mdplay.errors import FormatError, MdplayError, short
from mdplay.playing.engine.protocol import CHUNK, lines_of, read_message, written

MAX_LINES = 10_000  # before an answer
WAITING_LINES = 64
TAIL = 2000  # bytes of stderr that are kept
POLL_SECONDS = 0.05
END_SECONDS = 1.0  # that an engine gets to leave by itself


class EngineFault(MdplayError):
    """An engine that died, hung or answered nonsense; the message is a clause that goes on after its name."""


class EngineProcess:
    """A running engine."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        try:
            self.popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=None if environment is None else {**os.environ, **environment},
            )
        except (OSError, ValueError) as error:
            raise EngineFault(f"cannot be started: {getattr(error, 'strerror', None) or error}") from None
        self._pipes = _Pipes(self.popen)
        self._finalizer = weakref.finalize(self, _end, self.popen, self._pipes)

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as is known."""
        return self._finalizer.alive and _how_it_ended(self.popen) is None

    def ask(
        self, message: dict[str, Any], answer: str, seconds: float, pardoned: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """Send a message and return the answer of a type, or raise EngineFault.

        ``pardoned(info)`` tells which info lines make the clock begin anew.
        """
        self._pipes.send(written(message))
        until = time.monotonic() + seconds
        for _ in range(MAX_LINES):
            line = self._line(until, seconds)
            try:
                found = read_message(line)
            except FormatError as error:
                raise EngineFault(f"answered nonsense: {error}") from None
            if found["type"] == answer:
                return found
            if found["type"] == "error":
                raise EngineFault(f"said: {short(found.get('message', ''), 300)}")
            if found["type"] != "info":
                raise EngineFault(f"answered {short(found['type'])!r}, not {answer!r}")
            if pardoned(found):
                until = time.monotonic() + seconds
        raise EngineFault(f"said more than {MAX_LINES:,} lines and no {answer}")

    def _line(self, until: float, seconds: float) -> bytes:
        try:
            line = self._pipes.said.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            raise EngineFault(f"took longer than {seconds:g} seconds") from None
        if line is None:
            raise EngineFault(f"died{self._last_words()}")
        return line

    def _last_words(self) -> str:
        how = _wait(self.popen)
        words = self._pipes.last_words()
        return f" {how or 'for the player: it has closed its stdout'}{f': {short(words, 200)}' if words else ''}"

    def quit(self) -> None:
        """Let the engine leave, and end it if it does not."""
        if self.alive:
            self._pipes.send(written({"type": "quit"}))
            _wait(self.popen)
        self.end()

    def end(self) -> None:
        """End the process and all that it has started, whatever they are at."""
        self._finalizer()


class _Pipes:
    """The three pipes of a process, each with its thread."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.said: Queue[bytes | None] = Queue(WAITING_LINES)  # None: it has closed its stdout
        self._told: SimpleQueue[bytes | None] = SimpleQueue()
        self._tail = b""
        self._over = Event()
        self._files = [cast(BinaryIO, pipe) for pipe in (popen.stdin, popen.stdout, popen.stderr)]
        tasks = (self._write, self._read, self._read_errors)
        self._threads = [Thread(target=t, args=(f,), daemon=True) for t, f in zip(tasks, self._files, strict=True)]
        for thread in self._threads:
            thread.start()

    def send(self, line: bytes) -> None:
        self._told.put(line)

    def last_words(self) -> str:
        """Return the last line of stderr."""
        self._threads[2].join(END_SECONDS)
        lines = self._tail.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Close the pipes of a process that has ended; one that somebody else holds open is left to its thread."""
        self._over.set()
        self._told.put(None)
        for thread, file in zip(self._threads, self._files, strict=True):
            thread.join(END_SECONDS)
            if not thread.is_alive():
                with suppress(OSError):
                    file.close()

    def _write(self, stdin: BinaryIO) -> None:
        with suppress(OSError):
            while line := self._told.get():
                while line:
                    line = line[stdin.write(line) or 0 :]

    def _read(self, stdout: BinaryIO) -> None:
        with suppress(OSError):
            for line in lines_of(stdout):
                self._say(line)
        self._say(None)

    def _say(self, line: bytes | None) -> None:
        while not self._over.is_set():
            with suppress(Full):
                self.said.put(line, timeout=POLL_SECONDS)
                return

    def _read_errors(self, stderr: BinaryIO) -> None:
        with suppress(OSError):
            while chunk := stderr.read(CHUNK):
                self._tail = (self._tail + chunk)[-TAIL:]


def _wait(popen: subprocess.Popen[bytes]) -> str | None:
    """Wait a moment for the end of a process, and return how it ended; None if it runs on."""
    until = time.monotonic() + END_SECONDS
    while (how := _how_it_ended(popen)) is None and time.monotonic() < until:
        time.sleep(POLL_SECONDS / 10)
    return how


def _how_it_ended(popen: subprocess.Popen[bytes]) -> str | None:
    """Return how a process has ended, in words; None while it runs.

    It is not reaped: until then its number, which is that of its group, belongs to nobody else.
    """
    if os.name != "posix" or popen.returncode is not None:
        return None if popen.poll() is None else f"with exit code {popen.returncode}"
    found = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    how = "with exit code" if found.si_code == os.CLD_EXITED else "by signal"
    return f"{how} {found.si_status}"


def _end(popen: subprocess.Popen[bytes], pipes: _Pipes) -> None:
    with suppress(OSError):  # it may be gone
        if os.name == "posix":
            if popen.returncode is None:
                os.killpg(popen.pid, signal.SIGKILL)  # also if it has ended: for what it left behind
        else:
            popen.kill()
    popen.wait()
    pipes.close()
