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

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, lowest, mix, popcount, without_lowest
from mdplay.checking.contract_checks import number_of, spot_check
from mdplay.compiling import get, inlined, kernel, prefetch, put, unchecked_view
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.runtime.memory import budget
from mdplay.runtime.threads import Show, TaskGroup, stopped_after
from mdplay.solving.values import Choice, Cost, Lacking, Question, Solver, StateValue, Table

OUTSIDE = -1  # the box beyond the border
IMAGES = 8  # symmetric images of a position; boards with fewer symmetries repeat theirs
BUCKET = 8  # entries of the table that are searched for a position: one cache line
MIN_BUCKET_BITS = 14  # so that the rest of the hash and two bounds fit into an entry
BOUND_BITS = 5  # bits of a bound, counted in steps of two: enough for 31 boxes
TABLE_BITS = {24: 18, 32: 22, 37: 25, 60: 26}  # log2 of the number of entries, by the largest number of lines
MAX_MOVES = 64  # of a position
MAX_TABLE_LINES = 24  # boards with at most this number of lines (3 x 3 boxes) are solved by tables
AFTER_TABLES, BEFORE_TABLES = 2.9, 0.9  # costs: a table of sets costs 1.0 or 2.5, of numbers 2.0
MISSING, GOAL, LEFT, KEY, LOW, HIGH, BEST, INDEX, COUNT, FRAME = range(10)  # fields of a frame
LINES, SIZE, SPARED, MOVE_KEY, MOVE_LOW, MOVE_HIGH, MOVE = range(7)  # fields of a move


class Board(NamedTuple):
    """The lines, numbered from the centre, and the boxes, as kernels take them."""

    boxes: NDArray[np.int64]  # the lines of each box
    sides: NDArray[np.int64]  # the two boxes of each line
    before: NDArray[np.int64]  # the interchangeable lines with smaller numbers, of each line
    images: NDArray[np.int64]  # the bit of each line in each image


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


@kernel
def narrow(
    missing: int, goal: int, left: int, bucket_bits: int, board: Board, memory: Memory, stop: Any, progress: Any
) -> Any:
    """Return bounds of the value of a quiet position that decide whether it is at least the goal.

    ``missing`` are its missing lines and ``left`` the number of boxes that are not complete.  If the search is
    stopped, the bounds are -left and left.  An index of the table is within its size by the mask of the hash; a
    frame draws at least one line more than the frame before, and a position has at most MAX_MOVES moves.
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
    frames, moves, turned = memory.frames, memory.moves, memory.turned
    for k in range(IMAGES):
        image, rest = 0, missing
        while rest:
            image |= get(board.images, IMAGES * lowest(rest) + k)
            rest = without_lowest(rest)
        put(turned, k, image)
    put(frames, MISSING, missing)
    put(frames, GOAL, goal)
    put(frames, LEFT, left)
    put(frames, KEY, least_image(0, 0, turned, board.images))
    depth, entering, low, high = 0, True, -left, left
    while True:
        frame, first = depth * FRAME, depth * MAX_MOVES * MOVE
        goal, left = get(frames, frame + GOAL), get(frames, frame + LEFT)
        if entering:
            low, high = -left, left
            place = find(get(frames, frame + KEY), memory.table, bucket_bits)
            if place >= 0:
                low, high = bounds_of(get(memory.table, place), left)
            if low >= goal or high < goal:
                if depth == 0:
                    return low, high
                depth, entering = depth - 1, False
                continue
            progress[0] += 1
            if stop[0]:
                return -get(frames, LEFT), get(frames, LEFT)
            missing = get(frames, frame + MISSING)
            count, best = list_moves(depth, missing, goal, left, board, memory, bucket_bits)
            count, best, least = look_up_moves(depth, count, goal, left, best, memory, bucket_bits)
            index = 0
            low = max(low, least)
            put(frames, frame + COUNT, count)
        else:  # low and high are the bounds of the position after the move
            count, best, index = get(frames, frame + COUNT), get(frames, frame + BEST), get(frames, frame + INDEX)
            at = first + index * MOVE
            put(moves, at + MOVE_LOW, max(low, get(moves, at + MOVE_LOW)))
            put(moves, at + MOVE_HIGH, min(high, get(moves, at + MOVE_HIGH)))
            low, high = get(frames, frame + LOW), get(frames, frame + HIGH)
        entering = False
        while low < goal and index < count:
            at = first + index * MOVE
            size, spared = get(moves, at + SIZE), get(moves, at + SPARED)
            move_low, move_high = get(moves, at + MOVE_LOW), get(moves, at + MOVE_HIGH)
            least, most = bounds_of_move(size, spared, move_low, move_high)
            low = max(low, least)
            if least < goal <= most:
                entering = True
                break
            best = max(best, most)
            index += 1
        if not entering:
            if low < goal:
                high = min(high, best)
            store(get(frames, frame + KEY), left, low, high, progress[0], memory.table, bucket_bits)
            if depth == 0:
                return low, high
            depth -= 1
            continue
        put(frames, frame + LOW, low)
        put(frames, frame + HIGH, high)
        put(frames, frame + BEST, best)
        put(frames, frame + INDEX, index)
        lines, after = get(moves, at + LINES), frame + FRAME
        put(frames, after + MISSING, get(frames, frame + MISSING) & ~lines)
        put(frames, after + GOAL, next_goal(goal, size, spared, move_high))
        put(frames, after + LEFT, left - size)
        put(frames, after + KEY, get(moves, at + MOVE_KEY))
        for k in range(IMAGES):
            image, rest = get(turned, IMAGES * depth + k), lines
            while rest:
                image ^= get(board.images, IMAGES * lowest(rest) + k)
                rest = without_lowest(rest)
            put(turned, IMAGES * (depth + 1) + k, image)
        depth += 1


# ---------------------------------------------------------------- the search of one board
@dataclass(frozen=True)
class ChainBounds:
    """The proven bounds of a position's value for the player to move."""

    low: int
    high: int
    nodes: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high


class ChainSearch:
    """Values of positions of one board, proved when they are asked for.

    ``table_bits`` is log2 of the number of table entries (8 bytes each); by default it depends on the number of
    lines and on the memory that may be used.
    """

    def __init__(self, game: Game[Any], *, table_bits: int | None = None) -> None:
        if not isinstance(game, DotsAndBoxes):
            raise GameError(f"chains are known in Dots and Boxes only, not in {game!r}")
        spot_check(game)
        self.game = game
        middle = game.rows + game.cols * 1j  # of the grid of dots, lines and boxes
        places = [complex(*divmod(cell, 2 * game.cols + 1)) - middle for cell in game.cells]
        self._order = sorted(range(game.num_lines), key=lambda i: (abs(places[i].real) + abs(places[i].imag), i))
        self._number = {line: i for i, line in enumerate(self._order)}
        self._boxes = [self._renumber(box) for box in game.boxes]
        touching = [[i for i, box in enumerate(self._boxes) if box >> line & 1] for line in range(game.num_lines)]
        self._sides = [(*pair, OUTSIDE, OUTSIDE)[:2] for pair in touching]
        self._alike = self._groups(touching)
        self._board = self._arrays()
        if table_bits is None:
            table_bits = next(bits for lines, bits in TABLE_BITS.items() if game.num_lines <= lines)
            table_bits = min(table_bits, (budget(None) // 16).bit_length() - 1)
        self._bucket_bits = max(MIN_BUCKET_BITS, table_bits - 3)
        depth = game.num_lines + 2
        self._memory = Memory(
            np.zeros(BUCKET << self._bucket_bits, np.int64),
            np.zeros(depth * FRAME, np.int64),
            np.zeros(depth * MAX_MOVES * MOVE, np.int64),
            np.zeros(depth * IMAGES, np.int64),
        )

    def _renumber(self, lines: int) -> int:
        """Return a set of lines of the game with the numbers of the search."""
        return sum(1 << self._number[line] for line in elements(lines))

    @staticmethod
    def _groups(touching: list[list[int]]) -> list[tuple[int, ...]]:
        """Return the groups of interchangeable lines: those that belong to the same single box."""
        single: dict[int, list[int]] = {}
        for line, boxes in enumerate(touching):
            if len(boxes) == 1:
                single.setdefault(boxes[0], []).append(line)
        return [tuple(lines) for lines in single.values() if len(lines) > 1]

    def _arrays(self) -> Board:
        """Return the arrays of the kernel.

        The images map the first line of a group of interchangeable lines to the first line of its image, and so
        on; a position in which the lines of every group are drawn in order has images of the same kind.
        """
        count = self.game.num_lines
        images = np.zeros((count, IMAGES), np.int64)
        for k in range(IMAGES):
            symmetry = self.game.images[k % len(self.game.images)]
            image = [self._number[symmetry[self._order[line]]] for line in range(count)]
            for group in self._alike:
                for line, target in zip(group, sorted(image[line] for line in group), strict=True):
                    image[line] = target
            images[:, k] = [1 << line for line in image]
        before = np.zeros(count, np.int64)
        for group in self._alike:
            for i, line in enumerate(group):
                before[line] = sum(1 << other for other in group[:i])
        sides = np.array(self._sides, np.int64).ravel()
        return Board(np.array(self._boxes, np.int64), sides, before, images.ravel())

    def prove(self, state: Any = None, *, seconds: float | None = None, show: Show | None = None) -> ChainBounds:
        """Return the value of a position for the player to move, or bounds if ``seconds`` do not suffice."""
        began, nodes = time.perf_counter(), 0
        drawn = self._in_order(
            self._renumber(number_of(self.game, self.game.initial() if state is None else state))
        )
        quiet = self._settled(drawn)
        left = sum(box & ~quiet != 0 for box in self._boxes)
        low, high, goal = -left, left, -(left & 1)
        while low < high:
            rest = None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))
            found_low, found_high, count = self._narrow(quiet, goal, left, rest, show)
            nodes += count
            low, high = max(low, found_low), min(high, found_high)
            if low < goal <= high:
                break
            goal = low + 2 if low >= goal else high
        low, high = self._bounds(drawn, (low, high), {})
        return ChainBounds(low, high, nodes, time.perf_counter() - began)

    def _narrow(
        self, drawn: int, goal: int, left: int, seconds: float | None, show: Show | None
    ) -> tuple[int, int, int]:
        """Return bounds of a quiet position that decide a goal, unless time is over, and the number of nodes."""
        watch = TaskGroup(1, show)
        missing = (1 << self.game.num_lines) - 1 & ~drawn
        task = partial(
            narrow, missing, goal, left, self._bucket_bits, self._board, self._memory, watch.stop, watch.progress
        )
        with stopped_after(watch, seconds):
            low, high = watch.run([task])[0]
        return int(low), int(high), int(watch.progress[0])

    def canonical(self, state: Any) -> int:
        """Return an integer that is equal for symmetric positions; interchangeable lines count as symmetry."""
        lines, images = elements(self._drawn(state)), self._board.images.reshape(-1, IMAGES)
        return int(images[lines].sum(axis=0).min())

    def _drawn(self, state: Any) -> int:
        """Return the lines of a position with the numbers of the search, interchangeable lines in order."""
        return self._in_order(self._renumber(number_of(self.game, state)))

    # ---------------------------------------------------------------- positions that are not quiet
    def _in_order(self, drawn: int) -> int:
        """Return the position with the interchangeable lines drawn in order."""
        for group in self._alike:
            count = sum(drawn >> line & 1 for line in group)
            drawn &= ~sum(1 << line for line in group)
            drawn |= sum(1 << line for line in group[:count])
        return drawn

    def _settled(self, drawn: int) -> int:
        """Return the quiet position that is left when all boxes that can be completed are taken."""
        while lines := self._forced(drawn):
            drawn |= 1 << lines[0]
        return self._in_order(drawn)

    def _bounds(self, drawn: int, rest: tuple[int, int], known: dict[int, tuple[int, int]]) -> tuple[int, int]:
        """Return the bounds of a position, from those of the quiet position that is left.

        All lines of play lead to it; they differ in who moves then, and in the boxes that were taken.  ``known``
        has the bounds of the positions on the way.
        """
        if drawn in known:
            return known[drawn]
        found = []
        for line in self._forced(drawn):
            after = drawn | 1 << line
            gain = sum(box != OUTSIDE and not self._boxes[box] & ~after for box in self._sides[line])
            low, high = self._bounds(after, rest, known)
            found.append((gain + low, gain + high) if gain else (-high, -low))
        known[drawn] = (max(low for low, _ in found), max(high for _, high in found)) if found else rest
        return known[drawn]

    def _forced(self, drawn: int) -> list[int]:
        """Return the lines worth drawing while a box can be completed; none if the position is quiet.

        A box is taken at once, except the last two of a chain and the last four of a loop.  There the choice is
        to take them or to spare them by drawing the line between::

            A --take-- B --spare-- ...
            A --take-- B --spare-- C --l3-- D        A and D lack one line

        If several chains or loops offer this choice, one of them is taken first.  Which one matters: the box
        behind a chain may be taken later, and the chain then offers no choice any more.
        """
        kept: dict[int, int] = {}  # the line to take, by the line to spare
        for start, box_lines in enumerate(self._boxes):
            missing = box_lines & ~drawn
            if missing.bit_count() != 1:
                continue
            take, spare, box, length, closed = missing.bit_length() - 1, -1, start, 1, False
            while True:
                box = int(beyond(missing.bit_length() - 1, box, self._board.sides))
                further = 0 if box == OUTSIDE else self._boxes[box] & ~drawn & ~missing
                if box == OUTSIDE or further.bit_count() > 1:
                    break
                length, closed = length + 1, further == 0
                if closed:
                    break
                if length == 2:
                    spare = further.bit_length() - 1
                missing = further
            if length != (4 if closed else 2):
                return [take]
            kept[spare] = take
        return [*kept.values(), *kept] if len(kept) == 1 else list(kept.values())


class ChainTable(Table):
    """A chain search as the table of a solution.

    ``seconds`` limits the time for one position.  Its value comes first; the moves share the rest of the time.
    """

    method = "chains"
    on_demand = True

    def __init__(self, game: Game[Any], *, seconds: float | None = None, show: Show | None = None) -> None:
        self.game, self.search = game, ChainSearch(game)
        self.seconds, self._show, self._nodes = seconds, show, 0
        self._known: dict[int, ChainBounds] = {}  # of one of each set of symmetric positions

    def __len__(self) -> int:
        return self._nodes

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return the value of a position for a player; raise LimitError if the time did not suffice."""
        low, high = self.bounds(state, player)
        if low < high:
            within = "" if self.seconds is None else f" within {self.seconds:g} s"
            raise LimitError(f"{self.game.text(state)} is not solved{within}: its value is {low:g} to {high:g}")
        return StateValue(low, self._lines_left(state))

    def bounds(self, state: Any, player: int) -> tuple[float, float]:
        """Return the bounds of a position's value for a player."""
        found = self._proved(state, self.seconds)
        mine = player == self.game.player(state)
        return (float(found.low), float(found.high)) if mine else (-float(found.high), -float(found.low))

    def choices(self, state: Any) -> list[Choice]:
        """Return every action with the bounds of its value."""
        game, actions = self.game, elements(self.game.legal(state))
        left = None if self.seconds is None else self.seconds - self._proved(state, self.seconds).seconds
        after = {action: game.step(state, action) for action in actions}
        todo = {self.search.canonical(position): position for position in after.values()}
        for i, position in enumerate(todo.values()):
            began = time.perf_counter()
            self._proved(position, None if left is None else max(0.0, left) / (len(todo) - i))
            left = None if left is None else left - (time.perf_counter() - began)
        return [self._choice(state, action, after[action]) for action in actions]

    def _choice(self, state: Any, action: int, after: Any) -> Choice:
        proved, gain = self._proved(after, 0.0), int(self.game.reward(state, action))
        low, high = (proved.low, proved.high) if gain else (-proved.high, -proved.low)
        return Choice(action, float(low + gain), float(high + gain), self._lines_left(state))

    def _proved(self, state: Any, seconds: float | None) -> ChainBounds:
        """Return what is known of a position; search it for ``seconds`` if its value is not known."""
        key = self.search.canonical(state)
        known = self._known.get(key)
        if known is None or (not known.exact and seconds != 0.0):
            self._known[key] = known = self.search.prove(state, seconds=seconds, show=self._show)
            self._nodes += known.nodes
        return known

    def _lines_left(self, state: Any) -> int:
        """Return the plies to the end: every line is drawn."""
        return int(self.game.size().bit_length() - 1 - self.game.index(state).bit_count())


class ChainSolver(Solver):
    """The solver of Dots and Boxes for boards with more than MAX_TABLE_LINES lines."""

    name = ChainTable.method
    on_demand = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to perfect play; tables of all positions come first on small boards."""
        game: Any = question.game
        if question.opponent != "perfect" or question.objective != "difference":
            return Lacking("a perfect opponent and the difference of points")
        if question.run.file is not None:
            return Lacking("no file, because there is nothing to save")
        return AFTER_TABLES if game.num_lines <= MAX_TABLE_LINES else BEFORE_TABLES

    def fill(self, question: Question) -> ChainTable:
        """Return a table that proves positions when they are asked for."""
        return ChainTable(question.game, seconds=question.run.seconds, show=question.run.progress)
