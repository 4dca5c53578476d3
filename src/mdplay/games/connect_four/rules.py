"""Connect Four on any board of at most 63 bits, cols * (rows + 1).

Column c owns the bits c * (rows + 1) and up; its top bit stays empty and stops carries.  On 7 x 6:

    .  .  .  .  .  .  .
    5 12 19 26 33 40 47
    4 11 18 25 32 39 46
    3 10 17 24 31 38 45
    2  9 16 23 30 37 44
    1  8 15 22 29 36 43
    0  7 14 21 28 35 42

Action c drops a disc into column c; in move texts, columns are numbered from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import mdplay.svg as draw
from mdplay.bits import elements, popcount
from mdplay.boards import adjacent_cells, lines_of_cells, marks_of, player_to_move, read_rows, render
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game, Past
from mdplay.naming.notation import play_moves
from mdplay.naming.registry import extras_of

SLICE_POINTS = (0, 0, 2, 5, 100)  # by the number of own discs among four cells
CELL = 52  # of the picture, in pixels


class State(NamedTuple):
    """The discs of both players as bit boards."""

    mine: int  # the discs of the player to move
    theirs: int
    player: int


def has_four(discs: int, shift: int) -> bool:
    """Return whether four discs stand in a row in the direction of the shift."""
    pairs = discs & discs >> shift
    return pairs & pairs >> 2 * shift != 0


@dataclass(frozen=True)
class ConnectFour(Game[State]):
    """rows x cols cells; four in a row, column or diagonal win."""

    rows: Annotated[int, Between(1, 62)] = 6
    cols: Annotated[int, Between(1, 31)] = 7

    def __post_init__(self) -> None:
        """Refuse boards that do not fit 63 bits."""
        if not (self.rows >= 1 and self.cols >= 1 and self.cols * (self.rows + 1) <= 63):
            raise GameError(f"a board of {self.rows} x {self.cols} does not fit: cols * (rows + 1) is at most 63")

    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0)

    def legal(self, s: State) -> int:
        """Return the columns that are not full; none once there is a four."""
        if self.has_won(s.theirs):
            return 0
        free, mask = ~(s.mine | s.theirs), 0
        for c in range(self.cols):
            mask |= (free >> (c * (self.rows + 1) + self.rows - 1) & 1) << c
        return mask

    def step(self, s: State, action: int) -> State:
        """Drop a disc: adding the column's foot carries up to its lowest empty cell."""
        foot = action * (self.rows + 1)
        disc = ((s.mine | s.theirs) + (1 << foot)) & ((1 << self.rows) - 1 << foot)
        return State(s.theirs, s.mine | disc, 1 - s.player)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won, -1 if player 1 has, 0 for a draw."""
        return 2 * s.player - 1 if self.has_won(s.theirs) else 0

    def has_won(self, discs: int) -> bool:
        """Return whether the discs contain a four in any direction."""
        height = self.rows + 1
        return (
            has_four(discs, height)
            or has_four(discs, height - 1)
            or has_four(discs, height + 1)
            or has_four(discs, 1)
        )

    # ---------------------------------------------------------------- knowledge
    def heuristic(self, s: State) -> float:
        """Return the slice score of player 0 minus that of player 1."""
        return self.slice_score(s, 0) - self.slice_score(s, 1)

    def slice_score(self, s: State, player: int) -> int:
        """Return the sum over all slices of four cells in a row: 100 for four own discs, 5 for three, 2 for two.

        A slice with a disc of the other player counts nothing.
        """
        own, other = (s.mine, s.theirs) if player == s.player else (s.theirs, s.mine)
        score = 0
        for cells in self.slices:
            if other & cells == 0:
                score += SLICE_POINTS[popcount(own & cells)]
        return score

    @cached_property
    def slices(self) -> tuple[int, ...]:
        """The slices as masks, 69 on 7 x 6: straight lines of four that keep off the empty top bits."""
        tops = sum(1 << c * (self.rows + 1) + self.rows for c in range(self.cols))
        lines = lines_of_cells(self.cols, self.rows + 1, 4)
        return tuple(cells for cells in lines if not cells & tops) or (0,)

    def order(self, s: State, action: int) -> int:
        """Prefer the centre."""
        return -abs(2 * action + 1 - self.cols)

    def symmetries(self) -> int:
        """Return 2: the board and its mirror."""
        return 2

    def image(self, s: State, k: int) -> State:
        """Reflect the board from left to right."""
        if k == 0:
            return s
        return State(self.mirror(s.mine), self.mirror(s.theirs), s.player)

    def mirror(self, discs: int) -> int:
        """Swap column c with column cols - 1 - c."""
        height, out = self.rows + 1, 0
        for c in range(self.cols):
            out |= (discs >> c * height & self.column) << (self.cols - 1 - c) * height
        return out

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The cells, column by column from the bottom."""
        return self.rows * self.cols

    @property
    def cell_values(self) -> int:
        """0 empty, 1 empty and next to be filled, 2 and 3 a disc of the first and of the second player."""
        return 4

    def cell(self, s: State, i: int) -> int:
        """Return what a cell holds, without a branch: the discs first, else whether a disc would land there."""
        bit = i + i // self.rows
        discs = s.mine | s.theirs
        taken, ready = discs >> bit & 1, (discs << 1 | self.feet) >> bit & 1
        return taken * (2 + (s.theirs >> bit & 1 ^ s.player)) + (1 - taken) * ready

    def changed(self, s: State, action: int) -> int:
        """Return the cell of the disc and the one above it."""
        height = popcount((s.mine | s.theirs) >> action * (self.rows + 1) & self.column)
        return (3 << height & self.column) << action * self.rows

    def neighbours(self, i: int) -> int:
        """Return the cells that touch a cell."""
        return adjacent_cells(self.cols, self.rows)[i]

    @cached_property
    def feet(self) -> int:
        """The lowest cell of every column."""
        return sum(1 << c * (self.rows + 1) for c in range(self.cols))

    def proof_view(self) -> Game[Any]:
        """Return the game with the threats in its states and scores as results."""
        view: Game[Any] = extras_of(self, "views")["proof"](self.rows, self.cols)
        return view

    @cached_property
    def column(self) -> int:
        """The cells of column 0."""
        return (1 << self.rows) - 1

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the columns played, numbered from 1 (``4453``), or the rows from the top (``......./...xo..``)."""
        if "/" in text or "." in text:
            return self._parse_board(text)
        moves = text if "," in text or self.cols > 9 else ",".join(text)
        return play_moves(self, self.initial(), moves)

    def _parse_board(self, text: str) -> State:
        rows = read_rows(text, self.rows, self.cols)
        discs = {"x": 0, "o": 0}
        for c in range(self.cols):
            column = "".join(row[c] for row in reversed(rows)).rstrip(".")
            if "." in column:
                raise PositionError(f"{text!r}: a disc hangs in the air in column {c + 1}")
            for r, disc in enumerate(column):
                discs[disc] |= 1 << c * (self.rows + 1) + r
        return self._state_of(discs["x"], discs["o"], text)

    def _state_of(self, first: int, second: int, text: str) -> State:
        player = player_to_move(first, second, text)
        if self.has_won(second if player else first):
            raise PositionError(f"{text!r} cannot be reached: the four was there before the last move")
        return State(second, first, 1) if player else State(first, second, 0)

    def text(self, s: State) -> str:
        """Return the rows from the top, x for the first player and o for the second."""
        return "/".join(self._rows(s))

    def move_text(self, s: State, action: int) -> str:
        """Return the column's number, from 1."""
        return str(action + 1)

    def board(self, s: State) -> str:
        """Draw the board with the columns' numbers below."""
        return render([*"".join(self._rows(s)).upper(), *(str(c + 1) for c in range(self.cols))], self.cols)

    def svg(self, s: State, past: Past = ()) -> str:
        """Draw the discs, the last one marked; a four is ringed."""
        width, height = self.cols * CELL + 12, self.rows * CELL + 12
        places = [(c, r) for c in range(self.cols) for r in range(self.rows)]
        newest = past[-1][1] if past else None
        shapes = [draw.rect(0, 0, width, height, "panel", 14)]
        shapes += [draw.circle(*self._svg_place(c, r), "hole") for c, r in places]
        for c, r in places:  # after all holes: a disc falls in front of them
            disc = self._svg_disc(s, c, r)
            is_last = c == newest and r == self._discs_in(s, c) - 1
            shapes.append(draw.last(disc, fall=(self.rows - r) * CELL) if is_last else disc)
        shapes += [
            draw.label(c * CELL + 6 + CELL / 2, height + 14, str(c + 1), "faint", 15) for c in range(self.cols)
        ]
        shapes += [self._svg_move(s, c) for c in elements(self.legal(s))]
        return draw.picture(width, height + 26, shapes, self.board(s))

    def _svg_place(self, c: int, r: int) -> tuple[float, float, float]:
        """Return the centre and the radius of a disc."""
        return (c + 0.5) * CELL + 6, (self.rows - r - 0.5) * CELL + 6, 0.42 * CELL

    def _svg_move(self, s: State, c: int) -> str:
        place = self._svg_place(c, self._discs_in(s, c))
        strip = draw.rect(c * CELL + 6, 6, CELL, self.rows * CELL, "open", 10)
        return draw.move(
            c, f"column {c + 1}", strip, draw.ghost(draw.stone(*place, draw.PLAYERS[s.player])), at=place
        )

    def _discs_in(self, s: State, c: int) -> int:
        """Return how many discs a column holds."""
        return popcount((s.mine | s.theirs) >> c * (self.rows + 1) & (1 << self.rows) - 1)

    def _svg_disc(self, s: State, c: int, r: int) -> str:
        first, second = (s.theirs, s.mine) if s.player else (s.mine, s.theirs)
        bit = c * (self.rows + 1) + r
        x, y, radius = self._svg_place(c, r)
        if not (first | second) >> bit & 1:
            return ""
        disc = draw.stone(x, y, radius, "first" if first >> bit & 1 else "second")
        return disc + draw.circle(x, y, 0.6 * radius, "ring") if self._fours(s.theirs) >> bit & 1 else disc

    def _fours(self, discs: int) -> int:
        """Return the discs that stand in a four."""
        found, height = 0, self.rows + 1
        for shift in (1, height - 1, height, height + 1):
            pairs = discs & discs >> shift
            starts = pairs & pairs >> 2 * shift
            found |= starts | starts << shift | starts << 2 * shift | starts << 3 * shift
        return found

    def _rows(self, s: State) -> list[str]:
        height = self.rows + 1
        marks = marks_of(s.mine, s.theirs, s.player, self.cols * height)
        return [marks[r::height] for r in reversed(range(self.rows))]
