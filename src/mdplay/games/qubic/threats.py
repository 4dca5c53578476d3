"""Forced wins by unbroken sequences of threats, on boards whose lines have four cells.

A threat is a line with three own marks and a free cell: the opponent must take that cell.  A sequence of threats
that ends in two free cells at once wins against any defence, and it is quickly found, since every answer is
forced.  The search below is complete for such sequences up to its budget of nodes; a node is a position in which
the attacker is to move, and

    an open line of three own marks                 wins: complete it
    two cells where the opponent would complete     fails: only one can be taken
    one such cell                                   has to be taken, by a threat (two threats win)
    a cell on two open lines of two own marks       wins: taking it makes two threats
    otherwise                                       try each open line of two own marks, both ways round

Up to 128 lines are counted at once: for each side a line's marks, 0 .. 3, are two bits, one in the plane ``odd``
and one in the plane ``two``; a plane is a ``low`` and a ``high`` word, and bit i stands for line i.  Taking a cell
adds one to the lines through it:

    two ^= odd & through,  odd ^= through
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from mdplay.bits import U64, WORD, lowest, mix, nonempty, popcount, without_lowest
from mdplay.compiling import Words, get, inlined, kernel, put, unchecked_view, word
from mdplay.errors import LimitError

MAX_DEPTH = 33  # pairs of moves on 64 cells
FRAME = 13  # words of a frame: both sides (5 each), the lines to try (2), how to try the next line (1)
ONE_WAY, OTHER_WAY, BLOCK = range(3)  # the lower free cell first, the upper one first, the cell to block first
DEFAULT_NODES = 100_000
DEFAULT_MEMORY = 1 << 16  # positions that are remembered to fail
LOW, HIGH = 128, 192  # where the tables keep the two words of lines through each cell; the lines come first
NO_WIN, UNKNOWN = -1, -2  # no sequence wins; the budget ended before that was known


class Side(NamedTuple):
    """One side's marks, and how many of them each line has."""

    cells: U64
    odd_low: U64
    odd_high: U64
    two_low: U64
    two_high: U64


class LineGame(Protocol):
    """A game that tells its lines, each a mask of four cells out of 64."""

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines."""

    def __hash__(self) -> int: ...


@lru_cache(maxsize=4)
def line_tables(game: LineGame) -> Words:
    """Return the lines of a game for kernels: each as a mask of cells, then those through each cell."""
    if len(game.lines) > LOW:
        raise LimitError(f"{len(game.lines)} lines are too many; the search for threats counts {LOW}")
    tables = np.zeros(256, np.uint64)
    tables[: len(game.lines)] = game.lines
    for cell in range(64):
        through = sum(1 << i for i, line in enumerate(game.lines) if line >> cell & 1)
        tables[LOW + cell], tables[HIGH + cell] = through & WORD, through >> 64
    return tables


# ---------------------------------------------------------------- counting marks
@inlined
def marked(side: Side, cell: int, tables: Words) -> Side:
    """Return a side after it took a cell."""
    first, second = get(tables, LOW + cell), get(tables, HIGH + cell)
    return Side(
        side.cells | U64(1) << cell,
        side.odd_low ^ first,
        side.odd_high ^ second,
        side.two_low ^ side.odd_low & first,
        side.two_high ^ side.odd_high & second,
    )


@inlined
def side_of(cells: Any, tables: Words) -> Side:
    """Return a side with these marks."""
    side = Side(U64(0), U64(0), U64(0), U64(0), U64(0))
    left = U64(cells)
    while nonempty(left):
        side = marked(side, lowest(left), tables)
        left = without_lowest(left)
    return side


@inlined
def cells_of(first: Any, second: Any, tables: Words) -> Any:
    """Return all cells of a set of lines."""
    cells = U64(0)
    while nonempty(first):
        cells |= get(tables, lowest(first))
        first = without_lowest(first)
    while nonempty(second):
        cells |= get(tables, 64 + lowest(second))
        second = without_lowest(second)
    return cells


@inlined
def open_lines(mine: Side, theirs: Side, count: int) -> Any:
    """Return the lines (two words) in which I have 1, 2 or 3 marks and they have none."""
    low, high = ~(theirs.odd_low | theirs.two_low), ~(theirs.odd_high | theirs.two_high)
    if count == 3:
        return mine.odd_low & mine.two_low & low, mine.odd_high & mine.two_high & high
    if count == 2:
        return mine.two_low & ~mine.odd_low & low, mine.two_high & ~mine.odd_high & high
    return mine.odd_low & ~mine.two_low & low, mine.odd_high & ~mine.two_high & high


@inlined
def completing(mine: Side, theirs: Side, tables: Words) -> Any:
    """Return the cells that would complete a line of mine."""
    first, second = open_lines(mine, theirs, 3)
    return cells_of(first, second, tables) & ~mine.cells


# ---------------------------------------------------------------- one node
@inlined
def shared_cell(mine: Side, first: Any, second: Any, tables: Words) -> Any:
    """Return the free cells that lie on two of the lines."""
    once, twice = U64(0), U64(0)
    while nonempty(first):
        cells = get(tables, lowest(first)) & ~mine.cells
        twice |= once & cells
        once |= cells
        first = without_lowest(first)
    while nonempty(second):
        cells = get(tables, 64 + lowest(second)) & ~mine.cells
        twice |= once & cells
        once |= cells
        second = without_lowest(second)
    return twice


@inlined
def examine(mine: Side, theirs: Side, tables: Words) -> Any:
    """Return the winning cell or NO_WIN, the lines to try (two words), and whether they begin with a block."""
    none = U64(0)
    wins = completing(mine, theirs, tables)
    if nonempty(wins):
        return lowest(wins), none, none, False
    block = completing(theirs, mine, tables)
    first, second = open_lines(mine, theirs, 2)
    if nonempty(without_lowest(block)):
        return NO_WIN, none, none, False
    if nonempty(block):
        cell = lowest(block)
        first, second = first & get(tables, LOW + cell), second & get(tables, HIGH + cell)
        double = popcount(first) + popcount(second) > 1
        return cell if double else NO_WIN, first, second, True
    double = shared_cell(mine, first, second, tables)
    return lowest(double) if nonempty(double) else NO_WIN, first, second, False


# ---------------------------------------------------------------- the search
@inlined
def slot_of(mine: U64, theirs: U64, memory: Words) -> int:
    """Return where the memory of failures keeps a position: the first of two words."""
    return 2 * int(mix(mix(mine, 1), theirs) & (len(memory) // 2 - 1))


@inlined
def known_to_fail(mine: U64, theirs: U64, memory: Words, slot: int) -> bool:
    """Return whether the memory holds the position."""
    return bool(get(memory, slot) == mine and get(memory, slot + 1) == theirs)


@inlined
def write_frame(frames: Words, at: int, mine: Side, theirs: Side, first: Any, second: Any, state: int) -> None:
    """Write a node into the stack."""
    for i in range(5):
        put(frames, at + i, mine[i])
        put(frames, at + 5 + i, theirs[i])
    put(frames, at + 10, first)
    put(frames, at + 11, second)
    put(frames, at + 12, state)


@inlined
def read_side(frames: Words, at: int) -> Side:
    """Return a side from the stack."""
    return Side(
        get(frames, at), get(frames, at + 1), get(frames, at + 2), get(frames, at + 3), get(frames, at + 4)
    )


@inlined
def next_pair(frames: Words, at: int, mine: Side, theirs: Side, tables: Words) -> Any:
    """Take the next threat of a node: my cell and the forced answer, or -1 when there is none left."""
    first, second, state = get(frames, at + 10), get(frames, at + 11), int(get(frames, at + 12))
    if not nonempty(first | second):
        return -1, -1
    line = lowest(first) if nonempty(first) else 64 + lowest(second)
    free = get(tables, line) & ~mine.cells
    one, other = lowest(free), lowest(without_lowest(free))
    if state == BLOCK:
        threatened = completing(theirs, mine, tables)
        if lowest(threatened) == other:
            one, other = other, one
    elif state == ONE_WAY:
        put(frames, at + 12, OTHER_WAY)
        return one, other
    else:
        one, other = other, one
        put(frames, at + 12, ONE_WAY)
    if nonempty(first):
        put(frames, at + 10, without_lowest(first))
    else:
        put(frames, at + 11, without_lowest(second))
    return one, other


@inlined
def threat_win(mine: Side, theirs: Side, budget: int, tables: Words, memory: Words, frames: Words) -> Any:
    """Return the first cell of a winning sequence, NO_WIN or UNKNOWN, and the nodes that took.

    ``memory`` keeps positions known to fail (pairs of words, a power of two of them), in place.
    """
    depth, nodes, at = 0, 0, 0
    opening = NO_WIN
    while True:
        nodes += 1
        if nodes > budget:
            return UNKNOWN, nodes
        cell, first, second, block = examine(mine, theirs, tables)
        if cell >= 0:
            return cell if depth == 0 else opening, nodes
        slot = slot_of(mine.cells, theirs.cells, memory)
        if nonempty(first | second) and not known_to_fail(mine.cells, theirs.cells, memory, slot):
            at = depth * FRAME
            write_frame(frames, at, mine, theirs, first, second, BLOCK if block else ONE_WAY)
            depth += 1
        while True:  # go back to the deepest node with a threat left
            if depth == 0:
                return NO_WIN, nodes
            at = (depth - 1) * FRAME
            mine, theirs = read_side(frames, at), read_side(frames, at + 5)
            cell, answer = next_pair(frames, at, mine, theirs, tables)
            if cell >= 0:
                break
            slot = slot_of(mine.cells, theirs.cells, memory)
            put(memory, slot, mine.cells)
            put(memory, slot + 1, theirs.cells)
            depth -= 1
        if depth == 1:
            opening = cell
        mine, theirs = marked(mine, cell, tables), marked(theirs, answer, tables)


@kernel
def find_win(mine: Side, theirs: Side, budget: int, tables: Words, memory: Words, frames: Words) -> Any:
    """Return the first cell of a winning sequence of threats, NO_WIN or UNKNOWN, and the nodes that took."""
    # All indices are inside: lines are below 128 and cells below 64, as the tables have them; a slot is within the
    # mask of the memory; each frame takes one free cell for either side, so that 64 cells fill at most 32 frames.
    tables, memory, frames = unchecked_view((tables, memory, frames))
    me, other = side_of(mine, tables), side_of(theirs, tables)
    return threat_win(me, other, budget, tables, memory, frames)


@dataclass(frozen=True)
class ForcedWin:
    """The outcome of a search for threats: the first cell (or none), whether it is certain, the nodes."""

    action: int | None
    certain: bool
    nodes: int


def new_memory(positions: int = DEFAULT_MEMORY) -> Words:
    """Return an empty memory of failures for a number of positions, rounded up to a power of two."""
    return np.zeros(2 << (positions - 1).bit_length(), np.uint64)


def new_frames() -> Words:
    """Return room for the stack of one search."""
    return np.zeros(MAX_DEPTH * FRAME, np.uint64)


class ThreatSearch:
    """Forced wins in a game of lines of four (Qubic), with a memory that lasts from call to call."""

    def __init__(self, game: LineGame, *, positions: int = DEFAULT_MEMORY) -> None:
        self.tables, self.memory, self.frames = line_tables(game), new_memory(positions), new_frames()

    def win(self, mine: int, theirs: int, *, nodes: int = DEFAULT_NODES) -> ForcedWin:
        """Search for a win of the side to move, with marks ``mine`` against ``theirs``."""
        cell, used = find_win(word(mine), word(theirs), nodes, self.tables, self.memory, self.frames)
        return ForcedWin(int(cell) if cell >= 0 else None, cell != UNKNOWN, int(used))
