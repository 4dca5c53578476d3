"""States as short keys, and a hash table of them.

A packed state has a 64-bit word for each field, most of them nearly empty.  A *layout* puts the fields side by
side into as few words as they need; its row j tells where field j goes:

    layout[j] = (word, shift, width)        key[word] |= field << shift, provided that field < 2**width

Tic-Tac-Toe's (mine, theirs, player) of 9 + 9 + 1 bits is one word instead of three.  The widths are what random
games have shown; a solver that meets a wider field starts again with that field widened.

    table[slot * (K + 1) ...] = (*key, entry)     entry 0 = the slot is free; slots are a power of two

A key of K words and what is known of it stand side by side, so that a look costs one line of the cache; slots
are probed in order.  Tables and keys are flat arrays, ``borrow`` in kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, WORD, mix
from mdplay.bridge import get, pack, part, put
from mdplay.game import Game

Layout = NDArray[np.int64]
WORD_BITS = 64


def layout_of(widths: Sequence[int]) -> Layout:
    """Return a layout for fields of these widths in bits, each in one piece, the first ones lowest."""
    rows, word, used = [], 0, 0
    for width in widths:
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        rows.append((word, used % WORD_BITS, width))
        used += width
    return np.array(rows, np.int64)


def num_words(layout: Layout) -> int:
    """Return the number of words of a key."""
    return int(layout[-1, 0]) + 1


def key_of(game: Game[Any], s: Any, layout: Layout) -> NDArray[np.int64] | None:
    """Return the key of the least image of a state, in plain Python; None if a field is wider than allowed."""
    images = [game.image(s, k) for k in range(1, game.symmetries())] if game.has_symmetries else []
    fields = min(tuple(int(v) & WORD for v in image) for image in (s, *images))
    key = [0] * num_words(layout)
    for field, (word, shift, width) in zip(fields, layout.tolist(), strict=True):
        if field >> width:
            return None
        key[word] |= field << shift
    return np.array(key, np.uint64).view(np.int64)


def widths_of(layout: Layout) -> list[int]:
    """Return the widths that a layout was made for."""
    return [int(width) for width in layout[:, 2]]


@part
def write_key(game: Any, s: Any, layout: Any, num_words: int, out_key: Any, at: int) -> bool:
    """Write the key of a state from place ``at`` on; return False if a field is wider than the layout allows."""
    packed = pack(game, s)
    fits = True
    for j in range(num_words):
        put(out_key, at + j, 0)
    for j in range(len(packed)):
        field, width = U64(packed[j]), get(layout, 3 * j + 2)
        fits &= width == WORD_BITS or field >> width == 0
        place = at + get(layout, 3 * j)
        put(out_key, place, get(out_key, place) | field << get(layout, 3 * j + 1))
    return fits


@part
def hash_key(key: Any, at: int, num_words: int) -> Any:
    """Return the hash of a key, a word."""
    h = mix(get(key, at), num_words)
    for j in range(1, num_words):
        h = mix(h, get(key, at + j))
    return h


@part
def find_key(table: Any, last: int, first: int, key: Any, at: int, num_words: int) -> int:
    """Return the slot of a key, or the free slot where it belongs; look from slot ``first`` on.

    ``last`` is the number of slots less one.
    """
    slot = first
    while get(table, slot * (num_words + 1) + num_words) != 0:
        same = True
        for j in range(num_words):
            same &= get(table, slot * (num_words + 1) + j) == get(key, at + j)
        if same:
            break
        slot = (slot + 1) & last
    return slot
