"""A hash set of packed states with one number each, for kernels that must meet every state once.

keys[slot, word]   the state's words          slots are a power of two, probed in order
counts[slot]       its number; 0 = the slot is free
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.bits import mix, some
from mdplay.bridge import pack, part


@part
def canonical(game: Any, s: Any) -> Any:
    """Return the least image of a state under the game's symmetries, by its words."""
    if game.has_symmetries:
        least = pack(game, s)
        best = s
        for k in range(1, game.symmetries()):
            image = game.image(s, k)
            packed = pack(game, image)
            if packed < least:
                least, best = packed, image
        return best
    return s


@part
def choices_of(game: Any, s: Any) -> Any:
    """Return the outcomes of chance if it moves, else the legal actions; and whether chance moves."""
    if game.has_outcomes:
        outcomes = game.outcomes(s)
        if some(outcomes):
            return outcomes, True
    return game.legal(s), False


@part
def home_slot(packed: Any, last: int) -> int:
    """Return the slot where the search for a packed state begins; ``last`` is the last slot."""
    h = mix(packed[0], len(packed))
    for j in range(1, len(packed)):
        h = mix(h, packed[j])
    return int(h & last)


@part
def find_row(keys: Any, counts: Any, rows: Any, i: int, slot: int) -> int:
    """Return the slot of the packed state in a row, or the free slot where it belongs, from its home slot on."""
    last = len(counts) - 1
    while counts[slot] != 0:
        same = True
        for j in range(rows.shape[1]):
            same &= keys[slot, j] == rows[i, j]
        if same:
            break
        slot = (slot + 1) & last
    return slot


@part
def find_slot(keys: Any, counts: Any, packed: Any) -> int:
    """Return the slot of a packed state, or the free slot where it belongs."""
    last = len(counts) - 1
    slot = home_slot(packed, last)
    while counts[slot] != 0:
        same = True
        for j in range(len(packed)):
            same &= keys[slot, j] == packed[j]
        if same:
            break
        slot = (slot + 1) & last
    return slot


@part
def write_key(keys: Any, slot: int, packed: Any) -> None:
    """Write a packed state into a slot."""
    for j in range(len(packed)):
        keys[slot, j] = packed[j]


@part
def doubled(keys: Any, counts: Any) -> Any:
    """Return the set in twice the room."""
    num_slots = 2 * len(counts)
    last = num_slots - 1
    width = keys.shape[1]
    new_keys, new_counts = np.zeros((num_slots, width), np.uint64), np.zeros(num_slots, np.int64)
    for old in range(len(counts)):
        if counts[old] == 0:
            continue
        h = mix(keys[old, 0], width)
        for j in range(1, width):
            h = mix(h, keys[old, j])
        slot = int(h & last)
        while new_counts[slot] != 0:
            slot = (slot + 1) & last
        for j in range(width):
            new_keys[slot, j] = keys[old, j]
        new_counts[slot] = counts[old]
    return new_keys, new_counts
