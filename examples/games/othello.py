"""Othello: a disc turns all discs of the other player that it encloses in a line; who cannot move passes.

Cell r * side + c is the cell in row r, column c; the action after the last cell is the pass.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from mdplay import U64, Between, Game, GameError, Wide
from mdplay.bits import nonempty, popcount

DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class State(NamedTuple):
    """The discs of both, as bits."""

    black: U64  # the discs of player 0, who begins
    white: U64
    player: int


@dataclass(frozen=True)
class Othello(Game[State]):
    """The discs at the end are the result: what player 0 has more than player 1."""

    side: Annotated[int, Between(4, 8)] = 8

    def __post_init__(self) -> None:
        """Refuse a board without a middle."""
        if self.side % 2:
            raise GameError(f"a board of side {self.side} has no middle; side is 4, 6 or 8")

    def initial(self) -> State:
        """Return the four discs in the middle."""
        middle = self.side // 2
        upper, lower = (middle - 1) * self.side + middle, middle * self.side + middle
        return State(U64(1) << upper | U64(1) << lower - 1, U64(1) << upper - 1 | U64(1) << lower, 0)

    def turned(self, own: U64, other: U64, cell: int) -> U64:
        """Return the discs that a disc on the cell would turn."""
        found = U64(0)
        for direction in range(8):
            run, at = U64(0), self.next_cells[direction][cell]
            while at >= 0 and other >> at & 1:
                run |= U64(1) << at
                at = self.next_cells[direction][at]
            if at >= 0 and own >> at & 1:
                found |= run
        return found

    def places(self, own: U64, other: U64) -> U64:
        """Return the free cells on which a disc turns something."""
        found = U64(0)
        for cell in range(self.side * self.side):
            if not (own | other) >> cell & 1 and self.turned(own, other, cell):
                found |= U64(1) << cell
        return found

    def legal(self, s: State) -> Wide:
        """Return the places, or the pass if only the other player has one: 65 actions on the large board."""
        own, other = s.black, s.white
        if s.player:
            own, other = other, own
        moves, cells = self.places(own, other), self.side * self.side
        if nonempty(moves) or not nonempty(self.places(other, own)):
            return Wide(moves, U64(0))
        return Wide(U64(1) << cells, U64(0)) if cells < 64 else Wide(U64(0), U64(1))

    def step(self, s: State, action: int) -> State:
        """Put down a disc and turn what it encloses, or pass."""
        if action == self.side * self.side:
            return State(s.black, s.white, 1 - s.player)
        own, other = s.black, s.white
        if s.player:
            own, other = other, own
        turned = self.turned(own, other, action)
        own, other = own | turned | U64(1) << action, other & ~turned
        if s.player:
            return State(other, own, 0)
        return State(own, other, 1)

    def result(self, s: State) -> int:
        """Return the discs of player 0 less those of player 1."""
        return popcount(s.black) - popcount(s.white)

    def heuristic(self, s: State) -> float:
        """Guess by the number of moves: discs in the middle of the game tell little."""
        return float(popcount(self.places(s.black, s.white)) - popcount(self.places(s.white, s.black)))

    @cached_property
    def next_cells(self) -> tuple[tuple[int, ...], ...]:
        """The cell next to each cell in each direction, -1 at the edge."""
        cells = [(r, c) for r in range(self.side) for c in range(self.side)]
        return tuple(tuple(self._cell(r + down, c + right) for r, c in cells) for down, right in DIRECTIONS)

    def _cell(self, r: int, c: int) -> int:
        return r * self.side + c if 0 <= r < self.side and 0 <= c < self.side else -1

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return the cell as c4, or pass."""
        row, column = divmod(action, self.side)
        return "pass" if row == self.side else "abcdefgh"[column] + str(row + 1)

    def board(self, s: State) -> str:
        """Draw X for player 1 and O for player 2."""
        marks = ["X" if s.black >> i & 1 else "O" if s.white >> i & 1 else "." for i in range(self.side**2)]
        return "\n".join(" ".join(marks[r * self.side :][: self.side]) for r in range(self.side))
