"""The promises of a game that names its cells: their number, their values, what changes them, their neighbours.

No numba in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdplay.bits import as_int, elements, nonempty
from mdplay.checking.promises import show
from mdplay.errors import GameError
from mdplay.game import Game, State

MOST_CELLS = 128  # elements of the widest mask
MOST_VALUES = 64
POSITIONS = 200


def check_cells(game: Game[Any], states: Sequence[Any]) -> None:
    """Raise GameError unless a game's cells are as it promises in the states; a game without cells keeps all."""
    if not game.has_cell:
        return
    _check_numbers(game)
    for s in states[:POSITIONS]:
        _check_values(game, s)
        if game.has_changed and not nonempty(game.outcomes(s)):
            for action in elements(game.legal(s)):
                _check_changed(game, s, action)


def _check_numbers(game: Game[Any]) -> None:
    if not 1 <= game.num_cells <= MOST_CELLS:
        raise GameError(f"num_cells is {game.num_cells}; a board with cells has 1 to {MOST_CELLS}")
    if not 2 <= game.cell_values <= MOST_VALUES:
        raise GameError(f"cell_values is {game.cell_values}; a cell has 2 to {MOST_VALUES} values")
    for i in range(game.num_cells):
        found = as_int(game.neighbours(i))
        if found >> game.num_cells or found >> i & 1:
            raise GameError(f"neighbours of cell {i} are {elements(found)}; they are other cells of the board")


def _check_values(game: Game[Any], s: State) -> None:
    for i in range(game.num_cells):
        if not 0 <= game.cell(s, i) < game.cell_values:
            value, most = game.cell(s, i), game.cell_values - 1
            raise GameError(f"cell {i} holds {value} in {show(game, s)}; its values are 0 to {most}")


def _check_changed(game: Game[Any], s: State, action: int) -> None:
    """Check that no cell outside of ``changed`` is another one after an action."""
    after, told = game.step(s, action), as_int(game.changed(s, action))
    if told >> game.num_cells:
        raise GameError(f"changed lists {elements(told)} for action {action}; there are {game.num_cells} cells")
    for i in range(game.num_cells):
        if not told >> i & 1 and game.cell(s, i) != game.cell(after, i):
            raise GameError(f"action {action} in {show(game, s)} changes cell {i}, which changed does not list")
