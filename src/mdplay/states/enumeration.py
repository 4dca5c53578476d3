"""All states that are reachable from a start, each once, and the edges between them.

States are numbered breadth first, in the order of edges, which is that of actions or outcomes; the numbers are the
same for any number of threads.

    node[i]      what is kept of state i: the number of its edges (0: the game is over), a bit for the player to
                 move, a bit where chance moves
    target[e]    where edge e leads; the edges of a state follow those of the state before

A key takes 8 bytes for most games, a node 2, the index 5 to 10 a state, an edge 4.  What the rules can tell again
is not kept: actions, rewards, probabilities, results.

Work is cut into chunks of states, each done in two steps.  To *expand* one, which any thread may do beside
others, writes the keys of its successors into a block.  To *number* one, chunk after chunk and by one thread at a
time, finds out which of them are new (mdplay.states.numbering).  A thread that is free numbers the next chunk if
that is expanded, else it expands another:

    thread 0    expand 0   number 0   number 1   expand 4   number 3 ...
    thread 1    expand 1   expand 2   expand 3   number 2   expand 5 ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, nonempty, without_lowest
from mdplay.compiling import State, kernel, native, pack, put, unchecked_view, width
from mdplay.compiling.contract import mask_size
from mdplay.errors import LimitError
from mdplay.game import Game
from mdplay.runtime.memory import budget, format_bytes
from mdplay.runtime.threads import Show, StopFlag, TaskGroup, num_threads
from mdplay.states.keys import (
    Keys,
    Layout,
    canonical,
    choices_of,
    hash_key,
    images_of,
    key_at,
    key_of,
    layout_of,
    no_player,
    num_words,
    read_key,
    refuse_endless,
    refuse_thin,
    state_of,
    states_seen,
    widths_among,
    widths_needed,
    write_key,
)
from mdplay.states.numbering import BLOCK_ROOM, Numbering, reserve

CHUNK = 1 << 12  # states, fewer where masks are large
DEGREE, PLAYER_BIT, CHANCE_BIT = (1 << 12) - 1, 12, 13
STOPPED, TROUBLE = -1, -2


@kernel(plain_first=True)
def expand(
    game: Game[Any], fold: bool, keys: Keys, stop: StopFlag, out_node: Any, out_keys: Any, out_hashes: Any
) -> int:
    """Write the nodes of states and the keys of their successors; return the number of these keys.

    STOPPED if ``stop`` is set; TROUBLE - i if a successor of state i has a field too wide, or a player beyond 1.
    ``out_keys`` has room for as many successors as masks have bits.
    """
    listed, fields, words, key = (
        unchecked_view(keys.all_words),
        unchecked_view(keys.layout),
        keys.words,
        unchecked_view(out_keys),
    )
    row, count = np.zeros(width(game), np.uint64), 0
    for i in range(len(out_node)):
        if stop[0]:
            return STOPPED
        s = read_key(game, listed, i * words, fields, unchecked_view(row))
        mask, by_chance = choices_of(game, s)
        if no_player(game, s):
            return TROUBLE - i
        first = count
        while nonempty(mask):
            choice = lowest(mask)
            mask = without_lowest(mask)
            t = game.outcome(s, choice) if by_chance else game.step(s, choice)
            if fold:
                t = canonical(game, t)
            if not write_key(game, t, fields, words, key, count * words):
                return TROUBLE - i
            put(out_hashes, count, hash_key(key, count * words, words))
            count += 1
        out_node[i] = (count - first) | game.player(s) << PLAYER_BIT | by_chance << CHANCE_BIT
    return count


@kernel
def orbit_sizes(game: Game[Any], keys: Keys, out_size: Any) -> None:
    """Write the number of different images of each state."""
    listed, fields, row = (
        unchecked_view(keys.all_words),
        unchecked_view(keys.layout),
        np.zeros(width(game), np.uint64),
    )
    for i in range(len(out_size)):
        s = read_key(game, listed, i * keys.words, fields, unchecked_view(row))
        same = 0
        for k in range(game.symmetries()):
            same += pack(game, game.image(s, k)) == pack(game, s)
        out_size[i] = game.symmetries() // same


@kernel
def level_of(node: Any, target: Any, out_level: Any) -> None:
    """Write the fewest plies from state 0 to each state; states are in the order of these."""
    edge = 0
    for i in range(len(node)):
        for _ in range(node[i] & DEGREE):
            t = int(target[edge])
            if t > i and out_level[t] == 0:
                out_level[t] = out_level[i] + 1
            edge += 1


@dataclass
class States:
    """All states that are reachable from a start; the docstring of the module describes the arrays."""

    game: Game[Any]
    fold: bool  # images of each other are one state
    layout: Layout
    numbering: Numbering
    node: NDArray[np.uint16]
    target: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.node)

    @property
    def words(self) -> int:
        """The words of a key."""
        return self.numbering.words

    @property
    def keys(self) -> NDArray[np.int64]:
        """The keys of all states."""
        return self.numbering.keys[: len(self) * self.words]

    @property
    def key_list(self) -> Keys:
        """The keys of all states as an argument of kernels."""
        return Keys(self.keys, self.layout.ravel(), self.words)

    @property
    def num_bytes(self) -> int:
        """The memory that states, index and edges take."""
        arrays = (self.keys, self.node, self.target, self.numbering.index)
        return sum(array.nbytes for array in arrays)

    def number(self, state: State) -> int | None:
        """Return the number of a state, or None if it is not reachable from the start."""
        key = key_of(self.game, state, self.layout, fold=self.fold)
        return None if key is None else self.numbering.number_of(key)

    def state(self, number: int) -> Any:
        """Return the state with a number; of symmetric states the least."""
        return state_of(self.game, key_at(self.keys, number, self.words), self.layout)

    def levels(self) -> list[int]:
        """Return the numbers of states by their distance from the start in plies, from 0 on."""
        level = np.zeros(len(self), np.uint32)
        level_of(self.node, self.target, level)
        return [int(n) for n in np.bincount(level)]

    def orbits(self) -> NDArray[np.uint16]:
        """Return the number of positions that each state represents."""
        sizes = np.ones(len(self), np.uint16)
        if self.fold:
            orbit_sizes(native(self.game), self.key_list, sizes)
        return sizes


@dataclass
class Chunk:
    """States ``begin`` to ``end``; once they are expanded, ``count`` keys of successors are in the block."""

    begin: int
    end: int
    block: int
    count: int | None = None


class Enumeration:
    """An enumeration in progress, which may be stopped between two chunks and resumed later.

    It finds all states that one (default: the start) reaches.  ``fold`` lets images under symmetries be one state.
    ``memory`` is a limit in bytes, by default most of what is free.  ``widths`` are those of the fields, as far
    as they are known.
    """

    def __init__(
        self,
        game: Game[Any],
        state: State | None = None,
        *,
        fold: bool = False,
        threads: int | None = 1,
        memory: int | None = None,
        max_states: int | None = None,
        widths: tuple[int, ...] | None = None,
    ) -> None:
        self.game, self.fold = game, fold and game.has_symmetries
        self.start = game.initial() if state is None else state
        self.threads = num_threads(threads)
        self._native, self._mask_size = native(game), mask_size(game)
        self.limit, self.max_states = budget(memory), max_states
        refuse_endless(game, self.start)
        seen = widths_among([*images_of(game, self.start, self.fold), *states_seen(game, self.start)])
        self._use_layout(layout_of(list(map(max, seen, widths)) if widths else seen))

    def _use_layout(self, layout: Layout) -> None:
        """Start from the beginning, with the first state only."""
        words = num_words(layout)
        self.layout = layout
        most = max(CHUNK, self.limit // (8 * words + 6))
        self.chunk = chunk_of(self.game)
        self._blocks = self.threads + 1 if self.threads > 1 else 1  # one may wait while each thread has one
        self.numbering = Numbering(words, most, self._blocks)
        self.node = reserve(self.numbering.room, np.uint16)
        self.target = reserve(max(BLOCK_ROOM, self.limit // 4), np.uint32)
        self.done = self.edges = self._levels = self._level_end = 0
        key = key_of(self.game, self.start, layout, fold=self.fold)
        assert key is not None
        self.numbering.begin(key)

    def restore(self, layout: Layout, arrays: dict[str, NDArray[Any]]) -> None:
        """Resume from the result of ``arrays``."""
        self._use_layout(layout)
        self.numbering.begin(arrays["keys"].ravel().view(np.int64))
        self.done, self.edges = len(arrays["node"]), len(arrays["target"])
        self.node[: self.done], self.target[: self.edges] = arrays["node"], arrays["target"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all keys found so far, and the nodes and edges of the expanded states."""
        words = self.numbering.words
        keys = self.numbering.keys[: self.numbering.known * words].view(np.uint64).reshape(-1, words)
        return {"keys": keys, "node": self.node[: self.done], "target": self.target[: self.edges]}

    @property
    def complete(self) -> bool:
        """Whether every state was expanded."""
        return self.done == self.numbering.known

    def finish(self, show: Show | None = None) -> States:
        """Find the remaining states and return all; raise LimitError if they do not fit."""
        self.run(TaskGroup(1, show))
        return self.states()

    def states(self) -> States:
        """Return all states."""
        assert self.complete
        done, edges = self.done, self.edges
        return States(self.game, self.fold, self.layout, self.numbering, self.node[:done], self.target[:edges])

    def run(self, watch: TaskGroup) -> None:
        """Work until all states are found, or ``watch.stop`` is set."""
        self._watch, self._wider = watch, [0]
        while self._wider:
            self._begin()
            watch.run([self._work] * self.threads)
            if self._wider:
                self._use_layout(layout_of(self._wider))

    # ---------------------------------------------------------------- who does what
    def _begin(self) -> None:
        self._going, self._wider = not self.complete, []
        self._changed = Condition()  # held while the fields below are read or changed
        self._chunks: deque[Chunk] = deque()  # taken and not yet numbered, in the order of states
        self._taken, self._free, self._numbering_one = self.done, list(range(self._blocks)), False

    def _work(self) -> None:
        """Run one step after another until none is left."""
        try:
            while (step := self._next_step()) is not None:
                step()
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        with self._changed:
            self._going = False
            self._changed.notify_all()

    def _next_step(self) -> Callable[[], None] | None:
        """Wait for the next task of this thread and return it; None at the end."""
        with self._changed:
            while self._going:
                if self._chunks and self._chunks[0].count is not None and not self._numbering_one:
                    self._numbering_one = True
                    return partial(self._number, self._chunks[0])
                if self._free and self._taken < self.numbering.known:
                    return partial(self._expand, self._take())
                self._changed.wait()
            return None

    def _take(self) -> Chunk:
        """Return the next chunk that no worker has taken."""
        end = min(self.numbering.known, self._taken + self.chunk)
        chunk = Chunk(self._taken, end, self._free.pop())
        self._chunks.append(chunk)
        self._taken = end
        return chunk

    # ---------------------------------------------------------------- the two steps
    def _expand(self, chunk: Chunk) -> None:
        numbering, words, begin, end = self.numbering, self.numbering.words, chunk.begin, chunk.end
        keys = Keys(numbering.keys[begin * words : end * words], self.layout.ravel(), words)
        block = numbering.block(chunk.block, (end - begin) * self._mask_size)
        count = expand(self._native, self.fold, keys, self._watch.stop, self.node[begin:end], *block)
        with self._changed:
            chunk.count = int(count)
            self._changed.notify()

    def _number(self, chunk: Chunk) -> None:
        count = chunk.count
        assert count is not None
        if count < 0:
            if count != STOPPED:
                self._widen(chunk.begin + TROUBLE - count)
            self._end()
            return
        self._refuse(count)
        self.numbering.take_in(count, self.target[self.edges : self.edges + count], block=chunk.block)
        with self._changed:
            self.done, self.edges = chunk.end, self.edges + count
            self._chunks.popleft()
            self._free.append(chunk.block)
            self._numbering_one = False
            self._count_levels()
            self._watch.progress[0] = self.numbering.known
            self._going = not self.complete and not self._watch.stop[0]
            if not self._going or self.numbering.known - self._taken > self.chunk:  # more than this thread takes
                self._changed.notify_all()

    def _widen(self, number: int) -> None:
        s = state_of(self.game, key_at(self.numbering.keys, number, self.numbering.words), self.layout)
        self._wider = widths_needed(self.game, s, self.layout, self.fold)

    def _refuse(self, count: int) -> None:
        """Raise LimitError if ``count`` more edges do not fit."""
        numbering, known, edges = self.numbering, self.numbering.known, self.edges + count
        if self.max_states is not None and known > self.max_states:
            raise LimitError(f"the game has more than {self.max_states:,} states")
        slots = numbering.slots_for(known + count)
        used = known * (8 * numbering.words + 2) + 4 * self.edges + 4 * slots
        if used > self.limit or known + count > numbering.room or edges > len(self.target):
            what = f"more than {known:,} states with {self.edges:,} edges"
            raise LimitError(f"{what} would need more memory than {format_bytes(self.limit)}, which may be used")

    def _count_levels(self) -> None:
        if self.done > self._level_end:
            self._levels, self._level_end = self._levels + 1, self.numbering.known
            refuse_thin(self.game, self._levels, self._level_end)


def chunk_of(game: Game[Any]) -> int:
    """Return the number of states that may be expanded into one block."""
    return min(CHUNK, BLOCK_ROOM // mask_size(game))
