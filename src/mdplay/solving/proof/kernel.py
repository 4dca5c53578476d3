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

From one question to values: which goal to ask next, and the kernels that Python calls.

``narrow_window`` asks the kernel's questions until the bounds of a position meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, bit_length, lowest, nonempty, without_lowest
from mdplay.compiling import State, Words, as_mask, get, inlined, kernel, load, put, unchecked_view, unpack, viewed
from mdplay.compiling.contract import mask_size
from mdplay.game import Game
from mdplay.runtime.threads import Counters, StopFlag
from mdplay.solving.proof.children import (
    FAR,
    answer_of_others,
    bounds_of,
    consult,
    expand,
    gain_of,
    look_around,
    no_way_on,
    whole,
)
from mdplay.solving.proof.table import (
    ACTION,
    BUCKETS,
    CHECK,
    CHILD,
    CHOICES,
    DEPTH,
    GAIN,
    GOOD,
    HINT,
    KEY,
    KIDS,
    LIMIT,
    MAX_WORK,
    MOVES,
    NO_MOVE,
    NODES,
    ORDER_AT,
    PAUSE_AT,
    PAUSED,
    QUESTIONS,
    START,
    STATUS,
    THREAD,
    THREADS,
    TOO_DEEP,
    UNFIT,
    Frame,
    Shared,
    Spot,
    grow,
    high_of,
    load_frame,
    low_of,
    move_of,
    place_bits,
    place_of,
    probe,
    row_of,
    save_frame,
    store,
)

POLL = 1023  # nodes between two looks at the world outside, less one
BUSY = 1024  # a power of two: slots for the places that threads are searching
SHARED_DEPTH = 16  # nodes less deep on the stack are shared between threads


@inlined
def choose(game: Game[Any], base: int, top: int, shared: bool, busy: Words, stack: NDArray[np.int64]) -> int:
    """Return the place of the child to search next; if it can, one that no other thread is searching."""
    chosen, most = base, -4 * FAR * CHOICES
    for k in range(base, top):
        word = get(stack, ORDER_AT + k)
        if shared and is_busy(busy, U64(get(stack, row_of(game, base, k, stack) + KEY))):
            word -= 2 * FAR * CHOICES
        if word > most:
            chosen, most = k, word
    return chosen


@inlined
def choose_last(game: Game[Any], base: int, top: int, shared: bool, busy: Words, stack: NDArray[np.int64]) -> int:
    """Put the word of the child to search next at the end of the order, and return that place."""
    chosen = choose(game, base, top, shared, busy, stack)
    top -= 1
    last, word = get(stack, ORDER_AT + top), get(stack, ORDER_AT + chosen)
    put(stack, ORDER_AT + chosen, last)
    put(stack, ORDER_AT + top, word)
    return top


@inlined
def is_busy(busy: Words, place: Any) -> Any:
    """Return whether a thread is searching the position."""
    return get(busy, int(place & BUSY - 1)) == place


@inlined
def keep_answer(
    game: Game[Any], best: int, cut: int, nodes: int, place: Any, tag: Any, spot: Spot, shared: Shared
) -> None:
    """Store the bound of a node, found in ``nodes`` nodes; set the status if no entry can hold it."""
    stack = shared.stack
    if (best > LIMIT or best < -LIMIT) and get(stack, STATUS) <= PAUSED:
        put(stack, STATUS, UNFIT)
    if get(stack, STATUS) <= PAUSED:  # else the bound is void, and may not even fit an entry
        work = min(bit_length(nodes), MAX_WORK)
        store(game, shared.table, spot.low_bits, place, tag, best, best >= spot.goal, cut, work)


@inlined
def take_answer(
    game: Game[Any], side: int, goal: int, best: int, value: int, row: int, stack: NDArray[np.int64]
) -> Any:
    """Return the best value known of a node once the child in a row is answered, and its move if that cuts."""
    if game.has_reward:
        value += get(stack, row + GAIN)
    if (value >= goal) == (side == 0):
        return value, get(stack, row + ACTION)
    return (min(best, value) if side else max(best, value)), NO_MOVE


@inlined
def child_of(game: Game[Any], row: int, stack: NDArray[np.int64]) -> Any:
    """Return the state in a row, its moves, and the one that the table names."""
    s = load(game, stack, row + CHILD)
    moves = as_mask(game, U64(get(stack, row + MOVES)))
    if mask_size(game) > 64:  # a row has room for one word: ask again
        moves = bounds_of(game, s, stack)[2]
    return s, moves, get(stack, row + HINT)


@inlined
def prove(game: Game[Any], network: Any, s: State, moves: Any, goal: int, shared: Shared) -> Any:
    """Return v >= goal: the value is at least v; or v < goal: it is at most v.

    Void if ``stop`` or the status is set meanwhile.
    """
    table, busy, stack = shared.table, shared.busy, shared.stack
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
        spot = Spot(goal, depth, base, low_bits)
        top, best, cut = expand(game, network, s, moves, hint, spot, shared)
        end = top
        if cut == NO_MOVE:
            top, best, cut = consult(game, side, best, top, spot, shared)
        born = nodes
        # ---- the world outside
        if nodes & POLL == 0:
            num_buckets = look_around(game, nodes, num_buckets, low_bits, shared)
            low_bits = place_bits(game) + 1 - bit_length(num_buckets)
            if several:
                found, bound, move = answer_of_others(game, depth, low_bits, table, stack)
                if found < depth:
                    depth = found
                    base, top, end, best, place, tag, born, side, goal = load_frame(depth, stack)
                    top, best, cut = base, bound, move
        # ---- answer the parent until there is a child to search
        while cut != NO_MOVE or base == top:
            spot = Spot(goal, depth, base, low_bits)
            keep_answer(game, best, cut, nodes - born, place, tag, spot, shared)
            if depth == 0 or get(shared.stop, 0) or get(stack, STATUS):
                put(stack, NODES, nodes)
                return best
            if several and depth <= SHARED_DEPTH:
                put(busy, int(place & BUSY - 1), 0)
            value, depth = best, depth - 1
            base, top, end, best, place, tag, born, side, goal = load_frame(depth, stack)
            best, cut = take_answer(game, side, goal, best, value, row_of(game, base, top, stack), stack)
        # ---- search the most promising of them
        top = choose_last(game, base, top, several and depth < SHARED_DEPTH, busy, stack)
        save_frame(depth, Frame(base, top, end, best, place, tag, born, side, goal), stack)
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


NARROW = 6  # a window is narrowed from outside until its ends are so close to 0


@inlined
def next_goal(low: int, high: int, from_outside: bool) -> int:
    """Return the next question, low < goal <= high.

    A window of a game that counts moves is narrowed from outside while it is wide: early ends are cheap to prove
    or to rule out, which is iterative deepening.  Otherwise the sign comes first, then halves.
    """
    if from_outside and max(high, -low) > NARROW:
        return high if high >= -low else low + 1
    if low < 0 < high:
        return 0 if -low > high else 1
    return low + ((high - low + 1) >> 1)


@inlined
def narrow_window(game: Game[Any], network: Any, s: State, low: int, high: int, shared: Shared) -> Any:
    """Return the window narrowed until its two ends meet or the search is stopped.

    A value outside the window shrinks it to its nearer end.
    """
    table, stack, stop = shared.table, shared.stack, shared.stop
    if not nonempty(game.legal(s)):
        value = max(low, min(high, whole(game.result(s), stack)))
        return value, value
    gain, forced = 0, 0
    least_known, most_known, moves = bounds_of(game, s, stack)
    while least_known < most_known and not nonempty(without_lowest(moves)):
        if no_way_on(moves, forced, stack):
            return low, high
        forced += 1
        action = lowest(moves)
        gain += gain_of(game, s, action, stack)
        s = game.step(s, action)
        least_known, most_known, moves = bounds_of(game, s, stack)
    place, tag = place_of(game, s, stack)
    entry = probe(game, table, place_bits(game) + 1 - bit_length(get(stack, BUCKETS)), place, tag)
    least, most = low, high
    known_low = low_of(entry) if low_of(entry) >= -LIMIT else -FAR
    known_high = high_of(entry) if high_of(entry) <= LIMIT else FAR
    low = max(low, gain + max(least_known, known_low))
    high = min(high, gain + min(most_known, known_high))
    if low > LIMIT or high < -LIMIT:
        put(stack, STATUS, UNFIT)
    put(stack, START, get(stack, NODES))
    while low < high and not get(stop, 0) and not get(stack, STATUS):
        goal = next_goal(low, high, game.has_bounds)
        value = gain + prove(game, network, s, moves, goal - gain, shared)
        put(stack, QUESTIONS, get(stack, QUESTIONS) + 1)
        if get(stop, 0) or get(stack, STATUS):
            break
        if value > LIMIT or value < -LIMIT:
            put(stack, STATUS, UNFIT)
        if value >= goal:
            low = value
        else:
            high = value
        if low == high == most == LIMIT or low == high == least == -LIMIT:  # it may lie beyond: ask
            goal = LIMIT + 1 if low == LIMIT else -LIMIT
            value = gain + prove(game, network, s, moves, goal - gain, shared)
            if (value >= goal) == (low == LIMIT) and not get(stop, 0):
                put(stack, STATUS, UNFIT)
    return min(low, most), max(high, least)


@kernel
def narrow_windows(
    game: Game[Any], proof_view: Any, network: Any, starts: Any, windows: Any, budget: int,
    table: Words, busy: Words, stack: NDArray[np.int64],
    stop: StopFlag, progress: Counters,
) -> None:  # fmt: skip
    """Narrow the windows around the values of packed states for the player to move, in place, to one number each.

    Windows stay wider if the search is stopped, or has visited ``budget`` nodes (0: no limit).
    """
    table, busy, stack, stop, progress = unchecked_view((table, busy, stack, stop, progress))
    shared = Shared(table, busy, stack, stop, progress)
    put(stack, PAUSE_AT, get(stack, NODES) + budget if budget else 0)
    for i in range(len(starts)):
        if get(stop, 0) or get(stack, STATUS):
            break
        s = viewed(proof_view, load(game, starts, i))
        low, high, second = windows[i, 0], windows[i, 1], proof_view.player(s) == 1
        if second:
            low, high = -high, -low
        low, high = narrow_window(proof_view, network, s, low, high, shared)
        windows[i, 0], windows[i, 1] = (-high, -low) if second else (low, high)
    if get(stack, STATUS) == PAUSED:
        put(stack, STATUS, GOOD)
    put(progress, get(stack, THREAD), get(stack, NODES))


@kernel
def grow_to(game: Game[Any], table: Words, stack: NDArray[np.int64], num_buckets: int) -> None:
    """Double the table until it has ``num_buckets`` buckets, for which its array has room."""
    table, stack = unchecked_view((table, stack))
    while get(stack, BUCKETS) < num_buckets:
        size = get(stack, BUCKETS)
        grow(game, table, size, place_bits(game) + 1 - bit_length(size))
        put(stack, BUCKETS, 2 * size)


@kernel
def remember(
    game: Game[Any], proof_view: Any, starts: Any, values: Any, table: Words, stack: NDArray[np.int64]
) -> None:
    """Write the values of packed states for the player to move into the table, with the highest priority."""
    table, stack = unchecked_view((table, stack))
    low_bits = place_bits(proof_view) + 1 - bit_length(get(stack, BUCKETS))
    for i in range(len(starts)):
        s = viewed(proof_view, load(game, starts, i))
        place, tag = place_of(proof_view, s, stack)
        value = -int(values[i]) if proof_view.player(s) else int(values[i])
        store(proof_view, table, low_bits, place, tag, value, True, NO_MOVE, MAX_WORK)
        store(proof_view, table, low_bits, place, tag, value, False, NO_MOVE, MAX_WORK)


@kernel
def recall_move(game: Game[Any], start: Any, table: Words, stack: NDArray[np.int64]) -> int:
    """Return the move of a packed state in the table, or ``NO_MOVE``; a place is within its buckets."""
    table, stack = unchecked_view((table, stack))
    place, tag = place_of(game, unpack(game, start), stack)
    return move_of(probe(game, table, place_bits(game) + 1 - bit_length(get(stack, BUCKETS)), place, tag))
