"""Cells of a game that names none: read off the fields of its states, as random games show them.

    a small number       one cell, its value counted from the lowest seen
    two sets of bits     that never meet (stones of two players): a cell for each bit, 0, 1 or 2; if the two are
                         "mine" and "theirs", which change places with every move, the player tells them apart
    any other number     a cell for each bit

A cell is a row of a table of numbers, so that one kernel serves every game.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import combinations, pairwise
from math import isqrt
from operator import or_
from typing import Any, cast

from mdplay.bits import WORD, elements
from mdplay.game import Game

FIRST, SECOND, SWAPS, LOW, HIGH, SHIFT = range(6)  # the columns of a row; HIGH 0: one bit
NONE = -1  # no second field
SMALL = 32  # values that one cell may have
PLAYER = "player"  # the field that the tables are parted by anyway

Column = list[int]


@dataclass
class Derived:
    """The cells read off a game: where each is found in a packed state, its number of values, its neighbours."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    neighbours: list[set[int]] = field(default_factory=list)

    def add_number(self, f: int, column: Column) -> None:
        """Add a cell for a small number."""
        self.rows.append((f, NONE, 0, min(column), max(column) - min(column), 0))
        self.sizes.append(max(column) - min(column) + 1)
        self.neighbours.append(set())

    def add_bits(self, game: Game[Any], first: int, second: int, swaps: bool, column: Column) -> None:
        """Add a cell for each bit that was seen in a column; those beside each other on a grid are neighbours."""
        bits = elements(reduce(or_, column) & WORD)
        width = _width(game, bits)
        begin = len(self.rows)
        for bit in bits:
            self.rows.append((first, second, int(swaps), 0, 0, bit))
            self.sizes.append(2 if second == NONE else 3)
            self.neighbours.append({begin + i for i, other in enumerate(bits) if _touch(bit, other, width)})


def derive(game: Game[Any], games: list[list[Any]]) -> Derived:
    """Return the cells of a game that names none."""
    columns = _columns(games)
    small = {f: column for f, column in columns.items() if max(column) - min(column) < SMALL}
    sets = {f: [value & WORD for value in column] for f, column in columns.items() if f not in small}
    found = Derived()
    for a, b in _pairs(sets):
        both = [x | y for x, y in zip(sets.pop(a), sets.pop(b), strict=True)]
        found.add_bits(game, a, b, _swaps(game, games, a, b), both)
    for f, column in sets.items():
        found.add_bits(game, f, NONE, False, column)
    for f, column in small.items():
        found.add_number(f, column)
    return found


def read_cell(row: tuple[int, ...], s: Any, player: int) -> int:
    """Return what a cell holds in a state: the plain twin of the kernels' reading."""
    first, second, swaps, low, high, shift = row
    if high > 0:
        return min(int(s[first]) - low & WORD, high)
    if second == NONE:
        return int(s[first]) >> shift & 1
    if swaps and player:
        first, second = second, first
    return (int(s[first]) >> shift & 1) + 2 * (int(s[second]) >> shift & 1)


# ---------------------------------------------------------------- what random games tell
def _columns(games: list[list[Any]]) -> dict[int, Column]:
    """Return the values of every field that changes, but the player, in the order of the states."""
    states = [s for one in games for s in one]
    names = states[0]._fields
    columns = {f: [int(s[f]) for s in states] for f, name in enumerate(names) if name != PLAYER}
    return {f: column for f, column in columns.items() if min(column) < max(column)}


def _pairs(sets: dict[int, Column]) -> list[tuple[int, int]]:
    """Return the pairs of sets that never meet, each set in one pair at most."""
    found: list[tuple[int, int]] = []
    for a, b in combinations(sets, 2):
        free = not any(f in pair for pair in found for f in (a, b))
        if free and not any(x & y for x, y in zip(sets[a], sets[b], strict=True)):
            found.append((a, b))
    return found


def _swaps(game: Game[Any], games: list[list[Any]], a: int, b: int) -> bool:
    """Tell whether fewer bits change from state to state if two sets change places when player 1 is to move."""
    as_they_are = told_apart = 0
    for one in games:
        for s, t in pairwise(one):
            as_they_are += _change(s[a], t[a]) + _change(s[b], t[b])
            before, after = ((a, b) if not game.player(u) else (b, a) for u in (s, t))
            told_apart += sum(_change(s[f], t[g]) for f, g in zip(before, after, strict=True))
    return told_apart < as_they_are


def _change(x: int, y: int) -> int:
    return ((int(x) ^ int(y)) & WORD).bit_count()


def _width(game: Game[Any], bits: list[int]) -> int:
    """Return the length of a row of the board that bits lie on; 0 if nothing tells it.

    Bits that are left out at equal distances part the rows; else a parameter of the game is the length, or the
    board is a square.
    """
    size = bits[-1] + 1
    missing = sorted(set(range(size)) - set(bits))
    if missing and len({b - a for a, b in pairwise([-1, *missing])}) == 1:
        return missing[0] + 1
    numbers = [getattr(game, one.name) for one in fields(cast(Any, game))]
    lengths = [n for n in numbers if isinstance(n, int) and 1 < n < size and size % n == 0]
    if lengths:
        return lengths[-1]
    return isqrt(size) if isqrt(size) ** 2 == size else 0


def _touch(a: int, b: int, width: int) -> bool:
    """Tell whether two bits are beside each other; where the board is not known, all are."""
    if not width:
        return a != b
    return a != b and abs(a // width - b // width) <= 1 and abs(a % width - b % width) <= 1
