import gc
import os
import signal
import threading
import time
import weakref
from functools import partial

import pytest

from mdplay.errors import GameError, LimitError
from mdplay.naming.specs import load_module
from mdplay.runtime import threads as running
from mdplay.runtime.signals import StillRunning, Terminated
from mdplay.runtime.threads import TaskGroup, call_library, compiling, num_threads
from tests.helpers import NIM, python, write


def test_results_come_in_order():
    assert TaskGroup(3).run([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]


def test_progress_is_shown_while_tasks_run():
    seen = []
    watch = TaskGroup(1, seen.append)

    def work():
        for _ in range(3):
            watch.progress[0] += 10
            time.sleep(0.15)

    watch.run([work])
    assert seen == sorted(seen) and seen[0] >= 10


def test_a_failing_task_stops_the_others():
    watch = TaskGroup(2)

    def patient():
        while not watch.stop[0]:
            time.sleep(0.01)
        return "stopped"

    def failing():
        raise ValueError("no such square")

    with pytest.raises(ValueError, match="^no such square$"):
        watch.run([patient, failing])


def test_what_a_rule_raises_is_a_sentence_and_what_mdplay_raises_passes(tmp_path):
    text = NIM.replace("return (1 <<", "return [][s.pile] if s.pile < 9 else (1 <<")
    game = load_module(write(tmp_path, "raising.py", text)).Nim()
    with pytest.raises(
        GameError, match=r"^Nim raised IndexError: list index out of range \(raising.py, line \d+: "
    ):
        TaskGroup().run([lambda: game.legal(game.initial()._replace(pile=3))])
    with pytest.raises(IndexError, match="^list index out of range$"):
        TaskGroup().run([lambda: [game][1]])


def test_our_own_errors_pass_unchanged():
    def failing():
        raise LimitError("too big")

    with pytest.raises(LimitError, match="too big"):
        TaskGroup().run([failing])


def test_threads():
    assert num_threads(3) == 3
    assert num_threads(None) >= 1


def test_a_stop_before_the_first_run_is_heard_and_one_before_the_next_forgotten():
    watch = TaskGroup()
    watch.stop[0] = 1
    assert watch.run([lambda: int(watch.stop[0])]) == [1]
    assert watch.run([lambda: int(watch.stop[0])]) == [0]


def press_ctrl_c(watch):
    """Let a job run that ends when it is stopped, and interrupt it."""

    def work():
        while not watch.stop[0]:
            time.sleep(0.001)
        return "what there is"

    threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()
    return watch.run([work])


def test_ctrl_c_stops_the_tasks_and_goes_on_as_an_exception():
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c(TaskGroup())


def test_ctrl_c_ends_an_interruptible_job_with_what_it_has():
    assert press_ctrl_c(TaskGroup(interruptible=True)) == ["what there is"]


def interrupted(watch, ends):
    """Interrupt a job that stops for nobody but the test."""
    began = threading.Event()

    def work():
        began.set()
        ends.wait()
        return "too late"

    threading.Thread(target=lambda: began.wait() and os.kill(os.getpid(), signal.SIGINT)).start()
    return watch.run([work])


@pytest.mark.parametrize("interruptible", [False, True])
def test_ctrl_c_does_not_wait_for_who_never_stops(interruptible):
    watch, ends = TaskGroup(interruptible=interruptible), threading.Event()
    stop = watch.stop
    with pytest.raises(StillRunning):
        interrupted(watch, ends)
    assert stop[0] == 1 and watch.stop is not stop, "the next run would wake the one that was left"
    assert watch.run([lambda: int(watch.stop[0])]) == [0]
    assert stop[0] == 1
    ends.set()


def test_sigterm_ends_an_interruptible_job_too():
    watch = TaskGroup(interruptible=True)

    def raise_it(number, frame):
        raise Terminated

    before = signal.signal(signal.SIGINT, raise_it)
    try:
        with pytest.raises(Terminated):
            press_ctrl_c(watch)
    finally:
        signal.signal(signal.SIGINT, before)


def test_too_many_threads_are_refused():
    with pytest.raises(LimitError, match="at most 1024"):
        num_threads(10**30)


def test_ctrl_c_does_not_wait_for_a_compiler():
    ends, done = threading.Event(), threading.Event()

    def compile_slowly():
        os.kill(os.getpid(), signal.SIGINT)
        ends.wait()
        done.set()

    with pytest.raises(KeyboardInterrupt):
        compiling.run(compile_slowly)
    ends.set()
    assert done.wait(60), "the compiler goes on by itself"
    assert compiling.run(lambda: threading.current_thread() is threading.main_thread()) is False


def test_nobody_looks_for_garbage_while_something_is_compiled(monkeypatch):
    monkeypatch.setattr("mdplay.runtime.signals.Process.is_own", True)
    assert gc.isenabled()
    assert compiling.run(lambda: (compiling.run(gc.isenabled), gc.isenabled())) == (False, False)
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        compiling.run(lambda: 1 / 0)
    assert gc.isenabled()


def test_the_collector_of_a_users_process_is_left_alone():
    found = []
    running.compiling.run(lambda: found.append(gc.isenabled()))
    assert found == [True]


def test_two_compilers_side_by_side_end_the_rest_together(monkeypatch):
    monkeypatch.setattr("mdplay.runtime.signals.Process.is_own", True)
    first_ends, second_began = threading.Event(), threading.Event()

    def second():
        second_began.set()
        assert first_ends.wait(60)
        return gc.isenabled()

    def first():
        found = []
        other = threading.Thread(target=lambda: found.append(compiling.run(second)))
        other.start()
        assert second_began.wait(60)
        return other, found

    other, found = compiling.run(first)
    assert not gc.isenabled(), "the second one is still at work"
    first_ends.set()
    other.join()
    assert found == [False] and gc.isenabled()


def test_who_had_the_search_for_garbage_switched_off_finds_it_so():
    gc.disable()
    try:
        compiling.run(lambda: None)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_who_shows_the_progress_may_cancel_the_job_and_its_threads_have_ended_by_then():
    class Enough(Exception):
        pass

    ended = []

    def show(_: int) -> None:
        raise Enough

    def work(watch: TaskGroup) -> None:
        while not watch.stop[0]:
            time.sleep(0.001)
        time.sleep(0.05)
        ended.append(True)

    watch = TaskGroup(1, show)
    with pytest.raises(Enough):
        watch.run([partial(work, watch)])
    assert ended == [True]


def test_a_thread_is_used_again_and_holds_on_to_nothing():
    class Thing:
        pass

    thing = Thing()
    kept = weakref.ref(thing)
    first = TaskGroup().run([lambda thing=thing: (threading.get_ident(), id(thing))])[0]
    del thing
    assert TaskGroup().run([threading.get_ident])[0] == first[0]
    assert kept() is None


def test_threads_that_nobody_needs_any_more_end():
    crew, done = running.ThreadPool(max_idle=0), []
    for _ in range(3):
        done.append(crew.submit(threading.current_thread).result())
    for thread in done:
        thread.join(10)
    assert len(set(done)) == 3 and not any(thread.is_alive() for thread in done)


def test_a_process_that_was_forked_starts_threads_of_its_own():
    code = """
import os
from mdplay.runtime.threads import TaskGroup
TaskGroup().run([int])
child = os.fork()
if child == 0:
    os._exit(TaskGroup().run([lambda: 7])[0])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python("-c", code) == "7\n"


class Refused(threading.Thread):
    def start(self):
        raise RuntimeError("can't start new thread")


def test_a_system_without_threads_is_a_sentence(monkeypatch):
    monkeypatch.setattr(running, "_POOL", running.ThreadPool())
    monkeypatch.setattr(running, "Thread", Refused)
    with pytest.raises(LimitError, match="allows no 2 threads"):
        TaskGroup(2).run([int, int])


class Interrupted(threading.Thread):
    def start(self):
        super().start()
        raise KeyboardInterrupt


def test_ctrl_c_while_a_thread_starts_loses_no_task(monkeypatch):
    monkeypatch.setattr(running, "_POOL", running.ThreadPool())
    monkeypatch.setattr(running, "Thread", Interrupted)
    assert TaskGroup(interruptible=True).run([lambda: 7]) == [7]


def test_ctrl_c_before_a_task_is_taken_goes_on_as_an_exception(monkeypatch):
    class Nobody(running.ThreadPool):
        def submit(self, task, future=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(running, "_POOL", Nobody())
    with pytest.raises(KeyboardInterrupt):
        TaskGroup(interruptible=True).run([lambda: 7])


def test_an_answer_and_an_error_come_back():
    assert call_library(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        call_library(lambda: 1 // 0)


def test_ctrl_c_leaves_the_work_behind():
    """The work goes on after the interrupt: it waits until it is let go."""
    release, ended = threading.Event(), threading.Event()

    def work():
        os.kill(
            os.getpid(), signal.SIGINT
        )  # to the process: a signal of this thread would not wake the one that waits
        release.wait()
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        call_library(work)
    assert not ended.is_set()
    release.set()
    assert ended.wait()
