"""A question about a game, and what a solver is.

A solver has a name, ``applies(question)``, the cost of answering or what is lacking, and ``fill(question)``, the
table that answers.  A game may bring solvers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mdplay.game import Game
from mdplay.memory import budget, in_words
from mdplay.running import Show
from mdplay.solving.values import Table

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
        return f"{in_words(needed)} of memory; {in_words(limit)} may be used" if needed > limit else None


class Solver(Protocol):
    """One way to answer a question."""

    name: str

    def applies(self, question: Question) -> float | str:
        """Return the cost of answering, to compare with others', or what is lacking."""

    def fill(self, question: Question) -> Table:
        """Return the table that answers."""
