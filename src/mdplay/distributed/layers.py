"""The values of the states of one worker, computed layer by layer, the last layer first.

A layer is the states of one ply.  Where every move leads from a layer to the next, the values of a layer need
those of the next one alone.  A shard takes the next states of its own in the layer, asks the shards of their
successors, each in a *parcel* of keys, and takes the best of what they answer.

    entry[i]     of state i: its value to player 0, times 2**16, plus the plies to the end

Entries are in a mapped file beside the keys, so a worker that was killed finds those that were written.  A second
file has the checksum of each layer that is solved; the entries of a layer without one are found again.

Exact solving by the workers of an executor: all states are found forwards, their values backwards, in shards.

First the states are enumerated (mdplay.distributed.states), each by the shard that its hash names.  Then layer
after layer, from the last ply to the first, each shard solves its own states from the kept values of the next
layer (mdplay.distributed.layers).  This needs a game in which each move leads to the next layer: no position is
met after different numbers of moves, let alone twice.

All that is found is saved in a folder, from which a killed run resumes:

    NUMBER.keys NUMBER.rounds     the states of a shard (mdplay.distributed.state_shard)
    NUMBER.values NUMBER.index    their values, and where to find them
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, NamedTuple
from weakref import finalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mdplay import U64, FormatError, Game, GameError, LimitError, PositionError
from mdplay.bits import lowest, mix, nonempty, without_lowest
from mdplay.compiling import State, get, inlined, kernel, put, unchecked_view, width
from mdplay.distributed.state_shard import Keys, Shard, Sharding, hash_keys, owner_of
from mdplay.distributed.states import Enumerated, enumerated
from mdplay.runtime.executors import Executor
from mdplay.runtime.threads import Show
from mdplay.solving.hashed_kernel import endless_to_mover, is_better
from mdplay.solving.values import Question, StateValue, Table, has_integer_values
from mdplay.states.enumeration import DEGREE
from mdplay.states.keys import Keys as PackedKeys
from mdplay.states.keys import choices_of, hash_key, key_of, num_words, read_key, state_of
from mdplay.states.numbering import BLOCK_ROOM, Index, Listed, number_of

DISTANCE_BITS = 16
MOST_VALUE = (1 << 15) - 2
UNKNOWN = -(1 << 31)  # an entry that is not written yet
Entries = NDArray[np.int32]


@inlined
def value_in(entry: int) -> int:
    """Return the value to player 0 in an entry."""
    return entry >> DISTANCE_BITS


@inlined
def distance_in(entry: int) -> int:
    """Return the plies to the end in an entry."""
    return entry & (1 << DISTANCE_BITS) - 1


@kernel
def address(
    shards: int, words: int, count: int, fresh: Any, hashes: Any, out_parcels: Any, out_sizes: Any
) -> None:
    """Put the keys of a block into the parcels of their owners; replace the hash of each by its owner."""
    key, room = unchecked_view(fresh), len(out_parcels) // (shards * words)
    for i in range(count):
        owner = owner_of(U64(get(hashes, i)), shards)
        at = (owner * room + out_sizes[owner]) * words
        for j in range(words):
            out_parcels[at + j] = get(key, i * words + j)
        out_sizes[owner] += 1
        put(hashes, i, owner)


@kernel
def back_up(game: Game[Any], keys: PackedKeys, owners: Any, answers: Any, firsts: Any, out_entries: Any) -> int:
    """Write the entries of states from those of their successors; return how many, fewer if one is too large.

    Follower e of all has its owner in ``owners[e]``; those of owner o are answered from ``answers[firsts[o]]`` on,
    in order.
    """
    listed, fields, words = unchecked_view(keys.all_words), unchecked_view(keys.layout), keys.words
    row, at, e = np.zeros(width(game), np.uint64), firsts.copy(), 0
    for i in range(len(out_entries)):
        s = read_key(game, listed, i * words, fields, unchecked_view(row))
        mask, _ = choices_of(game, s)
        second, best, distance = game.player(s) == 1, -np.inf, -1
        if not nonempty(mask):
            best = -float(game.result(s)) if second else float(game.result(s))
        while nonempty(mask):
            action = lowest(mask)
            mask = without_lowest(mask)
            entry = int(answers[at[owners[e]]])
            at[owners[e]] += 1
            e += 1
            value = float(-value_in(entry) if second else value_in(entry))
            if game.has_reward:
                value += float(game.reward(s, action))
            if is_better(value, distance_in(entry), best, distance, endless_to_mover(game, s)):
                distance = distance_in(entry)
            best = max(value, best)
        if not abs(best) <= MOST_VALUE or distance + 1 >= 1 << DISTANCE_BITS:
            return i
        out_entries[i] = (int(-best if second else best) << DISTANCE_BITS) + distance + 1
    return len(out_entries)


@kernel
def digest_entries(words: int, keys: Any, entries: Any) -> int:
    """Return the sum of the hashes of keys with their entries; it does not depend on their order."""
    listed, total = unchecked_view(keys), U64(0)
    for i in range(len(entries)):
        total += mix(hash_key(listed, i * words, words), U64(np.uint32(entries[i])))
    return int(total)


class Asked(NamedTuple):
    """The requests of a shard about some of its states: the owner of each successor, in order."""

    begin: int
    end: int
    owners: NDArray[np.uint8]
    sizes: NDArray[np.int64]


class Layered(Shard):
    """A shard that also computes values; ``rounds`` is always the number of rounds of the enumeration."""

    def __init__(self, number: int, sharding: Sharding) -> None:
        super().__init__(number, sharding)
        self._asked: Asked | None = None
        self._path, self._sums = (sharding.folder / f"{number}.{name}" for name in ("values", "sums"))

    def prepare(self, rounds: int) -> int:
        """Create the files of entries and checksums if they do not exist; return the first layer that is solved.

        All layers after it are solved, too.  Raise FormatError if the entries of such a layer are damaged.
        """
        layers, known = self._layers(rounds), self._progress.known
        sizes = {self._path: 4 * known, self._sums: 8 * len(layers)}
        if any(not path.exists() or path.stat().st_size != size for path, size in sizes.items()):
            np.full(known, UNKNOWN, np.int32).tofile(self._path)
            np.full(len(layers), UNKNOWN, np.int64).tofile(self._sums)
        entries, sums = self._entries(rounds), np.fromfile(self._sums, np.int64)
        for layer, (begin, end) in reversed(list(enumerate(layers))):
            if begin < end and sums[layer] == UNKNOWN:
                return layer + 1
            if begin < end and sums[layer] != crc32(entries[begin:end]):
                raise FormatError(f"{self._path} or {self._sums.name} is damaged; remove its folder")
        return 0

    def ask(self, rounds: int, layer: int, done: list[int]) -> tuple[list[Keys], int]:
        """Return parcels of the successors of the next states of a layer, and how many of its states are done."""
        asked, parcels = self._ask(rounds, layer, done[self._own])
        self._asked = asked
        return parcels, asked.end - self._layers(rounds)[layer][0]

    def answer(self, rounds: int, layer: int, parcels: list[Keys]) -> tuple[list[Entries], None]:
        """Return the entries of keys that other shards request, which must all be of the next layer."""
        self._stand(rounds)
        begin, end = (*self._layers(rounds), (0, 0))[layer + 1]
        return [self._found(parcel, begin, end) for parcel in parcels], None

    def take(self, rounds: int, layer: int, done: list[int], answers: list[Entries]) -> None:
        """Write the entries of the states whose successors were requested."""
        begin = self._layers(rounds)[layer][0] + done[self._own]
        if self._asked is None or self._asked.begin != begin:  # made again since
            self._asked, _ = self._ask(rounds, layer, done[self._own])
        asked, entries = self._asked, self._entries(rounds)
        keys = PackedKeys(self._keys(begin, asked.end), self._sharding.layout.ravel(), self._words)
        firsts = np.cumsum([0, *asked.sizes[:-1]])
        found = np.empty(asked.end - begin, np.int32)
        count = back_up(self._native, keys, asked.owners, np.concatenate(answers), firsts, found)
        if count < len(found):
            raise LimitError(
                f"a value of {type(self.game).__name__} is beyond {MOST_VALUE}; leave out the executor"
            )
        entries[begin : asked.end] = found
        first, last = self._layers(rounds)[layer]
        if asked.end == last and first < last:
            np.memmap(self._sums, np.int64, "r+")[layer] = crc32(entries[first:last])

    def publish(self, rounds: int) -> tuple[int, int]:
        """Write the index beside the keys, for lookups of states; return the bits of a number and the digest."""
        self._stand(rounds)
        self._numbering.index.tofile(self._sharding.folder / f"{self._own}.index")
        entries = np.array(self._entries(rounds))
        digest = int(digest_entries(self._words, self._keys(0, len(entries)), entries))
        return self._numbering.number_bits, digest % (1 << 64)

    # ---------------------------------------------------------------- its steps
    def _layers(self, rounds: int) -> list[tuple[int, int]]:
        """Return the first state of each layer, and the one after its last."""
        self._stand(rounds)
        ends = {one.level: one.level_end for one in self._log.history()}
        return list(pairwise([0, *ends.values()]))

    def _entries(self, rounds: int) -> Any:
        self._stand(rounds)
        count = self._progress.known
        return np.memmap(self._path, np.int32, "r+", shape=(count,)) if count else np.empty(0, np.int32)

    def _ask(self, rounds: int, layer: int, done: int) -> tuple[Asked, list[Keys]]:
        begin, end = self._layers(rounds)[layer]
        begin += done
        at, owners, sizes = begin, [np.empty(0, np.uint8)], np.zeros(self._sharding.shards, np.int64)
        while at < end and sizes.max() + self._most_successors <= self._parcel_room:
            last = min(end, at + len(self._node))
            count = self._successors(at, last)
            assert count == (self._node[: last - at] & DEGREE).sum()
            fresh, hashes = self._numbering.block(0, count)
            address(self._sharding.shards, self._words, count, fresh, hashes, self._parcels, sizes)
            owners.append(hashes.astype(np.uint8))
            at = last
        return Asked(begin, at, np.concatenate(owners), sizes), self._sealed(sizes)

    def _found(self, parcel: Keys, begin: int, end: int) -> Entries:
        """Return the entries of keys, which must be those of states from ``begin`` to ``end`` - 1."""
        found = np.empty(len(parcel) // self._words, np.int32)
        entries = self._entries(self._rounds)
        for first in range(0, len(found), BLOCK_ROOM):
            piece = parcel[first * self._words : (first + BLOCK_ROOM) * self._words]
            count = len(piece) // self._words
            fresh, hashes = self._numbering.block(0, count)
            fresh[:] = piece
            hash_keys(self._words, count, fresh, hashes)
            known = self._numbering.known
            self._numbering.take_in(count, self._numbers)
            numbers = self._numbers[:count]
            if self._numbering.known > known or numbers.min() < begin or numbers.max() >= end:
                name = type(self.game).__name__
                raise LimitError(
                    f"{name} reaches a position after different numbers of moves; leave out the executor"
                )
            found[first : first + count] = entries[numbers]
        return found


class LayeredTable(Table):
    """The values of all states, mapped from the files of the shards."""

    method = "layered"

    def __init__(self, game: Game[Any], sharding: Sharding, bits: list[int], digest: int) -> None:
        self.game, self._sharding, self._bits = game, sharding, bits
        self.digest = digest  # of all states with their values: the same whatever the executor and the shards
        self._words = num_words(sharding.layout)
        shards = range(sharding.shards)
        self._keys = [_mapped(sharding.folder / f"{number}.keys", np.int64) for number in shards]
        self._index = [_mapped(sharding.folder / f"{number}.index", np.uint32) for number in shards]
        self._entries = [_mapped(sharding.folder / f"{number}.values", np.int32) for number in shards]

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._entries)

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player, and the plies to the end."""
        entry = self._entry(state)
        value = value_in(entry)
        return StateValue(-value if player else value, distance_in(entry))

    def states(self) -> Iterator[Any]:
        """Yield every state, in the order of their keys; of symmetric ones the least image."""
        keys = np.concatenate(self._keys).reshape(-1, self._words)
        for number in np.lexsort(keys.view(np.uint64).T):
            yield state_of(self.game, keys[number], self._sharding.layout)

    def _entry(self, state: State) -> int:
        key = key_of(self.game, state, self._sharding.layout, fold=self._sharding.fold)
        number = -1
        if key is not None:
            shard = owner_of(hash_key(key, 0, self._words), self._sharding.shards)
            listed = Listed(self._keys[shard], len(self._entries[shard]), self._words)
            number = int(number_of(Index(self._index[shard], self._bits[shard]), listed, key))
        if number < 0:
            raise PositionError(f"the start that was solved does not reach {self.game.text(state)}")
        return int(self._entries[shard][number])


def _mapped(path: Path, kind: Any) -> NDArray[Any]:
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)


def solve_layers(question: Question, executor: Executor | str) -> LayeredTable:
    """Return the values of all states that are reachable in a question, by the workers of an executor.

    Its file is a folder here, by default a temporary one; all workers must see it.
    """
    game = question.game
    _refuse(question)
    folder = Path(question.run.file or mkdtemp(prefix="mdplay-layers-"))
    run = replace(question.run, executor=executor, file=folder)
    try:
        begun = any(path.stat().st_size for path in folder.glob("*.rounds"))
        with enumerated(game, question.state, fold=True, run=run, make=Layered) as found:
            if begun:
                question.notes.append(f"states and values, as far as they are there, read from {folder}")
            table = LayeredTable(game, found.sharding, *_solved(found, question.run.progress))
    except BaseException:
        if question.run.file is None:
            rmtree(folder, ignore_errors=True)
        raise
    if question.run.file is None:
        finalize(table, rmtree, folder, ignore_errors=True)  # it goes with the table
    return table


def _refuse(question: Question) -> None:
    """Raise GameError if a game cannot be solved in layers."""
    if question.opponent != "perfect" or question.objective == "win":
        raise GameError("an executor solves for a perfect opponent and the difference; leave out the executor")
    if not has_integer_values(question.game):
        why = "chance" if question.game.has_outcomes else "values that are not whole numbers"
        raise GameError(f"{question.name} has {why}, which an executor does not solve; leave out the executor")


def _solved(found: Enumerated, show: Show | None) -> tuple[list[int], int]:
    """Solve all layers, the last one first; return the lookups of states in the shards, and the digest."""
    actors, rounds, solved = found.actors, found.rounds, 0
    for layer in reversed(range(max(actors.call("prepare", rounds)))):
        done = [0] * found.sharding.shards
        while True:
            questions, told = actors.scatter("ask", rounds, layer, done)
            if told == done:
                break
            answers, _ = actors.scatter("answer", rounds, layer, questions)
            actors.call("take", rounds, layer, done, answers)
            done = told
        solved += sum(done)
        if show is not None:
            show(solved)
    published: list[tuple[int, int]] = actors.call("publish", rounds)
    return [bits for bits, _ in published], sum(digest for _, digest in published) % (1 << 64)
