"""Ctrl-C and SIGTERM: who hears them, and what must not be cut short by them.

Python hears a signal between two instructions of the main thread only: not while compiled code runs there, and
what it raises then may be lost in a callback.  So the command line keeps a watchman, a thread that the handler of
the C library wakes by a byte in a pipe:

    first signal     KeyboardInterrupt in the main thread: kernels are stopped, what can be kept is saved
    a second later   the watchman leaves the process, unless something must be finished first (``defer_exit``)
    second signal    the watchman leaves at once

The library does not use this: there, Ctrl-C raises KeyboardInterrupt as usual.  Only a process that belongs to
mdplay (``own_process``) changes settings of the process: signal handlers, the garbage collector, ``sys.path``.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

KERNEL_SECONDS = 0.5  # that kernels get to stop; then they are left to themselves
LEAVE_SECONDS = 0.9  # that the main thread gets in all
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
    """What the watchman must know of the main thread."""

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
    """Tell that Ctrl-C has ended a job, and that its answer follows."""
    SHUTDOWN.answered = True


class SignalWatcher:
    """Hears SIGINT and SIGTERM while the block runs; ``leave(number)`` ends the process from any thread."""

    def __init__(self, leave: Callable[[int], None], notice: Callable[[str], None]) -> None:
        self._leave, self._notice = leave, notice
        self.number = 0  # the signal that was heard first
        self._raised = self._over = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> SignalWatcher:
        """Begin to listen; a signal that the shell lets the program ignore stays ignored."""
        SHUTDOWN.answered = False
        if threading.current_thread() is not threading.main_thread():
            return self
        reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        threading.Thread(target=self._watch, args=(reader,), daemon=True).start()
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is usual:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more, and leave the signals as they were."""
        self.close(restore=True)

    def close(self, *, restore: bool) -> None:
        """Listen no more; signals are as before, or ignored by a program that is about to end."""
        if self._over:
            return
        self._over = True
        for number, before in self._before.items():
            signal.signal(number, before if restore else signal.SIG_IGN)
        if hasattr(self, "_writer"):
            signal.set_wakeup_fd(self._wakeup)
            os.close(self._writer)  # which ends the thread

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._raised:
            return  # the watchman has the second one
        self._raised, self.number = True, self.number or number
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    def _watch(self, reader: int) -> None:
        """Read the signals as they come: the first starts the clock, the second ends the process."""
        heard = 0
        while numbers := os.read(reader, 64):
            for number in numbers:
                if number not in self._before:
                    continue  # an alarm clock of somebody else's
                heard += 1
                self.number = self.number or number
                if heard > 1:
                    self._leave(self.number)
                threading.Thread(target=self._count_down, daemon=True).start()
        os.close(reader)

    def _count_down(self) -> None:
        """Leave when the main thread has had its time, and says nothing that asks for more."""
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
