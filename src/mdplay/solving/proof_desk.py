"""The desk of one thread of proof search: all that it writes, in one flat int64 array.

    control numbers | a frame for each node on the way down | an order word and a row for each child on the way

An order word is rank << 8 | 255 - number among its siblings; a row is CHILD numbers, then the packed state.
One array, not many: reference counts of arrays that go from function to function would cost more than the search.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64
from mdplay.bridge import get, part, put, width

DEPTH, KIDS = 512, 16_384  # room for so many nodes and children on the way down
SIBLINGS = 64  # at most

# the control numbers
NODES = 0  # visited so far
STATUS = 1  # one of the four below
QUESTIONS = 2  # asked so far
BUCKETS = 3  # of the table, in use
MAX_BUCKETS = 4  # that it may grow to
START = 5  # NODES when the search of this position began
PAUSE_AT = 6  # NODES at which the search pauses; 0: never
THREAD = 7  # the number of this thread
THREADS = 8  # how many there are
CONTROL = 9
GOOD, PAUSED, UNFIT, TOO_DEEP = range(4)

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
def row_of(game: Any, base: int, k: int, desk: Any) -> int:
    """Return where the row of the child at place k of the order begins."""
    return row_at(game, base + 255 - (get(desk, ORDER_AT + k) & 255))


@part
def save_frame(
    depth: int, base: int, top: int, end: int, best: int, place: Any, tag: Any, born: int, side: int, goal: int,
    desk: Any,
) -> None:  # fmt: skip
    """Write a node to the stack."""
    at = FRAMES_AT + depth * FRAME
    put(desk, at + BASE, base)
    put(desk, at + TOP, top)
    put(desk, at + END, end)
    put(desk, at + BEST, best)
    put(desk, at + PLACE, place)
    put(desk, at + TAG, tag)
    put(desk, at + BORN, born)
    put(desk, at + SIDE, side)
    put(desk, at + GOAL, goal)


@part
def load_frame(depth: int, desk: Any) -> Any:
    """Return base, top, end, best, place, tag, born, side and goal of a node."""
    at = FRAMES_AT + depth * FRAME
    return (
        get(desk, at + BASE),
        get(desk, at + TOP),
        get(desk, at + END),
        get(desk, at + BEST),
        U64(get(desk, at + PLACE)),
        U64(get(desk, at + TAG)),
        get(desk, at + BORN),
        get(desk, at + SIDE),
        get(desk, at + GOAL),
    )
