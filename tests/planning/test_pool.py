import os
from multiprocessing import get_context

import numpy as np
import pytest

from mdplay.planning import compiled_backend as pool
from mdplay.planning.compiled_backend import Pool


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
