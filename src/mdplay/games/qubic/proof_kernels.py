"""The kernels of the proof that the first player wins Qubic: depth-first proof-number search (Nagai 2002).

The proof number of a node bounds from below how many leaves are still to be proved for the attacker's win, the
disproof number how many for the opposite.  At each node the search goes to the child whose number the mover wants
smallest, with limits: it stays there until that number is a quarter beyond the second best, or the sum is spent.

    stack   five numbers a node: place in the table, children, proof limit, disproof limit, attacker to move
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64, popcount
from mdplay.compiling import get, inlined, kernel, put, unchecked_view
from mdplay.games.qubic.proof_nodes import (
    EXPANSIONS,
    INFINITE,
    LOW_HALF,
    NUM_ENTRIES,
    SLOT,
    WIDTH,
    expand,
    find,
    numbers,
    room_of,
    write,
)

NODE = 5


@inlined
def capacity(words: int) -> int:
    """Return the number of positions that a table of so many words may hold: three quarters of its slots."""
    return words // SLOT // 4 * 3


# ---------------------------------------------------------------- depth-first proof-number search
@inlined
def totals(room: Any, turn: bool, depth: int, children: int) -> Any:
    """Return a node's proof and disproof number, its best child, and the number of the second best.

    The number that the mover wants small is the least of its children's, the other the sum.
    """
    least, second, total, best = INFINITE, INFINITE, 0, 0
    for i in range(children):
        both = get(room.table, int(get(room.children, depth * WIDTH + i)) + 2)
        proof, disproof = int(both >> 32), min(INFINITE, int(both & LOW_HALF))
        small, large = (proof, disproof) if turn else (disproof, proof)
        if small < least:
            least, second, best = small, least, i
        elif small < second:
            second = small
        total += large
    total = min(INFINITE, total)
    return (least if turn else total), (total if turn else least), best, second


@inlined
def push(room: Any, depth: int, place: int, proof_limit: int, disproof_limit: int, budget: int) -> None:
    """Expand the node at a place of the table and put it on the stack."""
    x, y = get(room.table, place), get(room.table, place + 1)
    at = NODE * depth
    put(room.stack, at, place)
    put(room.stack, at + 1, expand(room, x, y, depth, budget))
    put(room.stack, at + 2, proof_limit)
    put(room.stack, at + 3, disproof_limit)
    put(room.stack, at + 4, popcount(x) == popcount(y))


@inlined
def child_limits(turn: bool, proof: int, disproof: int, limits: Any, child: Any, second: int) -> Any:
    """Return the limits of the best child: a quarter beyond the second best, and what the sum leaves."""
    slack = min(INFINITE, second + second // 4 + 1)
    if turn:
        left = limits[1] if limits[1] >= INFINITE else limits[1] - disproof + int(child & LOW_HALF)
        return min(limits[0], slack), left
    left = limits[0] if limits[0] >= INFINITE else limits[0] - proof + int(child >> 32)
    return left, min(limits[1], slack)


@kernel
def prove(
    arrays: Any, attacker: Any, defender: Any, budget: int, max_expansions: int, stop: Any, progress: Any
) -> int:
    """Search a canonical position until it is proved (1) or disproved (-1); 0 if the search ends early.

    It does after ``max_expansions``, or when the table is nearly full.
    """
    room = room_of(arrays)
    depth, end = 0, int(get(room.counters, EXPANSIONS)) + max_expansions
    max_entries = capacity(len(room.table))
    place = find(room, U64(attacker), U64(defender))
    write(room, place, U64(attacker), U64(defender), numbers(1, 1))
    push(room, 0, place, INFINITE, INFINITE, budget)
    while True:
        at = NODE * depth
        place, children = int(get(room.stack, at)), int(get(room.stack, at + 1))
        limits = int(get(room.stack, at + 2)), int(get(room.stack, at + 3))
        turn = get(room.stack, at + 4) != 0
        proof, disproof, best, second = totals(room, turn, depth, children)
        expansions = int(get(room.counters, EXPANSIONS))
        stopped = expansions >= end or int(get(room.counters, NUM_ENTRIES)) > max_entries or stop[0] != 0
        if proof == 0 or disproof == 0 or proof >= limits[0] or disproof >= limits[1] or stopped:
            if proof == 0 and turn:
                disproof = INFINITE + 1 + int(get(room.cells, depth * WIDTH + best))
            put(room.table, place + 2, numbers(proof, disproof))
            if depth == 0:
                return int(proof == 0) - int(disproof == 0)
            depth -= 1
            continue
        child = int(get(room.children, depth * WIDTH + best))
        low, high = child_limits(turn, proof, disproof, limits, get(room.table, child + 2), second)
        depth += 1
        push(room, depth, child, low, high, budget)
        progress[0] = expansions


@kernel
def children_of(arrays: Any, attacker: Any, defender: Any, budget: int) -> int:
    """Write the children of a position into the first row of ``children`` and ``cells``; return their number."""
    room = room_of(arrays)
    return expand(room, U64(attacker), U64(defender), 0, budget)


@kernel
def insert(arrays: Any, attackers: Any, defenders: Any, entries: Any) -> None:
    """Write canonical positions and their numbers into the table."""
    room = room_of(arrays)
    for i in range(len(attackers)):
        attacker, defender = U64(attackers[i]), U64(defenders[i])
        write(room, find(room, attacker, defender), attacker, defender, U64(entries[i]))


# ---------------------------------------------------------------- the strategy
@inlined
def gather(room: Any, x: Any, y: Any, budget: int, seen: Any, queue: Any, total: int) -> int:
    """Append the places of the positions after each answer that threats alone do not win; return the total."""
    for i in range(expand(room, x, y, 0, budget)):
        place = int(get(room.children, i))
        if get(room.table, place + 2) != INFINITE and get(seen, place // SLOT) == 0:
            put(seen, place // SLOT, 1)
            put(queue, total, place)
            total += 1
    return total


@kernel
def collect(arrays: Any, attacker: Any, defender: Any, budget: int, seen: Any, queue: Any) -> int:
    """Write the places of all positions that the strategy needs beyond threats; return their number.

    The defender is to move in the position given.  What is not proved is listed too, and nothing after it.
    """
    room, marks, line = room_of(arrays), unchecked_view(seen), unchecked_view(queue)
    total = gather(room, U64(attacker), U64(defender), budget, marks, line, 0)
    head = 0
    while head < total:
        place = int(get(line, head))
        cell = int(get(room.table, place + 2)) - INFINITE - 1
        if 0 <= cell < 64:
            x, y = get(room.table, place) | U64(1) << cell, get(room.table, place + 1)
            total = gather(room, x, y, budget, marks, line, total)
        head += 1
    return total
