"""Kernels compiled in processes of their own: so many at a time, and none that nobody waits for."""

import json
import subprocess
import sys
import threading
import time

import pytest

from mdplay.errors import NotCompiled
from mdplay.web.safety import Refused
from mdplay.web.work import workshop as module
from mdplay.web.work.jobs import Cancelled
from mdplay.web.work.workshop import CHILDREN, MAX_WAITING, CompileService
from tests.web.serving import wait_for


class Children:
    """In place of processes: each runs until it is killed or all may finish."""

    def __init__(self, monkeypatch):
        self.begun, self.killed, self.finish = [], [], threading.Event()
        monkeypatch.setattr(CompileService, "_run", lambda _, order: self.run(order))
        monkeypatch.setattr(module, "LEAVE_SECONDS", 0.05)

    def run(self, order):
        self.begun.append(order.key)
        order.child = self
        order.killed = threading.Event()
        while not (self.finish.is_set() or order.dropped):
            time.sleep(0.005)
        self.killed += [order.key] * order.dropped
        return not order.dropped

    def kill(self):
        pass  # `dropped` tells


@pytest.fixture
def children(monkeypatch):
    made = Children(monkeypatch)
    yield made
    made.finish.set()


class Caller:
    """A request that needs the kernels of a task, in a thread."""

    def __init__(self, workshop, number):
        self.left, self.outcome = threading.Event(), None
        self._compiled = False
        self.thread = threading.Thread(target=self._call, args=(workshop, number))
        self.thread.start()

    def _call(self, workshop, number):
        try:
            self.outcome = workshop.done("it", {"n": number}, self._work, check=self._check)
        except (Refused, Cancelled) as error:
            self.outcome = error

    def _work(self):
        if not self._compiled:
            self._compiled = True
            raise NotCompiled("kernel")
        return "done"

    def _check(self):
        if self.left.is_set():
            raise Cancelled


def test_no_more_tasks_than_processes_and_places_to_wait(children):
    workshop = CompileService()
    callers = [Caller(workshop, number) for number in range(40)]
    wait_for(lambda: sum(isinstance(one.outcome, Refused) for one in callers) == 40 - CHILDREN - MAX_WAITING)
    assert {one.outcome.code for one in callers if one.outcome} == {503}
    assert len(children.begun) == len(workshop.busy) == CHILDREN
    children.finish.set()
    for one in callers:
        one.thread.join(30)
    assert sum(one.outcome == "done" for one in callers) == CHILDREN + MAX_WAITING


def test_callers_of_the_same_task_share_it(children):
    workshop = CompileService()
    callers = [Caller(workshop, 1) for _ in range(10)]
    wait_for(lambda: children.begun)
    children.finish.set()
    for one in callers:
        one.thread.join(30)
    assert [one.outcome for one in callers] == ["done"] * 10
    assert len(children.begun) == 1


def test_a_task_ends_when_its_last_caller_has_left_and_leaves_no_thread(children):
    workshop, before = CompileService(), threading.active_count()
    callers = [Caller(workshop, number) for number in (0, 0, 1, 2)]  # two run, one waits
    wait_for(lambda: len(children.begun) == CHILDREN)
    callers[0].left.set()
    callers[0].thread.join(30)
    time.sleep(0.2)
    assert children.killed == [], "another caller waits for it"
    for one in callers:
        one.left.set()
    wait_for(lambda: threading.active_count() <= before)
    assert len(children.killed) >= CHILDREN
    assert workshop.busy == []
    later = Caller(workshop, 0)
    children.finish.set()
    later.thread.join(30)
    assert later.outcome == "done", "who asks later is served"


def test_one_training_at_a_time(children):
    workshop = CompileService()
    first = workshop.train("a network", {"n": 1}, lambda line: None)
    assert workshop.train("another", {"n": 2}, lambda line: None) is None
    children.finish.set()
    assert first.result(30)
    assert workshop.train("another", {"n": 2}, lambda line: None) is not None


def test_a_child_ends_with_its_worker():
    """Its stdin is the worker's: when the worker has died, however, the pipe ends."""
    task = {"kind": "act", "agent": "mcts:simulations=500000000", "game": {"name": "connect-four", "own": False}}
    task["game"]["params"] = ""
    command = [sys.executable, "-m", "mdplay.web.work.child"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as child:
        try:
            child.stdin.write(json.dumps(task) + "\n")
            child.stdin.flush()
            time.sleep(0.5)
            assert child.poll() is None
            child.stdin.close()
            assert child.wait(30) == 1
        finally:
            child.kill()
