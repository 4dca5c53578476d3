import os
import signal
import threading
import time

import pytest

from mdplay.errors import GameError, LimitError
from mdplay.running import Watch, num_threads


def test_results_come_in_order():
    assert Watch(3).run([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]


def test_progress_is_shown_while_tasks_run():
    seen = []
    watch = Watch(1, seen.append)

    def work():
        for _ in range(3):
            watch.progress[0] += 10
            time.sleep(0.15)

    watch.run([work])
    assert seen == sorted(seen) and seen[0] >= 10


def test_a_failing_task_stops_the_others():
    watch = Watch(2)

    def patient():
        while not watch.stop[0]:
            time.sleep(0.01)
        return "stopped"

    def failing():
        raise ValueError("no such square")

    with pytest.raises(GameError, match="ValueError: no such square"):
        watch.run([patient, failing])


def test_our_own_errors_pass_unchanged():
    def failing():
        raise LimitError("too big")

    with pytest.raises(LimitError, match="too big"):
        Watch().run([failing])


def test_threads():
    assert num_threads(3) == 3
    assert num_threads(None) >= 1


def test_a_stop_before_the_first_run_is_heard_and_one_before_the_next_forgotten():
    watch = Watch()
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
        press_ctrl_c(Watch())


def test_ctrl_c_ends_an_interruptible_job_with_what_it_has():
    assert press_ctrl_c(Watch(interruptible=True)) == ["what there is"]
