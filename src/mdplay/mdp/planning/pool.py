"""Threads that share the states of a model among them, sweep after sweep.

A sweep may take a millisecond, and waking a sleeping thread a tenth of that or more.  So a worker that has just
finished a part spins for the next one before it goes to sleep, and so does the caller who waits for a worker:

    caller   | signal | own part      | spin | signal | own part ...
    worker   spin     | its part    | spin   | its part ...

Both spin in compiled code that does not hold the interpreter.  They do so for a short while only: a woken
thread may be put on the processor of the one that woke it, and there it waits until that one sleeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from itertools import count, pairwise
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from mdplay.bridge import kernel, peek
from mdplay.mdp.arrays import Change
from mdplay.states.walks import Integers

THREAD_TRANSITIONS = 200_000  # below this a second thread costs more than it brings
SPINS = 5_000  # before sleep; a tenth of a millisecond


@kernel
def spin(count: Any, seen: int, limit: int) -> bool:
    """Return whether the count becomes another than the one seen, within so many reads."""
    for _ in range(limit):
        if peek(count, 0) != seen:
            return True
    return False


class Signal:
    """A counter of messages for which a thread spins, and then sleeps."""

    def __init__(self) -> None:
        self._count = np.zeros(1, np.int64)
        self._event = Event()

    def send(self) -> None:
        """Send a message."""
        self._count[0] += 1
        self._event.set()

    def wait_for(self, number: int) -> None:
        """Return when so many messages were sent, the last of them now or soon; only one thread may ask."""
        if self._count[0] < number and not spin(self._count, number - 1, SPINS):
            while self._count[0] < number:
                self._event.wait()
                self._event.clear()


class Worker:
    """A thread that waits for work as long as the program runs."""

    def __init__(self) -> None:
        self._work, self._done = Signal(), Signal()
        self._begun = 0  # calls; as many are done, unless Ctrl-C came while one was waited for
        self._call: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
        self._answer: Any = None
        self._error: BaseException | None = None
        Thread(target=self._serve, daemon=True).start()

    def begin(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Let the thread call a function."""
        self._done.wait_for(self._begun)
        self._call = function, arguments
        self._begun += 1
        self._work.send()

    def end(self) -> Any:
        """Wait for the call and return its answer."""
        self._done.wait_for(self._begun)
        answer, error = self._answer, self._error
        self._answer = self._error = None
        if error is not None:
            raise error
        return answer

    def _serve(self) -> None:
        for number in count(1):
            self._work.wait_for(number)
            assert self._call is not None
            (function, arguments), self._call = self._call, None
            self._answer = self._error = None
            try:
                self._answer = function(*arguments)
            except BaseException as error:  # whatever it is belongs to who asked
                self._error = error
            del arguments
            self._done.send()


@cache
def _workers(number: int) -> tuple[Lock, list[Worker]]:
    """Return workers, and the lock that keeps them for one caller at a time."""
    return Lock(), [Worker() for _ in range(number)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a child has none of its parent's threads


class Pool:
    """Threads that share the states of a model among them."""

    def __init__(self, threads: int, *pointers: Integers) -> None:
        """Divide the states so that each part has about as many entries.

        The first array points from the states to their entries in the next one, and so on; the entries of the
        last count.
        """
        self.threads = threads
        total = int(pointers[-1][-1])
        parts = max(1, min(threads, total // THREAD_TRANSITIONS))
        cuts = [_place(pointers, total * i // parts) for i in range(1, parts)]
        self.parts = list(pairwise([0, *cuts, len(pointers[0]) - 1]))

    def all(self, kernel: Callable[..., Any], before: tuple[Any, ...], *after: Any) -> list[Any]:
        """Run a kernel over all parts at once: its arguments before the part's bounds, and those after them."""
        if len(self.parts) == 1:
            return [kernel(*before, *self.parts[0], *after)]
        lock, workers = _workers(len(self.parts) - 1)
        with lock:
            for worker, part in zip(workers, self.parts[1:], strict=True):
                worker.begin(kernel, (*before, *part, *after))
            try:
                own = kernel(*before, *self.parts[0], *after)
            finally:
                others = [worker.end() for worker in workers]
        return [own, *others]

    def sweep(self, kernel: Callable[..., Any], before: tuple[Any, ...], *after: Any) -> Change:
        """Run a kernel that tells how it changed the values."""
        found = self.all(kernel, before, *after)
        if len(found) == 1:
            return Change(*found[0])
        lows, highs, switched = zip(*found, strict=True)
        return Change(min(lows), max(highs), sum(switched))


def _place(pointers: tuple[Integers, ...], entry: int) -> int:
    """Return the state of an entry."""
    for array in reversed(pointers):
        entry = int(np.searchsorted(array, entry))
    return entry
