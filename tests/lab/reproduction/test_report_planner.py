import numpy as np
import pytest

from mdplay.lab.reproduction.planner import howard, value_iteration

STAY_OR_GO = [
    [[[0, 1.0, 1.0]], [[1, 0.0, 1.0]]],
    [[[1, 3.0, 1.0]], []],
]  # staying earns 1, or 3 in the other state


@pytest.mark.parametrize("in_place", [True, False])
def test_values_by_sweeps(in_place):
    values, sweeps = value_iteration(STAY_OR_GO, 0.5, in_place=in_place, threshold=1e-12)
    assert values == pytest.approx([3.0, 6.0])
    assert sweeps > 10


def test_howard_starts_from_the_smallest_action():
    values, policy, rounds = howard(STAY_OR_GO, 0.5)
    assert (values.tolist(), policy, rounds) == ([3.0, 6.0], [1, 0], 2)


def test_ties_go_to_the_smallest_action_and_the_end_is_worth_nothing():
    tied = [[[[1, 1.0, 1.0]], [[1, 1.0, 1.0]]], [[], []]]
    values, policy, rounds = howard(tied, 0.9)
    assert (values.tolist(), policy, rounds) == ([1.0, 0.0], [0, 0], 1)
    assert np.array_equal(value_iteration(tied, 0.9, in_place=True, threshold=0.0)[0], values)
