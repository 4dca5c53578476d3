"""The board of a game as a network sees it: cells with values, their neighbours, how symmetries move them.

A game defines it with ``num_cells``, ``cell_values`` and ``cell``; without them the cells are derived from the
fields of its states in random games:

    a small number       one cell, its value counted from the lowest seen
    two sets of bits     that never meet (stones of two players): a cell for each bit, 0, 1 or 2; if the two are
                         "mine" and "theirs", which change places with every move, the player distinguishes them
    any other number     a cell for each bit

A derived cell is a row of a table of numbers, so that one kernel serves every game.  The symmetries of the cells
are found from samples: they are the permutations that make the cells of some hundred states those of their
images, cell by cell; a symmetry for which there is none is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import combinations, pairwise
from math import isqrt
from operator import or_
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import WORD, elements, nonempty
from mdplay.checking.understood import check_cells
from mdplay.compiling import State
from mdplay.compiling.contract import wrap_rule_errors
from mdplay.compiling.digest import per_game
from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.rng import Random
from mdplay.states.game_length import random_game

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


def read_cell(row: tuple[int, ...], s: State, player: int) -> int:
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
    """Return whether fewer bits change from state to state if two sets change places when player 1 is to move."""
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
    """Return whether two bits are beside each other; where the board is not known, all are."""
    if not width:
        return a != b
    return a != b and abs(a // width - b // width) <= 1 and abs(a % width - b % width) <= 1


MAX_IMAGES = 4000  # images of states that are compared to find symmetries
GAMES = 60  # random games that are sampled
MAX_SAMPLED_STATES = 1500  # states of all sampled games
MAX_SAMPLED_MOVES = 300  # sampled random games are truncated after this many moves
MAX_CELLS = 512
PACKED_CELLS = PACKED_VALUES = 16  # of a board that a word holds

Permutation = tuple[int, ...]
Values = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Board:
    """What a network sees of a game.

    ``sides`` is the number of tables a tuple of cells has: one for each player to move, or a single one if the
    future depends on the cells alone, for the player to move (``shared``), or if there is one player.
    ``points``: values are points and not results -1, 0 and 1.  ``four_moves``: the game has four actions and a
    method ``four_moves`` that returns their afterstates together, in the form of 2048's (games/twenty48/moves.py).
    """

    game: Game[Any]
    sizes: tuple[int, ...]  # how many values each cell has
    neighbours: tuple[tuple[int, ...], ...]
    symmetries: tuple[Permutation, ...]  # where each takes each cell; the identity first
    layout: tuple[tuple[int, ...], ...]  # how cells are read off a state; empty where the game says it
    shared: bool
    points: bool
    four_moves: bool = False

    @property
    def num_cells(self) -> int:
        """The number of cells."""
        return len(self.sizes)

    @property
    def sides(self) -> int:
        """The number of tables of a tuple."""
        return 1 if self.shared else num_players(self.game)

    @property
    def packs(self) -> bool:
        """Whether networks take the board as a word, a nibble for each cell, and its images at once.

        Cells with eight values or fewer would waste more than half of every table.
        """
        fits = self.num_cells <= PACKED_CELLS and all(8 < size <= PACKED_VALUES for size in self.sizes)
        return fits and self.sides == 1 and len(self.symmetries) in (4, 8)


@per_game(maxsize=16)
def board_of(game: Game[Any]) -> Board:
    """Return the board of a game; raise GameError if there is nothing to see, or if its rules raise."""
    with wrap_rule_errors():
        return _board_of(game)


def _board_of(game: Game[Any]) -> Board:
    games = random_games(game)
    states = list(dict.fromkeys(s for one in games for s in one))
    if game.has_cell:
        check_cells(game, states)
        sizes, layout = (game.cell_values,) * game.num_cells, ()
        neighbours = [set(elements(game.neighbours(i))) for i in range(game.num_cells)]
    else:
        found = derive(game, games)
        sizes, layout, neighbours = tuple(found.sizes), tuple(found.rows), found.neighbours  # type: ignore[assignment]
    if not 0 < len(sizes) <= MAX_CELLS:
        raise GameError(f"{type(game).__name__} has {len(sizes)} cells to learn from; 1 to {MAX_CELLS} are needed")
    beside = tuple(tuple(sorted(one)) for one in neighbours)
    symmetries = _symmetries(game, layout, states, len(sizes))
    return Board(game, sizes, beside, symmetries, layout, _is_shared(game, states), _has_points(game, games))


def cells_of(game: Game[Any], layout: tuple[tuple[int, ...], ...], s: State) -> list[int]:
    """Return what the cells of a state hold."""
    if game.has_cell:
        return [int(game.cell(s, i)) for i in range(game.num_cells)]
    player = game.player(s)
    return [read_cell(row, s, player) for row in layout]


# ---------------------------------------------------------------- symmetries of the cells
def _symmetries(game: Game[Any], layout: Any, states: list[Any], num_cells: int) -> tuple[Permutation, ...]:
    """Return where each symmetry of the game takes each cell; those that do not move whole cells are left out."""
    identity = tuple(range(num_cells))
    count = max(60, MAX_IMAGES // game.symmetries()) if game.has_symmetries else 0
    states = states[:: max(1, len(states) // max(1, count))][:count]
    here = _values(game, layout, states)
    found = [identity]
    for k in range(1, game.symmetries() if states else 1):
        moved = _permutation(here, _values(game, layout, [game.image(s, k) for s in states]))
        if moved is not None and moved not in found:
            found.append(moved)
    return tuple(found)


def _values(game: Game[Any], layout: Any, states: list[Any]) -> Values:
    return np.array([cells_of(game, layout, s) for s in states], np.int16)


def _permutation(here: Values, there: Values) -> Permutation | None:
    """Return the permutation that makes one table of cells of the other, column by column, if there is one.

    Cells that were always equal may change places; the whole is right for every state looked at.
    """
    columns: dict[bytes, list[int]] = {}
    for i in reversed(range(there.shape[1])):
        columns.setdefault(there[:, i].tobytes(), []).append(i)
    moved = []
    for i in range(here.shape[1]):
        same = columns.get(here[:, i].tobytes())
        if not same:
            return None
        moved.append(same.pop())
    return tuple(moved)


# ---------------------------------------------------------------- what values are
def _is_shared(game: Game[Any], states: list[Any]) -> bool:
    """Return whether what is to come belongs to the mover: states without a field for the player show it."""
    if not game.has_index or not hasattr(states[0], "player"):
        return False
    return all(game.index(s) == game.index(s._replace(player=1 - s.player)) for s in states)


def _has_points(game: Game[Any], games: list[list[Any]]) -> bool:
    """Return whether points are played for: rewards, or results other than won, drawn and lost."""
    ends = [one[-1] for one in games if is_over(game, one[-1])]
    return game.has_reward or any(abs(game.result(s)) not in (0, 1) for s in ends)


# ---------------------------------------------------------------- random games in plain Python
def random_games(game: Game[Any], games: int = GAMES) -> list[list[Any]]:
    """Return the states of some random games, in order; long games make them fewer.

    The games are the same every time, so what is read off them is too.
    """
    found: list[list[Any]] = []
    while len(found) < games and sum(map(len, found)) < MAX_SAMPLED_STATES:
        found.append(random_game(game, Random(0, len(found)), MAX_SAMPLED_MOVES))
    return found


def is_over(game: Game[Any], s: State) -> bool:
    """Return whether a game has ended: neither a player nor chance moves."""
    return not nonempty(game.outcomes(s)) and not nonempty(game.legal(s))
