"""Kernels are compiled in a process of its own, which fills the cache on disk.

Compiling holds the GIL for up to a second, and the event loop would wait that long.  So this process compiles
nothing (``mdplay.running.compiling.elsewhere``): where a kernel is missing, a child does the same work in small
(child.py), and then it is loaded from the disk.  Where nothing can be kept on disk it is compiled here after all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from mdplay.errors import NotCompiled
from mdplay.running import compiling

T = TypeVar("T")
Task = dict[str, Any]  # what a child does: plain data
CHILDREN = 2  # at once
POLL_SECONDS = 0.05
CHILD_SECONDS = 300.0


class Workshop:
    """Whoever needs kernels brings the work, and what a child is to do in small."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(CHILDREN)
        self._asked: dict[str, Future[bool]] = {}
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False
        self.busy: dict[str, str] = {}

    def done(
        self,
        title: str,
        task: Task,
        work: Callable[[], T],
        *,
        check: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> T:
        """Do the work and return what it gives; ``check`` is called while a child compiles and may raise."""
        try:
            return work()
        except NotCompiled:
            notice(f"Preparing {title} for this machine: once, then it is kept.")
        future = self._child(title, task)
        while not future.done():
            check()
            time.sleep(POLL_SECONDS)
        try:
            found = work()
        except NotCompiled:
            with compiling.here():
                found = work()
        notice("")
        return found

    def run(self, title: str, task: Task, line: Callable[[str], None]) -> Future[bool]:
        """Let a child do a task, told line by line; whether it came to its end."""
        return self._child(title, task, line)

    def _child(self, title: str, task: Task, line: Callable[[str], None] = lambda text: None) -> Future[bool]:
        key = json.dumps(task, sort_keys=True)
        with self._lock:
            found = self._asked.get(key)
            if found is not None and not found.done():
                return found
            future: Future[bool] = Future()
            self._asked[key] = future
        threading.Thread(target=self._work, args=(title, key, future, line), daemon=True).start()
        return future

    def _work(self, title: str, key: str, future: Future[bool], line: Callable[[str], None]) -> None:
        with self._slots:
            self.busy[key] = f"preparing {title}"
            try:
                future.set_result(self._run(key, line))
            except OSError:
                future.set_result(False)
            finally:
                self.busy.pop(key, None)

    def _run(self, task: str, line: Callable[[str], None]) -> bool:
        if self._closed:
            return False
        child = subprocess.Popen(
            [sys.executable, "-m", "mdplay.web.work.child"],
            env={**os.environ, "MDPLAY_PLAIN_SECONDS": "0"},  # what it does in small is to be compiled
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for us; we end it
        )
        self._running.add(child)
        timer = threading.Timer(CHILD_SECONDS, child.kill)
        timer.daemon = True
        timer.start()
        try:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(task)
            child.stdin.close()
            for text in child.stdout:
                line(text.strip())
            return child.wait() == 0
        finally:
            timer.cancel()
            self._running.discard(child)
            child.kill()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()

    def close(self) -> None:
        """End the children."""
        self._closed = True
        for child in list(self._running):
            child.kill()
