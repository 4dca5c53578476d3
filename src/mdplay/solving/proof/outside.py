"""What proof search looks up from time to time: answers of other threads, the pause, the size of the table."""

from __future__ import annotations

from typing import Any

from mdplay.bits import U64
from mdplay.bridge import get, part, put
from mdplay.solving.proof.stack import (
    BUCKETS,
    FRAME,
    FRAMES_AT,
    GOAL,
    GOOD,
    MAX_BUCKETS,
    NODES,
    PAUSE_AT,
    PAUSED,
    PLACE,
    START,
    STATUS,
    TAG,
    THREAD,
)
from mdplay.solving.proof.table import LIMIT, NO_MOVE, WAYS, grow, high_of, low_of, move_of, probe


@part
def answer_of_others(game: Any, depth: int, low_bits: int, table: Any, stack: Any) -> Any:
    """Return the first node of the stack whose question another thread has answered, its bound and its move.

    If there is none, return ``depth``.
    """
    for d in range(depth):
        at = FRAMES_AT + d * FRAME
        goal = get(stack, at + GOAL)
        entry = probe(game, table, low_bits, U64(get(stack, at + PLACE)), U64(get(stack, at + TAG)))
        if low_of(entry) >= max(goal, -LIMIT):
            return d, low_of(entry), move_of(entry)
        if high_of(entry) < min(goal, LIMIT + 1):
            return d, high_of(entry), move_of(entry)
    return depth, 0, NO_MOVE


@part
def look_around(
    game: Any, nodes: int, num_buckets: int, low_bits: int, table: Any, stack: Any, progress: Any
) -> int:
    """Report the nodes, pause when it is time, grow the table; return the number of buckets."""
    put(stack, NODES, nodes)
    put(progress, get(stack, THREAD), nodes)
    spent = nodes - get(stack, START)
    if 0 < get(stack, PAUSE_AT) < nodes and get(stack, STATUS) == GOOD:
        put(stack, STATUS, PAUSED)
    if spent > num_buckets * WAYS and num_buckets < get(stack, MAX_BUCKETS):
        grow(game, table, num_buckets, low_bits)
        put(stack, BUCKETS, 2 * num_buckets)
    buckets: int = get(stack, BUCKETS)
    return buckets
