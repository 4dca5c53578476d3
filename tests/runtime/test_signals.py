import os
import signal
import threading

import pytest

from mdplay.runtime import signals as stopping
from mdplay.runtime.signals import (
    SignalWatcher,
    StillRunning,
    Terminated,
    defer_exit,
    mark_interrupt_handled,
    saving,
)


class Left:
    """What a watchman would have done to the process."""

    def __init__(self):
        self.number, self.event, self.notices = 0, threading.Event(), []

    def __call__(self, number):
        self.number = number
        self.event.set()


@pytest.fixture
def left(monkeypatch):
    monkeypatch.setattr(stopping, "LEAVE_SECONDS", 0.2)
    return Left()


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number, kind", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_the_first_signal_is_an_exception(left, number, kind):
    before = signal.getsignal(number)
    with pytest.raises(kind), SignalWatcher(left, left.notices.append) as watchman:
        press(number)
    assert watchman.number == number
    assert signal.getsignal(number) is before
    assert not left.number


def test_who_does_not_end_is_left(left):
    with SignalWatcher(left, left.notices.append):
        with pytest.raises(KeyboardInterrupt):
            press()
        assert left.event.wait(60)
    assert left.number == signal.SIGINT


def test_the_second_signal_leaves_at_once(left, monkeypatch):
    monkeypatch.setattr(stopping, "LEAVE_SECONDS", 1e6)
    with SignalWatcher(left, left.notices.append):
        with pytest.raises(KeyboardInterrupt):
            press()
        press()
        assert left.event.wait(60)


def test_what_must_be_finished_is_waited_for(left):
    told = threading.Event()
    with SignalWatcher(left, lambda text: told.set()):
        with pytest.raises(KeyboardInterrupt):
            press()
        with defer_exit():
            assert told.wait(60), "the person learns why it takes so long"
            assert not left.number
        assert left.event.wait(60)


def test_an_answer_that_follows_is_waited_for(left):
    with SignalWatcher(left, left.notices.append):
        with pytest.raises(KeyboardInterrupt):
            press()
        mark_interrupt_handled()
        assert not left.event.wait(0.5)


def test_an_ignored_signal_stays_ignored(left):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with SignalWatcher(left, left.notices.append) as watchman:
            press()
        assert not watchman.number and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind, saved", [(KeyboardInterrupt, 1), (Terminated, 1), (StillRunning, 0), (OSError, 0)])
def test_ctrl_c_saves_unless_a_kernel_still_writes(kind, saved):
    calls = []
    with pytest.raises(kind), saving(lambda: calls.append(stopping.SHUTDOWN.finishing)):
        raise kind
    assert calls == [1] * saved
    with pytest.raises(kind), saving(None):
        raise kind
