"""Breakthrough on rows x cols cells: a pawn on the far side wins, and so does taking all pawns (Troyka 2000).

Each player begins with two rows of pawns, x below and moving up, o above and moving down.  A pawn goes one cell
forward, straight or diagonally; straight only to an empty cell, diagonally also where it takes a pawn of the
other player.  Cells are numbered from the lowest row; in move texts a cell is its column's letter and its
row's number.  On 4 x 3:

    4   9 10 11     o o o
    3   6  7  8     o o o
    2   3  4  5     x x x
    1   0  1  2     x x x
        a  b  c

Action 3 * k + d moves the mover's pawn number k, counted from the lowest cell, towards column d - 1, d or d + 1 of
its own: 0 left, 1 straight, 2 right.  There is always a move: the foremost pawn has one diagonally.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64, elements, lowest, nonempty, nth, popcount, without_lowest
from mdplay.boards import LETTERS, adjacent_cells, cell_name, marks_of, masks_of, read_mover, read_rows, rows_of
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game

CELL = 48  # of the picture, in pixels


class State(NamedTuple):
    """Bit i of a player's pawns is cell i."""

    mine: U64  # the pawns of the player to move
    theirs: U64
    player: int


@dataclass(frozen=True)
class Breakthrough(Game[State]):
    """rows x cols cells, two rows of pawns each."""

    rows: Annotated[int, Between(4, 8)] = 8
    cols: Annotated[int, Between(2, 8)] = 8

    def __post_init__(self) -> None:
        """Refuse boards that are too small for four rows of pawns, or too large for a word."""
        if not (4 <= self.rows <= 8 and 2 <= self.cols <= 8):
            raise GameError(f"a board of {self.rows} x {self.cols} does not fit; 4 to 8 rows, 2 to 8 columns")

    def initial(self) -> State:
        """Return two rows of pawns each."""
        pawns = (U64(1) << 2 * self.cols) - 1
        return State(pawns, pawns << (self.rows - 2) * self.cols, 0)

    def legal(self, s: State) -> int:
        """Return the moves of all pawns; none once a player has won."""
        if self.is_lost(s):
            return 0
        found, pawns, k = 0, s.mine, 0
        while nonempty(pawns):
            found |= self.moves_of(s, lowest(pawns)) << 3 * k
            pawns = without_lowest(pawns)
            k += 1
        return found

    def moves_of(self, s: State, cell: int) -> int:
        """Return the moves of a pawn as three bits: left, straight, right."""
        ahead, column = cell + self.forward(s.player), cell % self.cols
        left = column > 0 and not nonempty(s.mine >> ahead - 1 & 1)
        right = column < self.cols - 1 and not nonempty(s.mine >> ahead + 1 & 1)
        straight = not nonempty((s.mine | s.theirs) >> ahead & 1)
        return left | straight << 1 | right << 2

    def forward(self, player: int) -> int:
        """Return the distance to the cell straight ahead of a pawn."""
        return -self.cols if player else self.cols

    def target(self, s: State, action: int) -> int:
        """Return the cell that an action leads to."""
        return nth(s.mine, action // 3) + self.forward(s.player) + action % 3 - 1

    def step(self, s: State, action: int) -> State:
        """Move a pawn; one that it meets is taken."""
        gone, to = U64(1) << nth(s.mine, action // 3), U64(1) << self.target(s, action)
        return State(s.theirs & ~to, s.mine & ~gone | to, 1 - s.player)

    def is_lost(self, s: State) -> bool:
        """Return whether the player to move has lost: no pawns, or one of the other player's is through."""
        goal = self.first_row << (self.rows - 1) * self.cols if s.player else U64(self.first_row)
        return not nonempty(s.mine) or nonempty(s.theirs & goal)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won, else -1: the player to move at the end has lost."""
        return 2 * s.player - 1

    @cached_property
    def first_row(self) -> U64:
        """The cells of the lowest row."""
        return (1 << self.cols) - 1

    # ---------------------------------------------------------------- knowledge
    def heuristic(self, s: State) -> float:
        """Return how many more pawns player 0 has."""
        more = popcount(s.mine) - popcount(s.theirs)
        return float(-more if s.player else more)

    def symmetries(self) -> int:
        """Return 2: the board and its mirror."""
        return 2

    def image(self, s: State, k: int) -> State:
        """Reflect the board from left to right."""
        if k == 0:
            return s
        return State(self.mirror(s.mine), self.mirror(s.theirs), s.player)

    def mirror(self, pawns: U64) -> U64:
        """Swap column c with column cols - 1 - c."""
        out = U64(0)
        while nonempty(pawns):
            cell = lowest(pawns)
            out |= U64(1) << cell + self.cols - 1 - 2 * (cell % self.cols)
            pawns = without_lowest(pawns)
        return out

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The cells, row by row."""
        return self.rows * self.cols

    @property
    def cell_values(self) -> int:
        """0 empty, 1 and 2 the pawns of the first and of the second player."""
        return 3

    def cell(self, s: State, i: int) -> int:
        """Return whose pawn a cell holds."""
        return int(s.mine >> i & 1) * (1 + s.player) + int(s.theirs >> i & 1) * (2 - s.player)

    def changed(self, s: State, action: int) -> U64:
        """Return the cells that a pawn leaves and enters."""
        return U64(1) << nth(s.mine, action // 3) | U64(1) << self.target(s, action)

    def neighbours(self, i: int) -> int:
        """Return the cells that touch a cell."""
        return adjacent_cells(self.rows, self.cols)[i]

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the rows from the top and who moves: ``ooo/ooo/xxx/xxx x``."""
        board, player = read_mover(text)
        rows = reversed(read_rows(board, self.rows, self.cols))
        mine, theirs = masks_of("".join(rows), "ox" if player else "xo")
        s = State(mine, theirs, player)
        if max(popcount(mine), popcount(theirs)) > 2 * self.cols or self.is_lost(self._turned(s)):
            raise PositionError(
                f"{text!r} cannot be reached: {'xo'[player]} has too many pawns or has won already"
            )
        return s

    def _turned(self, s: State) -> State:
        """Return the position with the other player to move."""
        return State(s.theirs, s.mine, 1 - s.player)

    def text(self, s: State) -> str:
        """Return the rows from the top, x for the first player and o for the second, and who moves."""
        return f"{'/'.join(self._rows(s))} {'xo'[s.player]}"

    def _rows(self, s: State) -> list[str]:
        return rows_of(marks_of(s.mine, s.theirs, s.player, self.num_cells), self.cols)[::-1]

    def move_text(self, s: State, action: int) -> str:
        """Return where a pawn goes from and to, as in ``a2b3``."""
        return cell_name(nth(s.mine, action // 3), self.cols) + cell_name(self.target(s, action), self.cols)

    def board(self, s: State) -> str:
        """Draw the board with its letters and numbers, and who moves."""
        rows = [f"{self.rows - r} {' '.join(row.upper())}" for r, row in enumerate(self._rows(s))]
        return "\n".join([*rows, "  " + " ".join(LETTERS[: self.cols]), f"{'XO'[s.player]} to move"])

    def svg(self, s: State) -> str:
        """Draw the pawns; every move is a part of the cell to which it leads."""
        width, height = self.cols * CELL + 8, self.rows * CELL + 8
        shapes = [draw.rect(0, 0, width, height, "panel", 10)]
        for r, row in enumerate(self._rows(s)):
            for c, mark in enumerate(row):
                x, y = c * CELL + 4, r * CELL + 4
                shapes.append(draw.rect(x + 1, y + 1, CELL - 2, CELL - 2, "hole", 4))
                if mark != ".":
                    kind = "first" if mark == "x" else "second"
                    shapes.append(draw.stone(x + CELL / 2, y + CELL / 2, 0.36 * CELL, kind))
        shapes += [self._svg_move(s, action) for action in elements(self.legal(s))]
        return draw.picture(width, height, shapes, self.board(s))

    def _svg_move(self, s: State, action: int) -> str:
        """Draw a move where it leads, in a part of its own: up to three pawns may go to one cell.

        Straight, it is the half that the pawn comes to first; from either side, the farther corner on that side.
        """
        (x, y), (to_x, to_y) = (self._middle(cell) for cell in (nth(s.mine, action // 3), self.target(s, action)))
        back_x, back_y = (x - to_x) / 4, (y - to_y) / 4  # a quarter of the way back to where the pawn stands
        x, y, wide = (to_x + back_x, to_y - back_y, CELL / 2) if back_x else (to_x, to_y + back_y, CELL)
        part = draw.rect(x - wide / 2, y - CELL / 4, wide, CELL / 2, "open", 4)
        return draw.move(action, self.move_text(s, action), part, at=(x, y, 0.24 * CELL))

    def _middle(self, cell: int) -> tuple[float, float]:
        """Return where the middle of a cell is in the picture."""
        r, c = divmod(cell, self.cols)
        return (c + 0.5) * CELL + 4, (self.rows - r - 0.5) * CELL + 4
