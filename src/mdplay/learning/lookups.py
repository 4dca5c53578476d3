"""The value of a position by a network of tuples, inside kernels.

V is the sum of the weights at the places of the lookups.  The value is tanh(V) for results, V itself for points.
It is the value of an *afterstate*, a position after a move and before chance, for player 0.  Terminal states are
not looked up: their result is known.

The places of a position are stored, and those of its successors follow from the cells that a move changes.  If a
word holds the board (``Board.packs``), the places are computed from the word by shifts and masks instead: for all
symmetric images at once in vector instructions if the board has 4 x 4 cells, else one by one.  Both add in the
same order and agree to the last bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, lowest, nonempty, without_lowest
from mdplay.compiling import State, gather_total, inlined, pack, store_indices
from mdplay.game import Game
from mdplay.learning.board import FIRST, HIGH, LOW, SECOND, SHIFT, SWAPS

NO_MOVE = np.float32(-1e30)  # less than any value of a move


class Tables(NamedTuple):
    """A network as an argument of kernels."""

    weights: NDArray[np.float32]
    base: NDArray[np.int32]  # of each lookup
    powers: NDArray[np.int32]  # of each cell and lookup
    layout: NDArray[np.int64]  # how cells are read off a state; of no use where the game says it
    points: bool  # values are points, not results -1, 0 and 1
    shared: bool  # one table for both players: values are the mover's
    ahead: bool  # look for a reply that ends the game
    shape: Any  # TupleShape; PackedTuples for a board that a word holds, of which base and powers are not used


class Places(NamedTuple):
    """The places of the lookups of a position, the values of its cells, and the places of one successor."""

    now: NDArray[np.uint32]
    next: NDArray[np.uint32]
    cells: NDArray[np.int32]


def new_places(tables: Tables) -> Places:
    """Return arrays for the places of a position; every thread needs its own."""
    count, num_cells = len(tables.base), len(tables.powers)
    return Places(np.zeros(count, np.uint32), np.zeros(count, np.uint32), np.zeros(num_cells, np.int32))


class NetworkArrays(NamedTuple):
    """A network in kernels: its tables, and arrays for the places of one position."""

    tables: Tables
    places: Places


# ---------------------------------------------------------------- cells
@inlined
def read(game: Game[Any], tables: Tables, s: State, i: int) -> Any:
    """Return the value of cell i: by the method ``cell`` of the game, or from the fields of the state."""
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
def side(game: Game[Any], tables: Tables, s: State) -> int:
    """Return the number of the table of the player to move."""
    return 0 if tables.shared else int(game.player(s))


@inlined
def locate(game: Game[Any], tables: Tables, s: State, places: Places) -> None:
    """Fill in the cells and places of a position."""
    fill_in(game, tables.shape, tables, s, places)


@inlined
def fill_in(game: Game[Any], shape: Any, tables: Tables, s: State, places: Places) -> None:
    """Fill in places: those of a packed board, or the cells and the places that follow from them."""
    if shape.is_packed:
        store_places(shape, packed(game, shape, tables, s), places.now)
        return
    here = side(game, tables, s)
    for j in range(len(tables.base)):
        places.now[j] = tables.base[j] + here
    for i in range(len(places.cells)):
        places.cells[i] = 0
        places.cells[i] = moved(tables, places.cells, places.now, i, read(game, tables, s, i))


@inlined
def moved(tables: Tables, cells: NDArray[np.int32], out_places: NDArray[np.uint32], i: int, value: int) -> Any:
    """Update the places for a new value of cell i; return that value."""
    change = np.int32(value - cells[i])
    if change != 0:
        powers = tables.powers[i]
        for j in range(len(out_places)):
            out_places[j] += change * powers[j]
    return value


@inlined
def look_at(game: Game[Any], tables: Tables, s: State, action: int, after: State, places: Places) -> None:
    """Fill in the places of the position after an action; keep those of the current one."""
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
def go_to(game: Game[Any], tables: Tables, s: State, action: int, after: State, places: Places) -> None:
    """Make the position after an action the current one."""
    move_to(game, tables.shape, tables, s, action, after, places)


@inlined
def move_to(
    game: Game[Any], shape: Any, tables: Tables, s: State, action: int, after: State, places: Places
) -> None:
    """Make the position after an action the current one, for tuples of the given shape."""
    if shape.is_packed:
        store_places(shape, packed(game, shape, tables, after), places.now)
        return
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


# ---------------------------------------------------------------- boards that a word holds
@inlined
def packed(game: Game[Any], shape: Any, tables: Tables, s: State) -> Any:
    """Return the cells of a position as a word; the compiler replaces this by a field that holds them."""
    board = U64(0)
    for i in range(shape.num_cells):
        board |= U64(read(game, tables, s, i)) << 4 * i
    return board


@inlined
def transposed(x: Any) -> Any:
    """Swap rows and columns of a 4 x 4 board: first inside the 2 x 2 blocks, then the blocks."""
    x = (x & 0xF0F0_0F0F_F0F0_0F0F) | (x & 0x0000_F0F0_0000_F0F0) << 12 | (x & 0x0F0F_0000_0F0F_0000) >> 12
    return (x & 0xFF00_FF00_00FF_00FF) | (x & 0x00FF_00FF_0000_0000) >> 24 | (x & 0x0000_0000_FF00_FF00) << 24


@inlined
def look_up(shape: Any, p: int, image: int, board: Any) -> Any:
    """Return the place of tuple p's weight for one image of a board."""
    place = shape.base[p] + 0
    for j in range(shape.first[p], shape.first[p + 1]):
        place += int(board >> shape.origin[image][j] & 15) << shape.bit[j]
    return U64(place)


@inlined
def store_places(shape: Any, board: Any, out: NDArray[np.uint32]) -> None:
    """Write the places of a board: the images of the first tuple, then those of the next."""
    if shape.uses_vectors:
        store_indices(shape, board, transposed(board), out)
        return
    for p in range(shape.num_tuples):
        for image in range(shape.num_images):
            out[p * shape.num_images + image] = int(look_up(shape, p, image, board))


@inlined
def packed_total(shape: Any, weights: NDArray[np.float32], board: Any) -> Any:
    """Return the sum of the weights of a board."""
    if shape.uses_vectors:
        return gather_total(shape, weights, board, transposed(board))
    half = shape.num_images // 2
    whole = np.float32(0)
    for odd in range(2):  # added as the lanes of a vector are
        strand = np.float32(0)
        for i in range(odd, half, 2):
            low, high = weights[look_up(shape, 0, i, board)], weights[look_up(shape, 0, i + half, board)]
            for p in range(1, shape.num_tuples):
                low += weights[look_up(shape, p, i, board)]
                high += weights[look_up(shape, p, i + half, board)]
            strand += low + high
        whole += strand
    return whole


@inlined
def num_lookups(shape: Any, places: NDArray[np.uint32]) -> int:
    """Return the number of lookups; of a packed board it is a constant, and loops over them are unrolled."""
    if shape.is_packed:
        return int(shape.num_lookups)
    return len(places)


# ---------------------------------------------------------------- values
@inlined
def total(tables: Tables, places: NDArray[np.uint32]) -> Any:
    """Return the sum of the weights at places."""
    return sum_of(tables.shape, tables.weights, places)


@inlined
def sum_of(shape: Any, weights: NDArray[np.float32], places: NDArray[np.uint32]) -> Any:
    """Return the sum of weights: of a packed board as ``packed_total``, else in four independent strands."""
    if shape.is_packed:
        n, half = shape.num_images, shape.num_images // 2
        whole = np.float32(0)
        for odd in range(2):
            strand = np.float32(0)
            for i in range(odd, half, 2):
                low, high = weights[places[i]], weights[places[i + half]]
                for p in range(1, shape.num_tuples):
                    low += weights[places[p * n + i]]
                    high += weights[places[p * n + i + half]]
                strand += low + high
            whole += strand
        return whole
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
def squashed(tables: Tables, x: Any) -> Any:
    """Return points unchanged, a result as tanh."""
    return x if tables.points else np.float32(math.tanh(x))


@inlined
def sign_of(game: Game[Any], tables: Tables, s: State) -> Any:
    """Return -1 if the values of the tables are for player 1, else 1."""
    return np.float32(-1) if tables.shared and game.player(s) else np.float32(1)


@inlined
def estimate(game: Game[Any], tables: Tables, s: State, places: NDArray[np.uint32]) -> Any:
    """Return the value for player 0 of a position that is not over, given its places."""
    return sign_of(game, tables, s) * squashed(tables, total(tables, places))


@inlined
def is_over(game: Game[Any], s: State) -> Any:
    """Return whether a state is terminal: neither a player nor chance moves."""
    if game.has_outcomes and nonempty(game.outcomes(s)):
        return False
    return not nonempty(game.legal(s))


@inlined
def can_win_at_once(game: Game[Any], s: State) -> Any:
    """Return whether the player to move has a move that wins."""
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
def is_answered(game: Game[Any], s: State, after: State) -> Any:
    """Return whether the move from a position to the one after it loses to a single reply."""
    return game.player(after) != game.player(s) and can_win_at_once(game, after)


@inlined
def gain(game: Game[Any], s: State, action: int) -> Any:
    """Return the points that an action earns, for player 0."""
    if not game.has_reward:
        return np.float32(0)
    points = np.float32(game.reward(s, action))
    return -points if game.player(s) else points


@inlined
def value_after(game: Game[Any], tables: Tables, s: State, action: int, after: State, places: Places) -> Any:
    """Return the value of an action for player 0: its points, and the result or the value after it."""
    points = gain(game, s, action)
    if is_over(game, after):
        return points + np.float32(game.result(after))
    return points + estimate_after(game, tables.shape, tables, s, action, after, places)


@inlined
def estimate_after(
    game: Game[Any], shape: Any, tables: Tables, s: State, action: int, after: State, places: Places
) -> Any:
    """Return the value for player 0 of the position after an action, which is not over."""
    if shape.is_packed:
        found = packed_total(shape, tables.weights, packed(game, shape, tables, after))
        return sign_of(game, tables, after) * squashed(tables, found)
    look_at(game, tables, s, action, after, places)
    return estimate(game, tables, after, places.next)


@inlined
def move_value(game: Game[Any], tables: Tables, s: State, action: int, places: Places) -> Any:
    """Return the value of an action for player 0; an action that loses to a single reply is lost."""
    after = game.step(s, action)
    if tables.ahead and is_answered(game, s, after):
        return np.float32(1) if game.player(after) == 0 else np.float32(-1)
    return value_after(game, tables, s, action, after, places)


@inlined
def best_value(game: Game[Any], tables: Tables, s: State, places: Places) -> Any:
    """Return the value for player 0 of a position in which a player moves: that of the best move."""
    sign = np.float32(-1) if game.player(s) else np.float32(1)
    most, left = np.float32(-np.inf), game.legal(s)
    locate(game, tables, s, places)
    while nonempty(left):
        most = max(most, sign * move_value(game, tables, s, lowest(left), places))
        left = without_lowest(left)
    return sign * most


# ---------------------------------------------------------------- the greedy move
class Choice(NamedTuple):
    """A move: its number (-1 none), its value for player 0, its points for player 0 and the position after it."""

    action: Any
    total: Any
    points: Any
    after: Any


@inlined
def greedy(game: Game[Any], shape: Any, tables: Tables, s: State, places: Places) -> Choice:
    """Return the move of the highest value, of equal ones the smallest; replies are not considered."""
    if shape.four_moves:
        return best_of_four(game, shape, tables, s)
    sign = np.float32(-1) if game.player(s) else np.float32(1)
    choice, left = Choice(-1, np.float32(-np.inf), np.float32(0), s), game.legal(s)
    while nonempty(left):
        action = lowest(left)
        left = without_lowest(left)
        after = game.step(s, action)
        value = value_after(game, tables, s, action, after, places)
        if sign * value > sign * choice.total or choice.action < 0:
            choice = Choice(action, value, gain(game, s, action), after)
    return choice


@inlined
def best_of_four(game: Any, shape: Any, tables: Tables, s: State) -> Choice:
    """Return the greedy move of a single-player game whose ``four_moves`` returns all afterstates at once.

    All four are looked up, legal or not: a branch before the lookups would cost more than they do.
    """
    four = game.four_moves(s)
    a, b = (
        following(game, shape, tables, four, 0, four.first),
        following(game, shape, tables, four, 1, four.second),
    )
    c, d = (
        following(game, shape, tables, four, 2, four.third),
        following(game, shape, tables, four, 3, four.fourth),
    )
    choice = better(Choice(-1, NO_MOVE, np.float32(0), s), a)
    choice = better(choice, b)
    choice = better(choice, c)
    return better(choice, d)


@inlined
def following(game: Game[Any], shape: Any, tables: Tables, four: Any, action: int, after: State) -> Choice:
    """Return one of four moves; an illegal one has the value NO_MOVE."""
    points = np.float32(four.across if action < 2 else four.along)
    value = points + packed_total(shape, tables.weights, packed(game, shape, tables, after))
    return Choice(action, value if four.legal >> action & 1 else NO_MOVE, points, after)


@inlined
def better(choice: Choice, other: Choice) -> Choice:
    """Return the better of two moves; of equals the first."""
    return other if other.total > choice.total else choice
