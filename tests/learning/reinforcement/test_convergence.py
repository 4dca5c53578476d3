"""Every control method approaches the optimum of ten generated MDPs; the judge measures the exact loss.

A bound lies five standard errors or more above the mean loss that was measured with other seeds, so a correct
method fails with a probability below 1e-6.  The on-policy methods still explore at the end (epsilon 1/11) and
learn the values of that policy, so their loss is larger.  The optimal values lie between 1 and 10.
"""

import numpy as np
import pytest

import mdplay
from mdplay import MDP, Task
from mdplay.learning.reinforcement import learn_task

RUNS, SIZE = 10, 10


def generated(seed, outcomes):
    """Return a random MDP of 8 states and 3 actions that never ends, with discount 0.9."""
    rng, rows = np.random.default_rng(seed), []
    for s in range(8):
        for a in range(3):
            targets, shares = rng.choice(8, outcomes, replace=False), rng.dirichlet(np.ones(outcomes))
            reward = rng.normal()
            rows += [(s, a, int(t), reward, float(p)) for t, p in zip(targets, shares, strict=True)]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    mdp = MDP.from_transitions(*columns, num_states=8, discount=0.9, keep_rewards=True)
    return Task(mdp, dict.fromkeys(range(8), 1 / 8))


@pytest.mark.parametrize(
    ("method", "bound"),
    [
        ("q(alpha=n^-0.7)", 0.03),
        pytest.param("double-q(alpha=n^-0.7)", 0.12, marks=pytest.mark.slow),
        pytest.param("q(lambda=0.5,alpha=0.02)", 0.12, marks=pytest.mark.slow),
        pytest.param("dyna-q(alpha=0.1)", 0.01, marks=pytest.mark.slow),
        pytest.param("sarsa(alpha=n^-0.7)", 0.17, marks=pytest.mark.slow),
        pytest.param("sarsa(n=3,alpha=n^-0.7)", 0.17, marks=pytest.mark.slow),
        pytest.param("sarsa(lambda=0.5,traces=true-online,alpha=0.02)", 0.15, marks=pytest.mark.slow),
        pytest.param("expected-sarsa(alpha=n^-0.7)", 0.17, marks=pytest.mark.slow),
        pytest.param("tree-backup(n=2,alpha=n^-0.7)", 0.17, marks=pytest.mark.slow),
    ],
)
def test_control_approaches_the_optimum(method, bound, needs_compiler):
    losses = []
    for seed in range(SIZE):
        task = generated(seed, outcomes=1 if method.startswith("dyna") else 3)
        curve = learn_task(
            task, method, epsilon="1/(1+episode/1000)", episodes=10_000, max_steps=30, runs=RUNS, checkpoints=1,
            points=1, seed=99,
        )[0]  # fmt: skip
        losses.append(curve.optimum - float(curve.greedy[-1]))
    assert min(losses) > -1e-9, "no policy is better than the optimum"
    assert np.mean(losses) < bound


@pytest.mark.parametrize(
    "method",
    ["td(alpha=n^-0.8)", "td(n=3,alpha=n^-0.8)", "td(lambda=0.6,alpha=0.005)", "mc-prediction", "off-policy-mc",
     "off-policy-td(alpha=0.02)", "tdc(alpha=0.02,beta=0.02)"],
)  # fmt: skip
def test_prediction_approaches_the_exact_values(method, needs_compiler):
    """The mean of 20 runs lies within 0.06 of the exact value of every state: six standard errors or more."""
    rng = np.random.default_rng(5)
    rows = [(s, a, t, float(rng.normal()), 0.5) for s in range(5) for a in (0, 1) for t in (s + 1, 5)]
    rows += [(4, a, 6, 0.0, 0.0) for a in (0, 1)]
    rows = [(s, a, t, r, 1.0 if s == 4 else p) for s, a, t, r, p in rows if p and not (s == 4 and t == 6)]
    kept = {(s, a, t): (s, a, t, r, p) for s, a, t, r, p in rows}
    columns = [np.array(column) for column in zip(*kept.values(), strict=True)]
    mdp = MDP.from_transitions(*columns, num_states=6, discount=0.9, keep_rewards=True)
    task, policy = Task(mdp, dict.fromkeys(range(5), 0.2)), np.tile([0.7, 0.3], 5)
    behaviour = {"behaviour": "uniform"} if method.startswith(("off-policy", "tdc")) else {}
    curve = learn_task(task, method, policy=policy, episodes=20_000, runs=20, points=1, **behaviour)[0]
    chain = task.chain(policy).mdp
    truth = np.asarray(mdplay.evaluate_policy(chain, [0] * 5 + [-1]).value)
    found = np.mean([curve.values(run) for run in range(20)], axis=0)
    assert np.abs(found - truth).max() < 0.06
