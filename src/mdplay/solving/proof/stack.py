"""The search stack of one thread of proof search: all that it writes, in one flat int64 array.

    control numbers | a frame for each node on the way down | an order word and a row for each child on the way

An order word is rank * CHOICES + CHOICES - 1 - number among its siblings; a row is CHILD numbers, then the packed
state.
One array, not many: reference counts of arrays that go from function to function would cost more than the search.

Why every access is inside: ``prove`` leaves a node as soon as there is no frame, or no room for as many
children as a mask may have elements, left below it.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64
from mdplay.bridge import get, part, put, width

DEPTH, KIDS = 512, 16_384  # room for so many nodes and children on the way down
CHOICES = 1 << 11  # a power of two: a mask has no more elements

# the control numbers
NODES = 0  # visited so far
STATUS = 1  # one of the six below
QUESTIONS = 2  # asked so far
BUCKETS = 3  # of the table, in use
MAX_BUCKETS = 4  # that it may grow to
START = 5  # NODES when the search of this position began
PAUSE_AT = 6  # NODES at which the search pauses; 0: never
THREAD = 7  # the number of this thread
THREADS = 8  # how many there are
CONTROL = 9
GOOD, PAUSED, UNFIT, TOO_DEEP, BROKEN, ENDLESS = range(6)

BASE, TOP, END, BEST, PLACE, TAG, BORN, SIDE, GOAL, FRAME = range(10)  # of a node
MOVES, KEY, CHECK, HINT, ACTION, GAIN, CHILD = range(7)  # of a child
FRAMES_AT = CONTROL
ORDER_AT = FRAMES_AT + DEPTH * FRAME
ROWS_AT = ORDER_AT + KIDS


@part
def row_at(game: Any, number: int) -> int:
    """Return where the row of a child begins."""
    return ROWS_AT + number * (CHILD + width(game))


@part
def row_of(game: Any, base: int, k: int, stack: Any) -> int:
    """Return where the row of the child at place k of the order begins."""
    return row_at(game, base + CHOICES - 1 - (get(stack, ORDER_AT + k) & CHOICES - 1))


@part
def save_frame(
    depth: int, base: int, top: int, end: int, best: int, place: Any, tag: Any, born: int, side: int, goal: int,
    stack: Any,
) -> None:  # fmt: skip
    """Write a node to the stack."""
    at = FRAMES_AT + depth * FRAME
    put(stack, at + BASE, base)
    put(stack, at + TOP, top)
    put(stack, at + END, end)
    put(stack, at + BEST, best)
    put(stack, at + PLACE, place)
    put(stack, at + TAG, tag)
    put(stack, at + BORN, born)
    put(stack, at + SIDE, side)
    put(stack, at + GOAL, goal)


@part
def load_frame(depth: int, stack: Any) -> Any:
    """Return base, top, end, best, place, tag, born, side and goal of a node."""
    at = FRAMES_AT + depth * FRAME
    return (
        get(stack, at + BASE),
        get(stack, at + TOP),
        get(stack, at + END),
        get(stack, at + BEST),
        U64(get(stack, at + PLACE)),
        U64(get(stack, at + TAG)),
        get(stack, at + BORN),
        get(stack, at + SIDE),
        get(stack, at + GOAL),
    )
