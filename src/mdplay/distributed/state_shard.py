"""The states of a shard, in two files that only grow, from which a killed worker resumes.

    FOLDER/NUMBER.keys      the keys in the order in which they were found, 64-bit words
    FOLDER/NUMBER.rounds    a row a round: how far the shard was at its end, see `Progress`, and a checksum

The row of a round is written after its keys.  So keys of a round without a row belong to work that was cut off and
is done again.  The checksum of a row is the CRC of all keys until then and of the row: damaged files are refused.

The states of one worker: those whose hashes are its own.

In a round it takes in the keys that others found for it, finds the successors of its next states, numbers those
that are its own, and hands on the others in a *parcel* for each shard.  A key that it handed on a short while ago
is not handed on again, which saves much of the traffic.  No edge is kept: the rules tell them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mdplay import U64, FormatError, LimitError
from mdplay.compiling import get, inlined, kernel, native, put, unchecked_view
from mdplay.compiling.contract import mask_size
from mdplay.naming.transfer import GameSpec, rebuild
from mdplay.runtime.memory import format_bytes
from mdplay.states.enumeration import TROUBLE, chunk_of, expand
from mdplay.states.keys import Keys as PackedKeys
from mdplay.states.keys import Layout, hash_key, key_at, num_words, state_of, widths_needed
from mdplay.states.numbering import BLOCK_ROOM, Numbering

Keys = NDArray[np.int64]
WORD = np.dtype("<i8")


class Progress(NamedTuple):
    """The progress of a shard at the end of a round."""

    known: int = 0  # states found
    done: int = 0  # of these, whose successors were found
    level: int = -1  # the plies from the start to the states at work
    level_end: int = 0  # the first state beyond them
    edges: int = 0  # of the states that are done


COLUMNS = len(Progress._fields) + 1  # the last one is the checksum
ROW = COLUMNS * WORD.itemsize


class Log:
    """The files of a shard; keys have ``words`` words."""

    def __init__(self, folder: Path, number: int, words: int) -> None:
        self._keys, self._rounds = folder / f"{number}.keys", folder / f"{number}.rounds"
        self._words = words
        self._crc = 0  # of all keys of the rounds that were ended
        for path in (self._keys, self._rounds):
            path.touch()

    @property
    def rounds(self) -> int:
        """The number of finished rounds."""
        return self._rounds.stat().st_size // ROW

    def history(self) -> list[Progress]:
        """Return the progress of the shard after each round."""
        return [Progress(*row[:-1]) for row in self._rows()]

    def _rows(self) -> list[list[int]]:
        rows: list[list[int]] = (
            np.fromfile(self._rounds, WORD, self.rounds * COLUMNS).reshape(-1, COLUMNS).tolist()
        )
        return rows

    def back_to(self, rounds: int) -> tuple[Progress, Keys]:
        """Drop everything after round ``rounds``; return the progress of the shard then, and its keys.

        Raise FormatError if a file is damaged.
        """
        rows = self._rows()[:rounds]
        progress = Progress(*rows[-1][:-1]) if rows else Progress()
        size = max((row[0] for row in rows), default=0) * self._words
        if not 0 <= size * WORD.itemsize <= self._keys.stat().st_size:
            raise self._damaged()
        keys = np.fromfile(self._keys, WORD, size)
        self._check(rows, keys)
        for path, length in ((self._rounds, rounds * ROW), (self._keys, size * WORD.itemsize)):
            with path.open("r+b") as file:
                file.truncate(length)
        return progress, keys

    def _check(self, rows: list[list[int]], keys: Keys) -> None:
        """Raise FormatError if the keys or the rows do not match their checksums."""
        self._crc, begin = 0, 0
        for row in rows:
            end = row[0] * self._words
            self._crc, begin = crc32(keys[begin:end].data, self._crc), end
            if _checksum(row[:-1], self._crc) != row[-1]:
                raise self._damaged()

    def _damaged(self) -> FormatError:
        return FormatError(f"{self._keys} or {self._rounds.name} is damaged or truncated; remove its folder")

    def append(self, keys: Keys, progress: Progress) -> None:
        """Write the new keys of a round, and its row."""
        written = np.ascontiguousarray(keys, WORD)
        self._crc = crc32(written.data, self._crc)
        row = np.array([*progress, _checksum(progress, self._crc)], WORD)
        for path, array in ((self._keys, written), (self._rounds, row)):
            with path.open("ab") as file:
                array.tofile(file)


def _checksum(progress: Iterable[int], crc: int) -> int:
    return crc32(np.array(list(progress), WORD).data, crc)


OWNER_SHIFT, OWNER_BITS = 44, 16  # of a hash: bits that neither part, slot nor tag of the numbering looks at much
SENT = 1 << 15  # keys remembered, as many as a processor keeps at hand
PARCELS_ROOM = 1 << 23  # keys that go out in a round, to all: shards wait for each other after each


class Sharding(NamedTuple):
    """The data that all shards of an enumeration share."""

    recipe: GameSpec
    fold: bool
    layout: Layout
    start: Keys  # the key of the first state
    shards: int
    folder: Path
    memory: int  # bytes that a shard may take


class Told(NamedTuple):
    """A shard's report of a round to the driver."""

    progress: Progress
    sent: int  # keys handed on
    wider: list[int] | None = None  # the widths that fields need, if keys are too narrow

    @property
    def at_level_end(self) -> bool:
        """Whether the successors of the level's states are found."""
        return self.progress.done == self.progress.level_end


class Summary(NamedTuple):
    """The totals of a shard."""

    levels: list[int]  # states by plies from the start
    edges: int
    digest: int


@inlined
def owner_of(h: Any, shards: int) -> int:
    """Return the shard of a hash."""
    return int(h >> OWNER_SHIFT & (1 << OWNER_BITS) - 1) * shards >> OWNER_BITS


@kernel
def sort_out(
    own: int,
    shards: int,
    words: int,
    count: int,
    fresh: Any,
    hashes: Any,
    sent: Any,
    out_parcels: Any,
    out_sizes: Any,
) -> int:
    """Move a shard's own keys to the front of the block and return their number; put the others into parcels.

    ``sent`` has ``words`` + 1 words a place: the last key handed on whose hash belongs there, and 1.
    """
    key, room, low = unchecked_view(fresh), len(out_parcels) // (shards * words), len(sent) // (words + 1) - 1
    mine = 0
    for i in range(count):
        h = U64(get(hashes, i))
        owner = owner_of(h, shards)
        if owner == own:
            for j in range(words):
                put(key, mine * words + j, get(key, i * words + j))
            put(hashes, mine, h)
            mine += 1
            continue
        place = int(h & low) * (words + 1)
        same = sent[place + words] != 0
        for j in range(words):
            same &= sent[place + j] == get(key, i * words + j)
        if same:
            continue
        at = (owner * room + out_sizes[owner]) * words
        for j in range(words):
            sent[place + j] = out_parcels[at + j] = get(key, i * words + j)
        sent[place + words] = 1
        out_sizes[owner] += 1
    return mine


@kernel
def hash_keys(words: int, count: int, keys: Any, out_hashes: Any) -> None:
    """Write the hashes of keys."""
    listed = unchecked_view(keys)
    for i in range(count):
        put(out_hashes, i, hash_key(listed, i * words, words))


@kernel
def digest_of(words: int, keys: Any) -> int:
    """Return the sum of the hashes of keys; it does not depend on their order."""
    listed, total = unchecked_view(keys), U64(0)
    for i in range(len(keys) // words):
        total += hash_key(listed, i * words, words)
    return int(total)


class Shard:
    """The states of shard ``number``; it can be restored from its log."""

    def __init__(self, number: int, sharding: Sharding) -> None:
        self._own, self._sharding = number, sharding
        self.game = rebuild(sharding.recipe)
        self._native, self._words = native(self.game), num_words(sharding.layout)
        self._most_successors = chunk_of(self.game) * mask_size(self.game)
        self._log = Log(sharding.folder, number, self._words)
        self._rounds = -1  # done by this object; -1: it does not know of any
        self._never = np.zeros(1, np.uint8)

    # ---------------------------------------------------------------- where it stands
    def rounds(self) -> int:
        """Return the number of rounds in the log."""
        return self._log.rounds

    def _stand(self, rounds: int) -> None:
        """Restore the shard as it was at the end of ``rounds`` rounds from the log, if needed."""
        if self._rounds == rounds:
            return
        shards, words = self._sharding.shards, self._words
        self._progress, keys = self._log.back_to(rounds)
        self._numbering = Numbering(words, self._sharding.memory // (8 * words + 6))
        self._numbering.begin(keys)
        self._numbers = np.empty(BLOCK_ROOM, np.uint32)
        self._node = np.empty(chunk_of(self.game), np.uint16)
        self._sent = np.zeros(SENT * (words + 1), np.int64)
        self._parcels = np.empty(shards * self._parcel_room * words, np.int64)
        self._rounds = rounds
        if rounds == 0 and self._owns_start:
            self._take_in(self._sharding.start)

    @property
    def _parcel_room(self) -> int:
        return max(self._most_successors, PARCELS_ROOM // self._sharding.shards)

    # ---------------------------------------------------------------- a round
    def step(self, number: int, parcels: list[Keys] | None, new_level: bool) -> tuple[list[Keys], Told]:
        """Do round ``number``; return a parcel for each shard, and the report of this one."""
        self._stand(number)
        for parcel in parcels or ():
            self._take_in(parcel)
        begin, known = self._progress, self._numbering.known
        if new_level:
            begin = begin._replace(level=begin.level + 1, level_end=known)
        sizes, done, edges = np.zeros(self._sharding.shards, np.int64), begin.done, begin.edges
        while done < begin.level_end and sizes.max() + self._most_successors <= self._parcel_room:
            end = min(begin.level_end, done + len(self._node))
            count = self._successors(done, end)
            if count <= TROUBLE:
                return self._sealed(0 * sizes), Told(begin, 0, self._widths(done + TROUBLE - count))
            self._number(self._sort_out(count, sizes))
            done, edges = end, edges + count
        before, self._rounds = self._progress.known, number + 1
        self._progress = begin._replace(known=self._numbering.known, done=done, edges=edges)
        self._log.append(self._keys(before, self._progress.known), self._progress)
        return self._sealed(sizes), Told(self._progress, int(sizes.sum()))

    def again(self, rounds: int) -> tuple[list[Keys], Told]:
        """Return the parcels and the report of the last of ``rounds`` rounds again; the parcels are recomputed."""
        history = self._log.history()
        self._stand(rounds)
        sizes, done = np.zeros(self._sharding.shards, np.int64), history[rounds - 2].done if rounds > 1 else 0
        while done < self._progress.done:
            end = min(self._progress.done, done + len(self._node))
            self._sort_out(self._successors(done, end), sizes)
            done = end
        return self._sealed(sizes), Told(self._progress, int(sizes.sum()))

    def summary(self, rounds: int) -> Summary:
        """Return the states found in ``rounds`` rounds."""
        self._stand(rounds)
        ends = {one.level: one.level_end for one in self._log.history()}
        levels = [end - begin for begin, end in pairwise([0, *ends.values()])]
        keys = self._keys(0, self._progress.known)
        return Summary(levels, self._progress.edges, digest_of(self._words, keys))

    # ---------------------------------------------------------------- its steps
    def _keys(self, begin: int, end: int) -> Keys:
        return self._numbering.keys[begin * self._words : end * self._words]

    @property
    def _owns_start(self) -> bool:
        h = hash_key(self._sharding.start, 0, self._words)
        return owner_of(U64(h), self._sharding.shards) == self._own

    def _take_in(self, keys: Keys) -> None:
        """Assign numbers to the keys of a parcel, which all belong to this shard."""
        for begin in range(0, len(keys), BLOCK_ROOM * self._words):
            piece = keys[begin : begin + BLOCK_ROOM * self._words]
            count = len(piece) // self._words
            fresh, hashes = self._numbering.block(0, count)
            fresh[:] = piece
            hash_keys(self._words, count, fresh, hashes)
            self._number(count)

    def _successors(self, begin: int, end: int) -> int:
        """Write the keys of the successors of some states into the block of the numbering; return their number.

        TROUBLE - i if keys are too narrow for a successor of state begin + i.
        """
        keys = PackedKeys(self._keys(begin, end), self._sharding.layout.ravel(), self._words)
        block = self._numbering.block(0, (end - begin) * mask_size(self.game))
        node = self._node[: end - begin]
        return int(expand(self._native, self._sharding.fold, keys, self._never, node, *block))

    def _sort_out(self, count: int, sizes: NDArray[np.int64]) -> int:
        block = self._numbering.block(0, count)
        whose = (self._own, self._sharding.shards, self._words, count)
        return int(sort_out(*whose, *block, self._sent, self._parcels, sizes))

    def _number(self, count: int) -> None:
        """Assign numbers to the first keys of the block."""
        numbering = self._numbering
        most = numbering.known + count
        used = numbering.known * 8 * self._words + 4 * numbering.slots_for(most)
        if used > self._sharding.memory or most > numbering.room:
            what = f"a shard of more than {numbering.known:,} states"
            raise LimitError(
                f"{what} needs more memory than {format_bytes(self._sharding.memory)}, which may be used"
            )
        numbering.take_in(count, self._numbers)

    def _sealed(self, sizes: NDArray[np.int64]) -> list[Keys]:
        """Return the parcels, which do not change any more."""
        room, words = self._parcel_room, self._words
        begins = [room * words * shard for shard in range(len(sizes))]
        return [self._parcels[at : at + int(size) * words].copy() for at, size in zip(begins, sizes, strict=True)]

    def _widths(self, number: int) -> list[int]:
        key = key_at(self._numbering.keys, number, self._words)
        layout = self._sharding.layout
        return widths_needed(self.game, state_of(self.game, key, layout), layout, self._sharding.fold)
