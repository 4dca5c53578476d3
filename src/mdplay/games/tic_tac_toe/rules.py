"""Tic-Tac-Toe on any board: the player who completes a line wins; in the misere game, loses.

Cells are numbered row by row; action a marks cell a.  On 3 x 3:

    0 1 2
    3 4 5
    6 7 8
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.boards import adjacent_cells, cell_images, lines_of_cells, masks_of, render
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game, Past

CELL = 56  # of the picture, in pixels
Size = Annotated[int, Between(1, 63)]


class State(NamedTuple):
    """Bit i of a player's marks is cell i."""

    mine: int  # the marks of the player to move
    theirs: int
    player: int


@dataclass(frozen=True)
class TicTacToe(Game[State]):
    """rows x cols cells; ``length`` marks in a row, column or diagonal make a line."""

    rows: Size = 3
    cols: Size = 3
    length: Size = 3
    misere: bool = False

    def __post_init__(self) -> None:
        """Refuse boards that do not fit 63 bits."""
        if not (self.rows >= 1 and self.cols >= 1 and self.rows * self.cols <= 63):
            raise GameError(f"a board of {self.rows} x {self.cols} cells does not fit; at most 63 cells")
        if not self.length >= 1:
            raise GameError(f"length={self.length} must be at least 1")

    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0)

    def legal(self, s: State) -> int:
        """Return the empty cells; none once a line is complete."""
        return 0 if self.has_line(s.theirs) else self.full & ~(s.mine | s.theirs)

    def step(self, s: State, action: int) -> State:
        """Mark a cell."""
        return State(s.theirs, s.mine | 1 << action, 1 - s.player)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won, -1 if player 1 has, 0 for a draw."""
        if not self.has_line(s.theirs):
            return 0
        mover_wins = 1 if self.misere else -1
        return mover_wins * (1 - 2 * s.player)

    def has_line(self, marks: int) -> bool:
        """Return whether the marks contain a whole line."""
        for line in self.lines:
            if marks & line == line:
                return True
        return False

    @cached_property
    def full(self) -> int:
        """All cells."""
        return (1 << self.rows * self.cols) - 1

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The lines as masks; one that no marks contain where the board is too small for any."""
        return lines_of_cells(self.rows, self.cols, self.length) or (-1,)

    # ---------------------------------------------------------------- knowledge
    def symmetries(self) -> int:
        """Return 8 for a square board, else 4."""
        return len(self.images)

    def image(self, s: State, k: int) -> State:
        """Turn or reflect the board."""
        mine, theirs = 0, 0
        for cell in range(self.rows * self.cols):
            to = self.images[k][cell]
            mine |= (s.mine >> cell & 1) << to
            theirs |= (s.theirs >> cell & 1) << to
        return State(mine, theirs, s.player)

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each cell."""
        return cell_images(self.rows, self.cols)

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The cells, row by row."""
        return self.rows * self.cols

    @property
    def cell_values(self) -> int:
        """0 empty, 1 and 2 the marks of the first and of the second player."""
        return 3

    def cell(self, s: State, i: int) -> int:
        """Return whose mark a cell holds."""
        return (s.mine >> i & 1) * (1 + s.player) + (s.theirs >> i & 1) * (2 - s.player)

    def changed(self, s: State, action: int) -> int:
        """Return the cell that is marked."""
        return 1 << action

    def neighbours(self, i: int) -> int:
        """Return the cells that touch a cell."""
        return adjacent_cells(self.rows, self.cols)[i]

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read rows * cols digits, row by row: 0 empty, 1 and 2 the players; player 1 has moved first."""
        cells = "".join(text.split())
        size = self.rows * self.cols
        if len(cells) != size or set(cells) - set("012"):
            raise PositionError(f"{text!r} is not a position: give {size} digits 0, 1 or 2, row by row")
        ones, twos = cells.count("1"), cells.count("2")
        if ones - twos not in (0, 1):
            raise PositionError(f"{text!r} has {ones} marks of player 1 and {twos} of player 2, who move in turn")
        player = ones - twos
        first, second = masks_of(cells, "12")
        if self.has_line(first if player == 0 else second):
            raise PositionError(f"{text!r} cannot be reached: the line was complete before the last move")
        return State(second, first, 1) if player else State(first, second, 0)

    def text(self, s: State) -> str:
        """Return the digits of the cells."""
        return "".join("021"[self._owner(s, cell)] for cell in range(self.rows * self.cols))

    def board(self, s: State) -> str:
        """Draw the board with X for player 1 and O for player 2; empty cells show their number."""
        cells = [("", "O", "X")[self._owner(s, cell)] or str(cell) for cell in range(self.rows * self.cols)]
        return render(cells, self.cols)

    def svg(self, s: State, past: Past = ()) -> str:
        """Draw X for player 1 and O for player 2, a line in thick strokes; empty cells show their number."""
        newest = past[-1][1] if past else None
        width, height = self.cols * CELL + 8, self.rows * CELL + 8
        shapes = [draw.rect(0, 0, width, height, "panel", 10)]
        for cell in range(self.rows * self.cols):
            x, y = cell % self.cols * CELL + 6, cell // self.cols * CELL + 6
            shapes.append(draw.rect(x, y, CELL - 4, CELL - 4, "hole", 7))
            mark = self._svg_mark(s, cell, x + CELL / 2 - 2, y + CELL / 2 - 2)
            shapes.append(draw.last(mark) if cell == newest else mark)
        return draw.picture(width, height, shapes, self.board(s))

    def _svg_mark(self, s: State, cell: int, x: float, y: float) -> str:
        owner = self._owner(s, cell)
        if owner == 0:
            return self._svg_empty(s, cell, x, y)
        won = any(s.theirs & line == line and line >> cell & 1 for line in self.lines)
        return self._svg_piece(2 - owner, x, y, "thick" if won else "thin")

    def _svg_empty(self, s: State, cell: int, x: float, y: float) -> str:
        number = draw.label(x, y, str(cell), "faint", 14)
        if not self.legal(s) >> cell & 1:
            return number
        wide = draw.rect(x - CELL / 2 + 2, y - CELL / 2 + 2, CELL - 4, CELL - 4, "open", 7)
        piece = draw.ghost(self._svg_piece(s.player, x, y, "thin"))
        return draw.move(cell, f"cell {cell}", number, wide, piece, at=(x, y, 19))

    def _svg_piece(self, player: int, x: float, y: float, weight: str) -> str:
        return draw.circle(x, y, 15, f"second {weight}") if player else draw.cross(x, y, 14, f"first {weight}")

    def _owner(self, s: State, cell: int) -> int:
        """Return 2 for the first player, 1 for the second, 0 for an empty cell."""
        mover = s.mine >> cell & 1
        other = s.theirs >> cell & 1
        return (2 - s.player) * mover + (1 + s.player) * other


def anti_tic_tac_toe(rows: Size = 3, cols: Size = 3, length: Size = 3) -> TicTacToe:
    """Anti-Tic-Tac-Toe: the player who completes a line loses."""
    return TicTacToe(rows, cols, length, misere=True)
