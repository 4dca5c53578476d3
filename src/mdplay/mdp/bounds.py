"""Lower and upper bounds that truly enclose the optimal values, for a discount below 1.

With d = TV - V over all states, MacQueen (1966) shows for every vector V

    TV + g/(1-g) * min d  <=  V*  <=  TV + g/(1-g) * max d        g the discount, T one Bellman sweep,

a terminal state counting with d = 0.  T is computed in doubles: its error, at most e in every state, is added
to both sides, and so is its echo through g/(1-g).  For a discount of 1 see `mdplay.mdp.undiscounted`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mdplay.mdp.model import Floats
from mdplay.mdp.rows import Change, Rows, Sweeps, largest


@dataclass(frozen=True, eq=False)
class Bounds:
    """Values with a proven enclosure; ``width`` bounds the error of a difference of two actions' values."""

    value: Floats
    lower: Floats
    upper: Floats
    width: float

    @property
    def gap(self) -> float:
        """The largest distance between the bounds of a state."""
        return float((self.upper - self.lower).max()) if self.value.size else 0.0


def discounted_bounds(sweeps: Sweeps, value: Floats, worth: Floats) -> Bounds:
    """Return bounds around the optimal values from any value vector and what the choices are worth by it."""
    rows = sweeps.rows
    new = np.zeros_like(value)
    change = sweeps.best(worth, value, new)
    error = rows.backup_error(value) + 2.0**-53 * largest(new)
    low, high = enclosure(rows, change, error)
    slack = 2.0**-51 * (largest(new) + abs(low) + abs(high))  # of the sums below
    answer, lower, upper = new + 0.5 * (low + high), new + (low - slack), new + (high + slack)
    if not rows.endless:
        for array in (answer, lower, upper):
            array[~rows.live] = 0.0
    # V* - V = (V* - TV) + (TV - V) is between low / g and high / g; a choice's worth takes g times that.
    return Bounds(answer, lower, upper, high - low + 2.0 * error)


def enclosure(rows: Rows, change: Change, error: float = 0.0) -> tuple[float, float]:
    """Return how far below and above the swept values the optimal ones can be."""
    low, high = extremes(rows, change)
    low, high = low - error, high + error
    factor = rows.discount / (1.0 - rows.discount)
    return factor * low - error, factor * high + error


def extremes(rows: Rows, change: Change) -> tuple[float, float]:
    """Return the smallest and the largest change of all states, terminal ones too."""
    return (change.low, change.high) if rows.endless else (min(change.low, 0.0), max(change.high, 0.0))


def spread(rows: Rows, change: Change) -> float:
    """Return how far apart the changes of two states are at most."""
    low, high = extremes(rows, change)
    return high - low


def half_width(rows: Rows, change: Change) -> float:
    """Return the proven error of the middle of the bounds, before rounding is counted."""
    low, high = enclosure(rows, change)
    return 0.5 * (high - low)
