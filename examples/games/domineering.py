"""Domineering: player 1 lays dominoes upright, player 2 across; who has no room left has lost.

Cell r * cols + c is the cell in row r, column c; an action is the upper left cell of a domino.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from mdplay import U64, Between, Game
from mdplay.bits import popcount


class State(NamedTuple):
    """What is free, as bits."""

    free: U64
    player: int


@dataclass(frozen=True)
class Domineering(Game[State]):
    """The board may have all 64 cells of a U64."""

    rows: Annotated[int, Between(1, 8)] = 8
    cols: Annotated[int, Between(1, 8)] = 8

    def initial(self) -> State:
        """Return the empty board."""
        return State(self.all_cells, 0)

    def places(self, free: U64, player: int) -> U64:
        """Return where a player's dominoes fit."""
        return free & free >> 1 & self.left_of_another if player else free & free >> self.cols

    def legal(self, s: State) -> U64:
        """Return the upper left cells of the free pairs."""
        return self.places(s.free, s.player)

    def step(self, s: State, action: int) -> State:
        """Lay a domino."""
        domino = U64(1) << action | U64(1) << action + (1 if s.player else self.cols)
        return State(s.free & ~domino, 1 - s.player)

    def result(self, s: State) -> int:
        """Return who won: not the player to move."""
        return 2 * s.player - 1

    def ordering_score(self, s: State) -> int:
        """Guess by the room that is left for either."""
        return popcount(self.places(s.free, 0)) - popcount(self.places(s.free, 1))

    def heuristic(self, s: State) -> float:
        """Guess by the room that is left for either."""
        return float(self.ordering_score(s))

    @cached_property
    def all_cells(self) -> int:
        """Every cell of the board."""
        return (1 << self.rows * self.cols) - 1

    @cached_property
    def left_of_another(self) -> int:
        """Every cell but those of the last column."""
        last = sum(1 << r * self.cols + self.cols - 1 for r in range(self.rows))
        return self.all_cells & ~last

    def symmetries(self) -> int:
        """Return four: as it is, left to right, top to bottom, both."""
        return 4

    def image(self, s: State, k: int) -> State:
        """Return the board turned over."""
        free = U64(0)
        for cell in range(self.rows * self.cols):
            row, column = cell // self.cols, cell % self.cols
            row = self.rows - 1 - row if k & 2 else row
            column = self.cols - 1 - column if k & 1 else column
            free |= (s.free >> cell & 1) << row * self.cols + column
        return State(free, s.player)

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return the upper left cell as c4."""
        return "abcdefgh"[action % self.cols] + str(action // self.cols + 1)

    def board(self, s: State) -> str:
        """Draw what is free as dots."""
        marks = ["." if s.free >> i & 1 else "#" for i in range(self.rows * self.cols)]
        return "\n".join(" ".join(marks[r * self.cols :][: self.cols]) for r in range(self.rows))
