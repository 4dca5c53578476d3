"""What a state is worth, the tie rule, and where solutions keep their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

TIE = 1e-9  # values this close to the best, in proportion to it, are equally good


def finite(bound: float) -> float | None:
    """Return a bound of a value for JSON: None where nothing is known."""
    return bound if math.isfinite(bound) else None


class StateValue(NamedTuple):
    """A value, the plies to the end where these are counted, and a score where wins are counted by their speed.

    ``endless``: the value is that of play without an end, which both sides can force.
    """

    value: float
    distance: int | None
    score: int | None = None
    endless: bool = False


@dataclass(frozen=True)
class Choice:
    """An action and what it is worth to the player who makes it: at least ``low``, at most ``high``.

    ``distance`` are the plies to the end, where these are counted; ``score`` is for games whose wins are counted,
    such as Connect Four's.
    """

    action: int
    low: float
    high: float
    distance: int | None = None
    score: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high

    @property
    def value(self) -> float | None:
        """The value; None while only bounds are known."""
        return self.low if self.exact else None

    def document(self) -> dict[str, Any]:
        """Return the choice for JSON; a score only where there is one."""
        facts = {
            "action": self.action,
            "value": self.value,
            "low": finite(self.low),
            "high": finite(self.high),
            "distance": self.distance,
        }
        return facts if self.score is None else {**facts, "score": self.score}


class Table(Protocol):
    """Where a solution keeps its values.

    A table that proves positions when they are asked for may have more: ``choices(state)``, ``bounds(state,
    player)`` where time may run out, ``line(state)``, and ``scores(states)`` for many at once.  One of a game
    whose positions come back has ``endless``, what endless play is worth to player 0.
    """

    method: str

    def __len__(self) -> int:
        """Return the number of states with a value."""

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a state is worth to a player."""


def best_actions(choices: Sequence[Choice]) -> list[int]:
    """Return the actions whose value is the highest one, within the tie rule; none while others may be better."""
    best = max((choice.low for choice in choices), default=0.0)
    slack = TIE * max(1.0, abs(best))
    if any(choice.high > best + slack for choice in choices):
        return []
    return [choice.action for choice in choices if choice.low >= best - slack]
