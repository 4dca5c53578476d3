"""Dots and Boxes as the report tells it: 4096 integers and policy iteration by sweeps, in plain Python.

A move that completes boxes earns them, and the mover goes on.  After any other move the opponent draws one random
line, which earns nobody anything.  The full board is worth 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from mdplay.solving.values import TIE

LINES = 12
FULL = (1 << LINES) - 1
BOXES = (325, 1290, 660, 2600)
DOWNWARDS = tuple(range(FULL - 1, -1, -1))
UPWARDS = tuple(range(FULL))


def number_of(entries: Sequence[int]) -> int:
    """Return the state of twelve entries 0 or 1: the sum of line(i) << i."""
    return sum(entry << i for i, entry in enumerate(entries))


def entries_of(state: int) -> list[int]:
    """Return the twelve entries of a state."""
    return [state >> i & 1 for i in range(LINES)]


@cache
def outcomes(state: int, line: int) -> tuple[int, tuple[int, ...]]:
    """Return the boxes that a line earns, and the states of which I then have one, each as likely."""
    after = state | 1 << line
    earned = sum(after & box == box != state & box for box in BOXES)
    if earned or after == FULL:
        return earned, (after,)
    return 0, tuple(after | 1 << reply for reply in range(LINES) if not after >> reply & 1)


def action_value(values: Sequence[float], state: int, line: int) -> float:
    """Return what a line is worth: its boxes, and the mean of what follows."""
    earned, following = outcomes(state, line)
    return earned + sum(values[s] for s in following) / len(following)


@dataclass
class PolicyIteration:
    """Values and a policy to start from, both arbitrary; ``sweeps`` are those of each round."""

    values: list[float]
    policy: list[int]
    order: Sequence[int] = DOWNWARDS
    sweeps: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Evaluate and improve until no action changes."""
        self.values[FULL] = 0.0
        while True:
            self.sweeps.append(self.evaluate())
            if not self.improve():
                return

    def evaluate(self) -> int:
        """Sweep over the states until no value changes; return the number of sweeps."""
        sweeps, changed = 0, True
        while changed:
            changed = False
            for state in self.order:
                value = action_value(self.values, state, self.policy[state])
                changed |= value != self.values[state]
                self.values[state] = value
            sweeps += 1
        return sweeps

    def improve(self) -> bool:
        """Give every state the smallest of its best actions; tell whether one changed."""
        before = list(self.policy)
        for state in UPWARDS:
            self.policy[state] = self.best(state)
        return self.policy != before

    def best(self, state: int) -> int:
        """Return the smallest of the best lines."""
        found = {a: action_value(self.values, state, a) for a in range(LINES) if not state >> a & 1}
        most = max(found.values())
        return min(a for a, value in found.items() if value >= most - TIE * max(1.0, abs(most)))
