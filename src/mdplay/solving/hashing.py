"""Hash sets of packed states with one number each, for kernels that must meet every state once.

A set of states that are kept nowhere else:

    keys[slot, word]   the state's words          slots are a power of two, probed in order
    counts[slot]       its number; 0 = the slot is free

An index of states that are kept in a list, in the order of their numbers:

    index[slot]        31 bits of the state's hash, then 32 of its number + 1; 0 = the slot is free
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.bits import mix, some
from mdplay.bridge import pack, part

HALF = (1 << 32) - 1


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
def hash_of(packed: Any) -> Any:
    """Return the hash of a packed state, a word."""
    h = mix(packed[0], len(packed))
    for j in range(1, len(packed)):
        h = mix(h, packed[j])
    return h


@part
def find_slot(keys: Any, counts: Any, packed: Any) -> int:
    """Return the slot of a packed state, or the free slot where it belongs."""
    last = len(counts) - 1
    slot = int(hash_of(packed) & last)
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


@part
def tag_of(packed: Any) -> int:
    """Return 31 bits of a packed state's hash: with a number beside them they fit into a signed word."""
    return int(hash_of(packed) >> 33)


@part
def find_listed(index: Any, listed: Any, rows: Any, i: int, tag: int) -> int:
    """Return the slot of the state in row i, or the free slot where it belongs; ``tag`` is that of the state."""
    last = len(index) - 1
    slot = tag & last
    while index[slot] != 0:
        if index[slot] >> 32 == tag:
            number = (index[slot] & HALF) - 1
            same = True
            for j in range(rows.shape[1]):
                same &= listed[number, j] == rows[i, j]
            if same:
                break
        slot = (slot + 1) & last
    return slot


@part
def doubled_index(index: Any) -> Any:
    """Return the index in twice the room."""
    larger = np.zeros(2 * len(index), np.int64)
    last = len(larger) - 1
    for entry in index:
        if entry != 0:
            slot = (entry >> 32) & last
            while larger[slot] != 0:
                slot = (slot + 1) & last
            larger[slot] = entry
    return larger
