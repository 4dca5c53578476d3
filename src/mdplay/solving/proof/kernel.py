"""Proof search: is the value at least ``goal``?  Alpha-beta with a null window, on a stack of its own.

Values are player 0's throughout: she looks for one child that reaches the goal, player 1 for one that does not.
So extra turns need no care, and rewards only shift the goal on the way down.

A node on the stack has at least two moves worth trying.  Lines without a choice are followed at once when the
node's children are made, and what the game or the table knows of a child is used before any child is searched
(enhanced transposition cutoffs).  The order of the rest: the table's move, then the ordering score and the order
of the game and the fewest replies; or, near the root, the values of a network if one is given.

Several threads prove one goal together.  They share the table; a thread prefers children that no other is
searching (after ABDADA, Weill 1996), and from time to time looks up whether another has answered one of the
questions that are open on its own stack.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64, bit_length
from mdplay.bridge import as_mask, get, load, part, put
from mdplay.contract import mask_size
from mdplay.solving.proof.children import FAR, bounds_of, consult, expand
from mdplay.solving.proof.outside import answer_of_others, look_around
from mdplay.solving.proof.stack import (
    ACTION,
    BUCKETS,
    CHECK,
    CHILD,
    CHOICES,
    DEPTH,
    GAIN,
    HINT,
    KEY,
    KIDS,
    MOVES,
    NODES,
    ORDER_AT,
    PAUSED,
    STATUS,
    THREADS,
    TOO_DEEP,
    UNFIT,
    load_frame,
    row_of,
    save_frame,
)
from mdplay.solving.proof.table import (
    LIMIT,
    MAX_WORK,
    NO_MOVE,
    move_of,
    place_bits,
    place_of,
    probe,
    store,
)

POLL = 1023  # nodes between two looks at the world outside, less one
BUSY = 1024  # a power of two: slots for the places that threads are searching
SHARED_DEPTH = 16  # nodes less deep on the stack are shared between threads


@part
def choose(game: Any, base: int, top: int, shared: bool, busy: Any, stack: Any) -> int:
    """Return the place of the child to search next; if it can, one that no other thread is searching."""
    chosen, most = base, -4 * FAR * CHOICES
    for k in range(base, top):
        word = get(stack, ORDER_AT + k)
        if shared and is_busy(busy, U64(get(stack, row_of(game, base, k, stack) + KEY))):
            word -= 2 * FAR * CHOICES
        if word > most:
            chosen, most = k, word
    return chosen


@part
def choose_last(game: Any, base: int, top: int, shared: bool, busy: Any, stack: Any) -> int:
    """Put the word of the child to search next at the end of the order, and return that place."""
    chosen = choose(game, base, top, shared, busy, stack)
    top -= 1
    last, word = get(stack, ORDER_AT + top), get(stack, ORDER_AT + chosen)
    put(stack, ORDER_AT + chosen, last)
    put(stack, ORDER_AT + top, word)
    return top


@part
def is_busy(busy: Any, place: Any) -> Any:
    """Tell whether a thread is searching the position."""
    return get(busy, int(place & BUSY - 1)) == place


@part
def keep_answer(
    game: Any, goal: int, best: int, cut: int, nodes: int, place: Any, tag: Any, low_bits: int, table: Any,
    stack: Any,
) -> None:  # fmt: skip
    """Write the bound of a node, found in so many nodes, into the table; note if no entry can hold it."""
    if (best > LIMIT or best < -LIMIT) and get(stack, STATUS) <= PAUSED:
        put(stack, STATUS, UNFIT)
    if get(stack, STATUS) <= PAUSED:  # else the bound is void, and may not even fit an entry
        work = min(bit_length(nodes), MAX_WORK)
        store(game, table, low_bits, place, tag, best, best >= goal, cut, work)


@part
def take_answer(game: Any, side: int, goal: int, best: int, value: int, row: int, stack: Any) -> Any:
    """Return the best value known of a node once the child in a row is answered, and its move if that cuts."""
    if game.has_reward:
        value += get(stack, row + GAIN)
    if (value >= goal) == (side == 0):
        return value, get(stack, row + ACTION)
    return (min(best, value) if side else max(best, value)), NO_MOVE


@part
def child_of(game: Any, row: int, stack: Any) -> Any:
    """Return the state in a row, its moves, and the one that the table names."""
    s = load(game, stack, row + CHILD)
    moves = as_mask(game, U64(get(stack, row + MOVES)))
    if mask_size(game) > 64:  # a row has room for one word: ask again
        moves = bounds_of(game, s, stack)[2]
    return s, moves, get(stack, row + HINT)


@part
def prove(
    game: Any, network: Any, s: Any, moves: Any, goal: int, table: Any, busy: Any, stack: Any, stop: Any,
    progress: Any,
) -> Any:  # fmt: skip
    """Return v >= goal: the value is at least v; or v < goal: it is at most v.

    Void if ``stop`` or the status is set meanwhile.
    """
    several = get(stack, THREADS) > 1
    num_buckets = get(stack, BUCKETS)
    low_bits = place_bits(game) + 1 - bit_length(num_buckets)
    nodes = get(stack, NODES)
    place, tag = place_of(game, s, stack)
    hint = move_of(probe(game, table, low_bits, place, tag))
    depth = base = get(stack, STATUS)  # GOOD, which is 0: with a literal the parts would be compiled twice
    while True:
        # ---- make the children of s
        nodes += 1
        side = game.player(s)
        top, best, cut = expand(game, network, s, moves, goal, hint, depth, base, low_bits, table, stack)
        end = top
        if cut == NO_MOVE:
            top, best, cut = consult(game, side, goal, best, base, top, low_bits, table, stack)
        born = nodes
        # ---- the world outside
        if nodes & POLL == 0:
            num_buckets = look_around(game, nodes, num_buckets, low_bits, table, stack, progress)
            low_bits = place_bits(game) + 1 - bit_length(num_buckets)
            if several:
                found, bound, move = answer_of_others(game, depth, low_bits, table, stack)
                if found < depth:
                    depth = found
                    base, top, end, best, place, tag, born, side, goal = load_frame(depth, stack)
                    top, best, cut = base, bound, move
        # ---- answer the parent until there is a child to search
        while cut != NO_MOVE or base == top:
            keep_answer(game, goal, best, cut, nodes - born, place, tag, low_bits, table, stack)
            if depth == 0 or get(stop, 0) or get(stack, STATUS):
                put(stack, NODES, nodes)
                return best
            if several and depth <= SHARED_DEPTH:
                put(busy, int(place & BUSY - 1), 0)
            value, depth = best, depth - 1
            base, top, end, best, place, tag, born, side, goal = load_frame(depth, stack)
            best, cut = take_answer(game, side, goal, best, value, row_of(game, base, top, stack), stack)
        # ---- search the most promising of them
        top = choose_last(game, base, top, several and depth < SHARED_DEPTH, busy, stack)
        save_frame(depth, base, top, end, best, place, tag, born, side, goal, stack)
        row = row_of(game, base, top, stack)
        s, moves, hint = child_of(game, row, stack)
        place, tag = U64(get(stack, row + KEY)), U64(get(stack, row + CHECK))
        if game.has_reward:
            goal -= get(stack, row + GAIN)
        if several and depth < SHARED_DEPTH:
            put(busy, int(place & BUSY - 1), place)
        depth += 1
        base = end
        if depth == DEPTH or base + mask_size(game) > KIDS:
            put(stack, STATUS, TOO_DEEP)
            return best
