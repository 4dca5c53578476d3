"""Numbered games played in threads, so that neither their number nor their luck changes anything.

Numbers are handed out in order.  When a game fails, no further one is begun, those under way are finished, and
the failure with the smallest number is raised: it is the same whatever the number of threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from mdplay.stopping import KERNEL_SECONDS

T = TypeVar("T")
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class _Done(Generic[T]):
    number: int
    value: T | None = None
    error: BaseException | None = None


class _Feed:
    """Numbers handed out in order, to any thread, until it is closed."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers, self._lock, self._closed = iter(numbers), threading.Lock(), False

    def close(self) -> None:
        self._closed = True

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            if self._closed:
                raise StopIteration
            return next(self._numbers)


def run_numbered(
    numbers: Iterable[int],
    task: Callable[[int, Callable[[], bool]], T],
    done: Callable[[int, T], None],
    *,
    threads: int = 1,
) -> None:
    """Call ``task(number, stopped)`` for each number and ``done(number, value)`` with what it returns.

    ``done`` is called in this thread, as games end.  Ctrl-C makes ``stopped()`` true and waits for the tasks, but
    not for long: whoever thinks on is left to itself.
    """
    if threads == 1:
        for number in numbers:
            done(number, task(number, lambda: False))
        return
    _run_threads(_Feed(numbers), task, done, threads)


def _run_threads(
    feed: _Feed, task: Callable[[int, Callable[[], bool]], T], done: Callable[[int, T], None], threads: int
) -> None:
    stop, box = threading.Event(), SimpleQueue[_Done[T] | None]()
    workers: list[threading.Thread] = []
    try:
        for _ in range(threads):
            worker = threading.Thread(target=_work, args=(feed, task, stop, box), daemon=True)
            worker.start()
            workers.append(worker)
        failed = _collect(box, done, threads)
    finally:
        feed.close()
        stop.set()
        until = time.monotonic() + KERNEL_SECONDS
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
    if failed:
        raise min(failed, key=lambda one: one.number).error  # type: ignore[misc]


def _work(
    feed: _Feed,
    task: Callable[[int, Callable[[], bool]], T],
    stop: threading.Event,
    box: SimpleQueue[_Done[T] | None],
) -> None:
    for number in feed:
        try:
            box.put(_Done(number, value=task(number, stop.is_set)))
        except BaseException as error:
            feed.close()
            box.put(_Done(number, error=error))
    box.put(None)


def _collect(box: SimpleQueue[_Done[T] | None], done: Callable[[int, T], None], threads: int) -> list[_Done[T]]:
    """Pass on what the workers finish until all have left; return the failures."""
    failed, working = [], threads
    while working:
        try:
            one = box.get(timeout=POLL_SECONDS)  # a wait without end would not hear Ctrl-C everywhere
        except Empty:
            continue
        if one is None:
            working -= 1
        elif one.error is not None:
            failed.append(one)
        else:
            done(one.number, one.value)  # type: ignore[arg-type]
    return failed
