"""Update rules, exploration and schedules: the parts of a method that kernels are compiled for or read as numbers.

A rule is a frozen dataclass with two short methods.  ``target`` returns the estimate of the state that follows a
step; ``carry`` passes a return back through a state on the way to the pair that is updated (n steps).

    method           target                             carry
    q                the best action's value            the return
    sarsa            the value of the action taken      the return
    expected-sarsa   the mean under the policy          the return
    tree-backup      the mean under the policy          mean + chance * (return - value of the action taken)

A rule of your own is a class of three lines; it is compiled like a game:

    @dataclass(frozen=True)
    class Cautious(Rule):
        needs_mean = True

        def target(self, after: After) -> float:
            return 0.5 * (after.best + after.mean)

Exploration uses the selectors of tree search: actions are arms, Q is the mean of an arm.  ``Scheduled`` and
``Boltzmann`` read their parameter from ``arm.weight``, which holds the current number of the schedule ``epsilon``,
so that one compiled kernel serves every epsilon and temperature.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mdplay.compiling import inlined
from mdplay.errors import FormatError, short
from mdplay.game import Compiled
from mdplay.searching.selectors import Arm, Crowd, Selector, gumbel


class After(NamedTuple):
    """The state after a step, as a rule sees it."""

    best: float  # largest action value
    mean: float  # expected action value under the policy that is followed
    taken: float  # value of the action that is taken there
    chance: float  # probability of that action


class Rule(Compiled):
    """An update rule; override ``target``, and ``carry`` for returns that need a correction."""

    needs_action: ClassVar[bool] = False  # the next action is chosen before the update
    needs_mean: ClassVar[bool] = False  # the probabilities of the policy are computed
    double: ClassVar[bool] = False  # there are two tables

    def target(self, after: After) -> float:
        """Return the estimate of the state after the step."""
        raise NotImplementedError

    def carry(self, after: After, g: float) -> float:
        """Return the value of a state on the way back, given the return ``g`` after the action taken there."""
        return g


@dataclass(frozen=True)
class Q(Rule):
    """Watkins (1989): the value of the best action."""

    def target(self, after: After) -> float:
        """Return the best value."""
        return after.best


@dataclass(frozen=True)
class DoubleQ(Rule):
    """Van Hasselt (2010): the best action of one table, with the value of the other."""

    double = True

    def target(self, after: After) -> float:
        """Return the best value."""
        return after.best


@dataclass(frozen=True)
class Sarsa(Rule):
    """Rummery and Niranjan (1994): the value of the action that is taken."""

    needs_action = True

    def target(self, after: After) -> float:
        """Return the value of the action taken."""
        return after.taken


@dataclass(frozen=True)
class ExpectedSarsa(Rule):
    """Van Seijen and others (2009): the expectation over the policy."""

    needs_mean = True

    def target(self, after: After) -> float:
        """Return the mean."""
        return after.mean


@dataclass(frozen=True)
class TreeBackup(Rule):
    """Precup, Sutton and Singh (2000): the return replaces the value of the action taken, and no other."""

    needs_action = True
    needs_mean = True

    def target(self, after: After) -> float:
        """Return the mean."""
        return after.mean

    def carry(self, after: After, g: float) -> float:
        """Return the mean with the return in place of the value of the action taken."""
        return after.mean + after.chance * (g - after.taken)


# ---------------------------------------------------------------- exploration
@dataclass(frozen=True)
class Scheduled(Selector):
    """Epsilon-greedy whose epsilon is the number of the schedule."""

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the dice with probability epsilon, otherwise the mean."""
        return dice if coin < arm.weight else arm.mean

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return the probability of the arm."""
        greedy = 1.0 / crowd.ties if arm.mean == crowd.highest else 0.0
        return arm.weight / crowd.arms + (1.0 - arm.weight) * greedy


@dataclass(frozen=True)
class Boltzmann(Selector):
    """Softmax whose temperature is the number of the schedule."""

    exponential = True

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the exponent plus Gumbel noise."""
        return arm.mean / arm.weight + gumbel(dice)

    def chance(self, arm: Arm, crowd: Crowd) -> float:
        """Return the probability of the arm."""
        return math.exp((arm.mean - crowd.highest) / arm.weight) / crowd.total


# ---------------------------------------------------------------- schedules
CONSTANT, EPISODES, STEPS, VISITS = range(4)
CLOCKS = {"n": VISITS, "visit": VISITS, "episode": EPISODES, "step": STEPS}
_NUMBER = r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)"
_POWER = re.compile(rf"(?:{_NUMBER}\*)?(n|visit|episode|step)\^-{_NUMBER}")
_OVER = re.compile(rf"{_NUMBER}/(n|visit|episode|step)")
_SLOWER = re.compile(rf"{_NUMBER}/\(1\+(n|visit|episode|step)/{_NUMBER}\)(?:\^{_NUMBER})?")


class Schedule(NamedTuple):
    """A number that may fall: first / (1 + count / scale) ** power.

    ``count`` is the number of earlier episodes, steps or visits of the pair, by ``clock``.
    """

    first: float
    scale: float = 1.0
    power: float = 0.0
    clock: int = CONSTANT


def read_schedule(given: float | str | Schedule, name: str = "alpha") -> Schedule:
    """Return the schedule that a number or a text means.

    ``0.1``, ``1/n`` and ``n^-0.8`` (n: visits of the pair), ``1/episode``, ``0.5/(1+episode/100)``, ``1/step``.
    Raise FormatError for anything else.

    >>> read_schedule("1/n")
    Schedule(first=1.0, scale=1.0, power=1.0, clock=3)
    """
    if isinstance(given, Schedule):
        return given
    text = str(given).replace(" ", "").lower()
    found: Schedule | None = None
    if match := _POWER.fullmatch(text):
        found = Schedule(float(match[1] or 1.0), 1.0, float(match[3]), CLOCKS[match[2]])
    elif match := _OVER.fullmatch(text):
        found = Schedule(float(match[1]), 1.0, 1.0, CLOCKS[match[2]])
    elif match := _SLOWER.fullmatch(text):
        found = Schedule(float(match[1]), float(match[3]), float(match[4] or 1.0), CLOCKS[match[2]])
    elif re.fullmatch(_NUMBER, text):
        found = Schedule(float(text))
    if found is None or not math.isfinite(found.first) or found.scale <= 0.0:
        raise FormatError(
            f"{name}={short(given)} is neither a number nor a schedule; "
            "write 0.1, 1/n, n^-0.8 or 0.5/(1+episode/100)"
        )
    return found


@inlined
def current(schedule: Schedule, episode: int, step: int, visits: int) -> float:
    """Return the current number of a schedule."""
    if schedule.clock == CONSTANT:
        return schedule.first
    count = episode if schedule.clock == EPISODES else step if schedule.clock == STEPS else visits
    base = 1.0 + count / schedule.scale
    return schedule.first / base if schedule.power == 1.0 else schedule.first / base**schedule.power
