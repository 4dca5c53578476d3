"""Pull the arm that a selector wants, and let the selector learn: the one part that bandits and trees share.

Arms are records of one array, so that what belongs to an arm lies together in memory.  A bandit is the whole
array; the children of a node are a stretch of it.  Rewards reach a selector as (reward - base) * factor.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import mix, unit
from mdplay.compiling import Word, inlined
from mdplay.searching.selectors import Arm, Pull, Selector

OPEN, PROVEN, LOST, REPEATED = range(4)
ARM_FIELDS = [
    ("value", np.float64),  # mean of the rewards (`mean` is a method of numpy's records)
    ("square", np.float64),  # mean of the squared rewards, if the selector asks for it
    ("weight", np.float64),  # the selector's own number
    ("pulls", np.int32),
    ("proof", np.uint8),  # OPEN; PROVEN: the mean is exact; LOST: and so low that the arm is never pulled;
    # REPEATED, in a tree: the position was met on the way here, so nothing below is searched
]
Records = NDArray[Any]
ARM = np.dtype((np.record, np.dtype(ARM_FIELDS, align=True)))


class Scale(NamedTuple):
    """How a selector sees rewards."""

    base: float
    factor: float


@inlined
def view(selector: Selector, arms: Records, k: int, scale: Scale) -> Arm:
    """Return arm k as the selector sees it."""
    arm = arms[k]
    mean, square = 0.0, 0.0
    if arm.pulls or selector.priors:
        mean = (arm.value - scale.base) * scale.factor
        if selector.squares:
            variance = arm.square - arm.value * arm.value
            square = mean * mean + variance * scale.factor * scale.factor
    return Arm(int(arm.pulls), mean, square, arm.weight)


@inlined
def select(selector: Selector, arms: Records, first: int, last: int, total: int, scale: Scale, word: Word) -> int:
    """Return the arm in first .. last - 1 of the highest score, lost ones left out."""
    coin = unit(mix(word, 1 << 32))
    best, highest = first, -math.inf
    for k in range(first, last):
        if arms[k].proof != LOST:
            score = selector.score(view(selector, arms, k, scale), total, coin, unit(mix(word, k - first)))
            better = score > highest
            best = k if better else best
            highest = max(score, highest)
    return best


@inlined
def reward_arm(selector: Selector, arms: Records, k: int, reward: float) -> None:
    """Add a reward to an arm, in place."""
    arm = arms[k]
    arm.pulls += 1
    arm.value += (reward - arm.value) / arm.pulls
    if selector.squares:
        arm.square += (reward * reward - arm.square) / arm.pulls


@inlined
def learn(
    selector: Selector, arms: Records, first: int, last: int, chosen: int, reward: float, scale: Scale
) -> None:
    """Let a selector with weights learn from the reward of the chosen arm, before it is added; in place."""
    top, shares, sums, pulls = -math.inf, 0.0, 0.0, 0
    for k in range(first, last):
        top = max(top, arms[k].weight)
        sums += arms[k].value * arms[k].pulls
        pulls += arms[k].pulls
    for k in range(first, last):
        shares += math.exp(arms[k].weight - top)
    seen = (reward - scale.base) * scale.factor
    average = (sums / pulls - scale.base) * scale.factor if pulls else seen
    for k in range(first, last):
        share = math.exp(arms[k].weight - top) / shares
        pull = Pull(k == chosen, seen, average, share, last - first)
        arms[k].weight = selector.learn(view(selector, arms, k, scale), pull)
