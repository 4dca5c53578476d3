import os
import signal
import threading

import pytest

from mdplay.planning.backends import run_in_daemon_thread


def test_an_answer_and_an_error_come_back():
    assert run_in_daemon_thread(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        run_in_daemon_thread(lambda: 1 // 0)


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
        run_in_daemon_thread(work)
    assert not ended.is_set()
    release.set()
    assert ended.wait()
