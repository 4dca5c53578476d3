"""The board of a game as a network sees it: cells with values, their neighbours, how symmetries move them.

A game says it with ``num_cells``, ``cell_values`` and ``cell``; without them the cells are read off the fields of
its states (derived.py).  The symmetries of the cells need no words: they are the permutations that make the cells
of some hundred states those of their images, cell by cell; a symmetry for which there is none is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.checking.contract_checks import wrap_rule_errors
from mdplay.checking.understood import check_cells
from mdplay.compiling.digest import per_game
from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.learning.derived import derive, read_cell
from mdplay.rng import Random
from mdplay.states.game_length import random_game

IMAGES = 4000  # of states that are looked at for symmetries
GAMES = 60  # random games that show what a game is like
MOST_STATES = 1500  # of all of them together
LONGEST = 300
MOST_CELLS = 512
PACKED_CELLS = PACKED_VALUES = 16  # of a board that a word holds

Permutation = tuple[int, ...]
Values = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Board:
    """What a network sees of a game.

    ``sides`` is the number of tables a tuple of cells has: one for each player to move, or a single one where what
    is to come depends on the cells alone and belongs to whoever moves (``shared``), or where there is one player.
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
    with wrap_rule_errors(game):
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
    if not 0 < len(sizes) <= MOST_CELLS:
        raise GameError(
            f"{type(game).__name__} has {len(sizes)} cells to learn from; 1 to {MOST_CELLS} are needed"
        )
    beside = tuple(tuple(sorted(one)) for one in neighbours)
    symmetries = _symmetries(game, layout, states, len(sizes))
    return Board(game, sizes, beside, symmetries, layout, _is_shared(game, states), _has_points(game, games))


def cells_of(game: Game[Any], layout: tuple[tuple[int, ...], ...], s: Any) -> list[int]:
    """Return what the cells of a state hold."""
    if game.has_cell:
        return [int(game.cell(s, i)) for i in range(game.num_cells)]
    player = game.player(s)
    return [read_cell(row, s, player) for row in layout]


# ---------------------------------------------------------------- symmetries of the cells
def _symmetries(game: Game[Any], layout: Any, states: list[Any], num_cells: int) -> tuple[Permutation, ...]:
    """Return where each symmetry of the game takes each cell; those that do not move whole cells are left out."""
    identity = tuple(range(num_cells))
    count = max(60, IMAGES // game.symmetries()) if game.has_symmetries else 0
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
    """Tell whether what is to come belongs to the mover: states with one number, whoever moves, say so."""
    if not game.has_index or not hasattr(states[0], "player"):
        return False
    return all(game.index(s) == game.index(s._replace(player=1 - s.player)) for s in states)


def _has_points(game: Game[Any], games: list[list[Any]]) -> bool:
    """Tell whether points are played for: rewards, or results other than won, drawn and lost."""
    ends = [one[-1] for one in games if is_over(game, one[-1])]
    return game.has_reward or any(abs(game.result(s)) not in (0, 1) for s in ends)


# ---------------------------------------------------------------- random games in plain Python
def random_games(game: Game[Any], games: int = GAMES) -> list[list[Any]]:
    """Return the states of some random games, in order; long games make them fewer.

    The games are the same every time, so what is read off them is too.
    """
    found: list[list[Any]] = []
    while len(found) < games and sum(map(len, found)) < MOST_STATES:
        found.append(random_game(game, Random(0, len(found)), LONGEST))
    return found


def is_over(game: Game[Any], s: Any) -> bool:
    """Tell whether a game has ended: nobody moves, neither a player nor chance."""
    return not nonempty(game.outcomes(s)) and not nonempty(game.legal(s))
