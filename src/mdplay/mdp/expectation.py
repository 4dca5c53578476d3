"""The expected reward of every choice, to the last digits of a double.

A row means its probabilities divided by their sum, so the expected reward is

    sum(p * r) / sum(p)          of the numbers as they are given, without any rounding,

and what is stored is that number rounded: off by a few last digits of itself, whatever cancels in the sum.  Only
then does one error factor for all rewards (`ModelArrays.backup_error`) keep the bounds proven.  Nor may a reward
that is not 0 be rounded to 0: without a discount, resting for nothing is another matter than paying.
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign

import numpy as np

from mdplay.mdp.loops import expect
from mdplay.states.walks import Floats, Integers, run

WORK = 6  # of a transition, compared to other loops
TINIEST = 5e-324


def expected_rewards(first: Integers, reward: Floats, probability: Floats) -> Floats:
    """Return the mean reward of each row, by probability; row k is ``first[k] .. first[k + 1] - 1``."""
    expected, sure = np.zeros(len(first) - 1), np.zeros(len(first) - 1, dtype=bool)
    if len(expected):
        run(expect, WORK * len(reward), np.asarray(first, dtype=np.int64), reward, probability, expected, sure)
    for k in np.flatnonzero(~sure).tolist():
        row = slice(int(first[k]), int(first[k + 1]))
        expected[k] = exact_mean(reward[row].tolist(), probability[row].tolist())
    return expected


def exact_mean(reward: list[float], probability: list[float]) -> float:
    """Return the mean by probability, computed in fractions and rounded once, but never to 0."""
    weights = [Fraction(p) for p in probability]
    total = sum((w * Fraction(r) for w, r in zip(weights, reward, strict=True)), Fraction(0))
    mean = total / (sum(weights) or 1)  # a row of zeros is refused by who gets the answer
    return float(mean) or (copysign(TINIEST, mean) if mean else 0.0)
