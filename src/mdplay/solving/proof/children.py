"""The children of a node in proof search: made, followed along forced moves, looked up, and put in order.

What proof search looks up from time to time: answers of other threads, the pause, the size of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, lowest, nonempty, popcount, without_lowest
from mdplay.compiling import State, Words, as_mask, first_word, get, inlined, pack, prefetch, put
from mdplay.game import Game
from mdplay.learning.lookups import locate, value_after
from mdplay.solving.proof.table import (
    ACTION,
    BROKEN,
    BUCKETS,
    CHECK,
    CHILD,
    CHOICES,
    ENDLESS,
    FRAME,
    FRAMES_AT,
    GAIN,
    GOAL,
    GOOD,
    HINT,
    KEY,
    LIMIT,
    MAX_BUCKETS,
    MOVES,
    NO_MOVE,
    NODES,
    ORDER_AT,
    PAUSE_AT,
    PAUSED,
    PLACE,
    START,
    STATUS,
    TAG,
    THREAD,
    UNFIT,
    WAYS,
    Shared,
    Spot,
    entry_words,
    grow,
    high_of,
    low_of,
    move_of,
    place_of,
    probe,
    row_at,
    row_of,
)
from mdplay.states.keys import no_player


@inlined
def answer_of_others(game: Game[Any], depth: int, low_bits: int, table: Words, stack: NDArray[np.int64]) -> Any:
    """Return the first node of the stack whose question another thread has answered, its bound and its move.

    If there is none, return ``depth``.
    """
    for d in range(depth):
        at = FRAMES_AT + d * FRAME
        goal = get(stack, at + GOAL)
        entry = probe(game, table, low_bits, U64(get(stack, at + PLACE)), U64(get(stack, at + TAG)))
        if low_of(entry) >= max(goal, -LIMIT):
            return d, low_of(entry), move_of(entry)
        if high_of(entry) < min(goal, LIMIT + 1):
            return d, high_of(entry), move_of(entry)
    return depth, 0, NO_MOVE


@inlined
def look_around(game: Game[Any], nodes: int, num_buckets: int, low_bits: int, shared: Shared) -> int:
    """Report the nodes, pause when it is time, grow the table; return the number of buckets."""
    table, stack = shared.table, shared.stack
    put(stack, NODES, nodes)
    put(shared.progress, get(stack, THREAD), nodes)
    spent = nodes - get(stack, START)
    if 0 < get(stack, PAUSE_AT) < nodes and get(stack, STATUS) == GOOD:
        put(stack, STATUS, PAUSED)
    if spent > num_buckets * WAYS and num_buckets < get(stack, MAX_BUCKETS):
        grow(game, table, num_buckets, low_bits)
        put(stack, BUCKETS, 2 * num_buckets)
    buckets: int = get(stack, BUCKETS)
    return buckets


FAR = 1 << 44  # beyond every value and every rank
MOST_FORCED = 10_000  # moves in a row without a choice; a longer sequence is taken for a cycle
STEPS = 1 << 16  # number of levels to which the values of a network are rounded
ORDERED_DEPTH = 12  # nodes less deep on the stack are ordered by the network; deeper ones are worth no look-ups


@inlined
def whole(x: Any, stack: NDArray[np.int64]) -> int:
    """Return a value as an int; note in the control array if it is not whole or too large."""
    value = int(x)
    if value != x or value > LIMIT or value < -LIMIT:
        put(stack, STATUS, UNFIT)
    return value


@inlined
def bounds_of(game: Game[Any], s: State, stack: NDArray[np.int64]) -> Any:
    """Return low, high and moves: what the game knows of a position, or its rules tell; note what cannot be."""
    if game.has_bounds:
        known = game.bounds(s)
        if known.low > known.high or known.low > LIMIT or known.high < -LIMIT:
            put(stack, STATUS, BROKEN if known.low > known.high else UNFIT)
        return known.low, known.high, as_mask(game, known.moves)
    moves = game.legal(s)
    if nonempty(moves):
        return -FAR, FAR, moves
    value = whole(game.result(s), stack)
    return value, value, moves


@inlined
def gain_of(game: Game[Any], s: State, action: int, stack: NDArray[np.int64]) -> int:
    """Return what player 0 gains by the mover's reward."""
    if not game.has_reward:
        return 0
    points = whole(game.reward(s, action), stack)
    if no_player(game, s):
        put(stack, STATUS, BROKEN)
    return -points if game.player(s) else points


@inlined
def no_way_on(moves: Any, forced: int, stack: NDArray[np.int64]) -> bool:
    """Return whether forced moves do not lead on: none is listed, or they have no end; note it."""
    if nonempty(moves) and forced < MOST_FORCED:
        return False
    put(stack, STATUS, ENDLESS if nonempty(moves) else BROKEN)
    return True


@inlined
def follow(game: Game[Any], s: State, action: int, goal: int, stack: NDArray[np.int64]) -> Any:
    """Play an action and the forced ones after it: the state, its bounds and moves, player 0's gain on the way."""
    gain, forced = gain_of(game, s, action, stack), 0
    s = game.step(s, action)
    low, high, moves = bounds_of(game, s, stack)
    while low + gain < goal <= high + gain and not nonempty(without_lowest(moves)):
        if no_way_on(moves, forced, stack):
            break
        forced += 1
        action = lowest(moves)
        gain += gain_of(game, s, action, stack)
        s = game.step(s, action)
        low, high, moves = bounds_of(game, s, stack)
    return s, low, high, moves, gain


@inlined
def expand(game: Game[Any], network: Any, s: State, moves: Any, hint: int, spot: Spot, shared: Shared) -> Any:
    """Make the children from row ``base`` on; return their end, the best value known, and a cutting move."""
    goal, depth, base, low_bits = spot
    table, stack = shared.table, shared.stack
    side = game.player(s)
    if no_player(game, s):
        put(stack, STATUS, BROKEN)
    top, best = base, (FAR if side else -FAR)
    bucket_words = WAYS * entry_words(game)
    by_network = network is not None and depth < ORDERED_DEPTH
    if by_network:
        look_up(game, network, s)
    while nonempty(moves):
        action = lowest(moves)
        moves = without_lowest(moves)
        c, low, high, replies, gain = follow(game, s, action, goal, stack)
        if low + gain >= goal or high + gain < goal:
            value = gain + (low if low + gain >= goal else high)
            if (value >= goal) == (side == 0):
                return top, value, action
            best = min(best, value) if side else max(best, value)
            continue
        place, tag = place_of(game, c, stack)
        prefetch(table, int(place >> low_bits) * bucket_words)
        row = row_at(game, top)
        packed = pack(game, c)
        for j in range(len(packed)):
            put(stack, row + CHILD + j, packed[j])
        put(stack, row + MOVES, first_word(replies))
        put(stack, row + KEY, place)
        put(stack, row + CHECK, tag)
        put(stack, row + ACTION, action)
        put(stack, row + GAIN, gain)
        if by_network and action != hint:
            early = learned_rank(game, network, s, action, side)
        else:
            early = rank(game, s, action, side, c, replies, hint)
        put(stack, ORDER_AT + top, early * CHOICES + CHOICES - 1 - top + base)
        top += 1
    return top, best, NO_MOVE


@inlined
def look_up(game: Game[Any], network: Any, s: State) -> None:
    """Have a network look at a state, before its moves are ranked."""
    if network is not None:
        locate(game, network.tables, s, network.places)


@inlined
def learned_rank(game: Game[Any], network: Any, s: State, action: int, side: int) -> int:
    """Return how early to search a child by what a network holds it to be worth."""
    if network is None:
        return 0
    value = value_after(game, network.tables, s, action, game.step(s, action), network.places)
    return int(STEPS * (-value if side else value))


@inlined
def rank(game: Game[Any], s: State, action: int, side: int, c: Any, moves: Any, hint: int) -> int:
    """Return how early to search a child."""
    if action == hint:
        return FAR
    ordering_score, replies = game.ordering_score(c), popcount(moves)
    early: int = game.order(s, action) + (-ordering_score if side else ordering_score)
    return early + (replies if game.player(c) == side else -replies)


@inlined
def consult(game: Game[Any], side: int, best: int, top: int, spot: Spot, shared: Shared) -> Any:
    """Look the children up in the table, drop those that it decides; return as ``expand`` does."""
    goal, _, base, low_bits = spot
    table, stack = shared.table, shared.stack
    k = base
    while k < top:
        row = row_of(game, base, k, stack)
        entry = probe(game, table, low_bits, U64(get(stack, row + KEY)), U64(get(stack, row + CHECK)))
        gain = get(stack, row + GAIN) if game.has_reward else 0
        low, high = low_of(entry) + gain, high_of(entry) + gain
        if (low >= goal and low_of(entry) >= -LIMIT) or (high < goal and high_of(entry) <= LIMIT):
            value = low if low >= goal else high
            if (value >= goal) == (side == 0):
                return top, value, get(stack, row + ACTION)
            best = min(best, value) if side else max(best, value)
            top -= 1
            put(stack, ORDER_AT + k, get(stack, ORDER_AT + top))
            continue
        put(stack, row + HINT, move_of(entry))
        k += 1
    return top, best, NO_MOVE
