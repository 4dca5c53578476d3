"""States as short keys, and a hash table of them.

A packed state has a 64-bit word for each field, most of them nearly empty.  A *layout* puts the fields side by
side into as few words as they need; its row j tells where field j goes:

    layout[j] = (word, shift, width)        key[word] |= field << shift, provided that field < 2**width

Tic-Tac-Toe's (mine, theirs, player) of 9 + 9 + 1 bits is one word instead of three.  The widths are what random
games have shown; a solver that meets a wider field starts again with that field widened.

    rows[slot] = (*key, entry)      entry 0 = the slot is free; slots are a power of two, probed in order

A key and what is known of it stand side by side, so that a look costs one line of the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import mix
from mdplay.bridge import pack, part

Layout = NDArray[np.uint64]
WORD_BITS = 64


def layout_of(widths: Sequence[int]) -> Layout:
    """Return a layout for fields of these widths in bits, each in one piece, the first ones lowest."""
    rows, word, used = [], 0, 0
    for width in widths:
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        rows.append((word, used % WORD_BITS, width))
        used += width
    return np.array(rows, np.uint64)


def num_words(layout: Layout) -> int:
    """Return the number of words of a key."""
    return int(layout[-1, 0]) + 1


def widths_of(layout: Layout) -> list[int]:
    """Return the widths that a layout was made for."""
    return [int(width) for width in layout[:, 2]]


@part
def write_key(game: Any, s: Any, layout: Any, out_key: Any) -> bool:
    """Write the key of a state; return False if a field is wider than the layout allows."""
    packed = pack(game, s)
    fits = True
    for word in range(len(out_key)):
        out_key[word] = 0
    for j in range(len(packed)):
        width = layout[j, 2]
        fits &= width == WORD_BITS or packed[j] >> width == 0
        out_key[layout[j, 0]] |= packed[j] << layout[j, 1]
    return fits


@part
def hash_key(key: Any) -> Any:
    """Return the hash of a key, a word."""
    h = mix(key[0], len(key))
    for word in range(1, len(key)):
        h = mix(h, key[word])
    return h


@part
def find_key(rows: Any, key: Any) -> int:
    """Return the slot of a key, or the free slot where it belongs."""
    last = len(rows) - 1
    slot = int(hash_key(key) & last)
    while rows[slot, len(key)] != 0:
        same = True
        for word in range(len(key)):
            same &= rows[slot, word] == key[word]
        if same:
            break
        slot = (slot + 1) & last
    return slot
