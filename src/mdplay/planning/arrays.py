"""The arrays that the planners sweep over: an MDP with the sign of its rewards turned so that larger is better.

The expected reward of every choice, to the last digits of a double.

A row means its probabilities divided by their sum, so the expected reward is

    sum(p * r) / sum(p)          of the numbers as they are given, without any rounding,

and what is stored is that number rounded: off by a few last digits of itself, whatever cancels in the sum.  Only
then does one error factor for all rewards (`ModelArrays.backup_error`) keep the bounds proven.  Nor may a reward
that is not 0 be rounded to 0: without a discount, resting for nothing is another matter than paying.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import copysign
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.planning.loops import component_order, expect
from mdplay.planning.model import Model
from mdplay.states.graph_search import Floats, Integers, has_cycle, lengths, run

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


UNIT = 2.0**-53
ARRAYS_TINIEST = 2.0**-1074
LARGEST = 2.0**1000  # of values: beyond, doubles overflow before a bound is proven


class Change(NamedTuple):
    """How a sweep changed the values: the smallest and the largest difference, and how many choices."""

    low: float
    high: float
    switched: int

    @property
    def step(self) -> float:
        """The largest change of a value, up or down."""
        return max(-self.low, self.high, 0.0)


class Decision(NamedTuple):
    """The choice of every state, and whether the bounds leave another choice open."""

    choice: Integers
    undecided: npt.NDArray[np.bool_]


class ChoiceArrays(NamedTuple):
    """The choices with their transitions, as kernels take them."""

    first_transition: Integers
    target: Integers
    probability: Floats
    reward: Floats
    discount: float


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """Choices and transitions as in `Model`, rewards to be maximised."""

    first_choice: Integers
    first_transition: Integers
    target: Integers
    probability: Floats
    reward: Floats
    discount: float
    reward_error: float = 0.0

    @classmethod
    def of(cls, mdp: Model) -> ModelArrays:
        """Return the arrays of an MDP; costs change their sign."""
        reward = -mdp.reward if mdp.minimise else mdp.reward
        arrays = (mdp.first_choice, mdp.first_transition, mdp.target, mdp.probability)
        return cls(*arrays, reward, mdp.discount, mdp.reward_error)

    @property
    def num_states(self) -> int:
        """The number of states."""
        return len(self.first_choice) - 1

    @property
    def width(self) -> float:
        """The number of choices of a state, on average."""
        return len(self.reward) / self.num_states

    @cached_property
    def choices(self) -> ChoiceArrays:
        """The choices with their transitions, as kernels take them."""
        arrays = (self.first_transition, self.target, self.probability, self.reward)
        return ChoiceArrays(*arrays, self.discount)

    @cached_property
    def live(self) -> npt.NDArray[np.bool_]:
        """True where a state has choices."""
        return lengths(self.first_choice) > 0

    @cached_property
    def owner(self) -> Integers:
        """The state of every choice."""
        counts = lengths(self.first_choice)
        return np.repeat(np.arange(self.num_states, dtype=np.int64), counts)

    @cached_property
    def source(self) -> Integers:
        """The choice of every transition."""
        counts = lengths(self.first_transition)
        return np.repeat(np.arange(len(self.reward), dtype=np.int64), counts)

    @property
    def first_edge(self) -> Integers:
        """Where the transitions of each state begin, all its choices together."""
        edges: Integers = self.first_transition[self.first_choice.astype(np.int64)].astype(np.uint64)
        return edges

    @cached_property
    def component_order(self) -> tuple[Integers, Integers]:
        """The states sorted by strongly connected component, last ones first, and where each begins."""
        return component_order(self.first_edge, self.target)

    @cached_property
    def acyclic(self) -> bool:
        """Whether no state can be visited twice."""
        return not has_cycle(self.first_edge, self.target)

    @cached_property
    def endless(self) -> bool:
        """Whether no state is terminal."""
        return bool(self.live.all())

    @cached_property
    def row_lengths(self) -> npt.NDArray[np.int64]:
        """The number of transitions of every choice."""
        return lengths(self.first_transition)

    @cached_property
    def longest(self) -> int:
        """The largest number of transitions of a choice."""
        return int((self.first_transition[1:] - self.first_transition[:-1]).max(initial=0))

    @cached_property
    def rounding(self) -> float:
        """The error of one computed backup, for rewards of size 1 and values of size 1/2."""
        return rounding(self.longest)

    @cached_property
    def largest_reward(self) -> float:
        """The largest absolute reward."""
        return largest(self.reward)

    @cached_property
    def first_actions(self) -> Integers:
        """The first choice of every state."""
        return self.first_choice[:-1].astype(np.uint32)

    def backup_error(self, value: Floats) -> float:
        """Return a bound for the error of one backup of these values, of rounding and of the rewards."""
        return backup_error(self.longest, self.largest_reward, largest(value), self.reward_error)


def rounding(longest: int) -> float:
    """Return the error of one computed backup, for rewards of size 1 and values of size 1/2.

    In last digits (UNIT) of the values, for rows of n transitions: n of products and sums; 3 n + 5 of
    probabilities that sum to 1 only to that, and for a chain made of a policy 4 n + 5 more because they were
    divided once again; 3 of the discount, the reward and the best.  A reward is off by 4 of its own.
    """
    return (4 * longest + 8) * UNIT


def backup_error(longest: int, largest_reward: float, largest_value: float, reward_error: float) -> float:
    """Return a bound for the error of one backup, of rounding and of the rewards.

    The smallest numbers have no digits to lose: each product may be off by half of the tiniest one.
    """
    tiny = (longest + 8) * ARRAYS_TINIEST
    return rounding(longest) * (largest_reward + 2.0 * largest_value) + reward_error + tiny


def largest(numbers: Floats) -> float:
    """Return the largest absolute value, 0 of none; makes no copy."""
    return max(float(numbers.max()), -float(numbers.min())) if numbers.size else 0.0
