"""Policies as Markov chains against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from mdplay import FormatError
from mdplay.planning import MDP, policy_chain
from tests.planning.exact import closure, exact_model, random_mdp, recurrent, solve


def chains(count, seed, **options):
    """Yield random chains, as the package and as fractions know them."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        mdp = random_mdp(rng, discount=1.0, **options)
        model = exact_model(mdp)
        policy = [rng.integers(len(some)) if some else 0 for some in model.choices]
        chosen = [some[k] if some else None for some, k in zip(model.choices, policy, strict=True)]
        action = np.array([-1 if choice is None else choice.action for choice in chosen])
        rows = [[] if choice is None else choice.row for choice in chosen]
        yield policy_chain(mdp, action), rows


def exactly(rows, fixed, reward=0):
    """Solve x = reward + P x with some values fixed."""
    return [float(x) for x in solve(rows, [Fraction(reward)] * len(rows), fixed, Fraction(1))]


def test_absorption():
    for chain, rows in chains(100, 1):
        found, reach = chain.absorption(), closure(rows)
        classes = recurrent(rows, reach) + [[s] for s, row in enumerate(rows) if not row]
        assert sorted(map(tuple, classes)) == sorted(
            tuple(np.flatnonzero(chain.classes == k).tolist()) for k in range(found.shape[1])
        )
        for members in classes:
            fixed = {s: Fraction(int(s in members)) for some in classes for s in some}
            assert found[:, chain.classes[members[0]]].tolist() == pytest.approx(exactly(rows, fixed), abs=1e-12)


def test_hitting_probabilities_and_times():
    infinite = 0
    for chain, rows in [*chains(75, 2, sizes=(2, 7), ends=False), *chains(75, 2, sizes=(2, 7))]:
        reach = closure(rows)
        hopeless = {s for s in range(len(rows)) if 0 not in reach[s]}
        fixed = {0: Fraction(1)} | dict.fromkeys(hopeless, Fraction(0))
        exact = exactly(rows, fixed)
        assert chain.hitting_probabilities([0]).tolist() == pytest.approx(exact, abs=1e-12)
        certain = {s for s in range(len(rows)) if s == 0 or exact[s] > 1 - 1e-12}
        inner = [row if s in certain else [] for s, row in enumerate(rows)]
        fixed = {0: Fraction(0)} | {s: Fraction(0) for s in range(len(rows)) if s not in certain}
        times = [t if s in certain else np.inf for s, t in enumerate(exactly(inner, fixed, 1))]
        assert chain.hitting_times([0]).tolist() == pytest.approx(times, rel=1e-9)
        infinite += np.inf in times
    assert 80 < infinite < 140


def test_the_stationary_distribution():
    several = 0
    for chain, rows in chains(100, 3, ends=False):
        start = len(rows) - 1
        share = chain.stationary(start)
        assert share.sum() == pytest.approx(1.0)
        after = np.zeros(len(rows))
        for s, row in enumerate(rows):
            for t, p in row:
                after[t] += share[s] * float(p)
        assert after.tolist() == pytest.approx(share.tolist(), abs=1e-12)
        count = chain.classes.max() + 1
        for number in range(count):
            reached = chain.absorption()[start, number]
            assert share[chain.classes == number].sum() == pytest.approx(reached, abs=1e-12)
        if count > 1:
            several += 1
            with pytest.raises(FormatError, match="recurrent classes; name the state"):
                chain.stationary()
    assert several > 5


def test_occupancy():
    for chain, rows in chains(60, 4):
        matrix = np.zeros((len(rows), len(rows)))
        for s, row in enumerate(rows):
            for t, p in row:
                matrix[s, t] = float(p)
        start = np.eye(len(rows))[0]
        some = sum(start @ np.linalg.matrix_power(matrix, t) * 0.9**t for t in range(6))
        assert chain.occupancy(0, steps=6, discount=0.9).tolist() == pytest.approx(some.tolist())
        every = np.linalg.solve((np.eye(len(rows)) - 0.9 * matrix).T, start)
        assert chain.occupancy(0, discount=0.9).tolist() == pytest.approx(every.tolist())
        visits = chain.occupancy(0)
        reach = closure(rows)
        for members in recurrent(rows, reach):
            assert all(visits[s] == (np.inf if s in reach[0] else 0.0) for s in members)
        never_left = {s for members in recurrent(rows, reach) for s in members}
        transient = [s for s in range(len(rows)) if s not in never_left]
        inner = matrix[np.ix_(transient, transient)]
        finite = np.linalg.solve((np.eye(len(transient)) - inner).T, start[transient])
        assert visits[transient].tolist() == pytest.approx(finite.tolist(), abs=1e-12)


def test_simulations_follow_the_probabilities(needs_compiler):
    mdp = MDP.from_nested(
        [[[[0, 1.0, 0.25], [1, 1.0, 0.75]]], [[[0, 2.0, 0.5], [2, 2.0, 0.5]]], [[]]], discount=1.0
    )
    chain = policy_chain(mdp, [0, 0, 0])
    plain, large = chain.simulate(20, runs=50, seed=3), chain.simulate(20, runs=20_000, seed=3)
    assert (plain.states == chain.simulate(20, runs=50, seed=3).states).all()
    for found in (plain, large):
        now, after = found.states[:, :-1], found.states[:, 1:]
        assert set(zip(now[now >= 0].tolist(), after[now >= 0].tolist(), strict=True)) <= {
            (0, 0), (0, 1), (1, 0), (1, 2), (2, -1),
        }  # fmt: skip
        assert (found.rewards[now == 0] == 1.0).all() and (found.rewards[now < 0] == 0.0).all()
    now, after = large.states[:, :-1], large.states[:, 1:]
    assert (after[now == 0] == 1).mean() == pytest.approx(0.75, abs=0.01)
    assert large.rewards.sum(axis=1).mean() == pytest.approx(chain.occupancy(0) @ chain.reward, rel=0.02)
    with pytest.raises(FormatError, match="there is no state 3"):
        chain.simulate(5, start=3)
