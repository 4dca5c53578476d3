"""The pocket cube, 2 x 2 x 2, a game for one: turn faces until every side has one colour.

Corners are numbered by where they are: bit 0 right, bit 1 upper, bit 2 front.  Corner 0 is held still, which says
how the cube lies; the seven others move.  The stickers of a corner lie on the axes x, y, z; how it is twisted is
told by the axis on which the one of its upper or lower colour lies: y when the cube is solved.

        6-----7          action 3 * face + turns - 1: the face right (R), upper (U) or front (F)
       /|    /|          is turned by one, two or three quarters
      4-----5 |
      | 2---|-3          upper ones 2, 3, 6, 7; right ones 1, 3, 5, 7
      |/    |/
      0-----1

It starts after the turns R U F R U F R.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64
from mdplay.errors import PositionError
from mdplay.game import Game

AXES, FACES = "xyz", "RUF"
SCRAMBLE = (0, 3, 6, 0, 3, 6, 0)
COLOURS = (("#f2b01e", "#d9482b"), ("#f8f4ec", "#f4e04d"), ("#2468b4", "#3c9d4e"))  # by axis and side
CELL = 34


class State(NamedTuple):
    """Five bits for each of the places 1 .. 7: the corner that is there, then the axis of its sticker."""

    corners: U64


@dataclass(frozen=True)
class PocketCube(Game[State]):
    """``half``: half turns are moves, too; else only quarter turns."""

    half: bool = True

    def initial(self) -> State:
        """Return the scrambled cube."""
        s = State(self.solved())
        for action in SCRAMBLE:
            s = self.step(s, action)
        return s

    def solved(self) -> U64:
        """Return every corner in its place, its sticker on axis y."""
        corners = U64(0)
        for place in range(1, 8):
            corners |= U64(place | 1 << 3) << 5 * (place - 1)
        return corners

    def legal(self, s: State) -> int:
        """Return the turns; none when the cube is solved."""
        if s.corners == self.solved():
            return 0
        return 0b111_111_111 if self.half else 0b101_101_101

    def step(self, s: State, action: int) -> State:
        """Turn a face."""
        corners = U64(0)
        for place in range(1, 8):
            corner = s.corners >> 5 * (self.origins[action][place] - 1) & 31
            axis = self.turned[action][place][int(corner >> 3)]
            corners |= (corner & 7 | U64(axis) << 3) << 5 * (place - 1)
        return State(corners)

    def result(self, s: State) -> int:
        """Return 1: the end is the goal."""
        return 1

    @cached_property
    def origins(self) -> tuple[tuple[int, ...], ...]:
        """The place from which each action brings a corner to each place."""
        return tuple(tuple(self._origin(action, place) for place in range(8)) for action in range(9))

    def _origin(self, action: int, place: int) -> int:
        face, turns = action // 3, action % 3 + 1
        if not place >> face & 1:
            return place
        one, two = (face + 1) % 3, (face + 2) % 3
        for _ in range(turns):  # back by quarters: (u, v) comes from (1 - v, u)
            u, v = place >> one & 1, place >> two & 1
            place = place & 1 << face | (1 - v) << one | u << two
        return place

    @cached_property
    def turned(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The axis of a sticker after each action, by the place it comes to and its axis before."""
        return tuple(
            tuple(tuple(self._axis(action, place, axis) for axis in range(3)) for place in range(8))
            for action in range(9)
        )

    def _axis(self, action: int, place: int, axis: int) -> int:
        face = action // 3
        moves = place >> face & 1 and action % 3 != 1  # a half turn leaves the axes alone
        return 3 - face - axis if moves and axis != face else axis

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the corner and the axis of its sticker for each place 1 .. 7: ``1y2y3y4y5y6y7y`` is solved."""
        word = "".join(text.split())
        corners, axes = word[::2], word[1::2]
        if len(word) != 14 or sorted(corners) != list("1234567") or set(axes) - set(AXES):
            raise PositionError(
                f"{text!r} is not a position: give a corner 1 to 7 and an axis for each of 7 places"
            )
        twist = sum(
            (AXES.index(axis) - 1) * (1 if place.bit_count() % 2 else -1)
            for place, axis in enumerate(axes, start=1)
        )
        if twist % 3:
            raise PositionError(f"{text!r} cannot be reached: one corner is twisted by itself")
        return State(
            sum(
                (int(corner) | AXES.index(axis) << 3) << 5 * i
                for i, (corner, axis) in enumerate(zip(corners, axes, strict=True))
            )
        )

    def text(self, s: State) -> str:
        """Return what ``parse`` reads."""
        return "".join(f"{corner}{AXES[axis]}" for corner, axis in self._corners(s)[1:])

    def move_text(self, s: State, action: int) -> str:
        """Return the face, with 2 for a half turn and ' for three quarters."""
        return FACES[action // 3] + ("", "2", "'")[action % 3]

    def _corners(self, s: State) -> list[tuple[int, int]]:
        """Return the corner at each place, and the axis of its sticker."""
        words = [int(s.corners) >> 5 * i & 31 for i in range(7)]
        return [(0, 1), *((word & 7, word >> 3) for word in words)]

    def _colour(self, s: State, place: int, axis: int) -> tuple[int, int]:
        """Return the axis and the side at home of the sticker at a place on an axis."""
        corner, upper = self._corners(s)[place]
        even = (corner.bit_count() + place.bit_count()) % 2 == 0
        home = (axis - upper + 1) % 3 if even else (upper + 1 - axis) % 3
        return home, corner >> home & 1

    def board(self, s: State) -> str:
        """Draw the six sides unfolded, a letter for each colour: L R, D U, B F."""
        rows = [[" "] * 8 for _ in range(6)]
        for (x, y), (place, axis) in NET.items():
            home, side = self._colour(s, place, axis)
            rows[y][x] = ("LR", "DU", "BF")[home][side]
        return "\n".join("".join(row).rstrip() for row in rows)

    def svg(self, s: State) -> str:
        """Draw the six sides unfolded, and the turns as buttons."""
        width, height = 8 * CELL + 20, 6 * CELL + 100
        shapes = [draw.rect(0, 0, width, height, "panel", 10)]
        for (x, y), (place, axis) in NET.items():
            home, side = self._colour(s, place, axis)
            left, top, size = 10 + x * CELL, 10 + y * CELL, CELL - 3
            shapes.append(draw.rect(left, top, size, size, "sticker", 5, fill=COLOURS[home][side]))
        turns = [action for action in range(9) if self.legal(s) >> action & 1]
        shapes += [self._svg_turn(s, action, 10 + action * (width - 20) / 9, height - 72) for action in turns]
        return draw.picture(width, height, shapes, self.board(s))

    def _svg_turn(self, s: State, action: int, x: float, y: float) -> str:
        """Return the button of a turn: its name, and below it room for its value."""
        name = self.move_text(s, action)
        shape = draw.rect(x, y, 28, 60, "hole", 6) + draw.label(x + 14, y + 15, name, "ink", 15)
        return draw.move(action, name, shape, draw.rect(x, y, 28, 60, "open", 6), at=(x + 14, y + 42, 13))


def _net() -> dict[tuple[int, int], tuple[int, int]]:
    """Return the place and the axis of each sticker of the unfolded cube."""
    found = {}
    for i in (0, 1):
        for j in (0, 1):
            found[2 + i, j] = (2 | i | 4 * j, 1)  # upper: the back row first
            found[2 + i, 4 + j] = (i | 4 * (1 - j), 1)  # lower
            found[2 + i, 2 + j] = (4 | i | 2 * (1 - j), 2)  # front
            found[6 + i, 2 + j] = (1 - i | 2 * (1 - j), 2)  # back
            found[i, 2 + j] = (2 * (1 - j) | 4 * i, 0)  # left
            found[4 + i, 2 + j] = (1 | 2 * (1 - j) | 4 * (1 - i), 0)  # right
    return found


NET = _net()
