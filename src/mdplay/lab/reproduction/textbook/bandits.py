"""Chapter 2, multi-armed bandits: the testbed of ten Gaussian arms."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from mdplay.bandits.laboratory import Curve, compare
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, equal
from mdplay.lab.reproduction.textbook.drawing import (
    STANDARD_ERRORS,
    Axes,
    Line,
    Show,
    interval,
    picture,
    rows_table,
)

TITLE = "Multi-armed bandits"
POLICIES = ("greedy", "epsilon-greedy(epsilon=0.01)", "epsilon-greedy(epsilon=0.1)", "ucb1(c=2)")


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    runs = 200 if quick else 2000
    return [Step("testbed", lambda show: _testbed(runs, seed, show), {"runs": runs, "seed": seed})]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    rewards = facts["testbed"]["reward"]
    return f"After 1000 pulls, greedy earns {rewards[0]:.2f} a pull, epsilon 0.1 earns {rewards[2]:.2f}."


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    found = facts["testbed"]
    reward, half, optimal = found["reward"], found["half"], found["optimal"]
    return [
        equal(
            "Section 2.3: the best possible reward on this testbed is about 1.54.",
            f"{found['best']:.5f}",
            "The expected maximum of ten standard normal numbers, by quadrature.",
            abs(found["best"] - 1.54) < 0.005,
        ),
        equal(
            "Figure 2.2: the greedy method earns only about 1 a pull.",
            interval(reward[0], half[0], 3),
            f"{found['runs']} runs of 1000 pulls; the mean of the last twentieth.",
            abs(reward[0] - 1.0) < 0.1,
        ),
        equal(
            "Figure 2.2: the greedy method finds the optimal arm in only about a third of the tasks.",
            f"{optimal[0]:.1%}",
            "Share of optimal pulls at the end.",
            abs(optimal[0] - 1 / 3) < 0.05,
        ),
        equal(
            "Section 2.3: with epsilon 0.1 the optimal arm is never selected more than 91 % of the time.",
            f"{optimal[2]:.1%}",
            "0.9 + 0.1 / 10 is the limit.",
            0.7 < optimal[2] <= 0.91,
        ),
        equal(
            "Figure 2.2: epsilon 0.01 improves more slowly than epsilon 0.1.",
            f"{interval(reward[1], half[1], 3)} against {interval(reward[2], half[2], 3)}",
            "Reward at the end.",
            reward[2] - reward[1] > math.hypot(half[1], half[2]),
        ),
    ]


def _testbed(runs: int, seed: int, show: Show) -> Figure:
    curves = compare("gaussian:10", ",".join(POLICIES), steps=1000, runs=runs, seed=seed, show=show)
    best, _ = quad(lambda x: x * 10.0 * norm.pdf(x) * norm.cdf(x) ** 9, -10.0, 10.0)
    rows = [
        (c.name, interval(c.end_reward, STANDARD_ERRORS * c.end_reward_error, 3), f"{c.end_optimal:.1%}")
        for c in curves
    ]
    return Figure(
        "Figure 2.2: the testbed of ten arms",
        f"mdplay bandits --policies '{','.join(POLICIES)}' --runs {runs} --seed {seed}",
        f"{runs} runs of 1000 pulls; the arms have means N(0, 1) and rewards of variance 1.",
        {
            "best": float(best),
            "runs": runs,
            "reward": [float(c.end_reward) for c in curves],
            "half": [float(STANDARD_ERRORS * c.end_reward_error) for c in curves],
            "optimal": [float(c.end_optimal) for c in curves],
        },
        rows_table(("policy", "reward at the end", "optimal pulls at the end"), rows),
        picture({c.name: _line(c) for c in curves}, Axes("pull", "reward", exact={"best possible": float(best)})),
    )


def _line(curve: Curve) -> Line:
    return Line(
        curve.steps.tolist(), curve.reward.tolist(), np.multiply(STANDARD_ERRORS, curve.reward_error).tolist()
    )
