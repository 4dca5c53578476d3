"""Mu Torere: eight points in a ring and one in the middle, four men each; who cannot move has lost.

The Maori game.  A man goes to the one free point: along the ring, from the middle, or to the middle, but there
only from beside a man of the other side.

       7 0
      6   1        action p moves the man on point p; 8 is the middle
      5 8 2
       4 3
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import mdplay.svg as draw
from mdplay.boards import masks_of
from mdplay.errors import PositionError
from mdplay.game import Game

RING, MIDDLE, ALL = 255, 256, 511
MARKS = ".XO"
SIZE = 300


class State(NamedTuple):
    """Bits 0 .. 7 are the ring, bit 8 the middle."""

    first: int
    second: int
    player: int


@dataclass(frozen=True)
class MuTorere(Game[State]):
    """Two sides of four men."""

    def initial(self) -> State:
        """Return the two halves of the ring."""
        return State(0b0000_1111, 0b1111_0000, 0)

    def legal(self, s: State) -> int:
        """Return the men that reach the free point."""
        mine, theirs = (s.second, s.first) if s.player else (s.first, s.second)
        empty = ALL & ~(mine | theirs)
        if empty == MIDDLE:
            return mine & self.beside(theirs)
        return mine & (self.beside(empty) | MIDDLE)

    def step(self, s: State, action: int) -> State:
        """Move a man to the free point."""
        change = 1 << action | ALL & ~(s.first | s.second)
        return State(s.first, s.second ^ change, 0) if s.player else State(s.first ^ change, s.second, 1)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won: the player to move cannot."""
        return 2 * s.player - 1

    def beside(self, points: int) -> int:
        """Return the points of the ring beside these."""
        ring = points & RING
        return (ring << 1 | ring >> 7 | ring >> 1 | ring << 7) & RING

    # ---------------------------------------------------------------- symmetries
    def symmetries(self) -> int:
        """Return 16: the ring turns and is reflected."""
        return 16

    def image(self, s: State, k: int) -> State:
        """Turn the ring, and reflect it."""
        return State(self.turned(s.first, k), self.turned(s.second, k), s.player)

    def turned(self, men: int, k: int) -> int:
        """Return where a symmetry takes men."""
        found = men & MIDDLE
        for p in range(8):
            to = (p + k) & 7 if k < 8 else (k - p) & 7
            found |= (men >> p & 1) << to
        return found

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the nine points as ``.XO``, the middle last, and then the player to move: ``XXXXOOOO.,x``."""
        cells, comma, mover = text.strip().partition(",")
        counts = [cells.count(mark) for mark in MARKS]
        if len(cells) != 9 or counts != [1, 4, 4] or not comma or mover not in ("x", "o"):
            raise PositionError(f"{text!r} is not a position: give four X, four O and one ., then ,x or ,o")
        first, second = masks_of(cells, "XO")
        return State(first, second, "xo".index(mover))

    def text(self, s: State) -> str:
        """Return what ``parse`` reads."""
        return f"{''.join(self._marks(s))},{'xo'[s.player]}"

    def _marks(self, s: State) -> list[str]:
        return [MARKS[(s.first >> p & 1) + 2 * (s.second >> p & 1)] for p in range(9)]

    def board(self, s: State) -> str:
        """Draw the ring and the middle with X for player 1 and O for player 2."""
        m = self._marks(s)
        return f" {m[7]} {m[0]}\n{m[6]}   {m[1]}\n  {m[8]}\n{m[5]}   {m[2]}\n {m[4]} {m[3]}"

    def svg(self, s: State) -> str:
        """Draw the star; click the man to move."""
        shapes = [draw.rect(0, 0, SIZE, SIZE, "panel", 10)]
        at = [_place(p) for p in range(9)]
        shapes += [draw.line(*at[p], *at[8], "faint", stroke_width=4) for p in range(8)]
        shapes += [draw.line(*at[p], *at[(p + 1) % 8], "faint", stroke_width=4) for p in range(8)]
        for p, mark in enumerate(self._marks(s)):
            shapes.append(draw.circle(*at[p], 8, "neutral"))
            if mark != ".":
                shapes.append(draw.stone(*at[p], 22, draw.PLAYERS["XO".index(mark)]))
            if self.legal(s) >> p & 1:
                target = draw.circle(*at[p], 24, "open")
                shapes.append(draw.move(p, f"man {self.move_text(s, p)}", target, at=(*at[p], 14)))
        return draw.picture(SIZE, SIZE, shapes, self.board(s))


def _place(p: int) -> tuple[float, float]:
    """Return where a point is drawn."""
    if p == 8:
        return SIZE / 2, SIZE / 2
    angle = math.pi * (p + 0.5) / 4
    return SIZE / 2 + 112 * math.sin(angle), SIZE / 2 - 112 * math.cos(angle)
