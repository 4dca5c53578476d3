"""Distinct keys, numbered in order of their first occurrence, and the index of these numbers.

    keys[K * i ...]   the key of number i, K words (mdplay.states.keys)
    index[slot]       0 = free; else number + 1 in the low bits, and above them a tag: bits of the key's hash

Keys come in *blocks*.  A block may be filled by one thread while another one numbers the keys of the block before.
An index that is four fifths full is written anew from the keys, twice as large, which takes no second one beside
it: 5 to 10 bytes a key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64
from mdplay.compiling import get, inlined, kernel, prefetch, put, unchecked_view
from mdplay.errors import LimitError
from mdplay.states.keys import hash_key

BLOCK_ROOM = 1 << 19  # keys of a block
FIRST_SLOTS = 1 << 14
FULL_SHARE = 0.8
ENTRY_BITS, TAG_SHIFT = 32, 40
MOST_NUMBERS = (1 << ENTRY_BITS) - 1 - BLOCK_ROOM
SLOT_AHEAD, KEY_AHEAD = 24, 12  # lookups in advance that the memory of a slot and of its key is prefetched
LEAST_ROOM = 1 << 16


@inlined
def slot_of(h: Any, num_slots: int) -> int:
    """Return the first slot for a hash."""
    return int(h & (num_slots - 1))


@inlined
def tag_of(h: Any, number_bits: int) -> int:
    """Return the tag of a hash, above the bits of a number."""
    return int(h >> TAG_SHIFT) << number_bits & (1 << ENTRY_BITS) - 1


class Index(NamedTuple):
    """The index as an argument of kernels, and the number of bits of a number in an entry."""

    slots: NDArray[np.uint32]
    number_bits: int


class Listed(NamedTuple):
    """The numbered keys in an array with room for more, their count, and the words of each."""

    keys: NDArray[np.int64]
    known: int
    words: int


@inlined
def find_slot(index: Index, h: Any, keys: Any, fresh: Any, at: int, words: int) -> int:
    """Return the slot of the key at place ``at`` of ``fresh``, or the free slot for it."""
    table, num_slots, low = unchecked_view(index.slots), len(index.slots), (1 << index.number_bits) - 1
    slot, tag = slot_of(h, num_slots), tag_of(h, index.number_bits)
    while True:
        entry = int(get(table, slot))
        if entry == 0:
            return slot
        if entry & ~low == tag:
            number, same = (entry & low) - 1, True
            for j in range(words):
                same &= get(keys, number * words + j) == get(fresh, at * words + j)
            if same:
                return slot
        slot = slot + 1 & num_slots - 1


@kernel(plain_first=True)
def number_keys(index: Index, listed: Listed, fresh: Any, hashes: Any, out_numbers: Any) -> int:
    """Write the numbers of the keys of a block, append the new keys, and return the number of these.

    Why every access is inside: the index has free slots and ``listed`` has room for all keys of the block; the
    caller leaves a fifth of the slots free.
    """
    table, num_slots, low = unchecked_view(index.slots), len(index.slots), (1 << index.number_bits) - 1
    keys, known, words, count = unchecked_view(listed.keys), listed.known, listed.words, len(hashes)
    given, found = unchecked_view(fresh), listed.known
    for ahead in range(count + SLOT_AHEAD):
        if ahead < count:
            prefetch(table, slot_of(U64(hashes[ahead]), num_slots))
        if 0 <= ahead - KEY_AHEAD < count:
            number = (int(get(table, slot_of(U64(hashes[ahead - KEY_AHEAD]), num_slots))) & low) - 1
            if 0 <= number < known:
                prefetch(keys, number * words)
        place = ahead - SLOT_AHEAD
        if place < 0:
            continue
        h = U64(hashes[place])
        slot = find_slot(index, h, keys, given, place, words)
        number = (int(get(table, slot)) & low) - 1
        if number < 0:
            number = found
            put(table, slot, tag_of(h, index.number_bits) | number + 1)
            for j in range(words):
                put(keys, number * words + j, get(given, place * words + j))
            found += 1
        out_numbers[place] = number
    return found - known


@kernel(plain_first=True)
def fill_index(index: Index, listed: Listed) -> None:
    """Write the keys into an empty index, each a few steps after its slot was prefetched."""
    table, num_slots = unchecked_view(index.slots), len(index.slots)
    keys, known, words = unchecked_view(listed.keys), listed.known, listed.words
    waiting = np.zeros(SLOT_AHEAD, np.uint64)
    for i in range(known + SLOT_AHEAD):
        if i >= SLOT_AHEAD:
            h = U64(get(waiting, i % SLOT_AHEAD))
            slot = slot_of(h, num_slots)
            while get(table, slot) != 0:
                slot = slot + 1 & num_slots - 1
            put(table, slot, tag_of(h, index.number_bits) | i - SLOT_AHEAD + 1)
        if i < known:
            h = hash_key(keys, i * words, words)
            put(waiting, i % SLOT_AHEAD, h)
            prefetch(table, slot_of(h, num_slots))


@kernel(plain_first=True, writes=False)
def number_of(index: Index, listed: Listed, key: Any) -> int:
    """Return the number of a key, or -1."""
    keys, words = unchecked_view(listed.keys), listed.words
    slot = find_slot(index, hash_key(unchecked_view(key), 0, words), keys, unchecked_view(key), 0, words)
    return (int(index.slots[slot]) & (1 << index.number_bits) - 1) - 1


def reserve(count: int, dtype: Any) -> NDArray[Any]:
    """Return an array of ``count`` elements, or of fewer if the system does not grant more address space.

    What is never touched takes no memory: so nothing is copied because it grows.
    """
    while True:
        try:
            return np.empty(count, dtype)
        except MemoryError:
            count //= 2
            if count < LEAST_ROOM:
                raise LimitError("the system gives no memory for the list of states") from None


class Numbering:
    """At most ``room`` distinct keys of ``words`` words, and blocks for new keys."""

    def __init__(self, words: int, room: int, blocks: int = 1) -> None:
        self.words = words
        self.keys = reserve(min(room, MOST_NUMBERS) * words, np.int64)
        self._fresh = np.empty(blocks * BLOCK_ROOM * words, np.int64)
        self._hashes = np.empty(blocks * BLOCK_ROOM, np.uint64)
        self.known = 0
        self._use_slots(FIRST_SLOTS)

    @property
    def room(self) -> int:
        """The maximum number of keys."""
        return len(self.keys) // self.words

    def begin(self, keys: NDArray[np.int64]) -> None:
        """Append keys that are distinct to the empty list."""
        self.known = len(keys) // self.words
        self.keys[: len(keys)] = keys
        self._use_slots(self.slots_for(self.known))
        self._fill()

    def block(self, i: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return the arrays for up to ``most`` keys and hashes of block i."""
        begin, end = i * BLOCK_ROOM, i * BLOCK_ROOM + most
        return self._fresh[begin * self.words : end * self.words], self._hashes[begin:end]

    def take_in(self, count: int, out_numbers: NDArray[np.uint32], *, block: int = 0) -> None:
        """Write the numbers of the first keys of a block; new keys get the next numbers."""
        most = self.known + count
        if self.slots_for(most) > len(self.index):
            self._use_slots(self.slots_for(most))
            self._fill()
        given = self.block(block, count)
        self.known += int(number_keys(self._index(), self._listed(most), *given, out_numbers[:count]))

    def number_of(self, key: NDArray[np.int64]) -> int | None:
        """Return the number of a key, or None."""
        found = int(number_of(self._index(), self._listed(self.known), key))
        return None if found < 0 else found

    # ---------------------------------------------------------------- the index
    def slots_for(self, most: int) -> int:
        """Return the number of slots of an index for ``most`` keys; it never decreases."""
        slots = len(self.index)
        while most > FULL_SHARE * slots:
            slots *= 2
        return slots

    def _use_slots(self, slots: int) -> None:
        """Make an empty index."""
        self.index = np.zeros(0, np.uint32)  # the old one goes first
        self.index = np.zeros(slots, np.uint32)
        self.number_bits = int(FULL_SHARE * slots).bit_length()

    def _fill(self) -> None:
        fill_index(self._index(), self._listed(self.known))

    def _index(self) -> Index:
        return Index(self.index, self.number_bits)

    def _listed(self, room: int) -> Listed:
        """Return the keys in an array with room for ``room`` of them."""
        return Listed(self.keys[: room * self.words], self.known, self.words)
