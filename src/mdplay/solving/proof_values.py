"""From one question to values: which goal to ask next, and the kernels that Python calls.

``settle`` asks proof_kernel's questions until the bounds of a position meet.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import bit_length, lowest, rest, some
from mdplay.bridge import borrow, entered, get, kernel, load, part, put, unpack
from mdplay.solving.proof_desk import BUCKETS, GOOD, NODES, PAUSE_AT, PAUSED, QUESTIONS, START, STATUS, THREAD
from mdplay.solving.proof_kernel import gain_of, look_at, prove, whole
from mdplay.solving.proof_table import (
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
def settle(
    game: Any, s: Any, low: int, high: int, table: Any, busy: Any, desk: Any, stop: Any, progress: Any
) -> Any:
    """Return the window narrowed until its two ends meet or the search is stopped.

    A value outside the window shrinks it to its nearer end.
    """
    if not some(game.legal(s)):
        value = max(low, min(high, whole(game.result(s), desk)))
        return value, value
    gain, look = 0, look_at(game, s, desk)
    while look.low < look.high and not some(rest(look.moves)):
        action = lowest(look.moves)
        gain += gain_of(game, s, action, desk)
        s = game.step(s, action)
        look = look_at(game, s, desk)
    place, tag = place_of(game, s)
    entry = probe(game, table, place_bits(game) + 1 - bit_length(get(desk, BUCKETS)), place, tag)
    least, most = low, high
    low = max(low, gain + max(look.low, low_of(entry)))
    high = min(high, gain + min(look.high, high_of(entry)))
    put(desk, START, get(desk, NODES))
    while low < high and not get(stop, 0) and not get(desk, STATUS):
        goal = next_goal(low, high, game.has_look)
        value = gain + prove(game, s, look.moves, goal - gain, table, busy, desk, stop, progress)
        put(desk, QUESTIONS, get(desk, QUESTIONS) + 1)
        if get(stop, 0) or get(desk, STATUS):
            break
        if value >= goal:
            low = value
        else:
            high = value
    return min(low, most), max(high, least)


@kernel
def settle_all(
    game: Any, study: Any, starts: Any, windows: Any, budget: int,
    table: Any, busy: Any, desk: Any, stop: Any, progress: Any,
) -> None:  # fmt: skip
    """Narrow the windows around what packed states are worth to their movers, in place, until each is one number.

    What was not reached before the search was stopped, or had visited ``budget`` nodes (0: as many as it takes),
    stays wider.
    """
    table, busy, desk, stop, progress = borrow(table), borrow(busy), borrow(desk), borrow(stop), borrow(progress)
    put(desk, PAUSE_AT, get(desk, NODES) + budget if budget else 0)
    for i in range(len(starts)):
        if get(stop, 0) or get(desk, STATUS):
            break
        s = entered(study, load(game, starts, i))
        low, high, second = windows[i, 0], windows[i, 1], study.player(s) == 1
        if second:
            low, high = -high, -low
        low, high = settle(study, s, low, high, table, busy, desk, stop, progress)
        windows[i, 0], windows[i, 1] = (-high, -low) if second else (low, high)
    if get(desk, STATUS) == PAUSED:
        put(desk, STATUS, GOOD)
    put(progress, get(desk, THREAD), get(desk, NODES))


@kernel
def grow_to(game: Any, table: Any, desk: Any, num_buckets: int) -> None:
    """Double the table until it has so many buckets."""
    table, desk = borrow(table), borrow(desk)
    while get(desk, BUCKETS) < num_buckets:
        size = get(desk, BUCKETS)
        grow(game, table, size, place_bits(game) + 1 - bit_length(size))
        put(desk, BUCKETS, 2 * size)


@kernel
def remember(game: Any, study: Any, starts: Any, values: Any, table: Any, desk: Any) -> None:
    """Write what packed states are worth to their movers into the table, as if it had cost the most work."""
    table, desk = borrow(table), borrow(desk)
    low_bits = place_bits(study) + 1 - bit_length(get(desk, BUCKETS))
    for i in range(len(starts)):
        s = entered(study, load(game, starts, i))
        place, tag = place_of(study, s)
        value = -int(values[i]) if study.player(s) else int(values[i])
        store(study, table, low_bits, place, tag, value, True, NO_MOVE, MAX_WORK)
        store(study, table, low_bits, place, tag, value, False, NO_MOVE, MAX_WORK)


@kernel
def recall_move(game: Any, start: Any, table: Any, desk: Any) -> int:
    """Return the move that the table holds for a packed state, or ``NO_MOVE``."""
    table, desk = borrow(table), borrow(desk)
    place, tag = place_of(game, unpack(game, start))
    return move_of(probe(game, table, place_bits(game) + 1 - bit_length(get(desk, BUCKETS)), place, tag))
