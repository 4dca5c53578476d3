"""The arrays that the planners sweep over, and the two machines that sweep them.

`Rows` is an MDP with the sign of its rewards turned so that larger is better.  `sweeps_over` gives the
machine: numpy for small models, which need no compiler, compiled kernels on several threads for large ones.
Both answer the same questions:

    improve(value, out_value, out_choice)   one Bellman sweep: the best reward + discount * E[value]
    step(value, out_value)                  the same for the values alone
    near(value, slack)                      the same machine over the few choices near the best, or None
    policy(choice)                          the rows of one choice a state, to sweep or solve alone
    settle(order, blocks, value, ...)       sweeps in place, block after block
    worths(value)                           what every choice is worth
    best(worth, value, out_value)           what every state is worth then, and how that differs from a value
    decide(worth, width)                    the actions, by the rule for ties
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mdplay.mdp.model import MDP, Floats, Integers, lengths

PLAIN_TRANSITIONS = 60_000  # up to here numpy answers before numba would have been imported
TIE = 1e-9  # actions whose values differ by at most TIE * max(1, |best|) are tied
UNIT = 2.0**-53


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


@dataclass(frozen=True, eq=False)
class Rows:
    """Choices and transitions as in `MDP`, rewards to be maximised."""

    first_choice: Integers
    first_transition: Integers
    target: Integers
    probability: Floats
    reward: Floats
    discount: float

    @classmethod
    def of(cls, mdp: MDP) -> Rows:
        """Return the rows of an MDP; costs change their sign."""
        reward = -mdp.reward if mdp.minimise else mdp.reward
        arrays = (mdp.first_choice, mdp.first_transition, mdp.target, mdp.probability)
        return cls(*arrays, reward, mdp.discount)

    @property
    def num_states(self) -> int:
        """The number of states."""
        return len(self.first_choice) - 1

    @property
    def width(self) -> float:
        """The number of choices of a state, on average."""
        return len(self.reward) / self.num_states

    @property
    def choices(self) -> tuple[Integers, Integers, Floats, Floats]:
        """The arrays that describe the choices: pointers, targets, probabilities and rewards."""
        return self.first_transition, self.target, self.probability, self.reward

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

    @cached_property
    def component_order(self) -> tuple[Integers, Integers]:
        """The states sorted by strongly connected component, last ones first, and where each begins."""
        from mdplay.mdp.graph import component_order

        return component_order(self)

    @cached_property
    def acyclic(self) -> bool:
        """Whether no state can be visited twice."""
        from mdplay.mdp.graph import is_acyclic

        return is_acyclic(self)

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
        """The error of one computed backup, for values and rewards of size 1.

        n products and sums, the discount, the reward, and rows that sum to 1 only to n last digits.
        """
        return (3 * self.longest + 8) * UNIT

    @cached_property
    def largest_reward(self) -> float:
        """The largest absolute reward."""
        return largest(self.reward)

    @cached_property
    def first_actions(self) -> Integers:
        """The first choice of every state."""
        return self.first_choice[:-1].astype(np.uint32)

    def backup_error(self, value: Floats) -> float:
        """Return a bound for the rounding error of one backup of these values."""
        return self.rounding * (self.largest_reward + 2.0 * largest(value))


def largest(numbers: Floats) -> float:
    """Return the largest absolute value, 0 of none; makes no copy."""
    return max(float(numbers.max()), -float(numbers.min())) if numbers.size else 0.0


class PolicyRows(Protocol):
    """One row a state: what a fixed policy does."""

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""

    def solve(self, value: Floats, error: float) -> Floats:
        """Return the policy's value with every residual at most ``error``, starting from a guess."""


class Choices(Protocol):
    """Some choices of each state, to sweep over."""

    rows: Rows

    def improve(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Do one Bellman sweep; of equally good choices the first is taken."""

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Do one Bellman sweep for the values alone."""

    def near(self, value: Floats, slack: float) -> Choices | None:
        """Return the choices that the last sweep found worth its value less the slack, if they are few.

        Nothing proves that the best choices of all are among them: sweep over all choices in the end.
        """

    def policy(self, choice: Integers) -> PolicyRows:
        """Return the rows of one choice a state."""


class Sweeps(Choices, Protocol):
    """A machine that sweeps over all choices of some rows."""

    def settle(self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""

    def worths(self, value: Floats) -> Floats:
        """Return what every choice is worth; the next sweep may overwrite the answer."""

    def best(self, worth: Floats, value: Floats, out_value: Floats) -> Change:
        """Find what every state is worth if its choices are worth that; return the change from a value."""

    def decide(self, worth: Floats, width: float) -> Decision:
        """Choose by the rule for ties; ``width`` is how far the worths of two choices may be off."""


def sweeps_over(rows: Rows, threads: int | None = None) -> Sweeps:
    """Return the machine that fits the size of the model."""
    if len(rows.target) <= PLAIN_TRANSITIONS:
        from mdplay.mdp.plain import PlainSweeps

        return PlainSweeps(rows)
    from mdplay.mdp.compiled import CompiledSweeps

    return CompiledSweeps(rows, threads)
