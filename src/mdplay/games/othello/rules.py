"""Othello on side x side cells, 4, 6 or 8: enclose the other's discs in a line, and they are yours.

Cells are numbered row by row from the top; action a puts a disc on cell a.  In move texts a cell is its
column's letter and its row's number.  On 4 x 4, with the four discs that are there at the start (x moves first):

       a  b  c  d
    1  0  1  2  3
    2  4  o  x  7
    3  8  x  o 11
    4 12 13 14 15

A move must turn a disc.  A player without such a move passes: that is no action, the state
names the player to move.  When neither has a move the game is over, and more discs win.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64, elements, lowest, nonempty, popcount, without_lowest
from mdplay.boards import (
    LETTERS,
    adjacent_cells,
    cell_images,
    cell_name,
    marks_of,
    masks_of,
    read_mover,
    read_rows,
    rows_of,
)
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game

CELL = 48  # of the picture, in pixels
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # row, column
CORNER_POINTS = 10  # of the heuristic, beside a point a move


class State(NamedTuple):
    """Bit i of a player's discs is cell i."""

    mine: U64  # the discs of the player to move
    theirs: U64
    player: int


@dataclass(frozen=True)
class Othello(Game[State]):
    """side x side cells; ``discs``: the result is the difference in discs, not only who has won."""

    side: Annotated[int, Between(4, 8)] = 8
    discs: bool = False

    def __post_init__(self) -> None:
        """Refuse boards that have no middle."""
        if self.side not in (4, 6, 8):
            raise GameError(f"a board of {self.side} x {self.side} cells does not fit; 4, 6 or 8")

    def initial(self) -> State:
        """Return the four discs in the middle."""
        top = (self.side // 2 - 1) * (self.side + 1)
        bottom = top + self.side
        return State(U64(1) << top + 1 | U64(1) << bottom, U64(1) << top | U64(1) << bottom + 1, 0)

    def legal(self, s: State) -> U64:
        """Return the cells where a disc turns another one; none when the game is over."""
        return self.placements(s.mine, s.theirs)

    def step(self, s: State, action: int) -> State:
        """Put a disc and turn what it encloses; the other player moves, unless only the same one can."""
        gained = self.turned(s.mine, s.theirs, action)
        mine, theirs = s.mine | U64(1) << action | gained, s.theirs & ~gained
        if not nonempty(self.placements(theirs, mine)) and nonempty(self.placements(mine, theirs)):
            return State(mine, theirs, s.player)
        return State(theirs, mine, 1 - s.player)

    def result(self, s: State) -> int:
        """Return who has more discs, +1 for player 0 and -1 for player 1, or by how many."""
        more = popcount(s.mine) - popcount(s.theirs)
        more = -more if s.player else more
        return more if self.discs else (more > 0) - (more < 0)

    # ---------------------------------------------------------------- lines of discs
    def shifted(self, cells: U64, k: int) -> U64:
        """Return cells moved by one in direction k; those at the border fall off."""
        across, by = self.across[k], self.shifts[k]
        if across > 0:
            cells = cells & self.not_last
        elif across < 0:
            cells = cells & self.not_first
        return (cells << by if by > 0 else cells >> -by) & self.full

    def placements(self, mine: U64, theirs: U64) -> U64:
        """Return the empty cells from which a line of their discs ends at one of mine."""
        found = U64(0)
        for k in range(8):
            line = self.shifted(mine, k) & theirs
            for _ in range(self.side - 3):
                line |= self.shifted(line, k) & theirs
            found |= self.shifted(line, k)
        return found & ~(mine | theirs) & self.full

    def turned(self, mine: U64, theirs: U64, action: int) -> U64:
        """Return their discs that a disc of mine on a cell encloses."""
        found = U64(0)
        for k in range(8):
            line, at = U64(0), self.shifted(U64(1) << action, k)
            while nonempty(at & theirs):
                line |= at
                at = self.shifted(at, k)
            if nonempty(at & mine):
                found |= line
        return found

    @cached_property
    def full(self) -> int:
        """All cells."""
        return (1 << self.side * self.side) - 1

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """The distance from cell to cell in each direction."""
        return tuple(dr * self.side + dc for dr, dc in DIRECTIONS)

    @cached_property
    def across(self) -> tuple[int, ...]:
        """How each direction changes the column."""
        return tuple(dc for _, dc in DIRECTIONS)

    @cached_property
    def not_first(self) -> int:
        """The cells outside of the first column."""
        return sum(1 << i for i in range(self.side * self.side) if i % self.side)

    @cached_property
    def not_last(self) -> int:
        """The cells outside of the last column."""
        return self.not_first >> 1

    # ---------------------------------------------------------------- knowledge
    def heuristic(self, s: State) -> float:
        """Return a point for each move and ten for each corner, player 0's less player 1's."""
        moves = popcount(self.placements(s.mine, s.theirs)) - popcount(self.placements(s.theirs, s.mine))
        corners = popcount(s.mine & self.corners) - popcount(s.theirs & self.corners)
        points = moves + CORNER_POINTS * corners
        return float(-points if s.player else points)

    @cached_property
    def corners(self) -> int:
        """The four corners."""
        n = self.side
        return 1 | 1 << n - 1 | 1 << n * (n - 1) | 1 << n * n - 1

    def symmetries(self) -> int:
        """Return 8."""
        return len(self.images)

    def image(self, s: State, k: int) -> State:
        """Turn or reflect the board."""
        return State(self.moved(s.mine, k), self.moved(s.theirs, k), s.player)

    def moved(self, cells: U64, k: int) -> U64:
        """Return where symmetry k takes cells."""
        out = U64(0)
        while nonempty(cells):
            out |= U64(1) << self.images[k][lowest(cells)]
            cells = without_lowest(cells)
        return out

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each cell."""
        return cell_images(self.side, self.side)

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The cells, row by row."""
        return self.side * self.side

    @property
    def cell_values(self) -> int:
        """0 empty, 1 and 2 the discs of the first and of the second player."""
        return 3

    def cell(self, s: State, i: int) -> int:
        """Return whose disc a cell holds."""
        return int(s.mine >> i & 1) * (1 + s.player) + int(s.theirs >> i & 1) * (2 - s.player)

    def changed(self, s: State, action: int) -> U64:
        """Return the cell of the disc and those that it turns."""
        return U64(1) << action | self.turned(s.mine, s.theirs, action)

    def neighbours(self, i: int) -> int:
        """Return the cells that touch a cell."""
        return adjacent_cells(self.side, self.side)[i]

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the rows from the top and who moves: ``..../.ox./.xo./.... x``."""
        board, player = read_mover(text)
        mine, theirs = masks_of("".join(read_rows(board, self.side, self.side)), "ox" if player else "xo")
        s = State(mine, theirs, player)
        if not nonempty(self.legal(s)) and nonempty(self.placements(s.theirs, s.mine)):
            raise PositionError(f"{text!r}: {'xo'[player]} has no move here, so the other one moves")
        return s

    def text(self, s: State) -> str:
        """Return the rows from the top, x for the first player and o for the second, and who moves."""
        return f"{'/'.join(self._rows(s))} {'xo'[s.player]}"

    def _rows(self, s: State) -> list[str]:
        return rows_of(marks_of(s.mine, s.theirs, s.player, self.num_cells), self.side)

    def move_text(self, s: State, action: int) -> str:
        """Return the cell as in ``d3``."""
        return cell_name(action, self.side)

    def board(self, s: State) -> str:
        """Draw the board with its letters and numbers, and who moves."""
        rows = [f"{number} {' '.join(row.upper())}" for number, row in enumerate(self._rows(s), start=1)]
        return "\n".join(["  " + " ".join(LETTERS[: self.side]), *rows, f"{'XO'[s.player]} to move"])

    def svg(self, s: State) -> str:
        """Draw the discs; cells where a disc may be put are marked."""
        n = self.side
        shapes = [draw.rect(0, 0, n * CELL + 8, n * CELL + 8, "panel", 10)]
        for cell, mark in enumerate("".join(self._rows(s))):
            x, y = cell % n * CELL + 4, cell // n * CELL + 4
            shapes.append(draw.rect(x + 1, y + 1, CELL - 2, CELL - 2, "hole", 4))
            if mark != ".":
                kind = "first" if mark == "x" else "second"
                shapes.append(draw.stone(x + CELL / 2, y + CELL / 2, 0.4 * CELL, kind))
        for cell in elements(self.legal(s)):
            x, y = cell % n * CELL + 4, cell // n * CELL + 4
            name = self.move_text(s, cell)
            open_cell = draw.rect(x + 1, y + 1, CELL - 2, CELL - 2, "open", 4)
            shapes.append(
                draw.move(cell, name, draw.label(x + CELL / 2, y + CELL / 2, name, "faint", 13), open_cell)
            )
        return draw.picture(n * CELL + 8, n * CELL + 8, shapes, self.board(s))
