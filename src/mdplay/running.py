"""Kernels at work in threads: watched, stopped, never in the way of Ctrl-C.

Kernels run without the GIL and share two arrays with Python.  ``stop``: set to 1, and they return soon with
what they have.  ``progress``: a count per thread that anybody may read while they run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import GameError, MdplayError

T = TypeVar("T")
Show = Callable[[int], None]
POLL_SECONDS = 0.1


class Watch:
    """The stop and progress arrays of one job, and who is told of the progress."""

    def __init__(self, threads: int = 1, show: Show | None = None, *, interruptible: bool = False) -> None:
        self.stop: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self.progress: NDArray[np.int64] = np.zeros(threads, np.int64)
        self._show = show
        self._interruptible = interruptible
        self._ended = False  # a run has ended here, and set stop by itself

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """Run the tasks side by side, each in a thread, and return their results in order.

        Ctrl-C stops the kernels, waits for them and goes on as KeyboardInterrupt; if the job is interruptible it
        ends there with what the kernels have.  A caller may have set ``stop``
        before the first run, while kernels were being compiled: then they return at once.
        """
        if self._ended:
            self.stop[0] = 0
        with ThreadPoolExecutor(len(tasks)) as pool:
            futures = [pool.submit(task) for task in tasks]
            try:
                self._wait(futures)
            except KeyboardInterrupt:
                if not self._interruptible:
                    raise
            finally:
                self.stop[0] = 1  # for whoever still runs: after Ctrl-C, or beside a task that failed
                self._ended = True
        return [in_words(future.result) for future in futures]

    def _wait(self, futures: list[Future[T]]) -> None:
        pending: set[Future[T]] = set(futures)
        while pending:
            done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
            if any(future.exception() for future in done):
                return
            if self._show is not None:
                self._show(int(self.progress.sum()))


def in_words(task: Callable[..., T], *arguments: Any) -> T:
    """Run a task here and return its result; what a rule raised becomes a sentence."""
    try:
        return task(*arguments)
    except (MdplayError, MemoryError):
        raise
    except Exception as error:
        raise GameError(f"a rule of the game raised {type(error).__name__}: {error}") from error


def num_threads(threads: int | None) -> int:
    """Return the number of threads asked for, or one for each core."""
    return max(
        1,
        threads if threads is not None else len(os.sched_getaffinity(0)) if _can_ask() else os.cpu_count() or 1,
    )


def _can_ask() -> bool:
    return hasattr(os, "sched_getaffinity")


def in_thread(task: Callable[[], Any]) -> Any:
    """Run one task beside the main thread, so that Ctrl-C is heard."""
    return Watch().run([task])[0]
