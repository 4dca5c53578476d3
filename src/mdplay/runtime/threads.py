"""Kernels at work in threads: watched, stopped, never in the way of Ctrl-C.

Kernels run without the GIL and share two arrays with Python.  ``stop``: set to 1, and they return soon with
what they have.  ``progress``: a count per thread that anybody may read while they run.
"""

from __future__ import annotations

import atexit
import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread, Timer, current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import LimitError, MdplayError, short
from mdplay.runtime.signals import KERNEL_SECONDS, Process, StillRunning, Terminated, mark_interrupt_handled

StopFlag = NDArray[np.uint8]  # one element: 1 ends a kernel soon
Counters = NDArray[np.int64]  # the progress of each thread

T = TypeVar("T")
Show = Callable[[int], None]
POLL_SECONDS = 0.1
MAX_THREADS = 1024
MAX_IDLE = 16  # threads that wait for tasks


class WorkSlice(NamedTuple):
    """One thread's share of a job: items first, first + stride, ...; when to stop, and how far all threads are."""

    first: int
    stride: int
    stop: StopFlag
    progress: Counters


class TaskGroup:
    """The stop and progress arrays of one job, and the callback that reports progress."""

    def __init__(self, threads: int = 1, show: Show | None = None, *, interruptible: bool = False) -> None:
        self.stop: StopFlag = np.zeros(1, np.uint8)
        self.progress: Counters = np.zeros(threads, np.int64)
        self._show = show
        self._interruptible = interruptible
        self._ended = False  # a run has ended here, and set stop by itself

    def worker(self, first: int = 0, stride: int = 1) -> WorkSlice:
        """Return the share of thread ``first`` of ``stride`` threads, as kernels take it."""
        return WorkSlice(first, stride, self.stop, self.progress)

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """Run the tasks side by side, each in a thread, and return their results in order.

        Ctrl-C stops the kernels and goes on as KeyboardInterrupt; if the job is interruptible it ends there with
        what the kernels have.  A task that has not stopped within ``KERNEL_SECONDS``, such as a compiler or a rule
        that never ends, is abandoned, and StillRunning is raised.  A caller may have set ``stop`` before the
        first run, while kernels were being compiled: then they return at once.

        ``show`` may raise, to cancel the job: the kernels are stopped, and the exception goes on to the caller
        when they have returned, so that no task writes into their arrays any more.
        """
        if self._ended:
            self.stop[0] = 0
        futures: list[Future[T]] = []
        try:
            self._begin(tasks, futures)
            self._wait(futures)
        except KeyboardInterrupt as interrupt:
            all_began = self._halt(futures)
            if not (all_began and self._interruptible) or isinstance(interrupt, Terminated):
                raise
            mark_interrupt_handled()
        except Exception:  # what ``show`` raised
            self.stop[0] = 1
            wait(futures)
            raise
        finally:
            self.stop[0] = 1  # for tasks that still run: after Ctrl-C, or beside a task that failed
            self._ended = True
        wait(futures)
        return [translating(future.result) for future in futures]

    def _begin(self, tasks: Sequence[Callable[[], T]], futures: list[Future[T]]) -> None:
        """Give each task to a thread of its own."""
        for task in tasks:
            future: Future[T] = Future()
            futures.append(future)  # first: Ctrl-C may come while the thread starts
            try:
                _POOL.submit(task, future)
            except RuntimeError:
                futures.pop()
                raise LimitError(f"the system allows no {len(tasks)} threads; ask for fewer") from None

    def _halt(self, futures: list[Future[T]]) -> bool:
        """Stop the kernels, or raise StillRunning; tell whether each had begun."""
        self.stop[0] = 1
        begun = [future for future in futures if not future.cancel()]  # what no thread has taken is cancelled
        if wait(begun, timeout=KERNEL_SECONDS).not_done:
            self.stop, self.progress = np.ones_like(self.stop), np.zeros_like(self.progress)  # theirs stay set
            raise StillRunning from None
        return len(begun) == len(futures)

    def _wait(self, futures: list[Future[T]]) -> None:
        pending: set[Future[T]] = set(futures)
        while pending:
            done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
            if any(future.exception() for future in done):
                return
            if self._show is not None:
                self._show(int(self.progress.sum()))


Inbox = SimpleQueue[tuple[Callable[[], Any], Future[Any]]]


class ThreadPool:
    """Threads that wait for tasks: starting a thread takes as long as a short search.

    They are daemon threads, which the end of the program does not wait for; at most ``max_idle`` of them stay.  A
    forked process has none of them; Python from 3.12 on warns of a fork while there are any.
    """

    def __init__(self, max_idle: int = MAX_IDLE) -> None:
        self._idle: list[Inbox] = []
        self._max_idle = max_idle
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._idle.clear)

    def submit(self, task: Callable[[], T], future: Future[T] | None = None) -> Future[T]:
        """Run a task in a thread of its own; return its future.  Raises RuntimeError if no thread starts."""
        future = Future() if future is None else future
        try:
            self._idle.pop().put((task, future))
        except IndexError:
            inbox: Inbox = SimpleQueue()
            inbox.put((task, future))  # first: Ctrl-C may come while the thread starts
            Thread(target=self._serve, args=(inbox,), daemon=True).start()
        return future

    def _serve(self, inbox: Inbox) -> None:
        while self._work(inbox, *inbox.get()):  # holds no reference to a finished task while it waits
            pass

    def _work(self, inbox: Inbox, task: Callable[[], T], future: Future[T]) -> bool:
        """Run a task; return whether to wait for another.

        The thread is idle before the future is done, so that the caller's next task finds it.
        """
        if not future.set_running_or_notify_cancel():
            self._idle.append(inbox)
            return True
        finish: Callable[[], None]
        try:
            finish = partial(future.set_result, task())
        except BaseException as error:  # propagates to the caller
            finish = partial(future.set_exception, error)
        stays = len(self._idle) < self._max_idle
        if stays:
            self._idle.append(inbox)
        finish()
        return stays


_POOL, _ENDING = ThreadPool(), ThreadPool(max_idle=0)


def in_thread(task: Callable[[], T]) -> Future[T]:
    """Run a task in a thread of the pool and return its future."""
    return _POOL.submit(task)


def call_library(task: Callable[[], T]) -> T:
    """Return the result of a library that cannot be stopped; Ctrl-C leaves it running.

    Its thread ends with the task, since SuperLU leaves data in it that Python fails to free at its own end.
    """
    return _awaited(_ENDING.submit(task))


def _awaited(future: Future[T]) -> T:
    """Return the result of a future; a signal that arrives just before a wait without end would not be noticed."""
    while not future.done():
        wait([future], timeout=POLL_SECONDS)
    return future.result()


def translating(task: Callable[..., T], *arguments: Any) -> T:
    """Run a task in this thread and return its result; an exception of a rule becomes a GameError.

    A context manager such as ``wrap_rule_errors`` would take longer than a short proof.
    """
    try:
        return task(*arguments)
    except (MdplayError, MemoryError):
        raise
    except Exception as error:
        from mdplay.compiling.contract import rule_error  # late: mdplay.compiling needs the threads

        translated = rule_error(error)
        if translated is None:
            raise
        raise translated from error


def num_threads(threads: int | None) -> int:
    """Return the number of threads asked for, or one for each core; raise LimitError if they are too many."""
    if threads is not None and threads > MAX_THREADS:
        raise LimitError(f"{short(threads)} threads are too many; at most {MAX_THREADS}")
    return max(
        1,
        threads if threads is not None else len(os.sched_getaffinity(0)) if _can_ask() else os.cpu_count() or 1,
    )


def _can_ask() -> bool:
    return hasattr(os, "sched_getaffinity")


# ---------------------------------------------------------------- compiling
class CompileTime:
    """The time that went to compilers, and to what was begun in vain before; threads side by side count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._until = 0.0
        self._lock = Lock()

    def add(self, began: float, ended: float) -> None:
        """Note an interval, in seconds of ``time.perf_counter``."""
        with self._lock:
            self.seconds += max(0.0, ended - max(began, self._until))
            self._until = max(self._until, ended)


COMPILE_TIME = CompileTime()


class Stopwatch:
    """Measures work as if all its kernels had been compiled before."""

    def __init__(self) -> None:
        self._began, self._lost = time.perf_counter(), COMPILE_TIME.seconds

    @property
    def seconds(self) -> float:
        """The seconds since the start, without those of compilers."""
        return max(1e-9, time.perf_counter() - self._began - self.lost)

    @property
    def lost(self) -> float:
        """The seconds since the start that went to compilers, and to what was begun in vain before."""
        return COMPILE_TIME.seconds - self._lost


class Compiling:
    """Run compilers outside the main thread, where KeyboardInterrupt could leave them in an invalid state.

    In a process of mdplay's own, garbage collection is disabled meanwhile: a compiler creates millions of objects
    and keeps most of them, and the collector took a seventh of the compile time.
    """

    def __init__(self) -> None:
        self._working: set[Thread] = set()
        self._lock = Lock()
        self._collects = False  # whether the collector is to be enabled again
        self._ends = False
        self.elsewhere = False  # a kernel that no cache has is not compiled here: NotCompiled is raised instead

    @property
    def busy(self) -> bool:
        """Whether something is being compiled now."""
        return any(thread.is_alive() for thread in list(self._working))

    @contextmanager
    def here(self) -> Iterator[None]:
        """Let kernels be compiled in this process after all."""
        before, self.elsewhere = self.elsewhere, False
        try:
            yield
        finally:
            self.elsewhere = before

    def run(self, task: Callable[[], T]) -> T:
        """Run a compiler and return what it gives; Ctrl-C does not wait for it."""
        if current_thread() is not main_thread():
            return self._counted(task)
        return _awaited(in_thread(partial(self._counted, task)))

    def _counted(self, task: Callable[[], T]) -> T:
        if not self._ends:
            self._ends = True
            atexit.register(self._wait)
        thread = current_thread()
        outer = thread in self._working
        self._begin(thread)
        began = time.perf_counter()
        try:
            return task()
        finally:
            COMPILE_TIME.add(began, time.perf_counter())
            if not outer:
                self._end(thread)

    def _begin(self, thread: Thread) -> None:
        with self._lock:
            if Process.is_own and not self._working:
                self._collects = gc.isenabled()
                gc.disable()
            self._working.add(thread)

    def _end(self, thread: Thread) -> None:
        with self._lock:
            self._working.discard(thread)
            if self._collects and not self._working:
                self._collects = False
                gc.enable()

    def _wait(self) -> None:
        """Wait for abandoned compilers: the end of the process would pull LLVM away under them."""
        while self.busy:
            time.sleep(POLL_SECONDS)


compiling = Compiling()


@contextmanager
def stopped_after(watch: TaskGroup, seconds: float | None) -> Iterator[None]:
    """Stop the kernels of ``watch`` after ``seconds`` seconds, if given."""
    if seconds is None:
        yield
        return
    timer = Timer(seconds, lambda: watch.stop.fill(1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
