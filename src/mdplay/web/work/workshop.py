"""Kernels are compiled in processes of their own, which fill the cache on disk.

Compiling holds the GIL for up to a second, and the event loop would wait that long.  So this process compiles
nothing (``mdplay.runtime.threads.compiling.elsewhere``): where a kernel is missing, a child does the same work in
small (child.py), and then it is loaded from the disk.  Where nothing can be kept on disk it is compiled here after
all.

The work is bounded: ``CHILDREN`` processes at a time, ``MAX_WAITING`` tasks behind them, one task of training
(``train``).  A task whose last caller has left is dropped after ``LEAVE_SECONDS``, and its process is killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from mdplay import NotCompiled
from mdplay.runtime.threads import compiling
from mdplay.web.safety import busy

T = TypeVar("T")
Task = dict[str, Any]  # what a child does: plain data
CHILDREN = 2  # processes at a time
MAX_WAITING = 2  # tasks that wait for a process; further ones are refused
LEAVE_SECONDS = (
    1.0  # that a task goes on without a caller: the next position of the same game is often asked at once
)
POLL_SECONDS = 0.05
CHILD_SECONDS = 300.0


class Order:
    """A task for a child: the callers that wait for it, and its process while it runs."""

    def __init__(self, title: str, key: str, line: Callable[[str], None] = lambda text: None) -> None:
        self.title, self.key, self.line = title, key, line
        self.future: Future[bool] = Future()
        self.callers = 0
        self.dropped = False
        self.child: subprocess.Popen[str] | None = None


class CompileService:
    """Callers that need kernels bring the work, and a small task by which a child compiles them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: dict[str, Order] = {}  # waiting or running
        self._waiting: deque[Order] = deque()
        self._running: set[Order] = set()
        self._training: Order | None = None
        self._closed = False

    @property
    def busy(self) -> list[str]:
        """What is being prepared, as text."""
        with self._lock:
            return [f"preparing {order.title}" for order in self._running]

    def done(
        self,
        title: str,
        task: Task,
        work: Callable[[], T],
        *,
        check: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> T:
        """Do the work and return its result; ``check`` is called while a child compiles and may raise.

        Raise Refused (503) if too many tasks wait already.
        """
        try:
            return work()
        except NotCompiled:
            notice(f"Compiling {title} …")
        with self._joined(title, task) as order:
            while not order.future.done():
                check()
                time.sleep(POLL_SECONDS)
        try:
            found = work()
        except NotCompiled:
            with compiling.here():
                found = work()
        notice("")
        return found

    def train(self, title: str, task: Task, line: Callable[[str], None]) -> Future[bool] | None:
        """Let a child do a long task that reports lines; the future tells whether it was completed.

        One such task runs at a time, and without a caller; return None if there is one already.
        """
        with self._lock:
            if self._closed or (self._training is not None and not self._training.future.done()):
                return None
            order = self._training = self._added(Order(title, _key(task), line))
            order.callers = 1  # it has no caller that could leave
        self._begin()
        return order.future

    # ---------------------------------------------------------------- callers
    @contextmanager
    def _joined(self, title: str, task: Task) -> Iterator[Order]:
        """Wait for a task together with its other callers."""
        key = _key(task)
        with self._lock:
            order = self._orders.get(key)
            if order is None:
                if self._closed or len(self._waiting) >= MAX_WAITING:
                    raise busy(len(self._running) + len(self._waiting))
                order = self._added(Order(title, key))
            order.callers += 1
        self._begin()
        try:
            yield order
        finally:
            with self._lock:
                order.callers -= 1
                left = not order.callers and not order.future.done()
            if left:
                timer = threading.Timer(LEAVE_SECONDS, self._drop, (order,))
                timer.daemon = True
                timer.start()

    def _added(self, order: Order) -> Order:
        self._orders[order.key] = order
        self._waiting.append(order)
        return order

    def _drop(self, order: Order) -> None:
        """End a task if no caller waits for it."""
        with self._lock:
            if order.callers or order.future.done():
                return
            order.dropped = True
            self._orders.pop(order.key, None)
            if order in self._waiting:
                self._waiting.remove(order)
                order.future.set_result(False)
            elif order.child is not None:
                order.child.kill()

    # ---------------------------------------------------------------- processes
    def _begin(self) -> None:
        """Start as many of the waiting tasks as there may be processes."""
        with self._lock:
            while self._waiting and len(self._running) < CHILDREN and not self._closed:
                order = self._waiting.popleft()
                self._running.add(order)
                threading.Thread(target=self._work, args=(order,), daemon=True).start()

    def _work(self, order: Order) -> None:
        found = False
        try:
            found = self._run(order)
        except OSError:  # no process can be started, or it did not read its task
            pass
        finally:
            with self._lock:
                self._running.discard(order)
                if self._orders.get(order.key) is order:
                    self._orders.pop(order.key)
            order.future.set_result(found)
            self._begin()

    def _run(self, order: Order) -> bool:
        child = subprocess.Popen(
            [sys.executable, "-m", "mdplay.web.work.child"],
            env={**os.environ, "MDPLAY_PLAIN_SECONDS": "0"},  # what it does in small is to be compiled
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for us; we end it
        )
        with self._lock:
            order.child = child
            ended = self._closed or order.dropped
        timer = threading.Timer(0.0 if ended else CHILD_SECONDS, child.kill)
        timer.daemon = True
        timer.start()
        try:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(order.key + "\n")
            child.stdin.flush()  # and left open: the child ends when this process has ended
            for text in child.stdout:
                order.line(text.strip())
            return child.wait() == 0
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def close(self) -> None:
        """End the children."""
        with self._lock:
            self._closed = True
            children = [order.child for order in self._running if order.child is not None]
            for order in self._waiting:
                order.future.set_result(False)
            self._waiting.clear()
        for child in children:
            child.kill()


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)
