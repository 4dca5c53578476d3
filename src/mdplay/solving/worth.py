"""What a state is worth, the tie rule, and where solutions keep their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

TIE = 1e-9  # values this close to the best, in proportion to it, are equally good


class Worth(NamedTuple):
    """A value, and the plies to the end where these are counted."""

    value: float
    distance: int | None


@dataclass(frozen=True)
class Choice:
    """An action with its value to the player who makes it, and the plies to the end where these are counted.

    ``score`` is for games whose wins are counted, such as Connect Four's.
    """

    action: int
    value: float
    distance: int | None
    score: int | None = None


class Table(Protocol):
    """Where a solution keeps its values."""

    method: str

    def __len__(self) -> int:
        """Return the number of states with a value."""

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player."""


def best_actions(choices: Sequence[Choice]) -> list[int]:
    """Return the actions whose value is the highest one, within the tie rule."""
    best = max((choice.value for choice in choices), default=0.0)
    return [choice.action for choice in choices if choice.value >= best - TIE * max(1.0, abs(best))]
