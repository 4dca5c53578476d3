"""What a game knows of a position, for the searches that play.

A game with ``bounds`` settles positions without a search (a forced win, say) and tells which moves are worth one.
In the kernels of games without it nothing is left of this.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import nonempty, without_lowest
from mdplay.bridge import State, part
from mdplay.game import Bounds, Game


@part
def bounds_of(game: Game[Any], s: State, knowledge: bool) -> Any:
    """Return what the game knows of a state, if that is wanted and a player moves; else bounds that are open."""
    chance = game.has_outcomes and nonempty(game.outcomes(s))
    if game.has_bounds and knowledge and not chance and nonempty(game.legal(s)):
        return game.bounds(s)
    return Bounds(0, 1, 0)


@part
def is_settled(bounds: Bounds) -> bool:
    """Tell whether the value is known."""
    return bool(bounds.low == bounds.high)


@part
def names_the_move(bounds: Bounds) -> bool:
    """Tell whether the value is known, and the move that keeps it too: the only one listed."""
    return bool(
        bounds.low == bounds.high and nonempty(bounds.moves) and not nonempty(without_lowest(bounds.moves))
    )
