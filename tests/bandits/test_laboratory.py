"""Tests of ``mdplay.bandits.laboratory``.

Here are tested besides: ``mdplay.bandits.plots``.
"""

import csv
import math

import numpy as np
import pytest

from mdplay.bandits.laboratory import Bandit, compare, parameter_study, parse_bandit, run_bandit
from mdplay.errors import FormatError, LimitError
from tests.helpers import COMPILED, python

TESTBED, TWO = Bandit(), parse_bandit("0.9,0.8")

# Sutton and Barto's testbed, 2000 runs of 1000 steps: mean reward, share of best pulls over the last 50.  Made by
# a program of its own before this one was written; each figure has a standard error of its own, as large as ours.
PUBLISHED = {
    "greedy": (1.035, 0.346),
    "epsilon-greedy(epsilon=0.1)": (1.359, 0.803),
    "ucb1(c=2)": (1.508, 0.858),
    "gradient(step=0.1)": (1.521, 0.858),
}
REGRET = {"ucb1": 64.9, "ucb1-tuned": 15.8, "kl-ucb": 12.8, "thompson": 8.0}


@pytest.mark.parametrize("policy", PUBLISHED)
def test_the_testbed_comes_out_as_known(policy, needs_compiler):
    curve = run_bandit(TESTBED, policy, seed=1)
    reward, optimal = PUBLISHED[policy]
    assert curve.end_reward == pytest.approx(reward, abs=3 * math.sqrt(2) * curve.end_reward_error)
    assert curve.end_optimal == pytest.approx(optimal, abs=3 * math.sqrt(2) * curve.end_optimal_error)


@pytest.mark.parametrize("policy", REGRET)
def test_the_regrets_come_out_as_known(policy, needs_compiler):
    curve = run_bandit(TWO, policy, steps=5000, runs=200, seed=1)
    assert curve.regret[-1] == pytest.approx(REGRET[policy], abs=3 * math.sqrt(2) * curve.regret_error[-1])


def test_lower_bounds():
    # The two scenarios of Kaufmann, Korda and Munos 2012; constants as in Lai and Robbins.
    assert TWO.lower_bound() == pytest.approx(2.252, abs=5e-4)
    low = parse_bandit("0.1,0.05,0.05,0.05,0.02,0.02,0.02,0.01,0.01,0.01")
    assert low.lower_bound() == pytest.approx(17.445, abs=5e-4)
    assert parse_bandit("gaussian:0,0.5").lower_bound() == pytest.approx(4.0)
    assert TESTBED.lower_bound() is None


def test_threads_change_nothing():
    one, two = (run_bandit(TWO, "ucb1", steps=60, runs=20, seed=4, threads=t) for t in (1, 2))
    assert (one.regret == two.regret).all()
    assert (one.reward == two.reward).all()
    assert (one.regret != run_bandit(TWO, "ucb1", steps=60, runs=20, seed=5).regret).any()


def test_compiled_and_plain_pull_alike(needs_compiler):
    code = (
        "from mdplay.bandits.laboratory import *\n"
        "for name in ('ucb1', 'gradient'):\n"
        "    c = run_bandit(Bandit(drift=0.01), name, steps=40, runs=5, threads=1)\n"
        "    print([round(float(x), 9) for x in c.regret])"
    )
    assert python("-c", code) == python("-c", code, NUMBA_DISABLE_JIT="1")


def test_figures_fit_together():
    curve = run_bandit(TWO, "ucb1", steps=50, runs=40)
    assert list(curve.steps) == list(range(1, 51))
    assert curve.regret[-1] == pytest.approx(sum(0.1 * (1 - curve.optimal)))
    assert curve.mean_reward == pytest.approx(curve.reward.mean())
    assert curve.end_optimal == pytest.approx(curve.optimal[-2:].mean())
    assert curve.regret[1] == pytest.approx(0.1)  # each arm is pulled once first


def test_long_runs_are_thinned_out():
    curve = run_bandit(TWO, "ucb1", steps=5001 if COMPILED else 2001, runs=2)
    assert len(curve.steps) <= 2000
    assert curve.steps[-1] == (5001 if COMPILED else 2001)


def test_the_order_of_given_arms_does_not_matter():
    # Greedy stays with the first arm that pays: it must not always be the best one.
    curve = run_bandit(TWO, "ucb1", steps=1, runs=400)
    assert 0.4 < curve.optimal[0] < 0.6


def test_means_that_drift_spread():
    calm, wild = (
        run_bandit(Bandit("gaussian", (0.0, 0.0), drift=d), "ucb1", steps=100, runs=50) for d in (0, 0.5)
    )
    assert calm.regret[-1] == 0
    assert wild.regret[-1] > 10


def test_a_parameter_study():
    found = parameter_study(TWO, "ucb1", "c", [0.5, 2.0], steps=50, runs=20)["ucb1"]
    assert list(found) == [0.5, 2.0]
    assert all(0.7 < reward < 1.0 for reward in found.values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.9",
        "1.5,0.2",
        "uniform:1,2",
        "gaussian:x",
        "0.1,0.2,speed=3",
        "gaussian:1",
        "gaussian:0,nan",
        "gaussian:3,drift=nan",
    ],
)
def test_what_is_no_bandit_is_refused(text):
    with pytest.raises(FormatError):
        parse_bandit(text)


def test_a_long_run_can_be_stopped(needs_compiler):
    from mdplay.bandits.kernel import COLUMNS, Length, Problem, Totals, new_arms, play
    from mdplay.compiling import native, word
    from mdplay.runtime.threads import TaskGroup
    from mdplay.searching.selectors import UCB1

    watch, steps = TaskGroup(), 10**15
    watch.stop[0] = 1
    problem = Problem(np.array([0.5, 0.4]), False, False, 1.0, 0.0)
    totals = Totals(np.zeros((1, 2, COLUMNS)), np.zeros((1, 3)))
    worker = watch.worker(0, 1)
    play(native(UCB1()), problem, Length(steps, steps // 2), word(0), worker, new_arms(2), totals)
    assert not totals.ends.any()


def test_bandits_by_text():
    assert parse_bandit("gaussian:10") == Bandit()
    assert parse_bandit("gaussian:0,1,drift=0.1,deviation=2") == Bandit("gaussian", (0.0, 1.0), 10, 2.0, 0.1)
    with pytest.raises(LimitError):
        run_bandit(TWO, "ucb1", steps=0)


def test_the_command(mdplay, tmp_path):
    options = ["--arms", "0.9,0.8", "--policies", "ucb1", "--steps", 50, "--runs", 20]
    answer = mdplay("bandits", *options, "--csv", tmp_path / "curves.csv", "--plot", tmp_path / "curves.png")
    assert "Lai-Robbins" in answer.out
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert len(rows) == 50
    assert float(rows[-1]["regret"]) == pytest.approx(compare(TWO, ["ucb1"], steps=50, runs=20)[0].regret[-1])
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert mdplay("bandits", "--policies", "ucb7").code == 2
    assert "c=2" in mdplay("bandits", *options, "--study", "c=0.5,2").out
