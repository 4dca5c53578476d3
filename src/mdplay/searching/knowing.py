"""What a game knows of a position, for the searches that play.

A game with ``look`` settles positions without a search (a forced win, say) and tells which moves are worth one.
In the kernels of games without it nothing is left of this.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import rest, some
from mdplay.bridge import part
from mdplay.game import Look


@part
def look_at(game: Any, s: Any, knowledge: bool) -> Any:
    """Return what the game knows of a state, if that is wanted and a player moves; else bounds that are open."""
    chance = game.has_outcomes and some(game.outcomes(s))
    if game.has_look and knowledge and not chance and some(game.legal(s)):
        return game.look(s)
    return Look(0, 1, 0)


@part
def is_settled(look: Any) -> bool:
    """Tell whether the value is known."""
    return bool(look.low == look.high)


@part
def names_the_move(look: Any) -> bool:
    """Tell whether the value is known, and the move that keeps it too: the only one listed."""
    return bool(look.low == look.high and some(look.moves) and not some(rest(look.moves)))
