"""The memory of proof search: for each position a lower and an upper bound of its value, and the best move.

An entry is one word; zero knows nothing:

    63            28 27    23 22    16 15        8 7          0
    tag           |  work   |  move   |  low + 128 |  127 - high

Four entries make a bucket.  A position's key, times an odd number modulo a power of two, is its *place*: a
permutation, so that its upper bits (the bucket) and its lower bits (the tag) together are the key.  No position
is ever mistaken for another.  A bucket gives up the entry that cost least work.

Where the game has no ``key``, or one of more bits than bucket and tag hold, an entry has a second word, the
place xor the first word (so that a torn write of two threads matches nothing).  Without ``key`` the place is
a 64-bit hash of the state and the tag another of 36 bits: two states in a billion billion billion share both.

A place has as many bits as bucket and the rest together, so its upper bits are always one of the table's buckets;
behind the last bucket is the spare one that ``grow`` needs.  Bounds beyond LIMIT are never stored.

The table begins small, since a table that fits the cache is quick, and doubles with the work, in place: the
highest bit below the bucket becomes the bucket's last.

The search stack of one thread of proof search: all that it writes, in one flat int64 array.

    control numbers | a frame for each node on the way down | an order word and a row for each child on the way

An order word is rank * CHOICES + CHOICES - 1 - number among its siblings; a row is CHILD numbers, then the packed
state.
One array, not many: reference counts of arrays that go from function to function would cost more than the search.

Why every access is inside: ``prove`` leaves a node as soon as there is no frame, or no room for as many
children as a mask may have elements, left below it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, mix
from mdplay.compiling import State, Words, get, inlined, pack, put, width
from mdplay.game import Game

DEPTH, KIDS = 512, 16_384  # maximum numbers of nodes and of children on the stack
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


@inlined
def row_at(game: Game[Any], number: int) -> int:
    """Return where the row of a child begins."""
    return ROWS_AT + number * (CHILD + width(game))


@inlined
def row_of(game: Game[Any], base: int, k: int, stack: NDArray[np.int64]) -> int:
    """Return where the row of the child at place k of the order begins."""
    return row_at(game, base + CHOICES - 1 - (get(stack, ORDER_AT + k) & CHOICES - 1))


class Frame(NamedTuple):
    """A node on the stack: its children are rows ``base`` to ``end`` - 1; those before ``top`` are open."""

    base: int
    top: int
    end: int
    best: int
    place: Any
    tag: Any
    born: int
    side: int
    goal: int


class Shared(NamedTuple):
    """What the parts of a search share: the table, the places that threads search, the stack, and the outside."""

    table: Any
    busy: Any
    stack: Any
    stop: Any
    progress: Any


class Spot(NamedTuple):
    """Where a node is: its goal, its depth, its first row, and the bits of a place below the bucket."""

    goal: int
    depth: int
    base: int
    low_bits: int


@inlined
def save_frame(depth: int, frame: Frame, stack: NDArray[np.int64]) -> None:
    """Write a node to the stack."""
    at = FRAMES_AT + depth * FRAME
    put(stack, at + BASE, frame.base)
    put(stack, at + TOP, frame.top)
    put(stack, at + END, frame.end)
    put(stack, at + BEST, frame.best)
    put(stack, at + PLACE, frame.place)
    put(stack, at + TAG, frame.tag)
    put(stack, at + BORN, frame.born)
    put(stack, at + SIDE, frame.side)
    put(stack, at + GOAL, frame.goal)


@inlined
def load_frame(depth: int, stack: NDArray[np.int64]) -> Any:
    """Return a node from the stack, as a `Frame`."""
    at = FRAMES_AT + depth * FRAME
    return Frame(
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


WAYS = 4  # entries in a bucket
DATA = 28  # bits below the tag
TAG_BITS = 64 - DATA
EXACT_BITS = 54  # keys of at most this many bits go into one word, from tables of 2**18 buckets (8 MB) on
LIMIT = 120  # values are within -LIMIT .. LIMIT
NO_MOVE = 1 << 11  # more than any action; an entry has room for those below UNKNOWN_MOVE
UNKNOWN_MOVE = 127
MAX_WORK = 31
SPREAD = 0x2545_F491_4F6C_DD1D  # odd; the multiplier of xorshift64* (Vigna 2016)
DATA_MASK = (1 << DATA) - 1


@inlined
def is_exact(game: Game[Any]) -> Any:
    """Return whether bucket and tag hold the whole key: one word an entry."""
    return game.has_key and game.key_bits <= EXACT_BITS


@inlined
def entry_words(game: Game[Any]) -> int:
    """Return the number of words of an entry."""
    return 1 if is_exact(game) else 2


@inlined
def place_bits(game: Game[Any]) -> int:
    """Return the number of bits of a place."""
    return game.key_bits if is_exact(game) else 64


@inlined
def place_of(game: Game[Any], s: State, stack: NDArray[np.int64]) -> Any:
    """Return the place of a position and, if that is only a hash, the tag that tells it from others.

    Note on the stack a key of more bits than the game has promised.
    """
    if game.has_key:
        key, mask = U64(game.key(s)), (U64(1) << place_bits(game)) - 1
        if key >> game.key_bits != 0:
            put(stack, STATUS, BROKEN)
        return key * SPREAD & mask, U64(0)
    packed = pack(game, s)
    first, second = mix(packed[0], 1), mix(packed[0], 2)
    for j in range(1, len(packed)):
        first, second = mix(first, packed[j]), mix(second, packed[j])
    return first, second >> DATA


@inlined
def probe(game: Game[Any], table: Words, low_bits: int, place: Any, tag: Any) -> Any:
    """Return the entry of a position, or 0."""
    found = U64(0)
    if is_exact(game):
        at, own = int(place >> low_bits) * WAYS, place & (U64(1) << low_bits) - 1
        for i in range(at, at + WAYS):
            entry = get(table, i)
            found = entry if entry >> DATA == own else found
        return found
    at = int(place >> low_bits) * WAYS * 2
    for i in range(at, at + WAYS * 2, 2):
        entry = get(table, i)
        found = entry if get(table, i + 1) ^ entry == place and entry >> DATA == tag else found
    return found


@inlined
def low_of(entry: Any) -> int:
    """Return the lower bound in an entry."""
    return int(entry >> 8 & 255) - 128


@inlined
def high_of(entry: Any) -> int:
    """Return the upper bound in an entry."""
    return 127 - int(entry & 255)


@inlined
def move_of(entry: Any) -> int:
    """Return the move in an entry, UNKNOWN_MOVE if it has none; of the empty one ``NO_MOVE``.

    It is a hint and no more: the rare action with the number UNKNOWN_MOVE is at worst tried too early.
    """
    return int(entry >> 16 & 127) if entry else NO_MOVE


@inlined
def store(
    game: Game[Any],
    table: Words,
    low_bits: int,
    place: Any,
    tag: Any,
    value: int,
    is_low: bool,
    move: int,
    work: int,
) -> None:
    """Note that the value is at least (``is_low``) or at most so much, in place of what cost least."""
    words = entry_words(game)
    if is_exact(game):
        tag = place & (U64(1) << low_bits) - 1
    at = int(place >> low_bits) * WAYS * words
    victim, least, low, high = at, 99, -128, 127
    for i in range(at, at + WAYS * words, words):
        entry = get(table, i)
        if entry >> DATA == tag and (words == 1 or get(table, i + 1) ^ entry == place):
            low, high, victim = low_of(entry), high_of(entry), i
            break
        cost = int(entry >> 23 & 31)
        if cost < least:
            victim, least = i, cost
    if is_low:
        low = max(low, value)
    else:
        high = min(high, value)
    entry = tag << DATA | work << 23 | min(move, UNKNOWN_MOVE) << 16 | (low + 128) << 8 | (127 - high)
    put(table, victim, entry)
    if words == 2:
        put(table, victim + 1, entry ^ place)


@inlined
def grow(game: Game[Any], table: Words, num_buckets: int, low_bits: int) -> None:
    """Double the buckets in place, from the last to the first."""
    words = entry_words(game)
    size = WAYS * words
    spare = 2 * num_buckets * size  # one bucket more than the table will have
    for bucket in range(num_buckets - 1, -1, -1):
        for i in range(size):
            put(table, spare + i, get(table, bucket * size + i))
        for i in range(2 * size):
            put(table, 2 * bucket * size + i, 0)
        for i in range(0, size, words):
            entry = get(table, spare + i)
            if words == 1:
                rest_of_tag = entry >> DATA & (U64(1) << low_bits - 1) - 1
                half = int(entry >> DATA >> low_bits - 1)
                put(table, (2 * bucket + half) * size + i, rest_of_tag << DATA | entry & DATA_MASK)
            else:
                half = int((get(table, spare + i + 1) ^ entry) >> low_bits - 1 & 1)
                put(table, (2 * bucket + half) * size + i, entry)
                put(table, (2 * bucket + half) * size + i + 1, get(table, spare + i + 1))
    for i in range(size):
        put(table, spare + i, 0)
