"""From one question to values: which goal to ask next, and the kernels that Python calls.

``narrow_window`` asks the kernel's questions until the bounds of a position meet.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import bit_length, lowest, nonempty, without_lowest
from mdplay.bridge import borrow, get, kernel, load, part, put, unpack, viewed
from mdplay.solving.proof.children import FAR, bounds_of, gain_of, no_way_on, whole
from mdplay.solving.proof.kernel import prove
from mdplay.solving.proof.stack import (
    BUCKETS,
    GOOD,
    NODES,
    PAUSE_AT,
    PAUSED,
    QUESTIONS,
    START,
    STATUS,
    THREAD,
    UNFIT,
)
from mdplay.solving.proof.table import (
    LIMIT,
    MAX_WORK,
    NO_MOVE,
    grow,
    high_of,
    low_of,
    move_of,
    place_bits,
    place_of,
    probe,
    store,
)

NARROW = 6  # a window is narrowed from outside until its ends are so close to 0


@part
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


@part
def narrow_window(
    game: Any, network: Any, s: Any, low: int, high: int, table: Any, busy: Any, stack: Any, stop: Any,
    progress: Any,
) -> Any:  # fmt: skip
    """Return the window narrowed until its two ends meet or the search is stopped.

    A value outside the window shrinks it to its nearer end.
    """
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
        value = gain + prove(game, network, s, moves, goal - gain, table, busy, stack, stop, progress)
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
            value = gain + prove(game, network, s, moves, goal - gain, table, busy, stack, stop, progress)
            if (value >= goal) == (low == LIMIT) and not get(stop, 0):
                put(stack, STATUS, UNFIT)
    return min(low, most), max(high, least)


@kernel
def narrow_windows(
    game: Any, proof_view: Any, network: Any, starts: Any, windows: Any, budget: int,
    table: Any, busy: Any, stack: Any, stop: Any, progress: Any,
) -> None:  # fmt: skip
    """Narrow the windows around what packed states are worth to their movers, in place, until each is one number.

    What was not reached before the search was stopped, or had visited ``budget`` nodes (0: as many as it takes),
    stays wider.
    """
    table, busy, stack, stop, progress = borrow(table), borrow(busy), borrow(stack), borrow(stop), borrow(progress)
    put(stack, PAUSE_AT, get(stack, NODES) + budget if budget else 0)
    for i in range(len(starts)):
        if get(stop, 0) or get(stack, STATUS):
            break
        s = viewed(proof_view, load(game, starts, i))
        low, high, second = windows[i, 0], windows[i, 1], proof_view.player(s) == 1
        if second:
            low, high = -high, -low
        low, high = narrow_window(proof_view, network, s, low, high, table, busy, stack, stop, progress)
        windows[i, 0], windows[i, 1] = (-high, -low) if second else (low, high)
    if get(stack, STATUS) == PAUSED:
        put(stack, STATUS, GOOD)
    put(progress, get(stack, THREAD), get(stack, NODES))


@kernel
def grow_to(game: Any, table: Any, stack: Any, num_buckets: int) -> None:
    """Double the table until it has so many buckets, for which its array has room."""
    table, stack = borrow(table), borrow(stack)
    while get(stack, BUCKETS) < num_buckets:
        size = get(stack, BUCKETS)
        grow(game, table, size, place_bits(game) + 1 - bit_length(size))
        put(stack, BUCKETS, 2 * size)


@kernel
def remember(game: Any, proof_view: Any, starts: Any, values: Any, table: Any, stack: Any) -> None:
    """Write what packed states are worth to their movers into the table, as if it had cost the most work."""
    table, stack = borrow(table), borrow(stack)
    low_bits = place_bits(proof_view) + 1 - bit_length(get(stack, BUCKETS))
    for i in range(len(starts)):
        s = viewed(proof_view, load(game, starts, i))
        place, tag = place_of(proof_view, s, stack)
        value = -int(values[i]) if proof_view.player(s) else int(values[i])
        store(proof_view, table, low_bits, place, tag, value, True, NO_MOVE, MAX_WORK)
        store(proof_view, table, low_bits, place, tag, value, False, NO_MOVE, MAX_WORK)


@kernel
def recall_move(game: Any, start: Any, table: Any, stack: Any) -> int:
    """Return the move that the table holds for a packed state, or ``NO_MOVE``; a place is within its buckets."""
    table, stack = borrow(table), borrow(stack)
    place, tag = place_of(game, unpack(game, start), stack)
    return move_of(probe(game, table, place_bits(game) + 1 - bit_length(get(stack, BUCKETS)), place, tag))
