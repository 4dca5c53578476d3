"""The kernels of backward induction on a hash table (`hashed.py`): one depth-first search over all states.

Each edge takes one lookup in the table; a successor that is still open closes a cycle, which the search reports.

The last word of a row of the table is its entry:

    0            free
    1            open
    otherwise    closed, with an integer value: value << 32 | 2 + distance
                 closed, with a real value: the bits of the number, XOR those of a NaN that no game uses

Integer values from 2**31 to 2**53 are stored like real ones, without distances; a search that meets one starts
again in that form.  No value is truncated:  ``limit`` bounds all values that a search may write.

A state in which chance moves right after an action has no slot: it is evaluated again whenever it is met, from
states that are closed by then.  This nearly halves the memory that 2048 needs.

Every access is within bounds: a slot is at most ``last``, by the mask of the hash or by ``find_key``, which ends
because ``most`` leaves slots free; successor c and its data are below ``len(hints)``, and a frame below
``len(frames)``, because both are checked before a state is opened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, nonempty, popcount, without_lowest
from mdplay.checking.contract_checks import SLACK
from mdplay.compiling import State, get, inlined, kernel, load, pack, prefetch, put, unchecked_view
from mdplay.game import Game
from mdplay.runtime.threads import Counters, StopFlag
from mdplay.solving.values import delays, slack
from mdplay.states.keys import canonical, choices_of, find_key, hash_key, no_chance, no_player, write_key

FREE, OPEN, CLOSED = 0, 1, 2
NOT_A_VALUE = 0x7FF8_0000_0000_0001
NO_SLOT, PASSING = -1, 2
FULL_SHARE = 0.75  # of the slots; when more are used, the table is doubled
MAX_DISTANCE = (1 << 32) - 1 - CLOSED

FINISHED, STOPPED, CIRCLE, TOO_WIDE, FULL, TOO_DEEP, TOO_LARGE, BROKEN = range(8)
NEXT, END, SLOT, CHANCE, DISTANCE, ENDLESS, COLUMNS = range(7)  # of a frame: an open state
AHEAD = 4  # successors that are prefetched before they are looked up


class Rows(NamedTuple):
    """The table: its rows in one array, the layout of keys, whether values are integers, the largest value."""

    rows: NDArray[np.int64]
    layout: NDArray[np.int64]
    integral: bool
    limit: float


class OpenStates(NamedTuple):
    """The open states and their successors.

    A frame is an open state: its successors from NEXT to END are not visited yet.  Successor c has its words in
    ``successors[c]``, its key in ``keys``, its reward or probability in ``gains[c]``, and in ``hints[c]`` the slot
    where it may be, a bit for having none, and a bit for the other player's turn.
    """

    frames: NDArray[np.int64]
    bests: NDArray[np.float64]  # of each frame: the best value so far
    successors: NDArray[np.uint64]
    keys: NDArray[np.int64]
    hints: NDArray[np.int64]
    gains: NDArray[np.float64]


@inlined
def signed(game: Game[Any], s: State, t: Any, value: float) -> float:
    """Return the value of t for the mover of s, given its value for its own mover."""
    return value if game.player(s) == game.player(t) else -value


@inlined
def final_value(game: Game[Any], s: State) -> float:
    """Return the result of a terminal state for the player whose turn it would be."""
    result = float(game.result(s))
    return -result if game.player(s) == 1 else result


@inlined
def endless_to_mover(game: Game[Any], s: State) -> int:
    """Return the value of infinite play for the player to move in s."""
    return int(-game.endless if game.player(s) == 1 else game.endless)


@inlined
def is_better(value: float, distance: int, best: float, best_distance: int, endless: int) -> bool:
    """Return whether a value with its distance is preferred to the best so far: more, else sooner or later.

    ``endless`` is the value of infinite play for the mover, who delays as `mdplay.solving.values.delays` says.
    """
    if best == -np.inf or value > best + slack(best):
        return True
    sooner = distance > best_distance if delays(best, endless) else distance < best_distance
    return value >= best - slack(best) and sooner


@inlined
def entry_of(integral: bool, value: float, distance: int) -> int:
    """Return the entry of a closed state."""
    if integral:
        return (int(value) << 32) + CLOSED + distance
    return int(np.float64(value).view(np.int64) ^ NOT_A_VALUE)


@inlined
def is_closed(entry: int) -> bool:
    """Return whether an entry holds a value."""
    return entry != FREE and entry != OPEN


@inlined
def value_of(entry: int, integral: bool) -> float:
    """Return the value in a closed entry."""
    return float(entry >> 32) if integral else np.int64(entry ^ NOT_A_VALUE).view(np.float64)


@inlined
def distance_of(entry: int, integral: bool) -> int:
    """Return the distance in a closed entry; 0 if none is stored."""
    return int(entry & 0xFFFF_FFFF) - CLOSED if integral else 0


@kernel(plain_first=True)
def search_states(
    game: Game[Any], table: Rows, count: int, stop: StopFlag, progress: Counters, way: OpenStates
) -> Any:
    """Close successor 0 and every state reachable from it; return the status, the states, a successor."""
    integral, limit = table.integral, table.limit
    rows, layout, successors = unchecked_view((table.rows, table.layout, way.successors))
    frames, bests, key = unchecked_view((way.frames, way.bests, way.keys))
    hints, gains = unchecked_view((way.hints, way.gains))
    num_words = len(key) // len(hints)
    row = num_words + 1
    last, most = len(rows) // row - 1, int(FULL_SHARE * len(rows) / row)
    depth, distance = 0, 0
    while True:
        c, end = frames[depth, NEXT], frames[depth, END]
        if c < end:
            if c + AHEAD < end:
                prefetch(rows, (hints[c + AHEAD] >> 2) * row)
            slot, entry = find_entry(rows, last, hints[c], key, c, num_words)
            if entry == FREE:
                s = load(game, successors, c)
                mask, by_chance = choices_of(game, s)
                if count >= most or stop[0]:
                    return (STOPPED if stop[0] else FULL), count, c
                if depth + 1 == len(frames) or end + popcount(mask) > len(hints):
                    return TOO_DEEP, count, c
                count += mark_open(rows, slot, key, c, num_words)
                depth += 1
                bests[depth] = 0.0 if by_chance else -np.inf if nonempty(mask) else final_value(game, s)
                write_frame(frames, depth, end, slot, by_chance)
                if game.endless != 0:
                    frames[depth, ENDLESS] = endless_to_mover(game, s)
                total = 0.0
                while nonempty(mask):
                    t, gains[end], status = follow(game, s, lowest(mask), by_chance, limit)
                    if status != FINISHED:
                        return status, count, c
                    mask = without_lowest(mask)
                    total += gains[end]
                    if not write_successor(game, t, layout, num_words, successors, key, end):
                        return TOO_WIDE, count, end
                    first = int(hash_key(key, end * num_words, num_words) & last)
                    prefetch(rows, first * row)
                    hints[end] = first << 2 | turn_bits(game, s, t, by_chance)
                    end += 1
                if by_chance and abs(total - 1.0) > SLACK:
                    return BROKEN, count, c
                frames[depth, END], progress[0] = end, count
                continue
            if entry == OPEN:
                return CIRCLE, count, c
            value, distance = value_of(entry, integral), distance_of(entry, integral)
        elif depth == 0:
            return FINISHED, count, 0
        else:  # no successor is left: close the state and continue with its parent
            value, distance = bests[depth], frames[depth, DISTANCE] + 1
            if not abs(value) <= limit or distance > MAX_DISTANCE:
                return TOO_LARGE, count, frames[depth - 1, NEXT]
            if frames[depth, SLOT] != NO_SLOT:
                put(rows, frames[depth, SLOT] * row + num_words, entry_of(integral, value, distance))
            depth -= 1
            c = frames[depth, NEXT]
        endless = frames[depth, ENDLESS] if game.endless != 0 else 0
        add_value(frames, bests, depth, -value if hints[c] & 1 else value, distance, gains[c], endless)
        frames[depth, NEXT] = c + 1


@inlined
def find_entry(rows: Any, last: int, hint: int, key: Any, c: int, num_words: int) -> Any:
    """Return the slot of successor c, if it has one, and its entry."""
    if hint & PASSING:
        return NO_SLOT, FREE
    slot = find_key(rows, last, hint >> 2, key, c * num_words, num_words)
    return slot, int(get(rows, slot * (num_words + 1) + num_words))


@inlined
def write_frame(frames: Any, depth: int, first: int, slot: int, by_chance: bool) -> None:
    """Write the frame of a state whose successors begin at ``first``."""
    frames[depth, NEXT], frames[depth, SLOT] = first, slot
    frames[depth, CHANCE], frames[depth, DISTANCE] = by_chance, -1


@inlined
def mark_open(rows: Any, slot: int, key: Any, c: int, num_words: int) -> int:
    """Write the key of successor c into its slot, if it has one; return the number of slots filled."""
    if slot == NO_SLOT:
        return 0
    for j in range(num_words):
        put(rows, slot * (num_words + 1) + j, get(key, c * num_words + j))
    put(rows, slot * (num_words + 1) + num_words, OPEN)
    return 1


@inlined
def follow(game: Game[Any], s: State, choice: int, by_chance: bool, limit: float) -> Any:
    """Return the successor by an action or an outcome, its reward or probability, and a status."""
    t, gain = game.step(s, choice) if not by_chance else game.outcome(s, choice), 0.0
    status = BROKEN if no_player(game, t) else FINISHED
    if by_chance:
        gain = float(game.probability(s, choice))
        status = BROKEN if no_chance(gain) else status
    elif game.has_reward:
        gain = float(game.reward(s, choice))
        status = TOO_LARGE if not abs(gain) <= limit else status
    return canonical(game, t), gain, status


@inlined
def write_successor(
    game: Game[Any], t: Any, layout: Any, num_words: int, successors: Any, key: Any, at: int
) -> bool:
    """Write a state and its key at an index; return False if a field is wider than the layout allows."""
    packed = pack(game, t)
    for j in range(len(packed)):
        successors[at, j] = packed[j]
    return write_key(game, t, layout, num_words, key, at * num_words)


@inlined
def turn_bits(game: Game[Any], s: State, t: Any, by_chance: bool) -> int:
    """Return the bits of a hint: whether t has no slot, and whether it is the other player's turn."""
    bits = int(game.player(s) != game.player(t))
    if game.has_outcomes and not by_chance and nonempty(game.outcomes(t)):
        bits |= PASSING
    return bits


@inlined
def add_value(frames: Any, bests: Any, depth: int, value: float, distance: int, gain: float, endless: int) -> None:
    """Update the open state at a depth by the value and the distance of one of its successors."""
    if frames[depth, CHANCE]:
        bests[depth] += gain * value
        return
    value += gain
    if is_better(value, distance, bests[depth], frames[depth, DISTANCE], endless):
        frames[depth, DISTANCE] = distance
    bests[depth] = max(value, bests[depth])


@kernel(plain_first=True)
def keep_closed(rows: Any, num_words: int, out_rows: Any) -> int:
    """Copy the closed slots of a table into an empty one; return their number.

    It has more slots than there are closed states, so ``find_key`` finds a free one; all slots are within its
    mask.
    """
    old, new = unchecked_view((rows, out_rows))
    row = num_words + 1
    last, count = len(out_rows) // row - 1, 0
    for at in range(0, len(rows), row):
        if is_closed(get(old, at + num_words)):
            first = int(hash_key(old, at, num_words) & last)
            slot = find_key(new, last, first, old, at, num_words)
            for j in range(row):
                put(new, slot * row + j, get(old, at + j))
            count += 1
    return count


@kernel(plain_first=True, writes=False)
def look_up(rows: Any, keys: Any, integral: bool) -> Any:
    """Return the slot of a key, or the free one for it, whether it is closed, its value and its distance.

    A search leaves a quarter of the slots free, so the lookup ends; every slot is within the mask.
    """
    table, key, num_words = unchecked_view(rows), unchecked_view(keys), len(keys)
    last = len(rows) // (num_words + 1) - 1
    slot = find_key(table, last, int(hash_key(key, 0, num_words) & last), key, 0, num_words)
    entry = get(table, slot * (num_words + 1) + num_words)
    return slot, is_closed(entry), value_of(entry, integral), distance_of(entry, integral)
