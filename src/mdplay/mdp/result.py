"""What planning brings back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mdplay.states.walks import Floats, Integers
from mdplay.words import counted


@dataclass(frozen=True, eq=False)
class Plan:
    """Values and actions of all states, and what is proven about them.

    ``lower <= optimum <= upper`` holds for every state.  ``action`` is -1 in terminal states; ``undecided``
    lists the states where the bounds do not tell which actions are tied with the best one.
    """

    value: Floats
    action: Integers
    lower: Floats
    upper: Floats
    undecided: Integers
    method: str
    reason: str
    iterations: int
    history: tuple[tuple[int, float], ...]
    seconds: float
    tolerance: float

    def __repr__(self) -> str:
        states = counted(len(self.value), "state")
        return f"<Plan of {states} by {self.method}: gap {self.gap:.3g} in {self.seconds:.2f} s>"

    @property
    def gap(self) -> float:
        """The largest distance between the bounds of a state of finite value."""
        finite = np.isfinite(self.value)
        return float((self.upper[finite] - self.lower[finite]).max()) if finite.any() else 0.0

    @property
    def closed(self) -> bool:
        """Whether every value is proven to be within the tolerance."""
        return self.gap <= 2.0 * self.tolerance

    @property
    def infinite(self) -> Integers:
        """The states of infinite value."""
        return np.flatnonzero(np.isinf(self.value))

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON; infinite numbers as texts, which JSON has no number for."""
        return {
            "states": len(self.value),
            "method": self.method,
            "reason": self.reason,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "gap": _plain(self.gap),
            "closed": self.closed,
            "undecided": self.undecided.tolist(),
            "value": [_plain(value) for value in self.value.tolist()],
            "action": self.action.tolist(),
            "lower": [_plain(value) for value in self.lower.tolist()],
            "upper": [_plain(value) for value in self.upper.tolist()],
        }

    def _repr_html_(self) -> str:
        """Show the first states: value, action and bounds."""
        from mdplay.showing import MAX_ROWS, number, sentence, table

        columns = (self.value, self.lower, self.upper, self.action)
        rows = [
            (str(state), *(number(value, 6) for value in values), "" if action < 0 else str(action))
            for state, (*values, action) in enumerate(zip(*(c[:MAX_ROWS].tolist() for c in columns), strict=True))
        ]
        gap = f"gap {self.gap:.3g}{'' if self.closed else ', not closed'}"
        states, rounds = counted(len(self.value), "state"), counted(self.iterations, "iteration")
        about = f"{states} by {self.method}, {rounds}: {gap} in "
        head = ("state", "value", "lower", "upper", "action")
        return sentence(f"{about}{self.seconds:.2f} s.") + table(
            head, rows, total=len(self.value), things="states"
        )


def _plain(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)
