"""The arrays that the planners sweep over: an MDP with the sign of its rewards turned so that larger is better.

`assemble` makes the sorted arrays of an MDP from transitions in any order.  Two transitions of one state and
action to the same target become one, with the sum of the probabilities: methods that sweep in place silently
fail when a row names a target twice.

A row means its probabilities divided by their sum, so the expected reward is

    sum(p * r) / sum(p)          of the numbers as they are given, without any rounding,

and the stored number is that one rounded: off by a few last digits of itself, whatever cancels in the sum.  Only
then does one error factor for all rewards (`ModelArrays.backup_error`) keep the bounds proven.  A reward that is
not 0 is never rounded to 0: without a discount, a free action differs from one that costs anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import copysign
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.loops import component_order, expect, merge
from mdplay.planning.model import MAX_STATES, Model
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


class Transitions(NamedTuple):
    """Transitions in any order, one an entry."""

    state: npt.ArrayLike
    action: npt.ArrayLike
    target: npt.ArrayLike
    reward: npt.ArrayLike
    probability: npt.ArrayLike


class Columns(NamedTuple):
    """Transitions, one an entry; ``row`` numbers the pairs of state and action, ascending with both."""

    row: Integers
    target: Integers
    reward: Floats
    probability: Floats

    def take(self, chosen: Integers) -> Columns:
        """Return the chosen transitions."""
        return Columns(*(column[chosen] for column in self))


def assemble(
    transitions: Transitions,
    *,
    num_states: int,
    discount: float,
    minimise: bool = False,
    keep_rewards: bool = False,
) -> Model:
    """Return the model of the transitions; those of probability 0 are left out.

    ``keep_rewards`` keeps the reward of every transition beside the expectation of each choice.
    """
    states, actions, targets = (np.asarray(column) for column in transitions[:3])
    rewards, weights = (np.asarray(column, dtype=np.float64) for column in transitions[3:])
    if len({len(states), len(actions), len(targets), len(rewards), len(weights)}) > 1:
        raise FormatError("states, actions, targets, rewards and probabilities must be equally many")
    _check_whole("state", states, num_states)
    _check_whole("target", targets, num_states)
    _check_whole("action", actions, MAX_STATES)
    _check_finite(rewards, weights)
    width = int(actions.max()) + 1 if actions.size else 1
    columns = grouped(Columns(states.astype(np.int64) * width + actions, targets, rewards, weights))
    expected = expected_rewards(_starts(columns.row), columns.reward, columns.probability)
    return _model(merged(columns), expected, width, num_states, discount, minimise, keep_rewards)


def _check_whole(name: str, numbers: Integers, end: int) -> None:
    """Refuse numbers that are not whole or not in 0 .. end - 1."""
    if not 1 <= end <= MAX_STATES:
        raise FormatError(f"the number of states is {end}; it must be between 1 and {MAX_STATES}")
    if not numbers.size:
        return
    if numbers.dtype.kind not in "iu":
        raise FormatError(f"every {name} must be a whole number, not {numbers.dtype}")
    smallest, largest = int(numbers.min()), int(numbers.max())
    if smallest < 0 or largest >= end:
        wrong = smallest if smallest < 0 else largest
        raise FormatError(f"a {name} is {wrong}; it must be between 0 and {end - 1}")


def _check_finite(rewards: Floats, weights: Floats) -> None:
    """Refuse rewards that are not finite and probabilities that are negative or none."""
    if not np.isfinite(rewards).all():
        raise FormatError(f"a reward is {rewards[~np.isfinite(rewards)][0]}; it must be finite")
    fits = (weights >= 0.0) & (weights < np.inf)
    if not fits.all():
        raise FormatError(f"a probability is {weights[~fits][0]}; it must be between 0 and 1")


def grouped(columns: Columns) -> Columns:
    """Return the transitions grouped by row, zeros left out."""
    if (columns.probability == 0.0).any():
        columns = columns.take(np.flatnonzero(columns.probability))
    if (columns.row[1:] < columns.row[:-1]).any():
        columns = columns.take(np.argsort(columns.row, kind="stable"))
    return columns


def merged(columns: Columns) -> Columns:
    """Return grouped transitions, repeated ones added up."""
    if not len(columns.row):
        return columns
    distinct = Columns(*(np.array(column) for column in columns))
    mark = np.full(int(columns.target.max()) + 1, -1, dtype=np.int64)
    count = run(merge, len(columns.row), columns, mark, np.zeros(len(columns.row)), distinct)
    return Columns(*(column[:count] for column in distinct)) if count < len(columns.row) else distinct


def _starts(row: Integers) -> Integers:
    """Return where each row begins, and where the last one ends."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1], [True]])) if len(row) else np.zeros(1, int)


def _model(
    columns: Columns,
    expected: Floats,
    width: int,
    num_states: int,
    discount: float,
    minimise: bool,
    keep_rewards: bool,
) -> Model:
    """Return the model of transitions that are grouped and distinct; a row is state * width + action."""
    starts = _starts(columns.row)
    state, action = np.divmod(columns.row[starts[:-1]], width)
    return Model(
        first_choice=np.searchsorted(state, np.arange(num_states + 1)),
        action=action,
        first_transition=starts,
        target=columns.target,
        probability=columns.probability,
        reward=expected,
        discount=discount,
        minimise=minimise,
        transition_reward=columns.reward if keep_rewards else None,
    )
