"""Qubic: four in a row on 4 x 4 x 4 cells, in any of 76 lines.

Cell x + 4y + 16z is bit x + 4y + 16z, so all 64 bits of a word are cells.  Action a marks cell a; in move texts a
cell is its three coordinates ``xyz``.  The layer z = 0:

        x 0  1  2  3
    y 0   0  1  2  3
      1   4  5  6  7
      2   8  9 10 11
      3  12 13 14 15

A line runs in one of 13 directions.  Four marks in a row are two neighbouring pairs, so two shifts find all
lines of a direction at once; the 13 directions are independent, and the compiler takes several in one step.

A *threat* is a line of three own marks and a free cell: the opponent must take that cell.  Threat after threat,
each making the next, may end in two at once, and nothing helps against that.  Such a sequence is quickly found,
since every answer is forced.  ``bounds`` takes a few steps to find one.

The 192 symmetries (Silver 1967): any order of the axes (6), a reflection of each axis (8), and one of four
permutations of 0, 1, 2, 3 applied to all three coordinates; these keep opposite coordinates opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import ClassVar, NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64, elements, lowest, nonempty, popcount, without_lowest
from mdplay.boards import marks_of, masks_of, player_to_move, read_rows, rows_of
from mdplay.errors import PositionError
from mdplay.game import Bounds, Game, Past
from mdplay.naming.notation import play_moves

FULL = 0xFFFF_FFFF_FFFF_FFFF
DIRECTIONS = tuple(d[::-1] for d in product((-1, 0, 1), repeat=3) if d > (0, 0, 0))  # (dx, dy, dz), dz first
CELLS = tuple(xyz[::-1] for xyz in product(range(4), repeat=3))  # (x, y, z) of each cell
SHUFFLES = ((0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 3, 2), (1, 3, 0, 2))  # one of each pair with its reflection
LINE_POINTS = (0, 1, 4, 16)  # of a line by its marks, if they are all of one player
THREAT_STEPS = 64  # threats made or taken back in one question
LOOK_DEPTH = 10  # threats in a row; one is 12 bits of a path: the cell and the answer
LAST_FIVE = (1 << 60) - 1


class State(NamedTuple):
    """Bit i of a player's marks is cell i."""

    mine: U64  # the marks of the player to move
    theirs: U64
    player: int


class Open(NamedTuple):
    """The lines of one direction that only one player has marks in, by their number: bits of their first cells."""

    one: U64
    two: U64
    three: U64


class ThreatCells(NamedTuple):
    """The cells that make at least one threat, and those that make two."""

    single: U64
    double: U64


class Path(NamedTuple):
    """The threats made and their answers, 12 bits each, the last ones lowest: five to a word."""

    last: U64
    before: U64


def cell_number(x: int, y: int, z: int) -> int:
    """Return the number of a cell."""
    return x + 4 * y + 16 * z


def starts_line(xyz: tuple[int, ...], direction: tuple[int, ...]) -> bool:
    """Return whether a line of four fits from a cell on in a direction."""
    return all(d == 0 or c == (0 if d > 0 else 3) for c, d in zip(xyz, direction, strict=True))


@dataclass(frozen=True)
class Qubic(Game[State]):
    """Four in a row win; X moves first."""

    view: ClassVar[str] = "cube"
    layers: ClassVar[int] = 4
    rows: ClassVar[int] = 4
    cols: ClassVar[int] = 4

    def initial(self) -> State:
        """Return the empty cube."""
        return State(0, 0, 0)

    def legal(self, s: State) -> U64:
        """Return the empty cells; none once there is a line."""
        return U64(0) if self.has_line(s.theirs) else ~(s.mine | s.theirs) & FULL

    def step(self, s: State, action: int) -> State:
        """Mark a cell."""
        return State(s.theirs, s.mine | U64(1) << action, 1 - s.player)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won, -1 if player 1 has, 0 for a tie."""
        return 2 * s.player - 1 if self.has_line(s.theirs) else 0

    def status(self, s: State) -> int:
        """Return +1 if X has won, -1 if O has, 0 while the game continues, 2 for a tie (a full cube, no line)."""
        if self.has_line(s.theirs):
            return self.result(s)
        return 0 if nonempty(self.legal(s)) else 2

    def has_line(self, marks: U64) -> bool:
        """Return whether the marks contain a line."""
        found = U64(0)
        for i in range(len(self.shifts)):
            pairs = marks & marks >> self.shifts[i]
            found |= pairs & pairs >> 2 * self.shifts[i] & self.starts[i]
        return found != 0

    # ---------------------------------------------------------------- tables
    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """The distance from cell to cell along each direction."""
        return tuple(cell_number(*direction) for direction in DIRECTIONS)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The cells from which a line runs in each direction."""
        return tuple(sum(1 << i for i, xyz in enumerate(CELLS) if starts_line(xyz, d)) for d in DIRECTIONS)

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The 76 lines as masks."""
        return tuple(
            sum(1 << first + i * shift for i in range(4))
            for shift, starts in zip(self.shifts, self.starts, strict=True)
            for first in elements(starts)
        )

    @cached_property
    def lines_through(self) -> tuple[int, ...]:
        """The number of lines through each cell: 7 in the corners and in the middle, else 4."""
        return tuple(sum(line >> cell & 1 for line in self.lines) for cell in range(64))

    # ---------------------------------------------------------------- threats
    def open_lines(self, mine: U64, theirs: U64, i: int) -> Open:
        """Return the lines of direction i that only I have marks in."""
        k = self.shifts[i]
        a, b, c, d = mine, mine >> k, mine >> 2 * k, mine >> 3 * k
        taken = theirs | theirs >> k | theirs >> 2 * k | theirs >> 3 * k
        some_line = self.starts[i] & ~taken & (a | b | c | d)
        odd, pair = a ^ b ^ c ^ d, a & b | c & d
        return Open(some_line & odd & ~pair, some_line & ~odd, some_line & odd & pair)

    def free_cells(self, starts: U64, marks: U64, k: int) -> U64:
        """Return the cells without a mark on the lines that start from cells and run by k."""
        return (starts | starts << k | starts << 2 * k | starts << 3 * k) & ~marks

    def completing(self, mine: U64, theirs: U64) -> U64:
        """Return the cells that complete a line of mine."""
        cells = U64(0)
        for i in range(len(self.shifts)):
            cells |= self.free_cells(self.open_lines(mine, theirs, i).three, mine, self.shifts[i])
        return cells

    def threats(self, mine: U64, theirs: U64) -> ThreatCells:
        """Return the cells that turn two marks in a line into a threat."""
        once, twice = U64(0), U64(0)
        for i in range(len(self.shifts)):
            cells = self.free_cells(self.open_lines(mine, theirs, i).two, mine, self.shifts[i])
            twice |= once & cells
            once |= cells
        return ThreatCells(once, twice)

    def forcing(self, mine: U64, theirs: U64) -> ThreatCells:
        """Return the threats that also stop whatever the opponent threatens; two threats cannot be stopped."""
        stops, found = self.completing(theirs, mine), self.threats(mine, theirs)
        if not nonempty(stops):
            return found
        if nonempty(without_lowest(stops)):
            return ThreatCells(U64(0), U64(0))
        return ThreatCells(found.single & stops, found.double & stops)

    def forced_win(self, mine: U64, theirs: U64) -> int:
        """Return the first cell of a sequence of threats that wins for the player to move, or -1.

        A search depth first.  Short of a win a cell makes one threat at most, so cells number the moves of a
        node; back at a node it continues with the cells above the last one.
        """
        first, depth, done = -1, 0, U64(0)
        path = Path(U64(0), U64(0))
        for _ in range(THREAT_STEPS):
            found = self.forcing(mine, theirs)
            if nonempty(found.double):
                return first if depth else lowest(found.double)
            left = found.single & ~done
            if nonempty(left) and depth < LOOK_DEPTH:
                cell = lowest(left)
                answer = lowest(self.completing(mine | U64(1) << cell, theirs))
                first = first if depth else cell
                path = Path(
                    (path.last << 12 | cell << 6 | answer) & LAST_FIVE, path.before << 12 | path.last >> 48
                )
                depth, done = depth + 1, U64(0)
            elif depth == 0:
                return -1
            else:
                cell, answer = int(path.last >> 6 & 63), int(path.last & 63)
                path = Path(path.last >> 12 | (path.before & 4095) << 48, path.before >> 12)
                depth, done = depth - 1, (U64(2) << cell) - 1
            mine, theirs = mine ^ U64(1) << cell, theirs ^ U64(1) << answer
        return -1

    # ---------------------------------------------------------------- knowledge
    def bounds(self, s: State) -> Bounds:
        """Settle what a short sequence of threats wins, and what two threats of the opponent lose."""
        won, free = 1 - 2 * s.player, self.legal(s)
        if not nonempty(free):
            return Bounds(self.result(s), self.result(s), 0)
        wins, stops = self.completing(s.mine, s.theirs), self.completing(s.theirs, s.mine)
        if nonempty(wins):
            return Bounds(won, won, wins & ~without_lowest(wins))
        if nonempty(without_lowest(stops)):
            return Bounds(-won, -won, stops)
        cell = self.forced_win(s.mine, s.theirs)
        if cell >= 0:
            return Bounds(won, won, U64(1) << cell)
        return Bounds(-1, 1, stops if nonempty(stops) else free)

    def heuristic(self, s: State) -> float:
        """Return the points of player 0's open lines less those of player 1's: 1, 4, 16 for 1, 2, 3 marks."""
        points = self.line_points(s.mine, s.theirs) - self.line_points(s.theirs, s.mine)
        return float(-points if s.player else points)

    def line_points(self, mine: U64, theirs: U64) -> int:
        """Return the points of the lines that only I have marks in."""
        points = 0
        for i in range(len(self.shifts)):
            lines = self.open_lines(mine, theirs, i)
            points += LINE_POINTS[1] * popcount(lines.one)
            points += LINE_POINTS[2] * popcount(lines.two) + LINE_POINTS[3] * popcount(lines.three)
        return points

    def order(self, s: State, action: int) -> int:
        """Prefer the cells of many lines."""
        return self.lines_through[action]

    def symmetries(self) -> int:
        """Return 192."""
        return len(self.images)

    def image(self, s: State, k: int) -> State:
        """Move the marks by symmetry k."""
        return State(self.moved(s.mine, k), self.moved(s.theirs, k), s.player)

    def moved(self, marks: U64, k: int) -> U64:
        """Return where symmetry k takes the marks."""
        out = U64(0)
        while nonempty(marks):
            out |= U64(1) << self.images[k][lowest(marks)]
            marks = without_lowest(marks)
        return out

    @cached_property
    def images(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each cell."""
        found = []
        for axes, flips in product(permutations(range(3)), product((0, 3), repeat=3)):
            for shuffle in SHUFFLES:
                places = [2 * axes.index(axis) for axis in range(3)]  # where the bits of x, y and z go
                to = [[(c ^ flips[place // 2]) << place for c in shuffle] for place in places]
                found.append(tuple(to[0][x] + to[1][y] + to[2][z] for x, y, z in CELLS))
        return tuple(found)

    # ---------------------------------------------------------------- cells
    @property
    def num_cells(self) -> int:
        """The cells of the cube."""
        return 64

    @property
    def cell_values(self) -> int:
        """0 empty, 1 and 2 the marks of the first and of the second player."""
        return 3

    def cell(self, s: State, i: int) -> int:
        """Return whose mark a cell holds."""
        return int(s.mine >> i & 1) * (1 + s.player) + int(s.theirs >> i & 1) * (2 - s.player)

    def changed(self, s: State, action: int) -> U64:
        """Return the cell that is marked."""
        return U64(1) << action

    def neighbours(self, i: int) -> int:
        """Return the cells that share a line with a cell."""
        found = 0
        for line in self.lines:
            found |= line if line >> i & 1 else 0
        return found & ~(1 << i)

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the cells played (``000,333,111``), or the four layers, z = 0 first, as 16 cells ``.xo`` each.

        The cells of a layer stand row by row, y = 0 first; slashes part the layers.
        """
        if "/" not in text:
            return play_moves(self, self.initial(), text)
        first, second = masks_of("".join(read_rows(text, 4, 16)), "xo")
        player = player_to_move(first, second, text)
        if self.has_line(second if player else first):
            raise PositionError(f"{text!r} cannot be reached: the line was complete before the last move")
        return State(second, first, 1) if player else State(first, second, 0)

    def text(self, s: State) -> str:
        """Return the four layers, x for the first player and o for the second."""
        return "/".join(rows_of(self._marks(s), 16))

    def _marks(self, s: State) -> str:
        return marks_of(s.mine, s.theirs, s.player, 64)

    def move_text(self, s: State, action: int) -> str:
        """Return the cell's coordinates, as in ``013``: x 0, y 1, z 3."""
        return "".join(map(str, CELLS[action]))

    def board(self, s: State) -> str:
        """Draw the four layers side by side."""
        cells = self._marks(s).upper()
        rows = [[" ".join(cells[16 * z + 4 * y :][:4]) for z in range(4)] for y in range(4)]
        head = [
            "  z   " + "   ".join(f"{z:<7}" for z in range(4)).rstrip(),
            "  x   " + "   ".join(["0 1 2 3"] * 4),
        ]
        return "\n".join(
            [*head, *(f"{'y' if y == 0 else ' '} {y}   " + "   ".join(row) for y, row in enumerate(rows))]
        )

    def svg(self, s: State, past: Past = ()) -> str:
        """Draw the four layers, z = 0 on top, y = 0 at the back; a line is ringed, the last stone marked."""
        newest = past[-1][1] if past else None
        shapes = [shape for z in range(4) for shape in self._svg_layer(z)]
        won = [cell for line in self.lines if s.theirs & line == line for cell in elements(line)]
        legal = self.legal(s)
        for cell, mark in enumerate(self._marks(s)):
            x, y = svg_point(*CELLS[cell])
            shapes.append(draw.ellipse(x, y, 18, 10, "hole"))
            if mark != ".":
                stone = draw.stone(x, y - 5, 13, "first" if mark == "x" else "second")
                shapes.append(draw.last(stone, fall=30) if cell == newest else stone)
            elif legal >> cell & 1:
                shapes.append(self._svg_move(s, cell, x, y))
        shapes += [draw.circle(x, y - 5, 8, "ring") for x, y in (svg_point(*CELLS[cell]) for cell in won)]
        return draw.picture(310, 570, shapes, self.board(s))

    def _svg_move(self, s: State, cell: int, x: float, y: float) -> str:
        wide, piece = draw.ellipse(x, y, 18, 10, "open"), draw.stone(x, y - 5, 13, draw.PLAYERS[s.player])
        return draw.move(cell, f"cell {self.move_text(s, cell)}", wide, draw.ghost(piece), at=(x, y, 10))

    def _svg_layer(self, z: int) -> list[str]:
        corners = [(-0.5, -0.5), (3.5, -0.5), (3.5, 3.5), (-0.5, 3.5)]
        panel = draw.polygon([svg_point(x, y, z) for x, y in corners], "panel")
        return [panel, draw.label(22, svg_point(0, 1.5, z)[1], f"z {z}", "faint", 15)]


def svg_point(x: float, y: float, z: float) -> tuple[float, float]:
    """Return where a cell lies in the picture: each row a little to the left of the one behind."""
    return 124 + 44 * x - 16 * y, 28 + 30 * y + 141 * z
