"""Proof search aware of chains, for boards of Dots and Boxes that are too large for a table.

The search asks "is the value of this position at least g?" until the value is known; V is the value for the player
to move, boxes already taken not counted, and has the parity of the boxes that are left.  A search that runs out of
time still has proven bounds.

Only *quiet* positions, in which no box lacks exactly one line, are nodes.  A move in one of them is a line after
which the position is still quiet (a *safe* line), or the opening of a whole chain.  A chain is a maximal path of
boxes that lack two lines; it ends at the border, at boxes that lack more lines (junctions), or is closed (a loop).
The opponent takes all of its n boxes, or all but the last two (of a loop, four) and lets the first player take
those and move on.  With v, the value of the rest for the player who moves then, opening is worth

    -(n + v)               n = 1 or 2: the opponent has no choice, because the line between two boxes is drawn
    -(n - 2 + |v + 2|)     n >= 3
    -(n - 4 + |v + 4|)     a loop

A path that leaves a junction with three missing lines and returns to it takes the junction along, and the chain
behind the third line.

What keeps the search small, measured in nodes on 3 x 4 boxes: lines nearest to the centre are tried first (a fixed
order leads to the same positions more often than one that learns; 4 times fewer), symmetric positions are one
(3.7), border lines of the same box are interchangeable (3.1), and all moves are looked up in the table before one
is searched (2.7).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, mix, popcount, without_lowest
from mdplay.compiling import get, inlined, kernel, prefetch, put, unchecked_view

OUTSIDE = -1  # the box beyond the border
IMAGES = 8  # symmetric images of a position; boards with fewer symmetries repeat theirs
BUCKET = 8  # entries of the table that are searched for a position: one cache line
BOUND_BITS = 5  # bits of a bound, counted in steps of two: enough for 31 boxes
MAX_MOVES = 64  # of a position
MISSING, GOAL, LEFT, KEY, LOW, HIGH, BEST, INDEX, COUNT, FRAME = range(10)  # fields of a frame
SHARED_DEPTH = 12  # moves from the root within which threads avoid each other's positions
POLL = 1023  # nodes between two looks at the answers of other threads, less one
LINES, SIZE, SPARED, MOVE_KEY, MOVE_LOW, MOVE_HIGH, MOVE = range(7)  # fields of a move


class Board(NamedTuple):
    """The lines, numbered from the centre, and the boxes, as kernels take them."""

    boxes: NDArray[np.int64]  # the lines of each box
    sides: NDArray[np.int64]  # the two boxes of each line
    before: NDArray[np.int64]  # the interchangeable lines with smaller numbers, of each line
    images: NDArray[np.int64]  # the bit of each line in each image


class Question(NamedTuple):
    """A quiet position and the value that is asked for."""

    missing: int  # its missing lines
    goal: int
    left: int  # the number of boxes that are not complete


class Memory(NamedTuple):
    """The arrays of a search."""

    table: NDArray[np.int64]  # entries: high bits of the hash, then two bounds; 0 if unused
    frames: NDArray[np.int64]
    moves: NDArray[np.int64]
    turned: NDArray[np.int64]  # the images of the position of each frame


# ---------------------------------------------------------------- table
@inlined
def find(key: int, table: Any, bucket_bits: int) -> int:
    """Return the index of the entry of a position, or -1."""
    hashed = mix(key, 1)
    first, tag = int(hashed & (1 << bucket_bits) - 1) * BUCKET, int(hashed >> bucket_bits)
    for i in range(first, first + BUCKET):
        entry = get(table, i)
        if entry >> 2 * BOUND_BITS == tag:
            return i
        if entry == 0:
            return -1
    return -1


@inlined
def bounds_of(entry: int, left: int) -> Any:
    """Return the bounds that an entry has, for a position with this number of boxes left."""
    mask = (1 << BOUND_BITS) - 1
    return 2 * (entry >> BOUND_BITS & mask) - left, left - 2 * (entry & mask)


@inlined
def store(key: int, left: int, low: int, high: int, turn: int, table: Any, bucket_bits: int) -> None:
    """Store the bounds of a position; ``turn`` selects the entry to replace in a full bucket."""
    hashed = mix(key, 1)
    first, tag = int(hashed & (1 << bucket_bits) - 1) * BUCKET, int(hashed >> bucket_bits)
    place = first + (turn & BUCKET - 1)
    for i in range(first, first + BUCKET):
        entry = get(table, i)
        if entry == 0 or entry >> 2 * BOUND_BITS == tag:
            place = i
            break
    put(table, place, (tag << BOUND_BITS | (low + left) // 2) << BOUND_BITS | (left - high) // 2)


# ---------------------------------------------------------------- chains
@inlined
def beyond(line: int, box: int, sides: Any) -> Any:
    """Return the box on the other side of a line, or OUTSIDE."""
    first = get(sides, 2 * line)
    return get(sides, 2 * line + 1) if first == box else first


@inlined
def follow(missing: int, pairs: int, start: int, line: int, boxes: Any, sides: Any) -> Any:
    """Follow boxes that lack two lines (``pairs``) from a box across one of its lines.

    Return the set of these boxes, their missing lines, and the box at the end: a box that lacks more lines, the
    start itself, or OUTSIDE.
    """
    passed, lines, box = 0, 0, beyond(line, start, sides)
    while box != OUTSIDE and box != start and pairs >> box & 1:
        passed |= 1 << box
        own = get(boxes, box) & missing
        lines |= own
        line = lowest(own & ~(1 << line))
        box = beyond(line, box, sides)
    return passed, lines, box


@inlined
def find_chain(missing: int, pairs: int, start: int, boxes: Any, sides: Any) -> Any:
    """Return the chain of a box that lacks two lines.

    The result: the boxes of its path, all lines that opening it draws, the number of boxes that it gives, and how
    many of them the opponent may spare (0, 2 or 4).
    """
    own = get(boxes, start) & missing
    path, lines, end = follow(missing, pairs, start, lowest(own), boxes, sides)
    path |= 1 << start
    lines |= own
    size, spared = popcount(path), 4
    if end != start:
        more, further, other = follow(missing, pairs, start, lowest(without_lowest(own)), boxes, sides)
        path |= more
        lines |= further
        size = popcount(path)
        if end != OUTSIDE and end == other:
            stem = get(boxes, end) & missing & ~lines
            if popcount(stem) == 1:
                more, further, other = follow(missing, pairs, end, lowest(stem), boxes, sides)
                size += 1 + popcount(more)
                lines |= stem | further
        spared = 2 if size > 2 else 0
    return path, lines, size, spared


@inlined
def bounds_of_move(size: int, spared: int, low: int, high: int) -> Any:
    """Return the bounds of a move, from those of the position after it for the player who moves then."""
    if spared == 0:
        return -size - high, -size - low
    first, last = low + spared, high + spared
    nearest = first if first > 0 else -last if last < 0 else first & 1
    return spared - size - max(-first, last), spared - size - nearest


# ---------------------------------------------------------------- search
@inlined
def least_image(depth: int, lines: int, turned: Any, images: Any) -> int:
    """Return the smallest image of the position at a depth after some missing lines have been drawn."""
    least = 0
    for k in range(IMAGES):
        image, left = get(turned, IMAGES * depth + k), lines
        while left:
            image ^= get(images, IMAGES * lowest(left) + k)
            left = without_lowest(left)
        if k == 0 or image < least:
            least = image
    return least


@inlined
def add_move(at: int, lines: int, size: int, spared: int, key: int, left: int, moves: Any) -> None:
    """Write a move of which nothing is known; ``left`` is the number of boxes that it leaves."""
    put(moves, at + LINES, lines)
    put(moves, at + SIZE, size)
    put(moves, at + SPARED, spared)
    put(moves, at + MOVE_KEY, key)
    put(moves, at + MOVE_LOW, -left)
    put(moves, at + MOVE_HIGH, left)


@inlined
def list_moves(depth: int, missing: int, goal: int, left: int, board: Any, memory: Any, bucket_bits: int) -> Any:
    """Write the moves of a quiet position that may reach the goal: safe lines, then chains, short ones first.

    Return their number and the largest upper bound of the moves that cannot reach it.
    """
    boxes, sides, moves = board.boxes, board.sides, memory.moves
    pairs, unsafe, first = 0, 0, depth * MAX_MOVES * MOVE
    for box in range(len(boxes)):
        own = get(boxes, box) & missing
        if popcount(own) == 2:
            pairs |= 1 << box
            unsafe |= own
    safe, count, best = missing & ~unsafe, 0, -left - 1
    while safe:
        line = lowest(safe)
        safe = without_lowest(safe)
        if get(board.before, line) & missing == 0:
            key = least_image(depth, 1 << line, memory.turned, board.images)
            prefetch(memory.table, int(mix(key, 1) & (1 << bucket_bits) - 1) * BUCKET)
            add_move(first + count * MOVE, 1 << line, 0, 0, key, left, moves)
            count += 1
    starts = pairs
    while starts:
        path, lines, size, spared = find_chain(missing, pairs, lowest(starts), boxes, sides)
        starts &= ~path
        rest = left - size
        _, high = bounds_of_move(size, spared, -rest, rest)
        if high < goal:
            best = max(best, high)
            continue
        at = count
        while at > 0 and get(moves, first + (at - 1) * MOVE + SIZE) > size:
            for field in range(MOVE):
                put(moves, first + at * MOVE + field, get(moves, first + (at - 1) * MOVE + field))
            at -= 1
        key = least_image(depth, lines, memory.turned, board.images)
        add_move(first + at * MOVE, lines, size, spared, key, rest, moves)
        count += 1
    return count, best


@inlined
def look_up_moves(depth: int, count: int, goal: int, left: int, best: int, memory: Any, bucket_bits: int) -> Any:
    """Look up all moves in the table, and drop those that cannot reach the goal.

    Return the number of moves that are left, the largest upper bound of the others, and the largest lower bound.
    """
    moves, first, kept, low = memory.moves, depth * MAX_MOVES * MOVE, 0, -left
    for i in range(count):
        at = first + i * MOVE
        size, spared = get(moves, at + SIZE), get(moves, at + SPARED)
        place = find(get(moves, at + MOVE_KEY), memory.table, bucket_bits)
        if place >= 0:
            move_low, move_high = bounds_of(get(memory.table, place), left - size)
            put(moves, at + MOVE_LOW, move_low)
            put(moves, at + MOVE_HIGH, move_high)
            least, most = bounds_of_move(size, spared, move_low, move_high)
            low = max(low, least)
            if low >= goal:
                break
            if most < goal:
                best = max(best, most)
                continue
        if kept < i:
            for field in range(MOVE):
                put(moves, first + kept * MOVE + field, get(moves, at + field))
        kept += 1
    return kept, best, low


@inlined
def next_goal(goal: int, size: int, spared: int, high: int) -> int:
    """Return what to ask of the position after a move that is undecided.

    First that its value is not too high for the player who has moved, then, if boxes can be spared, not too low.
    """
    return 2 - goal - size if spared == 0 or high > -goal - size else goal + size - 2 * spared


@inlined
def turn_images(source: int, target: int, lines: int, turned: Any, images: Any) -> None:
    """Write the images of the position at one depth, with some lines added or removed, at another depth."""
    for k in range(IMAGES):
        image, rest = get(turned, IMAGES * source + k), lines
        while rest:
            image ^= get(images, IMAGES * lowest(rest) + k)
            rest = without_lowest(rest)
        put(turned, IMAGES * target + k, image)


@inlined
def recall(depth: int, memory: Any, bucket_bits: int) -> Any:
    """Return the bounds that the table has for the position at a depth."""
    left = get(memory.frames, depth * FRAME + LEFT)
    place = find(get(memory.frames, depth * FRAME + KEY), memory.table, bucket_bits)
    low, high = -left, left
    if place >= 0:
        low, high = bounds_of(get(memory.table, place), left)
    return low, high


@inlined
def expand(depth: int, low: int, high: int, board: Any, memory: Any, bucket_bits: int) -> None:
    """Write the moves of the position at a depth, given its bounds."""
    frames, frame = memory.frames, depth * FRAME
    missing, goal, left = get(frames, frame + MISSING), get(frames, frame + GOAL), get(frames, frame + LEFT)
    count, best = list_moves(depth, missing, goal, left, board, memory, bucket_bits)
    count, best, least = look_up_moves(depth, count, goal, left, best, memory, bucket_bits)
    put(frames, frame + LOW, max(low, least))
    put(frames, frame + HIGH, high)
    put(frames, frame + BEST, best)
    put(frames, frame + COUNT, count)
    put(frames, frame + INDEX, 0)


@inlined
def is_busy(depth: int, key: int, thread: int, busy: Any) -> Any:
    """Return whether another thread searches this position at the same depth."""
    for other in range(len(busy) // SHARED_DEPTH):
        if other != thread and get(busy, other * SHARED_DEPTH + depth) == key:
            return True
    return False


@inlined
def prefer_free(depth: int, goal: int, thread: int, busy: Any, memory: Any) -> None:
    """Exchange the next move with an undecided one that no other thread searches, if it is searched itself."""
    frames, moves, first = memory.frames, memory.moves, depth * MAX_MOVES * MOVE
    index, count = get(frames, depth * FRAME + INDEX), get(frames, depth * FRAME + COUNT)
    for i in range(index, count):
        at = first + i * MOVE
        _, most = move_bounds(at, moves)
        if most >= goal and not is_busy(depth, get(moves, at + MOVE_KEY), thread, busy):
            for field in range(MOVE):
                word = get(moves, at + field)
                put(moves, at + field, get(moves, first + index * MOVE + field))
                put(moves, first + index * MOVE + field, word)
            return


@inlined
def move_bounds(at: int, moves: Any) -> Any:
    """Return the bounds of a move in the list."""
    low, high = get(moves, at + MOVE_LOW), get(moves, at + MOVE_HIGH)
    return bounds_of_move(get(moves, at + SIZE), get(moves, at + SPARED), low, high)


@inlined
def next_move(depth: int, thread: int, busy: Any, memory: Any) -> bool:
    """Pass the moves at a depth that are decided; return whether one is left that decides the goal."""
    frames, moves, frame = memory.frames, memory.moves, depth * FRAME
    goal, count = get(frames, frame + GOAL), get(frames, frame + COUNT)
    low, best, index = get(frames, frame + LOW), get(frames, frame + BEST), get(frames, frame + INDEX)
    found = False
    while low < goal and index < count:
        least, most = move_bounds((depth * MAX_MOVES + index) * MOVE, moves)
        low = max(low, least)
        if least < goal <= most:
            found = True
            break
        best = max(best, most)
        index += 1
    put(frames, frame + LOW, low)
    put(frames, frame + BEST, best)
    put(frames, frame + INDEX, index)
    if found and depth < SHARED_DEPTH and len(busy) > SHARED_DEPTH:
        prefer_free(depth, goal, thread, busy, memory)
    return found


@inlined
def descend(depth: int, thread: int, busy: Any, board: Any, memory: Any) -> None:
    """Write the position after the next move at a depth, and the question about it."""
    frames, moves, frame = memory.frames, memory.moves, depth * FRAME
    at, after = (depth * MAX_MOVES + get(frames, frame + INDEX)) * MOVE, frame + FRAME
    lines, size, key = get(moves, at + LINES), get(moves, at + SIZE), get(moves, at + MOVE_KEY)
    goal = next_goal(get(frames, frame + GOAL), size, get(moves, at + SPARED), get(moves, at + MOVE_HIGH))
    put(frames, after + MISSING, get(frames, frame + MISSING) & ~lines)
    put(frames, after + GOAL, goal)
    put(frames, after + LEFT, get(frames, frame + LEFT) - size)
    put(frames, after + KEY, key)
    turn_images(depth, depth + 1, lines, memory.turned, board.images)
    if depth < SHARED_DEPTH:
        put(busy, thread * SHARED_DEPTH + depth, key)


@inlined
def close(depth: int, turn: int, memory: Any, bucket_bits: int) -> Any:
    """Store the bounds of the position at a depth, whose question is answered, and return them."""
    frames, frame = memory.frames, depth * FRAME
    low, high = get(frames, frame + LOW), get(frames, frame + HIGH)
    if low < get(frames, frame + GOAL):
        high = min(high, get(frames, frame + BEST))
    store(get(frames, frame + KEY), get(frames, frame + LEFT), low, high, turn, memory.table, bucket_bits)
    return low, high


@inlined
def first_answered(depth: int, memory: Any, bucket_bits: int) -> int:
    """Return the least depth whose question another thread has answered in the table, or the depth itself."""
    for d in range(min(depth, SHARED_DEPTH)):
        low, high = recall(d, memory, bucket_bits)
        goal = get(memory.frames, d * FRAME + GOAL)
        if low >= goal or high < goal:
            return d
    return depth


@kernel
def narrow(
    question: Question,
    thread: int,
    bucket_bits: int,
    board: Board,
    memory: Memory,
    busy: Any,
    stop: Any,
    progress: Any,
) -> Any:
    """Return bounds of the value of a quiet position that decide whether it is at least the goal.

    If the search is stopped, the bounds are those of the table.  An index of the table is within its size by the
    mask of the hash; a frame draws at least one line more than the frame before, and a position has at most
    MAX_MOVES moves.  Threads share the table and ``busy``, the positions that each one searches near the root.
    """
    board = Board(
        unchecked_view(board.boxes),
        unchecked_view(board.sides),
        unchecked_view(board.before),
        unchecked_view(board.images),
    )
    memory = Memory(
        unchecked_view(memory.table),
        unchecked_view(memory.frames),
        unchecked_view(memory.moves),
        unchecked_view(memory.turned),
    )
    frames, moves = memory.frames, memory.moves
    put(frames, MISSING, question.missing)
    put(frames, GOAL, question.goal)
    put(frames, LEFT, question.left)
    put(frames, COUNT, 0)
    for k in range(IMAGES):
        put(memory.turned, k, 0)
    turn_images(0, 0, question.missing, memory.turned, board.images)
    put(frames, KEY, least_image(0, 0, memory.turned, board.images))
    depth = 0
    while True:
        low, high = recall(depth, memory, bucket_bits)
        goal = get(frames, depth * FRAME + GOAL)
        if low < goal <= high:
            progress[thread] += 1
            if stop[0]:
                return recall(0, memory, bucket_bits)
            if len(busy) > SHARED_DEPTH and progress[thread] & POLL == 0:
                answered = first_answered(depth, memory, bucket_bits)
                if answered < depth:
                    depth = answered
                    continue
            expand(depth, low, high, board, memory, bucket_bits)
            if next_move(depth, thread, busy, memory):
                descend(depth, thread, busy, board, memory)
                depth += 1
                continue
            low, high = close(depth, progress[thread], memory, bucket_bits)
        while True:  # low and high are the bounds of the position at the depth: return to the one before
            if depth == 0:
                return low, high
            depth -= 1
            at = (depth * MAX_MOVES + get(frames, depth * FRAME + INDEX)) * MOVE
            put(moves, at + MOVE_LOW, max(low, get(moves, at + MOVE_LOW)))
            put(moves, at + MOVE_HIGH, min(high, get(moves, at + MOVE_HIGH)))
            if next_move(depth, thread, busy, memory):
                descend(depth, thread, busy, board, memory)
                depth += 1
                break
            low, high = close(depth, progress[thread], memory, bucket_bits)


@kernel
def learn(keys: Any, left: Any, values: Any, table: Any, bucket_bits: int) -> None:
    """Store the values of quiet positions."""
    for i in range(len(keys)):
        store(int(keys[i]), int(left[i]), int(values[i]), int(values[i]), i, table, bucket_bits)
