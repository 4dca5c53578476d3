"""The sliding puzzle: tiles slide into the gap until they are in order, the gap first.  A game for one.

The 8-puzzle is 3 x 3, the 15-puzzle 4 x 4.  In order it is

    .  1  2
    3  4  5        action 0, 1, 2, 3: the tile below, right, left, above the gap slides into it
    6  7  8

It starts with the tiles in the order that is the other way round, the last two of them changed where that could
not be put in order.  ``heuristic`` is minus the sum of the tiles' distances from their places, which is never more
than the moves that are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64
from mdplay.boards import render
from mdplay.errors import PositionError
from mdplay.game import Between, Game

DOWN, RIGHT, LEFT, UP = range(4)  # where the gap goes
NAMES = "ulrd"  # where the tile goes
CELL = 64


class State(NamedTuple):
    """Four bits for each cell, row by row: its tile, 0 for the gap."""

    tiles: U64
    gap: int


@dataclass(frozen=True)
class SlidingPuzzle(Game[State]):
    """rows x cols cells, one of them the gap."""

    rows: Annotated[int, Between(2, 4)] = 3
    cols: Annotated[int, Between(2, 4)] = 3

    def initial(self) -> State:
        """Return the tiles the other way round."""
        tiles = U64(0)
        for cell in range(self.rows * self.cols):
            tiles |= U64(self.start[cell]) << 4 * cell
        return State(tiles, self.rows * self.cols - 1)

    def legal(self, s: State) -> int:
        """Return where the gap may go; nowhere when all is in order."""
        if self.heuristic(s) == 0:
            return 0
        row, col = s.gap // self.cols, s.gap % self.cols
        down, right = (row < self.rows - 1) << DOWN, (col < self.cols - 1) << RIGHT
        return down | right | (col > 0) << LEFT | (row > 0) << UP

    def step(self, s: State, action: int) -> State:
        """Let a tile slide into the gap."""
        to = s.gap + self.moves[action]
        tile = s.tiles >> 4 * to & 15
        return State(s.tiles ^ tile << 4 * to ^ tile << 4 * s.gap, to)

    def result(self, s: State) -> int:
        """Return 1: the end is the goal."""
        return 1

    def heuristic(self, s: State) -> float:
        """Return minus the sum of the distances of the tiles from their places: no fewer moves put them there."""
        total = 0
        for cell in range(self.rows * self.cols):
            total += self.far[cell][int(s.tiles >> 4 * cell & 15)]
        return -total

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """How the gap's number changes."""
        return (self.cols, 1, -1, -self.cols)

    @cached_property
    def far(self) -> tuple[tuple[int, ...], ...]:
        """The distance of each cell from the place of each tile; the gap counts nothing."""
        cells, cols = range(self.rows * self.cols), self.cols
        return tuple(
            tuple(0 if t == 0 else abs(c // cols - t // cols) + abs(c % cols - t % cols) for t in cells)
            for c in cells
        )

    @cached_property
    def start(self) -> tuple[int, ...]:
        """The tiles of the start, row by row."""
        tiles = list(range(self.rows * self.cols - 1, -1, -1))
        if not self._solvable(tiles):
            tiles[-3], tiles[-2] = tiles[-2], tiles[-3]
        return tuple(tiles)

    def _solvable(self, tiles: list[int]) -> bool:
        """Return whether slides can order the tiles: every slide changes the parity and moves the gap by one."""
        odd = sum(a > b for i, a in enumerate(tiles) for b in tiles[i + 1 :])
        gap = tiles.index(0)
        return (odd + gap // self.cols + gap % self.cols) % 2 == 0

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the tiles row by row, 0 or . for the gap, separated by spaces or commas."""
        words = text.replace(",", " ").replace(".", "0").split()
        size = self.rows * self.cols
        tiles = [int(word) if word.isdecimal() else -1 for word in words]
        if sorted(tiles) != list(range(size)):
            raise PositionError(f"{text!r} is not a position: give the tiles 1 to {size - 1} and 0 for the gap")
        if not self._solvable(tiles):
            raise PositionError(f"{text!r} cannot be put in order: two tiles would have to change places")
        return State(sum(tile << 4 * cell for cell, tile in enumerate(tiles)), tiles.index(0))

    def text(self, s: State) -> str:
        """Return the tiles with commas."""
        return ",".join(map(str, self._tiles(s)))

    def move_text(self, s: State, action: int) -> str:
        """Return where the tile goes: up, left, right, down by its letter."""
        return NAMES[action]

    def _tiles(self, s: State) -> list[int]:
        return [int(s.tiles) >> 4 * cell & 15 for cell in range(self.rows * self.cols)]

    def board(self, s: State) -> str:
        """Draw the tiles."""
        return render([str(tile) if tile else "" for tile in self._tiles(s)], self.cols)

    def svg(self, s: State) -> str:
        """Draw the tiles; click the one that shall slide."""
        width, height = self.cols * CELL + 8, self.rows * CELL + 8
        shapes = [draw.rect(0, 0, width, height, "panel", 10)]
        for cell, tile in enumerate(self._tiles(s)):
            x, y = cell % self.cols * CELL + 6, cell // self.cols * CELL + 6
            if tile:
                shapes.append(draw.rect(x, y, CELL - 4, CELL - 4, "hole", 7))
                shapes.append(draw.label(x + CELL / 2 - 2, y + CELL / 2 - 2, str(tile), "ink", 24))
        for action in range(4):
            if self.legal(s) >> action & 1:
                to = s.gap + self.moves[action]
                x, y = to % self.cols * CELL + 6, to // self.cols * CELL + 6
                target = draw.rect(x, y, CELL - 4, CELL - 4, "open", 7)
                corner = (x + CELL - 16, y + CELL - 16, 11)  # the number stays to be read
                name = f"tile {self._tiles(s)[to]} {self.move_text(s, action)}"
                shapes.append(draw.move(action, name, target, at=corner))
        return draw.picture(width, height, shapes, self.board(s))
