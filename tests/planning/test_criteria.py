"""Average reward and finite horizons against exact fractions: every policy tried, plain recursion."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mdplay import FormatError
from mdplay.learning.reinforcement.library import access_control
from mdplay.planning import MDP, evaluate_policy, plan, verify
from tests.planning.exact import (
    closure,
    encloses,
    exact_model,
    random_mdp,
    recurrent,
    solve,
    stationary_average,
)


def policy_gain(policy):
    """Return the average reward of one choice a state, from every state."""
    chain, reward = [choice.row for choice in policy], [choice.reward for choice in policy]
    fixed = {}
    for members in recurrent(chain, closure(chain)):
        fixed |= dict.fromkeys(members, stationary_average(chain, reward, members))
    return solve(chain, [Fraction(0)] * len(chain), fixed, Fraction(1))


def best_gain(mdp):
    """Return the best average reward from every state, over all policies."""
    model = exact_model(mdp)
    pick = min if mdp.minimise else max
    return [pick(gains) for gains in zip(*map(policy_gain, product(*model.choices)), strict=True)]


def planned_choices(mdp, action):
    model = exact_model(mdp)
    return [next(c for c in some if c.action == a) for some, a in zip(model.choices, action.tolist(), strict=True)]


@pytest.mark.parametrize("count", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_gain_of_any_model_is_within_its_bounds(count):
    """Random models are unichain or multichain, periodic or not; the policy found must earn the gain."""
    rng, chains = np.random.default_rng(10), set()
    for _ in range(count):
        mdp = random_mdp(rng, discount=1.0, ends=False)
        found, best = plan(mdp, criterion="average"), best_gain(mdp)
        assert encloses(found.lower, best, found.upper), (best, found.lower, found.upper)
        assert found.closed, found
        earned = policy_gain(planned_choices(mdp, found.action))
        assert max(abs(a - b) for a, b in zip(earned, best, strict=True)) < 3e-6
        chains.add(len(set(best)))
        evaluated = evaluate_policy(mdp, found.action, criterion="average")
        assert encloses(evaluated.lower, earned, evaluated.upper)
    assert chains >= {1, 2}


def test_the_bias_solves_its_equations():
    rng = np.random.default_rng(11)
    for _ in range(60):
        mdp = random_mdp(rng, discount=1.0, ends=False)
        found = plan(mdp, criterion="average")
        for state, choice in enumerate(planned_choices(mdp, found.action)):
            later = sum(float(p) * found.bias[t] for t, p in choice.row)
            gain = policy_gain(planned_choices(mdp, found.action))[state]
            assert float(choice.reward) - float(gain) + later == pytest.approx(found.bias[state], abs=1e-9)


def test_the_access_control_queue():
    """Sutton and Barto, Example 10.2: threshold policies; 2.7476 by a second implementation of the model."""
    mdp = access_control().mdp
    found = plan(mdp, criterion="average", tolerance=1e-9)
    assert found.lower.max() <= 2.74764195 + 1e-8 and found.upper.min() >= 2.74764195 - 1e-8 and found.closed
    accepts = found.action.reshape(11, 4)
    assert (np.diff(accepts, axis=0) >= 0).all()  # with more free servers, no fewer customers are accepted
    assert (np.diff(accepts[1:], axis=1) >= 0).all()  # nor those who pay more
    bounds = verify(mdp, found.bias, criterion="average")
    assert bounds.lower[0] - 1e-12 <= found.value[0] <= bounds.upper[0] + 1e-12 and bounds.gap < 1e-8


def test_slow_mixing_models_are_closed_by_evaluating_policies():
    """Two halves that are left once in a million steps."""
    stay, leave = 1 - 1e-6, 1e-6
    nested = [[[[0, 1.0, stay], [1, 1.0, leave]]], [[[1, 3.0, stay], [0, 3.0, leave]], [[1, 2.0, 1.0]]]]
    found = plan(MDP.from_nested(nested, discount=1.0), criterion="average")
    assert found.closed and found.value.tolist() == pytest.approx([2.0, 2.0]) and found.iterations < 1000


def recursion(model, steps, sign):
    """Return the best total of a number of steps, in fractions."""
    values = [Fraction(0)] * len(model.choices)
    for _ in range(steps):
        values = [
            max(
                (sign * c.reward + model.discount * sum(p * values[t] for t, p in c.row) for c in some),
                default=Fraction(0),
            )
            for some in model.choices
        ]
    return [sign * value for value in values]


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_horizon_agrees_with_plain_recursion(count):
    rng = np.random.default_rng(12)
    for _ in range(count):
        mdp = random_mdp(rng, discount=float(rng.choice([0.9, 1.0])))
        steps, model = int(rng.integers(1, 9)), exact_model(mdp)
        found = plan(mdp, criterion=f"horizon={steps}")
        sign = -1 if mdp.minimise else 1
        assert encloses(found.lower, recursion(model, steps, sign), found.upper)
        assert found.gap < 1e-12 and found.stages.shape == (steps, mdp.num_states)
        values = [Fraction(0)] * mdp.num_states
        for stage in found.stages[::-1]:  # following the stages earns the same
            values = [
                next(
                    c.reward + model.discount * sum(p * values[t] for t, p in c.row) for c in some if c.action == a
                )
                if some
                else Fraction(0)
                for some, a in zip(model.choices, stage.tolist(), strict=True)
            ]
        assert [float(v) for v in values] == pytest.approx(found.value.tolist(), abs=1e-8)


def test_criteria_that_a_model_does_not_have_are_refused():
    ends = MDP.from_nested([[[[1, 1.0, 1.0]]], [[]]], discount=1.0)
    with pytest.raises(FormatError, match=r"state 1 is terminal; use the criterion total"):
        plan(ends, criterion="average")
    with pytest.raises(FormatError, match="discounted needs a discount below 1"):
        plan(ends, criterion="discounted")
    with pytest.raises(FormatError, match="write horizon=N"):
        plan(ends, criterion="horizon=0")
    with pytest.raises(FormatError, match="has a method of its own"):
        plan(ends, "lp", criterion="horizon=3")
    with pytest.raises(FormatError, match="plan proves itself"):
        verify(ends, [0.0, 0.0], criterion="horizon=3")
    discounted = MDP.from_nested([[[[1, 1.0, 1.0]]], [[]]], discount=0.5)
    assert plan(discounted, criterion="total").value.tolist() == [1.0, 0.0]
    assert plan(discounted).criterion == "discounted" and plan(ends).criterion == "total"


def test_models_that_the_compiled_sweeps_plan(needs_compiler):
    """A model beyond the size of plain sweeps: its average is that of the stationary distribution."""
    from mdplay.planning import policy_chain
    from tests.planning.garnets import garnet

    mdp = garnet(3000, 5, 6, seed=1)
    found = plan(mdp, criterion="average", threads=1)
    chain = policy_chain(mdp, found.action)
    assert found.closed and found.lower[0] - 1e-9 <= chain.stationary() @ chain.reward <= found.upper[0] + 1e-9
    assert plan(mdp, criterion="horizon=5", threads=1).gap < 1e-12
