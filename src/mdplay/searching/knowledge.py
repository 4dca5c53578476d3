"""What a game knows of a position, and what was learned of it, for the searches that play.

A game with ``bounds`` settles positions without a search (a forced win, say) and tells which moves are worth one.
In the kernels of games without it nothing is left of this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mdplay.bits import nonempty, without_lowest
from mdplay.bridge import State, part
from mdplay.game import Bounds, Game
from mdplay.learning.look_ups import Places, Tables, borrowed, borrowed_places, new_places
from mdplay.learning.network import Network


class NetworkArrays(NamedTuple):
    """A network as kernels have it: its tables, and room for the places of one position in them."""

    tables: Tables
    places: Places


def arrays_of(network: Network) -> NetworkArrays:
    """Return a network for one thread."""
    return NetworkArrays(network.tables, new_places(network.tables))


@part
def borrowed_network(network: NetworkArrays) -> NetworkArrays:
    """Return a network of the caller without counting references to its arrays."""
    return NetworkArrays(borrowed(network.tables), borrowed_places(network.places))


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
