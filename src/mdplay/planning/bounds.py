"""Lower and upper bounds that truly enclose the optimal values, for a discount below 1.

With d = TV - V over all states, MacQueen (1966) shows for every vector V

    TV + g/(1-g) * min d  <=  V*  <=  TV + g/(1-g) * max d        g the discount, T one Bellman sweep,

a terminal state counting with d = 0.  T is the MDP's as it was given, before anything was rounded; what is
computed instead, in doubles and from normalised rows, is off by at most e in every state.  That is added to both
sides, and so is its echo through g/(1-g).  For a discount of 1 see `mdplay.planning.undiscounted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from mdplay.evaluating.evaluation import TIE
from mdplay.planning.arrays import ARRAYS_TINIEST as TINIEST
from mdplay.planning.arrays import Change, largest
from mdplay.planning.backends import Backend
from mdplay.states.graph_search import Floats


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """Values with a proven enclosure; ``width`` bounds the error of a difference of two actions' values."""

    value: Floats
    lower: Floats
    upper: Floats
    width: float
    shift: float = 0.0  # from the values that were swept to the middle of the bounds

    @property
    def gap(self) -> float:
        """The largest distance between the bounds of a state."""
        return float((self.upper - self.lower).max()) if self.value.size else 0.0


def discounted_bounds(backend: Backend, value: Floats, q_value: Floats) -> ValueBounds:
    """Return bounds around the optimal values from any value vector and its q values."""
    arrays = backend.arrays
    new = np.zeros_like(value)
    change = backend.best(q_value, value, new)
    found = margins(arrays, change, arrays.backup_error(value), largest(new))
    answer, lower, upper = found.around(new)
    if not arrays.endless:
        for array in (answer, lower, upper):
            array[~arrays.live] = 0.0
    return ValueBounds(answer, lower, upper, found.width, found.shift)


class Discounted(Protocol):
    """What bounds ask of a model: its discount, and whether no state is terminal."""

    @property
    def discount(self) -> float:
        """The discount, below 1."""

    @property
    def endless(self) -> bool:
        """Whether no state is terminal."""


class Margins(NamedTuple):
    """How far the optimal values can be from swept ones, rounding included."""

    low: float
    high: float
    width: float  # of the error of a difference of two actions' values
    shift: float  # from the swept values to the middle of the bounds

    def around(self, swept: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the middle of the bounds, the lower and the upper ones."""
        return swept + self.shift, swept + self.low, swept + self.high


def margins(model: Discounted, change: Change, error: float, most: float) -> Margins:
    """Return the margins of a sweep: ``error`` bounds that of a backup, ``most`` the swept values' size."""
    error += 2.0**-53 * most
    low, high = enclosure(model, change, error)
    slack = 2.0**-49 * (most + abs(low) + abs(high)) + 8.0 * TINIEST  # of low, high and the sums with them
    # V* - V = (V* - TV) + (TV - V) is between low / g and high / g; a q value takes g times that.
    # The rule for ties compares at the middle, which is off by less than high - low.
    width = (1.0 + 2.0 * TIE) * (high - low) + 2.0 * (error + slack)
    return Margins(low - slack, high + slack, width, 0.5 * (low + high))


def enclosure(arrays: Discounted, change: Change, error: float = 0.0) -> tuple[float, float]:
    """Return how far below and above the swept values the optimal ones can be."""
    low, high = extremes(arrays, change)
    low, high = low - error, high + error
    factor = arrays.discount / (1.0 - arrays.discount)
    return factor * low - error, factor * high + error


def extremes(arrays: Discounted, change: Change) -> tuple[float, float]:
    """Return the smallest and the largest change of all states, terminal ones too."""
    return (change.low, change.high) if arrays.endless else (min(change.low, 0.0), max(change.high, 0.0))


def span(arrays: Discounted, change: Change) -> float:
    """Return the span of a change: how far apart those of two states are at most."""
    low, high = extremes(arrays, change)
    return high - low


def half_width(arrays: Discounted, change: Change) -> float:
    """Return the proven error of the middle of the bounds, before rounding is counted."""
    low, high = enclosure(arrays, change)
    return 0.5 * (high - low)
