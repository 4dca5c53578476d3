"""Ctrl-C and SIGTERM: how commands handle them, and which work they must not cut short.

Python handles a signal between two instructions of the main thread only: not while compiled code runs there, and
the exception may be lost in a callback.  The command line therefore runs a watcher, a thread that Python's signal
handler in C wakes by a byte in a socket:

    first signal     KeyboardInterrupt in the main thread: kernels are stopped, results are saved
    a second later   the watcher ends the process, unless work must be finished first (``defer_exit``)
    second signal    the watcher ends the process at once

The library does not use this: there, Ctrl-C raises KeyboardInterrupt as usual.  Only a process that belongs to
mdplay (``own_process``) changes settings of the process: signal handlers, the garbage collector, ``sys.path``.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

KERNEL_SECONDS = 0.5  # time for kernels to stop; then their threads are abandoned
LEAVE_SECONDS = 0.9  # time for the main thread to end after a signal
TICK_SECONDS = 0.05


class Process:
    """Whether this process belongs to mdplay: the command line, or a worker that it started."""

    is_own = False


def own_process() -> None:
    """Allow mdplay to change settings of this process."""
    Process.is_own = True


class Terminated(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C, but without a partial answer."""


class StillRunning(KeyboardInterrupt):
    """Ctrl-C, and kernels that did not stop in time: what they write must not be saved."""


class Patience:
    """The state of the main thread that the watcher reads."""

    def __init__(self) -> None:
        self.finishing = 0  # depth of blocks that must be finished
        self.answered = False  # the signal has ended a job, and the program goes on to its answer


SHUTDOWN = Patience()


@contextmanager
def defer_exit() -> Iterator[None]:
    """Mark work that is finished even after Ctrl-C, such as saving; only a second Ctrl-C cuts it short."""
    SHUTDOWN.finishing += 1
    try:
        yield
    finally:
        SHUTDOWN.finishing -= 1


@contextmanager
def saving(save: Callable[[], object] | None) -> Iterator[None]:
    """Save when Ctrl-C ends the block, unless a kernel still writes: then what was saved last stays."""
    try:
        yield
    except StillRunning:
        raise
    except KeyboardInterrupt:
        if save is not None:
            with defer_exit():
                save()
        raise


def mark_interrupt_handled() -> None:
    """Note that Ctrl-C has ended a job and that its partial answer follows."""
    SHUTDOWN.answered = True


class SignalWatcher:
    """Handles SIGINT and SIGTERM while the block runs; ``leave(number)`` ends the process from any thread."""

    def __init__(self, leave: Callable[[int], None], notice: Callable[[str], None]) -> None:
        self._leave, self._notice = leave, notice
        self.number = 0  # the signal that was received first
        self._raised = self._over = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> SignalWatcher:
        """Start the watcher; a signal that the shell lets the program ignore stays ignored."""
        SHUTDOWN.answered = False
        if threading.current_thread() is not threading.main_thread():
            return self
        reader, self._writer = socket.socketpair()  # a pipe cannot be made non-blocking on every system
        self._writer.setblocking(False)
        threading.Thread(target=self._watch, args=(reader,), daemon=True).start()
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is usual:
                self._before[number] = signal.signal(number, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the watcher and restore the signal handlers."""
        self.close(restore=True)

    def close(self, *, restore: bool) -> None:
        """Stop the watcher; restore the signal handlers, or ignore signals if the program is about to end."""
        if self._over:
            return
        self._over = True
        for number, before in self._before.items():
            signal.signal(number, before if restore else signal.SIG_IGN)
        if hasattr(self, "_writer"):
            signal.set_wakeup_fd(self._wakeup)
            self._writer.close()  # which ends the thread

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        if self._raised:
            return  # the watcher handles the second signal
        self._raised, self.number = True, self.number or number
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    def _watch(self, reader: socket.socket) -> None:
        """Read the signals as they arrive: the first starts a timer, the second ends the process."""
        heard = 0
        while numbers := reader.recv(64):
            for number in numbers:
                if number not in self._before:
                    continue  # a signal of other code, such as an alarm
                heard += 1
                self.number = self.number or number
                if heard > 1:
                    self._leave(self.number)
                threading.Thread(target=self._count_down, daemon=True).start()
        reader.close()

    def _count_down(self) -> None:
        """End the process after LEAVE_SECONDS, unless the main thread has answered or defers the exit."""
        left, told = LEAVE_SECONDS, False
        while left > 0:
            time.sleep(TICK_SECONDS)
            left -= TICK_SECONDS
            if self._over or SHUTDOWN.answered:
                return
            if SHUTDOWN.finishing and left <= 0:
                if not told:
                    self._notice("saving; Ctrl-C again leaves without")
                left, told = LEAVE_SECONDS, True
        self._leave(self.number)
