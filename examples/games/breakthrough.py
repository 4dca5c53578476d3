"""Breakthrough: men go one step ahead, straight or aslant, and take aslant; who comes to the last row has won.

Cell r * cols + c is the cell in row r, column c.  Player 1 begins on the rows at the bottom and moves up.  Action
3 * cell + k moves the man on the cell aslant to the left (0), straight on (1) or aslant to the right (2): these
are up to 192 actions, so a mask has three words.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import U64, Between, Game
from mdplay.bits import add


class State(NamedTuple):
    """The men of both, as bits."""

    white: U64  # the men of player 0
    black: U64
    player: int


class Moves(NamedTuple):
    """A mask of up to 192 actions."""

    first: U64
    second: U64
    third: U64


@dataclass(frozen=True)
class Breakthrough(Game[State]):
    """The side whose man gets through, or whose opponent has none left, wins."""

    rows: Annotated[int, Between(4, 8)] = 8
    cols: Annotated[int, Between(2, 8)] = 8

    def initial(self) -> State:
        """Return two rows of men on either side."""
        two, above = (U64(1) << 2 * self.cols) - 1, (self.rows - 2) * self.cols
        return State(two << above, two, 0)

    def target(self, s: State, action: int) -> int:
        """Return the cell where a move ends, -1 if that is outside."""
        cell, aside = action // 3, action % 3 - 1
        row, column = cell // self.cols + (1 if s.player else -1), cell % self.cols + aside
        inside = 0 <= row < self.rows and 0 <= column < self.cols
        return row * self.cols + column if inside else -1

    def is_over(self, s: State) -> bool:
        """Tell whether the player who has just moved has won."""
        last = (U64(1) << self.cols) - 1
        if s.player:
            return (s.white & last) != 0 or s.black == 0
        return (s.black >> (self.rows - 1) * self.cols) != 0 or s.white == 0

    def legal(self, s: State) -> Moves:
        """Return the moves to free cells, aslant also to those of the other side."""
        moves = Moves(U64(0), U64(0), U64(0))
        if self.is_over(s):
            return moves
        own, other = s.white, s.black
        if s.player:
            own, other = other, own
        for action in range(3 * self.rows * self.cols):
            if own >> action // 3 & 1:
                to, blocked = self.target(s, action), own
                if action % 3 == 1:
                    blocked = own | other
                if to >= 0 and not blocked >> to & 1:
                    moves = add(moves, action)
        return moves

    def step(self, s: State, action: int) -> State:
        """Move a man; what stood there is taken."""
        start, end = U64(1) << action // 3, U64(1) << self.target(s, action)
        if s.player:
            return State(s.white & ~end, s.black & ~start | end, 0)
        return State(s.white & ~start | end, s.black & ~end, 1)

    def result(self, s: State) -> int:
        """Return who won: not the player to move."""
        return 2 * s.player - 1

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return from where to where, as a2b3; rows count from the bottom."""
        return self._name(action // 3) + self._name(self.target(s, action))

    def board(self, s: State) -> str:
        """Draw X for player 1 and O for player 2."""
        marks = [
            "X" if s.white >> i & 1 else "O" if s.black >> i & 1 else "." for i in range(self.rows * self.cols)
        ]
        return "\n".join(" ".join(marks[r * self.cols :][: self.cols]) for r in range(self.rows))

    def _name(self, cell: int) -> str:
        return "abcdefgh"[cell % self.cols] + str(self.rows - cell // self.cols)
