"""Distinct keys, numbered in the order in which they are met, and the index that finds them again.

    keys[K * i ...]   the key of number i, K words (mdplay.states.keys)
    index[slot]       0 = free; else number + 1 in the low bits, and above them a tag: bits of the key's hash

Keys come in *blocks*, each filled by one thread, and are numbered in the order of blocks and of places in them,
however many threads look them up.  The top bits of a key's hash say to which of the PARTS of the index it belongs;
a thread has parts of its own, so nobody waits for a lock:

    find     each thread, its parts    the number of every key of the blocks; a new key is known by its place
    number   each thread, its block    new keys get their numbers and are listed
    link     each thread, its block    places become numbers

A thread that is alone has all parts, and numbers keys as it finds them.  An index that is too full is written anew
from the keys, which takes no second one beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64
from mdplay.bridge import borrow, get, kernel, part, prefetch, put
from mdplay.errors import LimitError
from mdplay.states.keys import hash_key

PART_BITS = 3
PARTS, PART_SHIFT = 1 << PART_BITS, 64 - PART_BITS
SLOT_BITS = (1 << PART_SHIFT) - 1
ALL_PARTS = (1 << PARTS) - 1
BLOCK_ROOM = 1 << 19  # keys of a block
FIRST_SLOTS = 1 << 14
FULL_SHARE = 0.75
ENTRY_BITS, TAG_SHIFT = 32, 29
MOST_NUMBERS = (1 << ENTRY_BITS) - 1 - PARTS * BLOCK_ROOM
SLOT_AHEAD, KEY_AHEAD = 24, 12  # places before a key is looked up: the memory is asked for its slot, for its twin
LEAST_ROOM = 1 << 16


@part
def slot_of(h: Any, num_slots: int) -> int:
    """Return the first slot for a hash: its part by the top bits, the place there by the lowest."""
    size = num_slots >> PART_BITS
    return int(h >> PART_SHIFT) * size + int(h & (size - 1))


@part
def tag_of(h: Any, number_bits: int) -> int:
    """Return the tag of a hash, above the bits of a number."""
    return int(h >> TAG_SHIFT) << number_bits & (1 << ENTRY_BITS) - 1


@part
def belongs(h: Any, parts: int) -> bool:
    """Tell whether a hash belongs to one of the parts."""
    return parts >> int(h >> PART_SHIFT) & 1 != 0


class Index(NamedTuple):
    """The index as kernels take it, and how many bits of an entry are the number."""

    slots: NDArray[np.uint32]
    number_bits: int


class Listed(NamedTuple):
    """The numbered keys, with room for more, how many there are, and the words of each."""

    keys: NDArray[np.int64]
    known: int
    words: int


class Blocks(NamedTuple):
    """The blocks of a round: block i begins at place i * BLOCK_ROOM and has ``counts[i]`` keys.

    Each place has a key, its hash and, once it is found, its number, ``known`` + place for a new key.
    """

    counts: NDArray[np.int64]
    keys: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    numbers: NDArray[np.uint32]


@part
def find_slot(index: Index, h: Any, keys: Any, listed: int, fresh: Any, at: int, words: int) -> int:
    """Return the slot of the key at place ``at`` of ``fresh``, or the free one where it belongs.

    Numbers below ``listed`` have their keys in ``keys``; the others are places of ``fresh``.
    """
    table, num_slots, low = borrow(index.slots), len(index.slots), (1 << index.number_bits) - 1
    size, slot, tag = num_slots >> PART_BITS, slot_of(h, num_slots), tag_of(h, index.number_bits)
    begin = slot & ~(size - 1)
    while True:
        entry = int(get(table, slot))
        if entry == 0:
            return slot
        if entry & ~low == tag:
            number, same = (entry & low) - 1, True
            for j in range(words):
                if number < listed:
                    same &= get(keys, number * words + j) == get(fresh, at * words + j)
                else:
                    same &= get(fresh, (number - listed) * words + j) == get(fresh, at * words + j)
            if same:
                return slot
        slot = begin | (slot + 1) & (size - 1)


@kernel(plain_first=True)
def find_keys(
    parts: int, index: Index, listed: Listed, blocks: Blocks, first: int, out_numbers: Any, out_new: Any
) -> None:
    """Find the keys of all blocks that belong to these parts; ``out_new[block]`` counts those met first there.

    Alone, a thread writes numbers to ``out_numbers`` from place ``first`` on.  Otherwise to those of the blocks;
    the hash of a new key gives way to its slot; the bits that tell its part stay, since others read them.

    Why every access is inside: a block has at most ``BLOCK_ROOM`` keys; the index has free slots for all keys of
    the blocks, and ``listed`` room for them; ``find_slot`` stays in a part, which has free slots too, since hashes
    spread keys evenly: the caller leaves a quarter of the slots free.
    """
    table, num_slots, number_bits = borrow(index.slots), len(index.slots), index.number_bits
    keys, known, words = borrow(listed.keys), listed.known, listed.words
    fresh, hashes, numbers = borrow(blocks.keys), borrow(blocks.hashes), borrow(blocks.numbers)
    alone, found, at, low = parts == ALL_PARTS, known, first, (1 << number_bits) - 1
    in_keys = 1 << ENTRY_BITS if alone else known
    for block in range(len(blocks.counts)):
        begin, new = block * BLOCK_ROOM, 0
        end = begin + blocks.counts[block]
        for ahead in range(begin, end + SLOT_AHEAD):
            if ahead < end:
                h = U64(get(hashes, ahead))
                if belongs(h, parts):
                    prefetch(table, slot_of(h, num_slots))
            if begin <= ahead - KEY_AHEAD < end:
                h = U64(get(hashes, ahead - KEY_AHEAD))
                if belongs(h, parts):
                    number = (int(get(table, slot_of(h, num_slots))) & low) - 1
                    if 0 <= number < known:
                        prefetch(keys, number * words)
            place = ahead - SLOT_AHEAD
            if place < begin:
                continue
            h = U64(get(hashes, place))
            if not belongs(h, parts):
                continue
            slot = find_slot(index, h, keys, in_keys, fresh, place, words)
            number = (int(get(table, slot)) & low) - 1
            if number < 0:
                new += 1
                number = found if alone else known + place
                put(table, slot, tag_of(h, number_bits) | number + 1)
                if alone:
                    for j in range(words):
                        put(keys, number * words + j, get(fresh, place * words + j))
                    found += 1
                else:
                    put(hashes, place, h >> PART_SHIFT << PART_SHIFT | U64(slot))
            if alone:
                put(out_numbers, at, number)
                at += 1
            else:
                put(numbers, place, number)
        out_new[block] = new


@kernel
def number_block(block: int, first: int, index: Index, listed: Listed, blocks: Blocks) -> None:
    """Give the new keys of a block their numbers from ``first`` on; these take the places of their slots."""
    table, low, words = borrow(index.slots), (1 << index.number_bits) - 1, listed.words
    keys, fresh, hashes = borrow(listed.keys), borrow(blocks.keys), borrow(blocks.hashes)
    for place in range(block * BLOCK_ROOM, block * BLOCK_ROOM + blocks.counts[block]):
        if int(get(blocks.numbers, place)) == listed.known + place:
            for j in range(words):
                put(keys, first * words + j, get(fresh, place * words + j))
            slot = int(U64(get(hashes, place)) & SLOT_BITS)
            put(table, slot, int(get(table, slot)) & ~low | first + 1)
            put(hashes, place, first)
            first += 1


@kernel
def link_block(block: int, known: int, blocks: Blocks, first: int, out_numbers: Any) -> None:
    """Write the numbers of a block from place ``first`` on."""
    begin, numbers = block * BLOCK_ROOM, borrow(blocks.numbers)
    for i in range(blocks.counts[block]):
        number = int(get(numbers, begin + i))
        put(out_numbers, first + i, number if number < known else int(get(blocks.hashes, number - known)))


@kernel(plain_first=True)
def fill_index(parts: int, index: Index, listed: Listed) -> None:
    """Write the keys of these parts into an empty index, each a few steps after its slot was asked for."""
    table, num_slots, size = borrow(index.slots), len(index.slots), len(index.slots) >> PART_BITS
    keys, known, words = borrow(listed.keys), listed.known, listed.words
    waiting = np.zeros(SLOT_AHEAD, np.uint64)
    for i in range(known + SLOT_AHEAD):
        if i >= SLOT_AHEAD:
            h = U64(get(waiting, i % SLOT_AHEAD))
            if belongs(h, parts):
                slot = slot_of(h, num_slots)
                begin = slot & ~(size - 1)
                while get(table, slot) != 0:
                    slot = begin | (slot + 1) & (size - 1)
                put(table, slot, tag_of(h, index.number_bits) | i - SLOT_AHEAD + 1)
        if i < known:
            h = hash_key(keys, i * words, words)
            put(waiting, i % SLOT_AHEAD, h)
            prefetch(table, slot_of(h, num_slots))


@kernel(plain_first=True, writes=False)
def number_of(index: Index, listed: Listed, key: Any) -> int:
    """Return the number of a key, or -1."""
    keys, words = borrow(listed.keys), listed.words
    slot = find_slot(index, hash_key(borrow(key), 0, words), keys, 1 << ENTRY_BITS, borrow(key), 0, words)
    return (int(index.slots[slot]) & (1 << index.number_bits) - 1) - 1


def reserve(count: int, dtype: Any) -> NDArray[Any]:
    """Return an array of so many elements, or of fewer where the system keeps no room for more.

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
    """Distinct keys of ``words`` words, at most ``room``, for so many threads and blocks."""

    def __init__(self, words: int, room: int, threads: int = 1) -> None:
        self.words, self.threads = words, threads
        self.keys = reserve(min(room, MOST_NUMBERS) * words, np.int64)
        self.fresh = np.empty(threads * BLOCK_ROOM * words, np.int64)
        self.hashes = np.empty(threads * BLOCK_ROOM, np.uint64)
        self.counts = np.zeros(threads, np.int64)
        self.parts = [sum(1 << p for p in range(PARTS) if p % threads == i) for i in range(threads)]
        self._numbers = np.empty(threads * BLOCK_ROOM, np.uint32)
        self._new = np.zeros((threads, threads), np.int64)
        self.known = 0
        self.use_slots(FIRST_SLOTS)

    @property
    def room(self) -> int:
        """How many keys there may be."""
        return len(self.keys) // self.words

    def begin(self, keys: NDArray[np.int64]) -> None:
        """List keys that are known to be distinct; there are no others yet."""
        self.known = len(keys) // self.words
        self.keys[: len(keys)] = keys
        while not self.has_slots(self.known):
            self.use_slots(2 * len(self.index))
        self.fill()

    def block(self, i: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return where keys and hashes of block i are written, room for so many; ``counts[i]`` are."""
        begin, end = i * BLOCK_ROOM, i * BLOCK_ROOM + most
        return self.fresh[begin * self.words : end * self.words], self.hashes[begin:end]

    # ---------------------------------------------------------------- the index
    def has_slots(self, most: int) -> bool:
        """Tell whether the index holds so many keys."""
        return most <= FULL_SHARE * len(self.index)

    def use_slots(self, slots: int) -> None:
        """Make an empty index, which ``fill`` has to fill."""
        self.index = np.zeros(0, np.uint32)  # the old one goes first
        self.index = np.zeros(slots, np.uint32)
        self.number_bits = int(FULL_SHARE * slots + self.threads * BLOCK_ROOM).bit_length()

    def fill(self, parts: int = ALL_PARTS) -> None:
        """Write what is known into the index, these parts of it."""
        run = fill_index if parts == ALL_PARTS else fill_index.compiled_first
        run(parts, self._index(), self._listed(self.known))

    def _index(self) -> Index:
        return Index(self.index, self.number_bits)

    def _listed(self, room: int) -> Listed:
        """Return the keys with room for so many in all."""
        return Listed(self.keys[: room * self.words], self.known, self.words)

    # ---------------------------------------------------------------- the steps of a round, a thread each
    def find_alone(self, first: int, out_numbers: NDArray[np.uint32]) -> None:
        """Find and number the keys of the first block, the only one."""
        count = int(self.counts[0])
        fresh, hashes = self.block(0, count)
        block = Blocks(self.counts[:1].copy(), fresh, hashes, self._numbers[:1])
        found, new = out_numbers[first : first + count], np.zeros(1, np.int64)
        find_keys(ALL_PARTS, self._index(), self._listed(self.known + count), block, 0, found, new)
        self._new[0, 0] = new[0]

    def _blocks(self) -> Blocks:
        return Blocks(self.counts, self.fresh, self.hashes, self._numbers)

    def find(self, thread: int) -> None:
        """Find the keys of all blocks, the parts of a thread; ``number`` and ``link`` follow."""
        given = (self._index(), self._listed(self.room), self._blocks())
        find_keys.compiled_first(self.parts[thread], *given, 0, self._numbers, self._new[thread])

    @property
    def num_new(self) -> int:
        """The new keys of the last round."""
        return int(self._new.sum())

    def number(self, thread: int) -> None:
        """Give the new keys of a thread's block their numbers."""
        first = self.known + int(self._new.sum(axis=0)[:thread].sum())
        number_block(thread, first, self._index(), self._listed(self.room), self._blocks())

    def link(self, thread: int, first: int, out_numbers: NDArray[np.uint32]) -> None:
        """Write the numbers of a thread's block."""
        first += int(self.counts[:thread].sum())
        link_block(thread, self.known, self._blocks(), first, out_numbers)

    def end_round(self) -> None:
        """Count the new keys among the known."""
        self.known += self.num_new
        self._new[:] = 0

    def number_of(self, key: NDArray[np.int64]) -> int | None:
        """Return the number of a key; None if it is not among them."""
        found = int(number_of(self._index(), self._listed(self.known), key))
        return None if found < 0 else found
