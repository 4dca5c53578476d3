"""Dots and Boxes on rows x cols boxes, at most 60 lines.

Lines are numbered row by row if horizontal, from the top, then column by column if vertical, from the left:
horizontal(r, c) = r * cols + c and vertical(r, c) = (rows + 1) * cols + c * rows + r.  On 2 x 2:

    + 0 + 1 +
    6   8  10
    + 2 + 3 +
    7   9  11
    + 4 + 5 +

Action i draws line i.  A player who completes a box earns a point for it and moves again.

For symmetries and pictures the board is a grid of (2 * rows + 1) x (2 * cols + 1) cells: dots, lines and boxes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.boards import cell_images
from mdplay.errors import GameError, PositionError
from mdplay.game import Between, Game, Past

OUTSIDE = -1  # the box beyond the border: no set of lines contains it
BOX = 64  # of the picture, in pixels


class State(NamedTuple):
    """What is still to come depends on the lines alone; who owns which box is a matter of the past."""

    lines: int  # bit i: line i is drawn
    player: int


@dataclass(frozen=True)
class DotsAndBoxes(Game[State]):
    """Draw lines between dots; a box completed is a point and another turn."""

    rows: Annotated[int, Between(1, 19)] = 2
    cols: Annotated[int, Between(1, 19)] = 2

    def __post_init__(self) -> None:
        """Refuse boards that do not fit 60 lines."""
        if not (self.rows >= 1 and self.cols >= 1 and self.num_lines <= 60):
            raise GameError(
                f"a board of {self.rows} x {self.cols} boxes does not fit; at least one box and at most 60 lines"
            )

    def initial(self) -> State:
        """Return the board without lines."""
        return State(0, 0)

    def legal(self, s: State) -> int:
        """Return the lines that are not drawn."""
        return self.full & ~s.lines

    def step(self, s: State, action: int) -> State:
        """Draw a line; a player who completes a box moves again."""
        player = s.player if self.reward(s, action) else 1 - s.player
        return State(s.lines | 1 << action, player)

    def reward(self, s: State, action: int) -> int:
        """Return how many boxes the line completes: 0, 1 or 2."""
        lines = s.lines | 1 << action
        one, other = self.sides[action][0], self.sides[action][1]
        return (lines & one == one) + (lines & other == other)

    # ---------------------------------------------------------------- tables
    @cached_property
    def num_lines(self) -> int:
        """The number of lines, which is the length of every game."""
        return (self.rows + 1) * self.cols + self.rows * (self.cols + 1)

    @cached_property
    def full(self) -> int:
        """All lines."""
        return (1 << self.num_lines) - 1

    @cached_property
    def boxes(self) -> tuple[int, ...]:
        """The boxes, row by row, each as the mask of its four lines."""
        across = (self.rows + 1) * self.cols
        return tuple(
            1 << r * self.cols + c
            | 1 << (r + 1) * self.cols + c
            | 1 << across + c * self.rows + r
            | 1 << across + (c + 1) * self.rows + r
            for r in range(self.rows)
            for c in range(self.cols)
        )

    @cached_property
    def sides(self) -> tuple[tuple[int, int], ...]:
        """The boxes on the two sides of each line."""
        touching = [[box for box in self.boxes if box >> line & 1] for line in range(self.num_lines)]
        return tuple((found[0], found[-1] if found[1:] else OUTSIDE) for found in touching)

    # ---------------------------------------------------------------- knowledge
    def index(self, s: State) -> int:
        """Return the integer of the lines; the player is no part of it."""
        return s.lines

    def state(self, i: int) -> State:
        """Return the position with these lines, the first player to move."""
        return State(i, 0)

    def size(self) -> int:
        """Return the number of sets of lines."""
        return self.full + 1

    @property
    def scoring_sets(self) -> tuple[int, ...]:
        """The boxes: all lines drawn are the state, and nothing else counts."""
        return self.boxes

    def symmetries(self) -> int:
        """Return 8 for a square board, else 4."""
        return len(self.images)

    def image(self, s: State, k: int) -> State:
        """Turn or reflect the board."""
        lines = 0
        for line in range(self.num_lines):
            lines |= (s.lines >> line & 1) << self.images[k][line]
        return State(lines, s.player)

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each line."""
        number = {cell: line for line, cell in enumerate(self.cells)}
        grid = cell_images(2 * self.rows + 1, 2 * self.cols + 1)
        return tuple(tuple(number[image[cell]] for cell in self.cells) for image in grid)

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The cell of each line in the grid of dots, lines and boxes."""
        width = 2 * self.cols + 1
        across = [2 * r * width + 2 * c + 1 for r in range(self.rows + 1) for c in range(self.cols)]
        down = [(2 * r + 1) * width + 2 * c for c in range(self.cols + 1) for r in range(self.rows)]
        return (*across, *down)

    # ---------------------------------------------------------------- cells
    @cached_property
    def num_cells(self) -> int:
        """The lines."""
        return self.num_lines

    def cell(self, s: State, i: int) -> int:
        """Return 1 for a line that is drawn."""
        return s.lines >> i & 1

    def changed(self, s: State, action: int) -> int:
        """Return the line that is drawn."""
        return 1 << action

    def neighbours(self, i: int) -> int:
        """Return the other lines of the boxes beside a line."""
        found = 0
        for box in self.boxes:
            found |= box if box >> i & 1 else 0
        return found & ~(1 << i)

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the integer of the lines (``325``, ``0x145``) or the entries 0 and 1 of all lines, from line 0.

        ``/2`` at the end: the second player moves.
        """
        lines, _, mover = text.partition("/")
        if mover not in ("", "1", "2"):
            raise PositionError(f"{text!r}: after the slash stands who moves, 1 or 2")
        return State(self._parse_lines(lines), int(mover or 1) - 1)

    def _parse_lines(self, text: str) -> int:
        entries = "".join(text.replace(",", " ").split())
        if len(entries) == self.num_lines and not set(entries) - set("01"):
            return int(entries[::-1], 2)
        try:
            lines = int(text, 0)
        except ValueError:
            raise PositionError(
                f"{text!r} is not a position: give the integer of the lines or {self.num_lines} entries 0 or 1"
            ) from None
        if not 0 <= lines <= self.full:
            raise PositionError(f"{text!r} is not a position: the lines make an integer of 0 to {self.full}")
        return lines

    def text(self, s: State) -> str:
        """Return the integer of the lines, and ``/2`` if the second player moves."""
        return f"{s.lines}/2" if s.player else str(s.lines)

    def board(self, s: State, past: Past = ()) -> str:
        """Draw the lines, and in each box X or O for the player who completed it, # if that is not known.

        Lines that are not drawn show their number.
        """
        names = {box: "XO"[player] for box, player in self._owners(past).items()}
        boxes = {i: names.get(i, "#") for i, box in enumerate(self.boxes) if s.lines & box == box}
        numbers = {cell: str(line) for line, cell in enumerate(self.cells) if not s.lines >> line & 1}
        return "\n".join(self._row(r, numbers, boxes) for r in range(2 * self.rows + 1))

    def _row(self, r: int, numbers: Mapping[int, str], boxes: Mapping[int, str]) -> str:
        cells = range(r * (2 * self.cols + 1), (r + 1) * (2 * self.cols + 1))
        if r % 2 == 0:
            return "".join("+" if c % 2 == 0 else numbers.get(i, "----").center(4) for c, i in enumerate(cells))
        first = r // 2 * self.cols
        return "".join(
            numbers.get(i, "|").ljust(2) if c % 2 == 0 else boxes.get(first + c // 2, "").center(3)
            for c, i in enumerate(cells)
        ).rstrip()

    def _owners(self, past: Past) -> dict[int, int]:
        """Return the player who completed each box."""
        found: dict[int, int] = {}
        for s, action in past:
            after = s.lines | 1 << action
            found |= {i: s.player for i, box in enumerate(self.boxes) if box >> action & 1 and after & box == box}
        return found

    def svg(self, s: State, past: Past = ()) -> str:
        """Draw the lines, and each box in the colour of the player who completed it.

        Lines that are not drawn are thin and show their number.
        """
        width, height = self.cols * BOX + 48, self.rows * BOX + 48
        shapes = [draw.rect(0, 0, width, height, "panel", 12)]
        owners = self._owners(past)
        for i, box in enumerate(self.boxes):
            if s.lines & box == box:
                kind = f"{draw.PLAYERS[owners[i]]} tint" if i in owners else "neutral tint"
                shapes.append(draw.rect(24 + i % self.cols * BOX, 24 + i // self.cols * BOX, BOX, BOX, kind))
        newest, mover = (past[-1][1], past[-1][0].player) if past else (None, 0)
        for line in range(self.num_lines):
            shape = self._svg_line(s, line, f"{draw.PLAYERS[mover]} thin" if line == newest else "ink")
            shapes.append(draw.last(shape) if line == newest else shape)
        for r, c in product(range(self.rows + 1), range(self.cols + 1)):
            shapes.append(draw.circle(24 + c * BOX, 24 + r * BOX, 6, "ink"))
        return draw.picture(width, height, shapes, self.board(s, past))

    def _svg_line(self, s: State, line: int, kind: str) -> str:
        r, c = divmod(self.cells[line], 2 * self.cols + 1)
        x, y = 24 + c * BOX / 2, 24 + r * BOX / 2
        dx, dy = (BOX / 2, 0) if r % 2 == 0 else (0, BOX / 2)
        ends = (x - dx, y - dy, x + dx, y + dy)
        if s.lines >> line & 1:
            return draw.line(*ends, kind, stroke_width=6)
        number = draw.circle(x, y, 10, "panel") + draw.label(x, y, str(line), "faint", 13)
        wide = draw.rect(x - dx - 9, y - dy - 9, 2 * dx + 18, 2 * dy + 18, "open", 9)
        bold = draw.ghost(draw.line(*ends, f"{draw.PLAYERS[s.player]} thin"))
        faint = draw.line(*ends, "faint", stroke_width=2)
        return draw.move(line, f"line {line}", faint, number, wide, bold, at=(x, y, 12))
