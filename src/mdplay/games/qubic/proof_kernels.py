"""The kernels of the proof that the first player wins Qubic: depth-first proof-number search (Nagai 2002).

The proof number of a node is a lower bound of the leaves that must still be proved for the attacker's win, the
disproof number of those for the opposite.  At each node the search goes to the child whose number the mover wants
smallest, with limits: it stays there until that number is a quarter beyond the second best, or the sum is spent.

The attacker moved first, so it is to move when both sides have equally many marks (an OR node: one winning move
proves it) and the defender otherwise (an AND node: every answer must be proved).  Every new node is first tried by
threats alone (``threats.py``).  The attacker tries only the moves of the greatest line potential, which is sound
for a proof of a win.

A position is stored in its canonical form: of the 192 symmetries only those are tried that bring the best of the
16 cells on seven lines to cell 0; the best cell is chosen by counts that no symmetry changes.

    table   three words a slot: attacker, defender, proof number << 32 | disproof number; free if attacker = 0
            a proof by search stores the winning cell: disproof number = INFINITE + 1 + cell
    stack   five numbers a node: place in the table, children, proof limit, disproof limit, attacker to move
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, WORD, lowest, mix, nonempty, popcount, without_lowest
from mdplay.compiling import Words, get, inlined, kernel, put, unchecked_view
from mdplay.games.qubic.threats import HIGH, LOW, Side, completing, marked, open_lines, side_of, threat_win
from mdplay.runtime.threads import Counters, StopFlag

INFINITE = 1 << 30
LOW_HALF = (1 << 32) - 1
CORNER_TURNS = 12  # symmetries that bring one cell on seven lines to another
SLOT = 3
NUM_ENTRIES, EXPANSIONS, THREAT_NODES = range(3)  # the counters
WIDTH = 64  # children of a node at most
ATTACKS, MAX_ATTACKS = 8, 16  # moves that the attacker tries; more only among equals


class Room(NamedTuple):
    """The tables of the game and the memory that the search works in; each array holds words."""

    tables: Words  # lines, and lines through each cell
    turns: Words  # for each cell on seven lines: the cell, and the symmetries that bring it to cell 0
    images: Words  # for each symmetry and byte of a mask: where the cells go
    table: Words
    failures: Words  # positions that threats alone do not win
    frames: Words
    estimates: Words  # the ordering score of each cell
    chosen: Words  # the moves of a node, best first
    stack: Words
    children: Words  # places in the table, WIDTH for each depth
    cells: Words  # the cell that leads to each child
    counters: Words


@inlined
def count(room: Room, counter: int, more: int) -> None:
    """Add to a counter."""
    put(room.counters, counter, get(room.counters, counter) + more)


# ---------------------------------------------------------------- canonical positions
@inlined
def turned(room: Room, cells: Any, k: int) -> Any:
    """Return where symmetry k takes the cells, byte by byte."""
    out, at = U64(0), 2048 * k
    for i in range(8):
        out |= get(room.images, at + 256 * i + int(cells >> 8 * i & 255))
    return out


@inlined
def standing(room: Room, cell: int, attacker: Side, defender: Side) -> int:
    """Return what no symmetry changes about a cell: its owner and the marks on its lines."""
    low, high = get(room.tables, LOW + cell), get(room.tables, HIGH + cell)
    owner = int(attacker.cells >> cell & 1) * 2 + int(defender.cells >> cell & 1)
    ones = popcount(attacker.odd_low & low) + popcount(attacker.odd_high & high)
    twos = popcount(attacker.two_low & low) + popcount(attacker.two_high & high)
    their_ones = popcount(defender.odd_low & low) + popcount(defender.odd_high & high)
    their_twos = popcount(defender.two_low & low) + popcount(defender.two_high & high)
    return (((owner * 8 + twos) * 8 + their_twos) * 8 + ones) * 8 + their_ones


@inlined
def canonical(room: Room, attacker: Side, defender: Side) -> Any:
    """Return the marks of both sides in the form that all images of the position share."""
    most, best = -1, U64(0)
    for i in range(len(room.turns) // (1 + CORNER_TURNS)):
        estimate = standing(room, int(get(room.turns, i * (1 + CORNER_TURNS))), attacker, defender)
        if estimate > most:
            most, best = estimate, U64(0)
        if estimate == most:
            best |= U64(1) << i
    least, least_defender = U64(WORD), U64(WORD)
    while nonempty(best):
        at = lowest(best) * (1 + CORNER_TURNS) + 1
        best = without_lowest(best)
        for i in range(CORNER_TURNS):
            k = int(get(room.turns, at + i))
            image = turned(room, attacker.cells, k)
            if image <= least:
                other = turned(room, defender.cells, k)
                if image < least or other < least_defender:
                    least, least_defender = image, other
    return least, least_defender


# ---------------------------------------------------------------- the table
@inlined
def find(room: Room, attacker: U64, defender: U64) -> int:
    """Return where the table keeps a position, or the free place where it belongs."""
    last = len(room.table) // SLOT - 1
    slot = int(mix(mix(attacker, 1), defender) & last)
    while True:
        place = SLOT * slot
        owner = get(room.table, place)
        if owner == 0 or (owner == attacker and get(room.table, place + 1) == defender):
            return place
        slot = (slot + 1) & last


@inlined
def numbers(proof: int, disproof: int) -> Any:
    """Return both numbers in one word."""
    return U64(proof) << 32 | U64(disproof)


@inlined
def write(room: Room, place: int, attacker: U64, defender: U64, both: Any) -> None:
    """Write a position and its numbers to its place."""
    if get(room.table, place) == 0:
        count(room, NUM_ENTRIES, 1)
    put(room.table, place, attacker)
    put(room.table, place + 1, defender)
    put(room.table, place + 2, both)


# ---------------------------------------------------------------- values of new nodes
@inlined
def potential(attacker: Side, defender: Side) -> int:
    """Return the attacker's open lines, those with two marks six times."""
    low, high = open_lines(attacker, defender, 2)
    low_one, high_one = open_lines(attacker, defender, 1)
    return 6 * (popcount(low) + popcount(high)) + popcount(low_one) + popcount(high_one)


@inlined
def guess(attacker: Side, defender: Side, turn: bool) -> Any:
    """Return the first numbers of a node that threats alone do not decide."""
    estimate = potential(attacker, defender)
    if turn:
        return numbers(1 if estimate > 40 else 2 if estimate > 25 else 4 if estimate > 15 else 8, 1)
    free = 64 - popcount(attacker.cells | defender.cells)
    return numbers(free // 4 if estimate > 45 else free // 3 if estimate > 30 else free // 2, 1)


@inlined
def evaluate(room: Room, attacker: Side, defender: Side, turn: bool, budget: int) -> Any:
    """Return the first numbers of a node: proved or disproved where threats decide it."""
    if not turn:
        threats = completing(attacker, defender, room.tables)
        if nonempty(threats) and not nonempty(completing(defender, attacker, room.tables)):
            return numbers(0, INFINITE) if nonempty(without_lowest(threats)) else numbers(1, 1)
        if popcount(attacker.cells | defender.cells) == 64:
            return numbers(INFINITE, 0)
    by_attacker = turn
    while True:  # the side to move first, then the attacker as if it were its turn
        mine, theirs = (attacker, defender) if by_attacker else (defender, attacker)
        cell, nodes = threat_win(mine, theirs, budget, room.tables, room.failures, room.frames)
        count(room, THREAT_NODES, nodes)
        if cell >= 0 or by_attacker:
            break
        by_attacker = True
    if cell < 0:
        return guess(attacker, defender, turn)
    if not by_attacker:
        return numbers(INFINITE, 0)
    return numbers(0, INFINITE) if turn else numbers(3, 1)


# ---------------------------------------------------------------- moves
@inlined
def ordering_score(room: Room, cell: int, mine: Side, theirs: Side) -> int:
    """Return a score of a cell for the side to move: lines it builds and lines it breaks."""
    low, high = get(room.tables, LOW + cell), get(room.tables, HIGH + cell)
    total = 0
    for marks in range(1, 3):
        first, second = open_lines(mine, theirs, marks)
        total += (popcount(first & low) + popcount(second & high)) * (10 if marks == 1 else 40)
        first, second = open_lines(theirs, mine, marks)
        total += (popcount(first & low) + popcount(second & high)) * (3 if marks == 1 else 14)
    low &= ~(mine.odd_low | mine.two_low | theirs.odd_low | theirs.two_low)
    high &= ~(mine.odd_high | mine.two_high | theirs.odd_high | theirs.two_high)
    return total + 2 * (popcount(low) + popcount(high))


@inlined
def choose_best(room: Room, moves: Any, least: int, most: int) -> int:
    """Choose moves by ``room.estimates``, best first: ``least`` of them, and up to ``most`` among equals."""
    chosen, bar = 0, U64(0)
    while nonempty(moves) and chosen < most:
        left, best = without_lowest(moves), lowest(moves)
        while nonempty(left):
            if get(room.estimates, lowest(left)) > get(room.estimates, best):
                best = lowest(left)
            left = without_lowest(left)
        if chosen == least:
            bar = get(room.estimates, int(get(room.chosen, chosen - 1)))
        if get(room.estimates, best) < bar:
            break
        put(room.chosen, chosen, best)
        moves &= ~(U64(1) << best)
        chosen += 1
    return chosen


@inlined
def choose_moves(room: Room, attacker: Side, defender: Side, turn: bool) -> int:
    """Choose the moves to search, best first: a forced answer, the attacker's best, or all of the defender's."""
    mine, theirs = (attacker, defender) if turn else (defender, attacker)
    moves = ~(mine.cells | theirs.cells) & WORD
    forced = completing(theirs, mine, room.tables)
    if nonempty(forced):
        moves = forced
    left = moves
    while nonempty(left):
        cell = lowest(left)
        left = without_lowest(left)
        put(room.estimates, cell, ordering_score(room, cell, mine, theirs))
    return choose_best(room, moves, ATTACKS if turn else WIDTH, MAX_ATTACKS if turn else WIDTH)


@inlined
def enter(room: Room, attacker: Side, defender: Side, turn: bool, budget: int) -> int:
    """Return the place of a position in the table; a new one is evaluated."""
    x, y = canonical(room, attacker, defender)
    place = find(room, x, y)
    if get(room.table, place) == 0:
        write(room, place, x, y, evaluate(room, attacker, defender, turn, budget))
    return place


@inlined
def expand(room: Room, x: Any, y: Any, depth: int, budget: int) -> int:
    """Write the children of a position at a depth: their places, and the cells that lead there.

    Children that are images of each other come once.
    """
    attacker, defender = side_of(x, room.tables), side_of(y, room.tables)
    turn = popcount(x) == popcount(y)
    first, total = depth * WIDTH, 0
    for i in range(choose_moves(room, attacker, defender, turn)):
        cell = int(get(room.chosen, i))
        a = marked(attacker, cell, room.tables) if turn else attacker
        d = defender if turn else marked(defender, cell, room.tables)
        place = enter(room, a, d, not turn, budget)
        new = True
        for j in range(first, first + total):
            new &= get(room.children, j) != place
        if new:
            put(room.children, first + total, place)
            put(room.cells, first + total, cell)
            total += 1
    count(room, EXPANSIONS, 1)
    return total


NODE = 5


@inlined
def capacity(words: int) -> int:
    """Return the number of positions that a table of ``words`` words may hold: three quarters of its slots."""
    return words // SLOT // 4 * 3


# ---------------------------------------------------------------- depth-first proof-number search
@inlined
def totals(room: Room, turn: bool, depth: int, children: int) -> Any:
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
def push(room: Room, depth: int, place: int, proof_limit: int, disproof_limit: int, budget: int) -> None:
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
    room: Room, attacker: U64, defender: U64, budget: int, max_expansions: int, stop: StopFlag, progress: Counters
) -> int:
    """Search a canonical position until it is proved (1) or disproved (-1); 0 if the search ends early.

    It does after ``max_expansions``, or when the table is nearly full.
    """
    room = unchecked_view(room)
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
def children_of(room: Room, attacker: U64, defender: U64, budget: int) -> int:
    """Write the children of a position into the first row of ``children`` and ``cells``; return their number."""
    room = unchecked_view(room)
    return expand(room, U64(attacker), U64(defender), 0, budget)


@kernel
def insert(room: Room, attackers: Any, defenders: Any, entries: Any) -> None:
    """Write canonical positions and their numbers into the table."""
    room = unchecked_view(room)
    for i in range(len(attackers)):
        attacker, defender = U64(attackers[i]), U64(defenders[i])
        write(room, find(room, attacker, defender), attacker, defender, U64(entries[i]))


# ---------------------------------------------------------------- the strategy
@inlined
def gather(room: Room, x: Any, y: Any, budget: int, seen: NDArray[np.uint8], queue: Words, total: int) -> int:
    """Append the places of the positions after each answer that threats alone do not win; return the total."""
    for i in range(expand(room, x, y, 0, budget)):
        place = int(get(room.children, i))
        if get(room.table, place + 2) != INFINITE and get(seen, place // SLOT) == 0:
            put(seen, place // SLOT, 1)
            put(queue, total, place)
            total += 1
    return total


@kernel
def collect(room: Room, attacker: U64, defender: U64, budget: int, seen: NDArray[np.uint8], queue: Words) -> int:
    """Write the places of all positions that the strategy needs beyond threats; return their number.

    The defender is to move in the position given.  What is not proved is listed too, and nothing after it.
    """
    room, marks, line = unchecked_view((room, seen, queue))
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
