import os
import time
from multiprocessing import get_context

import numpy as np
import pytest

from mdplay.planning import compiled_backend as pool
from mdplay.planning.compiled_backend import Pool, Worker, spin


def test_a_worker_answers_awake_and_asleep():
    worker = Worker()
    for i in range(200):
        worker.begin(pow, (i, 2))
        if i % 50 == 0:
            time.sleep(0.02)  # longer than it spins
        assert worker.end() == i * i


def test_what_fails_in_a_worker_is_raised_where_it_was_asked_for_and_the_worker_goes_on():
    worker = Worker()
    worker.begin(int, ("x",))
    with pytest.raises(ValueError, match="invalid literal"):
        worker.end()
    worker.begin(int, ("7",))
    assert worker.end() == 7


def test_a_call_that_was_not_waited_for_does_not_answer_for_the_next_one():
    """Ctrl-C may come while a worker is waited for."""
    worker = Worker()
    worker.begin(time.sleep, (0.05,))
    worker.begin(pow, (3, 2))
    assert worker.end() == 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_workers_of_its_own(monkeypatch):
    monkeypatch.setattr(pool, "THREAD_TRANSITIONS", 1)
    shared = Pool(2, np.arange(11))
    assert shared.all(lambda begin, end: end - begin, ()) == [5, 5]
    child = get_context("fork").Process(target=shared.all, args=(lambda begin, end: end - begin, ()))
    child.start()
    child.join(20)
    if child.is_alive():
        child.kill()
    assert child.exitcode == 0


def test_spinning_sees_a_change_and_gives_up_without_one():
    count = np.zeros(1, np.int64)
    assert spin(count, 1, 10)
    assert not spin(count, 0, 10)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_parts_cover_all_states_and_share_the_entries(threads, monkeypatch):
    monkeypatch.setattr(pool, "THREAD_TRANSITIONS", 100)
    first_entry = np.cumsum([0, *np.random.default_rng(threads).integers(0, 9, 500)])
    parts = Pool(threads, first_entry).all(lambda begin, end: (begin, end), ())
    assert [parts[0][0], *(end for _, end in parts)] == [*(begin for begin, _ in parts), 500]
    sizes = [first_entry[end] - first_entry[begin] for begin, end in parts]
    assert len(parts) == threads
    assert max(sizes) - min(sizes) < 20


def test_parts_share_what_the_last_pointers_point_to(monkeypatch):
    monkeypatch.setattr(pool, "THREAD_TRANSITIONS", 1)
    first_choice, first_transition = np.array([0, 1, 2, 5]), np.array([0, 10, 11, 12, 13, 14])
    assert Pool(2, first_choice).parts == [(0, 2), (2, 3)]
    assert Pool(2, first_choice, first_transition).parts == [(0, 1), (1, 3)]


def test_a_part_that_fails_does_not_leave_the_others_behind(monkeypatch):
    monkeypatch.setattr(pool, "THREAD_TRANSITIONS", 1)
    shared = Pool(2, np.arange(11))

    def fail_at_zero(begin, end):
        if begin == 0:
            raise ZeroDivisionError
        return end

    with pytest.raises(ZeroDivisionError):
        shared.all(fail_at_zero, ())
    assert shared.all(lambda begin, end: end - begin, ()) == [5, 5]
