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
from mdplay.mdp.rows import Change, Rows, Sweeps


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


def discounted_bounds(sweeps: Sweeps, value: Floats) -> Bounds:
    """Return bounds around the optimal values by one sweep over any value vector."""
    rows = sweeps.rows
    new = np.zeros_like(value)
    change = sweeps.improve(value, new, rows.first_actions.copy())
    error = rows.backup_error(value) + 2.0**-53 * float(np.abs(new).max())
    low, high = enclosure(rows, change, error)
    middle = 0.5 * (low + high)
    live = rows.live
    answer = np.where(live, new + middle, 0.0)
    slack = np.spacing(np.abs(answer)) * 2.0
    lower = np.where(live, new + low - slack, 0.0)
    upper = np.where(live, new + high + slack, 0.0)
    return Bounds(answer, lower, upper, rows.discount * (high - low) + 2.0 * error)


def enclosure(rows: Rows, change: Change, error: float = 0.0) -> tuple[float, float]:
    """Return how far below and above the swept values the optimal ones can be."""
    low, high = change.low - error, change.high + error
    if not rows.endless:
        low, high = min(low, 0.0), max(high, 0.0)
    factor = rows.discount / (1.0 - rows.discount)
    return factor * low - error, factor * high + error


def half_width(rows: Rows, change: Change) -> float:
    """Return the proven error of the middle of the bounds, before rounding is counted."""
    low, high = enclosure(rows, change)
    return 0.5 * (high - low)
