"""Proof search: is the value at least ``goal``?  Alpha-beta with a null window, on a stack of its own.

Values are player 0's throughout: she looks for one child that reaches the goal, player 1 for one that does not.
So extra turns need no care, and rewards only shift the goal on the way down.

A node on the stack has at least two moves worth trying.  Lines without a choice are followed at once when the
node's children are made, and what the game or the table knows of a child is used before any child is searched
(enhanced transposition cutoffs).  The order of the rest: the table's move, then promise and order of the game
and the fewest replies.

Several threads prove one goal together.  They share the table; a thread prefers children that no other is
searching (after ABDADA, Weill 1996), and from time to time looks up whether another has answered one of the
questions that are open on its own stack.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64, bit_length, lowest, popcount, rest, some
from mdplay.bridge import get, load, pack, part, prefetch, put
from mdplay.game import Look
from mdplay.solving.proof_desk import (
    ACTION,
    BUCKETS,
    CHECK,
    CHILD,
    DEPTH,
    FRAME,
    FRAMES_AT,
    GAIN,
    GOAL,
    HINT,
    KEY,
    KIDS,
    MAX_BUCKETS,
    MOVES,
    NODES,
    ORDER_AT,
    PAUSE_AT,
    PAUSED,
    PLACE,
    SIBLINGS,
    START,
    STATUS,
    TAG,
    THREAD,
    THREADS,
    TOO_DEEP,
    UNFIT,
    load_frame,
    row_at,
    row_of,
    save_frame,
)
from mdplay.solving.proof_table import (
    LIMIT,
    MAX_WORK,
    NO_MOVE,
    WAYS,
    entry_words,
    grow,
    high_of,
    low_of,
    move_of,
    place_bits,
    place_of,
    probe,
    store,
)

FAR = 1 << 44  # beyond every value and every rank
POLL = 1023  # nodes between two looks at the world outside, less one
BUSY = 1024  # a power of two: slots for the places that threads are searching
SHARED_DEPTH = 16  # nodes less deep on the stack are shared between threads


@part
def whole(x: Any, desk: Any) -> int:
    """Return a value as an int; note in the control array if it is not whole or too large."""
    value = int(x)
    if value != x or value > LIMIT or value < -LIMIT:
        put(desk, STATUS, UNFIT)
    return value


@part
def look_at(game: Any, s: Any, desk: Any) -> Look:
    """Return what the game knows of a position, or what its rules tell."""
    if game.has_look:
        known: Look = game.look(s)
        return known
    moves = game.legal(s)
    if some(moves):
        return Look(-LIMIT, LIMIT, moves)
    value = whole(game.result(s), desk)
    return Look(value, value, moves)


@part
def gain_of(game: Any, s: Any, action: int, desk: Any) -> int:
    """Return what player 0 gains by the mover's reward."""
    if not game.has_reward:
        return 0
    points = whole(game.reward(s, action), desk)
    return -points if game.player(s) else points


@part
def follow(game: Any, s: Any, action: int, goal: int, desk: Any) -> Any:
    """Play an action and the forced ones after it: the state, its look and what player 0 gained on the way."""
    gain = gain_of(game, s, action, desk)
    s = game.step(s, action)
    look = look_at(game, s, desk)
    while look.low + gain < goal <= look.high + gain and not some(rest(look.moves)):
        action = lowest(look.moves)
        gain += gain_of(game, s, action, desk)
        s = game.step(s, action)
        look = look_at(game, s, desk)
    return s, look, gain


@part
def expand(
    game: Any, s: Any, moves: Any, goal: int, hint: int, base: int, low_bits: int, table: Any, desk: Any
) -> Any:
    """Make the children from row ``base`` on; return their end, the best value known, and a cutting move."""
    side = game.player(s)
    top, best = base, (FAR if side else -FAR)
    bucket_words = WAYS * entry_words(game)
    while some(moves):
        action = lowest(moves)
        moves = rest(moves)
        c, look, gain = follow(game, s, action, goal, desk)
        if look.low + gain >= goal or look.high + gain < goal:
            value = gain + (look.low if look.low + gain >= goal else look.high)
            if (value >= goal) == (side == 0):
                return top, value, action
            best = min(best, value) if side else max(best, value)
            continue
        place, tag = place_of(game, c)
        prefetch(table, int(place >> low_bits) * bucket_words)
        row = row_at(game, top)
        packed = pack(game, c)
        for j in range(len(packed)):
            put(desk, row + CHILD + j, packed[j])
        put(desk, row + MOVES, look.moves)
        put(desk, row + KEY, place)
        put(desk, row + CHECK, tag)
        put(desk, row + ACTION, action)
        put(desk, row + GAIN, gain)
        put(desk, ORDER_AT + top, rank(game, s, action, side, c, look, hint) << 8 | 255 - top + base)
        top += 1
    return top, best, NO_MOVE


@part
def rank(game: Any, s: Any, action: int, side: int, c: Any, look: Look, hint: int) -> int:
    """Return how early to search a child."""
    if action == hint:
        return FAR
    promise, replies = game.promise(c), popcount(look.moves)
    early: int = game.order(s, action) + (-promise if side else promise)
    return early + (replies if game.player(c) == side else -replies)


@part
def consult(
    game: Any, side: int, goal: int, best: int, base: int, top: int, low_bits: int, table: Any, desk: Any
) -> Any:
    """Ask the table about the children, drop those it settles; return as ``expand`` does."""
    k = base
    while k < top:
        row = row_of(game, base, k, desk)
        entry = probe(game, table, low_bits, U64(get(desk, row + KEY)), U64(get(desk, row + CHECK)))
        gain = get(desk, row + GAIN) if game.has_reward else 0
        low, high = low_of(entry) + gain, high_of(entry) + gain
        if low >= goal or high < goal:
            value = low if low >= goal else high
            if (value >= goal) == (side == 0):
                return top, value, get(desk, row + ACTION)
            best = min(best, value) if side else max(best, value)
            top -= 1
            put(desk, ORDER_AT + k, get(desk, ORDER_AT + top))
            continue
        put(desk, row + HINT, move_of(entry))
        k += 1
    return top, best, NO_MOVE


@part
def choose(game: Any, base: int, top: int, shared: bool, busy: Any, desk: Any) -> int:
    """Return the place of the child to search next; if it can, one that no other thread is searching."""
    chosen, most = base, -FAR << 10
    for k in range(base, top):
        word = get(desk, ORDER_AT + k)
        if shared and is_busy(busy, U64(get(desk, row_of(game, base, k, desk) + KEY))):
            word -= FAR << 9
        if word > most:
            chosen, most = k, word
    return chosen


@part
def is_busy(busy: Any, place: Any) -> Any:
    """Tell whether a thread is searching the position."""
    return get(busy, int(place & BUSY - 1)) == place


@part
def answer_of_others(game: Any, depth: int, low_bits: int, table: Any, desk: Any) -> Any:
    """Return the first node of the stack whose question another thread has answered, its bound and its move.

    If there is none, return ``depth``.
    """
    for d in range(depth):
        at = FRAMES_AT + d * FRAME
        goal = get(desk, at + GOAL)
        entry = probe(game, table, low_bits, U64(get(desk, at + PLACE)), U64(get(desk, at + TAG)))
        if low_of(entry) >= goal:
            return d, low_of(entry), move_of(entry)
        if high_of(entry) < goal:
            return d, high_of(entry), move_of(entry)
    return depth, 0, NO_MOVE


@part
def look_around(
    game: Any, nodes: int, num_buckets: int, low_bits: int, table: Any, desk: Any, progress: Any
) -> int:
    """Report the nodes, pause when it is time, grow the table; return the number of buckets."""
    put(desk, NODES, nodes)
    put(progress, get(desk, THREAD), nodes)
    spent = nodes - get(desk, START)
    if 0 < get(desk, PAUSE_AT) < nodes:
        put(desk, STATUS, PAUSED)
    if spent > num_buckets * WAYS and num_buckets < get(desk, MAX_BUCKETS):
        grow(game, table, num_buckets, low_bits)
        put(desk, BUCKETS, 2 * num_buckets)
    buckets: int = get(desk, BUCKETS)
    return buckets


@part
def prove(
    game: Any, s: Any, moves: Any, goal: int, table: Any, busy: Any, desk: Any, stop: Any, progress: Any
) -> Any:
    """Return v >= goal: the value is at least v; or v < goal: it is at most v.

    Void if ``stop`` or the status is set meanwhile.
    """
    several = get(desk, THREADS) > 1
    num_buckets = get(desk, BUCKETS)
    low_bits = place_bits(game) + 1 - bit_length(num_buckets)
    nodes = get(desk, NODES)
    place, tag = place_of(game, s)
    hint = move_of(probe(game, table, low_bits, place, tag))
    depth = base = get(desk, STATUS)  # GOOD, which is 0: with a literal the parts would be compiled twice
    while True:
        # ---- make the children of s
        nodes += 1
        side = game.player(s)
        top, best, cut = expand(game, s, moves, goal, hint, base, low_bits, table, desk)
        end = top
        if cut == NO_MOVE:
            top, best, cut = consult(game, side, goal, best, base, top, low_bits, table, desk)
        born = nodes
        # ---- the world outside
        if nodes & POLL == 0:
            num_buckets = look_around(game, nodes, num_buckets, low_bits, table, desk, progress)
            low_bits = place_bits(game) + 1 - bit_length(num_buckets)
            if several:
                found, bound, move = answer_of_others(game, depth, low_bits, table, desk)
                if found < depth:
                    depth = found
                    base, top, end, best, place, tag, born, side, goal = load_frame(depth, desk)
                    top, best, cut = base, bound, move
        # ---- answer the parent until there is a child to search
        while cut != NO_MOVE or base == top:
            work = min(bit_length(nodes - born), MAX_WORK)
            store(game, table, low_bits, place, tag, best, best >= goal, cut, work)
            if best > LIMIT or best < -LIMIT:
                put(desk, STATUS, UNFIT)
            if depth == 0 or get(stop, 0) or get(desk, STATUS):
                put(desk, NODES, nodes)
                return best
            if several and depth <= SHARED_DEPTH:
                put(busy, int(place & BUSY - 1), 0)
            value = best
            depth -= 1
            base, top, end, best, place, tag, born, side, goal = load_frame(depth, desk)
            row = row_of(game, base, top, desk)
            if game.has_reward:
                value += get(desk, row + GAIN)
            if (value >= goal) == (side == 0):
                best, cut = value, get(desk, row + ACTION)
            else:
                best, cut = (min(best, value) if side else max(best, value)), NO_MOVE
        # ---- search the most promising of them; its word goes to the end of the order
        chosen = choose(game, base, top, several and depth < SHARED_DEPTH, busy, desk)
        top -= 1
        last, word = get(desk, ORDER_AT + top), get(desk, ORDER_AT + chosen)
        put(desk, ORDER_AT + chosen, last)
        put(desk, ORDER_AT + top, word)
        save_frame(depth, base, top, end, best, place, tag, born, side, goal, desk)
        row = row_of(game, base, top, desk)
        s = load(game, desk, row + CHILD)
        moves, hint = U64(get(desk, row + MOVES)), get(desk, row + HINT)
        place, tag = U64(get(desk, row + KEY)), U64(get(desk, row + CHECK))
        if game.has_reward:
            goal -= get(desk, row + GAIN)
        if several and depth < SHARED_DEPTH:
            put(busy, int(place & BUSY - 1), place)
        depth += 1
        base = end
        if depth == DEPTH or base + SIBLINGS > KIDS:
            put(desk, STATUS, TOO_DEEP)
            return best
