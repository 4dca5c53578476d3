"""What a state is worth, the tie rule, and where solutions keep their values.

A question about a game, and what a solver is.

A solver has a name, ``applies(question)``, the cost of answering or what is lacking, and ``fill(question)``, the
table that answers.  A game may bring solvers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mdplay.game import Game
from mdplay.runtime.memory import budget, format_bytes
from mdplay.runtime.threads import Show

TIE = 1e-9  # values this close to the best, in proportion to it, are equally good


def finite(bound: float) -> float | None:
    """Return a bound of a value for JSON: None where nothing is known."""
    return bound if math.isfinite(bound) else None


def known(low: float, high: float) -> bool:
    """Return whether bounds are so close, within the tie rule, that the value between them counts as known."""
    return low == high or (math.isfinite(low) and high - low <= TIE * max(1.0, abs(low)))


def between(low: float, high: float) -> float:
    """Return the number with the fewest decimal digits from ``low`` to ``high``; 0 if it is one of them.

    Bounds that value iteration has proved are 1e-12 apart; any number between them is as good as the middle.
    """
    if low <= 0.0 <= high or low == high:
        return 0.0 if low <= 0.0 <= high else low
    middle = low / 2.0 + high / 2.0
    if not math.isfinite(middle):
        return middle
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((number for number in rounded if low <= number <= high), middle)


def delays(value: float, endless: float) -> bool:
    """Return whether a player delays the end; both numbers are for that player.

    A player delays who has less than infinite play is worth (``endless``), and one whose value is that of infinite
    play if it is a loss.  All others hurry.
    """
    slack = TIE * max(1.0, abs(value))
    return value < (endless - slack if endless >= 0 else endless + slack)


class StateValue(NamedTuple):
    """A value, the plies to the end where these are counted, and a score where wins are counted by their speed.

    ``endless``: the value is that of infinite play, which a player can force.
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
        """Whether the value is known, within the tie rule."""
        return known(self.low, self.high)

    @property
    def value(self) -> float | None:
        """The value, a number between the bounds; None while only bounds are known."""
        return between(self.low, self.high) if self.exact else None

    def document(self) -> dict[str, Any]:
        """Return the choice for JSON; a score only where there is one."""
        facts = {
            "action": self.action,
            "value": None if self.value is None else finite(self.value),
            "low": finite(self.low),
            "high": finite(self.high),
            "distance": self.distance,
        }
        return facts if self.score is None else {**facts, "score": self.score}


class Table(Protocol):
    """Where a solution keeps its values.

    A table that proves positions when they are asked for may have more: ``choices(state)``, ``bounds(state,
    player)`` where time may run out, ``line(state)``, and ``scores(states)`` for many at once.  One of a game with
    cycles has ``endless``, the value of infinite play for player 0; where it counts no plies, ``action(state)`` is
    an action that attains the value.
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


Opponent = str | Callable[[Any], int | Mapping[int, float]]


@dataclass(frozen=True)
class Question:
    """What is asked of a game, and what answering it may take."""

    game: Game[Any]
    state: Any
    opponent: Opponent = "perfect"
    objective: str = "difference"
    seconds: float | None = None
    memory: int | None = None
    threads: int | None = None
    file: str | Path | None = None
    save_seconds: float = 60.0
    show: Show | None = None
    network: str | Path | None = None  # a file, or "shipped": the order of moves in proof search
    notes: list[str] = field(default_factory=list)  # what solvers read from files instead of computing it
    huge: float = math.inf  # states at one ply, for which a table of all states gives up with HugeError

    @property
    def name(self) -> str:
        """The game's name in a sentence."""
        return type(self.game).__name__

    @property
    def opponent_name(self) -> str:
        """The opponent in words."""
        return self.opponent if isinstance(self.opponent, str) else "a given policy"

    def too_large(self, needed: float) -> str | None:
        """Return a sentence if so many bytes do not fit."""
        limit = budget(self.memory)
        return f"{format_bytes(needed)} of memory; {format_bytes(limit)} may be used" if needed > limit else None


class Solver(Protocol):
    """One way to answer a question."""

    name: str

    def applies(self, question: Question) -> float | str:
        """Return the cost of answering, to compare with others', or what is lacking."""

    def fill(self, question: Question) -> Table:
        """Return the table that answers."""
