from fractions import Fraction

import numpy as np
import pytest

from mdplay.planning import MDP
from mdplay.planning.arrays import Change, ModelArrays
from mdplay.planning.backends import discounted_bounds, enclosure, extremes, half_width, span
from mdplay.planning.methods import backend_for
from tests.planning.exact import encloses, optimum, random_mdp


def bounds_of(arrays, value):
    backend = backend_for(arrays)
    return discounted_bounds(backend, value, backend.q_values(value))


@pytest.mark.parametrize("seed", range(30))
def test_any_values_give_bounds_around_the_optimum(seed):
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, discount=float(rng.choice([0.0, 0.5, 0.99])), ends=bool(rng.random() < 0.5))
    arrays = ModelArrays.of(mdp)
    exact = [-value for value in optimum(mdp)] if mdp.minimise else optimum(mdp)
    for scale in (0.0, 1e-6, 1.0, 1e6):
        found = bounds_of(arrays, np.where(arrays.live, scale * rng.normal(size=arrays.num_states), 0.0))
        assert encloses(found.lower, exact, found.upper)


def test_rounding_is_part_of_the_bounds():
    """One third for ever at discount 0.9 is worth 10/3, which no double is."""
    nested = [[[[0, 1 / 3, 1.0]]]]
    found = bounds_of(ModelArrays.of(MDP.from_nested(nested, discount=0.9)), np.array([10 / 3]))
    exact = Fraction(1 / 3) / (1 - Fraction(0.9))
    assert Fraction(found.lower[0]) <= exact <= Fraction(found.upper[0])
    assert 0 < found.gap < 1e-12


def test_terminal_states_count_with_a_change_of_zero():
    endless = ModelArrays.of(MDP.from_nested([[[[0, 1.0, 1.0]]]], discount=0.5))
    ending = ModelArrays.of(MDP.from_nested([[[[1, 1.0, 1.0]]], []], discount=0.5))
    change = Change(2.0, 3.0, 0)
    assert (extremes(endless, change), extremes(ending, change)) == ((2.0, 3.0), (0.0, 3.0))
    assert (span(endless, change), span(ending, change)) == (1.0, 3.0)
    assert enclosure(endless, change) == (2.0, 3.0)
    assert (half_width(endless, change), half_width(ending, change)) == (0.5, 1.5)
