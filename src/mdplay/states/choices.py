"""What every kernel that walks over states asks of a game: what may happen next, and the least image."""

from __future__ import annotations

from typing import Any

from mdplay.bits import nonempty
from mdplay.bridge import pack, part
from mdplay.checking.promises import SLACK


@part
def canonical(game: Any, s: Any) -> Any:
    """Return the least image of a state under the game's symmetries, by its words."""
    if game.has_symmetries:
        least = pack(game, s)
        best = s
        for k in range(1, game.symmetries()):
            image = game.image(s, k)
            packed = pack(game, image)
            if packed < least:
                least, best = packed, image
        return best
    return s


@part
def choices_of(game: Any, s: Any) -> Any:
    """Return the outcomes of chance if it moves, else the legal actions; and whether chance moves."""
    if game.has_outcomes:
        outcomes = game.outcomes(s)
        if nonempty(outcomes):
            return outcomes, True
    return game.legal(s), False


@part
def no_player(game: Any, s: Any) -> bool:
    """Tell whether the player to move is neither 0 nor 1, which no game may say."""
    wrong: bool = game.player(s) >> 1 != 0
    return wrong


@part
def no_chance(probability: float) -> bool:
    """Tell whether a number is no probability of an outcome; a NaN is none."""
    return not 0.0 < probability <= 1.0 + SLACK
