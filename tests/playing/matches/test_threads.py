import threading
import time

import pytest

from mdplay.playing.matches.schedule import run_numbered


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_number_once(threads):
    found = {}
    run_numbered(range(100), lambda number, stopped: number**2, found.__setitem__, threads=threads)
    assert found == {number: number**2 for number in range(100)}


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_smallest_failure_is_raised_and_earlier_games_are_kept(threads):
    def task(number, stopped):
        time.sleep(0.002 if number == 20 else 0)  # later failures come first
        if number >= 20:
            raise ValueError(number)
        return number

    found = {}
    with pytest.raises(ValueError, match=r"^20$"):
        run_numbered(range(100), task, found.__setitem__, threads=threads)
    assert sorted(found) == list(range(20))


def test_ctrl_c_stops_the_threads():
    before = threading.active_count()

    def task(number, stopped):
        while number and not stopped():
            time.sleep(0.001)
        return number

    def interrupt(number, value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_numbered(range(10), task, interrupt, threads=3)
    assert threading.active_count() == before
