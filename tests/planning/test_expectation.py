"""Expected rewards: exact to the last digits, whatever cancels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay.planning.arrays import TINIEST, exact_mean, expected_rewards
from mdplay.states import graph_search as walks

SIZES = st.sampled_from([1e-320, 1e-160, 1e-9, 1.0, 3.0, 1e9, 1e15, 1e17, 1e160, 1e308])
REWARD = st.builds(lambda sign, size, part: sign * size * part, st.sampled_from([-1, 1]), SIZES, st.floats(0.5, 1))
CHANCE = st.sampled_from([5e-324, 1e-300, 1e-17, 0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0])
ROW = st.lists(st.tuples(REWARD, CHANCE), min_size=1, max_size=6)


def means(rows):
    """Return what the code says of some rows and what fractions say."""
    first = np.cumsum([0, *map(len, rows)])
    reward, chance = (np.array(column) for column in zip(*(entry for row in rows for entry in row), strict=True))
    exact = [sum(Fraction(r) * Fraction(p) for r, p in row) / sum(Fraction(p) for _, p in row) for row in rows]
    return expected_rewards(first, reward, chance), exact


def is_last_digits(found, exact):
    return abs(Fraction(found) - exact) <= 4 * abs(exact) / 2**53 + Fraction(TINIEST)


@given(st.lists(ROW, min_size=1, max_size=4))
def test_expected_rewards_are_right_to_the_last_digits(rows):
    for found, exact in zip(*means(rows), strict=True):
        assert is_last_digits(float(found), exact)
        assert (found == 0.0) == (exact == 0)


def test_the_compiled_loop_says_the_same(monkeypatch, needs_compiler):
    rng = np.random.default_rng(0)
    rows = [
        list(zip(rng.choice([1e15, -1e15, 1.0], 5), rng.choice([0.1, 0.2, 0.3], 5), strict=True))
        for _ in range(300)
    ]
    monkeypatch.setattr(walks, "PLAIN_WORK", -1)
    for found, exact in zip(*means(rows), strict=True):
        assert is_last_digits(float(found), exact)


@pytest.mark.parametrize(
    "reward, chance, wanted",
    [
        ([1.0, 1.0, 1.0], [0.333333] * 3, 1.0),
        ([1e15, -1e15, -1e15, 1.0], [0.3, 0.2, 0.1, 0.4], 0.3722444243843711),
        ([1.5e308, 0.75e308], [0.5, 0.5], 1.125e308),
        ([1e-300, 0.0], [1e-300, 1.0], TINIEST),
        ([-1e-300, 0.0], [1e-300, 1.0], -TINIEST),
        ([1.0, -1.0], [0.1, 0.1], 0.0),
    ],
)
def test_rows_that_are_hard_for_doubles(reward, chance, wanted):
    assert expected_rewards(np.array([0, len(reward)]), np.array(reward), np.array(chance))[0] == wanted
    assert exact_mean(reward, chance) == wanted


def test_a_state_without_choices_expects_nothing():
    assert expected_rewards(np.array([0, 0, 1, 1]), np.array([2.0]), np.array([1.0])).tolist() == [0.0, 2.0, 0.0]
