r"""Three, Four, Five and Six Men's Morris: put men down, then move them along the lines; rows of three count.

With three men each the board has nine points, and a row of three wins.  With more it has two squares of eight; a
row takes a man of the other side, one outside of rows if there is any.  A player with only two men left, or
without a move, has lost.  There is no flying.

    3 men        0--1--2           4, 5, 6 men      0-----1-----2
                 |\ | /|                            |  8--9-10  |
                 3--4--5                            7-15    11--3
                 |/ | \|                            | 14-13-12  |
                 6--7--8                            6-----5-----4

Action p puts a man down on point p, or takes the one there; the actions after these are the moves along the lines,
in the order of where they begin and end.  Taking is a move of its own, by the same player.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.bits import popcount
from mdplay.boards import masks_of
from mdplay.errors import PositionError
from mdplay.game import Between, Game

SMALL = ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2))
RING = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1))  # clockwise
LARGE = (*((2 * x, 2 * y) for x, y in RING), *((x + 1, y + 1) for x, y in RING))
MARKS = ".XO"


class State(NamedTuple):
    """Bit p of a player's men is point p."""

    first: int
    second: int
    placed: int  # men put down so far, by both
    taking: int  # 1: the player has made a row and takes a man
    player: int


@dataclass(frozen=True)
class MensMorris(Game[State]):
    """``men`` for each side; ``diagonals`` are lines of the board for three."""

    men: Annotated[int, Between(3, 6)] = 3
    diagonals: bool = True

    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0, 0, 0)

    def legal(self, s: State) -> int:
        """Return the points to put a man down or to take one, or the moves; none when the game is over."""
        mine, theirs = (s.second, s.first) if s.player else (s.first, s.second)
        if s.taking:
            loose = theirs & ~self.in_rows(theirs)
            return loose if loose else theirs
        if self.men == 3 and self.in_rows(theirs):
            return 0
        empty = self.full & ~(mine | theirs)
        if s.placed < 2 * self.men:
            return empty
        if popcount(mine) < 3:
            return 0
        found = 0
        for i in range(len(self.origins)):
            found |= (mine >> self.origins[i] & empty >> self.targets[i] & 1) << self.points + i
        return found

    def step(self, s: State, action: int) -> State:
        """Put a man down, move one, or take one."""
        mine, theirs = (s.second, s.first) if s.player else (s.first, s.second)
        placed, taking, after = s.placed, 0, 1 - s.player
        if s.taking:
            theirs &= ~(1 << action)
        else:
            to = action
            if action >= self.points:
                to = self.targets[action - self.points]
                mine &= ~(1 << self.origins[action - self.points])
            else:
                placed += 1
            mine |= 1 << to
            if self.men > 3 and self.in_rows(mine) >> to & 1:
                taking, after = 1, s.player
        return (
            State(theirs, mine, placed, taking, after) if s.player else State(mine, theirs, placed, taking, after)
        )

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won: the player to move has lost."""
        return 2 * s.player - 1

    def in_rows(self, men: int) -> int:
        """Return the men that stand in rows of three."""
        found = 0
        for row in self.rows:
            if men & row == row:
                found |= row
        return found

    # ---------------------------------------------------------------- the board
    @cached_property
    def points(self) -> int:
        """How many points the board has."""
        return len(self.places)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The column and the row of each point."""
        return SMALL if self.men == 3 else LARGE

    @cached_property
    def full(self) -> int:
        """All points."""
        return (1 << self.points) - 1

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The rows of three as masks."""
        lines: tuple[tuple[int, int, int], ...]
        if self.men == 3:
            lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
        else:
            lines = (*((q + k, q + k + 1, q + (k + 2) % 8) for q in (0, 8) for k in (0, 2, 4, 6)),)
        return tuple(sum(1 << p for p in line) for line in lines)

    @cached_property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """The moves along lines: from, to."""
        if self.men == 3:
            straight = [(a, b) for a in range(9) for b in range(9) if _apart(SMALL[a], SMALL[b]) == (0, 1)]
            crooked = [(a, b) for a in range(9) for b in range(9) if _apart(SMALL[a], SMALL[b]) == (1, 1)]
            return tuple(sorted(straight + [(a, b) for a, b in crooked if self.diagonals and 4 in (a, b)]))
        ring = [(q + k, q + (k + 1) % 8) for q in (0, 8) for k in range(8)] + [(k, k + 8) for k in (1, 3, 5, 7)]
        return tuple(sorted(ring + [(b, a) for a, b in ring]))

    @cached_property
    def origins(self) -> tuple[int, ...]:
        """Where each move begins."""
        return tuple(a for a, _ in self.steps)

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """Where each move ends."""
        return tuple(b for _, b in self.steps)

    # ---------------------------------------------------------------- symmetries
    def symmetries(self) -> int:
        """Return 8, or 16 with two squares, which can change places."""
        return len(self.low_images)

    def image(self, s: State, k: int) -> State:
        """Turn, reflect, turn inside out."""
        return State(self.moved(s.first, k), self.moved(s.second, k), s.placed, s.taking, s.player)

    def moved(self, men: int, k: int) -> int:
        """Return where a symmetry takes men."""
        return self.low_images[k][men & 255] | self.high_images[k][men >> 8]

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each point."""
        size = max(x for x, _ in self.places)
        swaps = (False,) if self.men == 3 else (False, True)
        return tuple(
            tuple(self._image(p, k, size, swap) for p in range(self.points)) for swap in swaps for k in range(8)
        )

    def _image(self, p: int, k: int, size: int, swap: bool) -> int:
        x, y = self.places[(p + 8) % 16 if swap else p]
        x, y = (size - x if k & 1 else x), (size - y if k & 2 else y)
        return self.places.index((y, x) if k & 4 else (x, y))

    @cached_property
    def low_images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each set of the points 0 .. 7."""
        return tuple(tuple(_set_image(image, x) for x in range(256)) for image in self.images)

    @cached_property
    def high_images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each set of the points from 8 on."""
        sets = 1 << self.points - 8
        return tuple(tuple(_set_image(image, x << 8) for x in range(sets)) for image in self.images)

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the points as ``.XO``, the men put down, ``x`` or ``o`` to move, ``!`` if it takes a man."""
        words = text.split(",")
        cells = words[0]
        fits = (
            len(words) == 3 and len(cells) == self.points and not set(cells) - set(MARKS) and words[1].isdecimal()
        )
        if not fits or words[2] not in ("x", "o", "x!", "o!"):
            raise PositionError(f"{text!r} is not a position: give {self.points} of .XO, men put down, x or o")
        first, second = masks_of(cells, "XO")
        placed, player = int(words[1]), "xo".index(words[2][0])
        taken = placed - first.bit_count() - second.bit_count()
        most = max(first.bit_count(), second.bit_count())
        if placed > 2 * self.men or taken < 0 or most > self.men or (self.men == 3 and taken):
            raise PositionError(f"{text!r} cannot be reached: each side puts {self.men} men down")
        return State(first, second, placed, int(words[2].endswith("!")), player)

    def text(self, s: State) -> str:
        """Return what ``parse`` reads."""
        cells = "".join(MARKS[self._owner(s, p)] for p in range(self.points))
        return f"{cells},{s.placed},{'xo'[s.player]}{'!' if s.taking else ''}"

    def move_text(self, s: State, action: int) -> str:
        """Return the point, after ``x`` if a man is taken, or where a man goes from and to."""
        if action >= self.points:
            return "{}-{}".format(*self.steps[action - self.points])
        return f"x{action}" if s.taking else str(action)

    def _owner(self, s: State, p: int) -> int:
        return (s.first >> p & 1) + 2 * (s.second >> p & 1)

    def board(self, s: State) -> str:
        """Draw the points with X for player 1 and O for player 2."""
        size = 2 * max(x for x, _ in self.places) + 1
        rows = [[" "] * (2 * size - 1) for _ in range(size)]
        for a, b in self.steps:
            (xa, ya), (xb, yb) = self.places[a], self.places[b]
            between = "-" if ya == yb else "|" if xa == xb else "\\" if (xb - xa) * (yb - ya) > 0 else "/"
            for t in range(1, 4 * max(abs(xb - xa), abs(yb - ya))):
                x, y = 4 * xa + (xb > xa) * t - (xb < xa) * t, 4 * ya + (yb > ya) * t - (yb < ya) * t
                if y % 2 == 0 and (ya == yb or x % 4 == 2 or xa == xb):
                    rows[y // 2][x] = between
        for p, (x, y) in enumerate(self.places):
            rows[2 * y][4 * x] = MARKS[self._owner(s, p)]
        return "\n".join("".join(row).rstrip() for row in rows)

    def svg(self, s: State) -> str:
        """Draw the board; moves are arrows to click, points where a man may be put down or taken are rings."""
        gap = 56 if self.men > 3 else 80
        size = gap * max(x for x, _ in self.places) + 80
        at = [(40 + gap * x, 40 + gap * y) for x, y in self.places]
        shapes = [draw.rect(0, 0, size, size, "panel", 10)]
        shapes += [draw.line(*at[a], *at[b], "faint", stroke_width=4) for a, b in self.steps if a < b]
        for p, (x, y) in enumerate(at):
            owner = self._owner(s, p)
            shapes.append(
                draw.stone(x, y, 18, draw.PLAYERS[owner - 1]) if owner else draw.circle(x, y, 7, "neutral")
            )
        legal = self.legal(s)
        for action in range(self.points + len(self.steps)):
            if legal >> action & 1:
                shapes.append(self._svg_move(s, action, at))
        return draw.picture(size, size, shapes, self.board(s))

    def _svg_move(self, s: State, action: int, at: list[tuple[int, int]]) -> str:
        name = self.move_text(s, action)
        if action < self.points:
            return draw.move(action, name, draw.circle(*at[action], 20, "open"))
        (xa, ya), (xb, yb) = (at[p] for p in self.steps[action - self.points])
        return draw.move(action, name, draw.circle((xa + 2 * xb) / 3, (ya + 2 * yb) / 3, 13, "open"))


def _apart(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """Return the smaller and the larger distance of two points, across and down."""
    low, high = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    return low, high


def _set_image(image: tuple[int, ...], points: int) -> int:
    """Return where a symmetry takes a set of points."""
    return sum(1 << to for p, to in enumerate(image) if points >> p & 1)
