"""The value of a position by a network of tuples, inside kernels.

V is the sum of the weights at the places of the look-ups; a result is tanh of it, points are the sum itself.  It
values *afterstates*, positions after a move and before chance, for player 0.  Finished games are never looked up:
their result is known.

The places of a position are kept, and those of its successors follow from them by the cells that a move changes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, lowest, nonempty, without_lowest
from mdplay.compiling import inlined, pack, unchecked_view
from mdplay.learning.derived import FIRST, HIGH, LOW, SECOND, SHIFT, SWAPS


class Tables(NamedTuple):
    """A network as kernels take it."""

    weights: NDArray[np.float32]
    base: NDArray[np.int32]  # of each look-up
    powers: NDArray[np.int32]  # of each cell and look-up
    layout: NDArray[np.int64]  # how cells are read off a state; of no use where the game says it
    points: bool  # values are points, not results -1, 0 and 1
    shared: bool  # one table for both players: values are the mover's
    ahead: bool  # look for a reply that ends the game


class Places(NamedTuple):
    """Where the look-ups of a position are, what its cells hold, and room for one of its successors."""

    now: NDArray[np.int32]
    next: NDArray[np.int32]
    cells: NDArray[np.int32]


def new_places(tables: Tables) -> Places:
    """Return room for the places of a position; every thread needs its own."""
    count, num_cells = len(tables.base), len(tables.powers)
    return Places(np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros(num_cells, np.int32))


@inlined
def borrowed_places(places: Any) -> Any:
    """Return room of the caller for the innermost loops."""
    return Places(unchecked_view(places.now), unchecked_view(places.next), unchecked_view(places.cells))


@inlined
def borrowed(tables: Any) -> Any:
    """Return tables of the caller for the innermost loops."""
    return Tables(
        unchecked_view(tables.weights),
        unchecked_view(tables.base),
        unchecked_view(tables.powers),
        unchecked_view(tables.layout),
        tables.points,
        tables.shared,
        tables.ahead,
    )


class NetworkArrays(NamedTuple):
    """A network as kernels have it: its tables, and room for the places of one position in them."""

    tables: Tables
    places: Places


@inlined
def borrowed_network(network: NetworkArrays) -> NetworkArrays:
    """Return a network of the caller without counting references to its arrays."""
    return NetworkArrays(borrowed(network.tables), borrowed_places(network.places))


# ---------------------------------------------------------------- cells
@inlined
def read(game: Any, tables: Any, s: Any, i: int) -> Any:
    """Return what cell i holds: as the game says, or as a field of the state has it."""
    if game.has_cell:
        return game.cell(s, i)
    row, packed = tables.layout[i], pack(game, s)
    first, second = int(row[FIRST]), int(row[SECOND])
    if row[HIGH] > 0:
        above = U64(U64(packed[first]) - int(row[LOW]))  # below the lowest seen: a huge number
        return int(above) if above < U64(row[HIGH]) else int(row[HIGH])
    if second < 0:
        return int(U64(packed[first]) >> int(row[SHIFT]) & 1)
    if row[SWAPS] and game.player(s):
        first, second = second, first
    shift = int(row[SHIFT])
    return int(U64(packed[first]) >> shift & 1) + 2 * int(U64(packed[second]) >> shift & 1)


@inlined
def side(game: Any, tables: Any, s: Any) -> int:
    """Return which of the tables counts: that of the player to move."""
    return 0 if tables.shared else int(game.player(s))


@inlined
def locate(game: Any, tables: Any, s: Any, places: Any) -> None:
    """Fill in the cells and places of a position."""
    here = side(game, tables, s)
    for j in range(len(tables.base)):
        places.now[j] = tables.base[j] + here
    for i in range(len(places.cells)):
        places.cells[i] = 0
        places.cells[i] = moved(tables, places.cells, places.now, i, read(game, tables, s, i))


@inlined
def moved(tables: Any, cells: Any, out_places: Any, i: int, value: int) -> Any:
    """Move the places by what cell i holds now instead of what it held; return the new value."""
    change = np.int32(value - cells[i])
    if change != 0:
        powers = tables.powers[i]
        for j in range(len(out_places)):
            out_places[j] += change * powers[j]
    return value


@inlined
def look_at(game: Any, tables: Any, s: Any, action: int, after: Any, places: Any) -> None:
    """Fill in the places of the position after an action, beside those of the present one."""
    turn = np.int32(side(game, tables, after) - side(game, tables, s))
    for j in range(len(places.now)):
        places.next[j] = places.now[j] + turn
    if game.has_changed:
        left = game.changed(s, action)
        while nonempty(left):
            i = lowest(left)
            left = without_lowest(left)
            moved(tables, places.cells, places.next, i, read(game, tables, after, i))
    else:
        for i in range(len(places.cells)):
            moved(tables, places.cells, places.next, i, read(game, tables, after, i))


@inlined
def go_to(game: Any, tables: Any, s: Any, action: int, after: Any, places: Any) -> None:
    """Make the position after an action the present one."""
    look_at(game, tables, s, action, after, places)
    for j in range(len(places.now)):
        places.now[j] = places.next[j]
    if game.has_changed:
        left = game.changed(s, action)
        while nonempty(left):
            i = lowest(left)
            left = without_lowest(left)
            places.cells[i] = read(game, tables, after, i)
    else:
        for i in range(len(places.cells)):
            places.cells[i] = read(game, tables, after, i)


# ---------------------------------------------------------------- values
@inlined
def total(weights: Any, places: Any) -> Any:
    """Return the sum of the weights, in four strands that do not wait for each other."""
    a = b = c = d = np.float32(0)
    count = len(places)
    for j in range(0, count - 3, 4):
        a += weights[np.uint32(places[j])]
        b += weights[np.uint32(places[j + 1])]
        c += weights[np.uint32(places[j + 2])]
        d += weights[np.uint32(places[j + 3])]
    for j in range(count - count % 4, count):
        a += weights[np.uint32(places[j])]
    return (a + b) + (c + d)


@inlined
def squashed(tables: Any, x: Any) -> Any:
    """Return points as they are, a result as tanh."""
    return x if tables.points else np.float32(math.tanh(x))


@inlined
def sign_of(game: Any, tables: Any, s: Any) -> Any:
    """Return -1 where the tables speak for player 1, else 1."""
    return np.float32(-1) if tables.shared and game.player(s) else np.float32(1)


@inlined
def estimate(game: Any, tables: Any, s: Any, places: Any) -> Any:
    """Return the value for player 0 of a position that is not over, given its places."""
    return sign_of(game, tables, s) * squashed(tables, total(tables.weights, places))


@inlined
def is_over(game: Any, s: Any) -> Any:
    """Tell whether nobody moves any more, neither a player nor chance."""
    if game.has_outcomes and nonempty(game.outcomes(s)):
        return False
    return not nonempty(game.legal(s))


@inlined
def can_win_at_once(game: Any, s: Any) -> Any:
    """Tell whether the player to move has a move that wins."""
    if game.has_outcomes and nonempty(game.outcomes(s)):
        return False
    sign = -1 if game.player(s) else 1
    left = game.legal(s)
    while nonempty(left):
        after = game.step(s, lowest(left))
        left = without_lowest(left)
        if is_over(game, after) and sign * game.result(after) > 0:
            return True
    return False


@inlined
def is_answered(game: Any, s: Any, after: Any) -> Any:
    """Tell whether the move from a position to the one after it loses to a single reply."""
    return game.player(after) != game.player(s) and can_win_at_once(game, after)


@inlined
def gain(game: Any, s: Any, action: int) -> Any:
    """Return the points that an action earns, for player 0."""
    if not game.has_reward:
        return np.float32(0)
    points = np.float32(game.reward(s, action))
    return -points if game.player(s) else points


@inlined
def value_after(game: Any, tables: Any, s: Any, action: int, after: Any, places: Any) -> Any:
    """Return what an action is worth to player 0: its points, and the result or the value after it."""
    points = gain(game, s, action)
    if is_over(game, after):
        return points + np.float32(game.result(after))
    look_at(game, tables, s, action, after, places)
    return points + estimate(game, tables, after, places.next)


@inlined
def move_value(game: Any, tables: Any, s: Any, action: int, places: Any) -> Any:
    """Return what an action is worth to player 0; one that loses to a single reply is lost."""
    after = game.step(s, action)
    if tables.ahead and is_answered(game, s, after):
        return np.float32(1) if game.player(after) == 0 else np.float32(-1)
    return value_after(game, tables, s, action, after, places)


@inlined
def best_value(game: Any, tables: Any, s: Any, places: Any) -> Any:
    """Return the value for player 0 of a position in which a player moves: that of the best move."""
    sign = np.float32(-1) if game.player(s) else np.float32(1)
    most, left = np.float32(-np.inf), game.legal(s)
    locate(game, tables, s, places)
    while nonempty(left):
        most = max(most, sign * move_value(game, tables, s, lowest(left), places))
        left = without_lowest(left)
    return sign * most
