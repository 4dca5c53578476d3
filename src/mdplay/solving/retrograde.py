"""Retrograde analysis: backward from the terminal states, each edge once; the game may have cycles.

Terminal states have integer results, and infinite play has the value ``endless`` of the game for player 0.
Results above ``endless`` are taken from the highest down: player 0 forces such a result from its terminal states,
from its own states with a successor from which it does, and from states of player 1 all of whose successors are
such.  Results below are taken from the lowest up, for player 1.  A state keeps the first result that it gets.  The
other states have the value ``endless``.  From some of them a terminal state of that value is forced: by the player
who wins by it or, if it is a draw, by both.  From the others play is infinite.

Within a result, states are met in the order of their remoteness, the plies to the end: the player who forces the
result hurries, the other one delays, and both hurry to a draw (`mdplay.solving.values.delays`).  These are the
distances of backward induction (mdplay.solving.hashed).

    entry[i]    bits 0 to 21 the remoteness of state i, or until it is known the number of undecided successors;
                bit 23 the player; bits 24 to 31 the rank of its result, 0 if there is none: infinite play

In a single-player game the player forces the best result, and the remoteness is the least number of moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import State, get, kernel, native, prefetch, put, unchecked_view, width
from mdplay.errors import FormatError, LimitError
from mdplay.game import Game
from mdplay.runtime.memory import require
from mdplay.runtime.run import Run
from mdplay.runtime.signals import saving
from mdplay.runtime.threads import Show, StopFlag, TaskGroup, num_threads, stopped_after
from mdplay.solving.hashed import check_layout, sorted_index
from mdplay.solving.values import Arrays, Question, StateValue, Table
from mdplay.states.enumeration import DEGREE, PLAYER_BIT, Enumeration, States
from mdplay.states.graph_search import Integers
from mdplay.states.keys import Keys, Layout, num_words, packed_of, read_key, state_of
from mdplay.states.numbering import Numbering

REMOTENESS, MOVER_SHIFT, RANK_SHIFT = (1 << 22) - 1, 23, 24
MAX_RESULTS = 254  # different results: a rank has 8 bits
FIRST, SECOND, BOTH = range(3)  # the players who force a result
AHEAD = 8  # states of the queue that are prefetched
ANALYSIS_BYTES, SOURCE_BYTES = 13, 4  # of a state and of an edge, besides those of the enumeration
BYTES_PER_STATE = 48  # in all, with few edges: by this estimate a game is refused before it is enumerated
LOOK_EVERY = 1 << 12  # states between two looks at the stop flag
FEW_STATES = 1 << 17  # up to this number one thread is as fast as several


class Sources(NamedTuple):
    """The sources of edges: those of edges into state t end at ``ends[t]``, where those of t + 1 begin."""

    ends: NDArray[np.uint32]
    source: NDArray[np.uint32]


@kernel(plain_first=True)
def find_results(
    game: Game[Any], keys: Keys, ends: Integers, stop: StopFlag, out_results: Integers, out_rank: Integers
) -> int:
    """Write the distinct results and the rank of each terminal state's; return their number, -1 for too many."""
    listed, fields, words = unchecked_view(keys.all_words), unchecked_view(keys.layout), keys.words
    row, count = np.zeros(width(game), np.uint64), 0
    for i in range(len(ends)):
        if stop[0]:
            break
        result = int(game.result(read_key(game, listed, int(ends[i]) * words, fields, unchecked_view(row))))
        rank = 0
        while rank < count and out_results[rank] != result:
            rank += 1
        if rank == count:
            if count == len(out_results):
                return -1
            out_results[count] = result
            count += 1
        out_rank[i] = rank + 1
    return count


@kernel(plain_first=True)
def count_sources(target: Integers, begin: int, end: int, stop: StopFlag, out_first: Integers) -> None:
    """Count the edges into state t, for t from ``begin`` to ``end`` - 1, in ``out_first[t + 1]``."""
    for edge in range(len(target)):
        t = int(get(target, edge))
        if begin <= t < end:
            put(out_first, t + 1, get(out_first, t + 1) + 1)


@kernel(plain_first=True)
def place_sources(
    node: Integers,
    target: Integers,
    begin: int,
    end: int,
    stop: StopFlag,
    out_first: Integers,
    out_source: Integers,
) -> None:
    """Write the sources of the edges into states ``begin`` to ``end`` - 1; those of t then end at out_first[t]."""
    edge = 0
    for i in range(len(node)):
        if i % LOOK_EVERY == 0 and stop[0]:
            return
        for _ in range(node[i] & DEGREE):
            t = int(get(target, edge))
            edge += 1
            if begin <= t < end:
                place = int(get(out_first, t))
                put(out_source, place, i)
                put(out_first, t, place + 1)


@kernel(plain_first=True)
def attract(
    into: Sources, winner: int, rank: int, head: int, tail: int, stop: StopFlag, entry: Integers, queue: Integers
) -> int:
    """Extend the attractor of ``queue[head:tail]`` for one result; return the new end of the queue.

    A predecessor s of a queued state joins if the player to move in s is ``winner`` (or ``winner`` is BOTH), or if
    no successor of s remains undecided.  A state enters the queue once, so the queue has room for all.
    """
    table, ends, sources = unchecked_view((entry, into.ends, into.source))
    found, mover = rank << RANK_SHIFT, 1 << MOVER_SHIFT
    while head < tail:
        if head % LOOK_EVERY == 0 and stop[0]:
            return tail
        if head + 2 * AHEAD < tail:
            prefetch(ends, int(get(queue, head + 2 * AHEAD)))
        if head + AHEAD < tail:
            prefetch(sources, int(get(ends, max(1, int(get(queue, head + AHEAD))) - 1)))
        t = int(get(queue, head))
        head += 1
        remoteness = (int(get(table, t)) & REMOTENESS) + 1
        begin, end = (int(get(ends, t - 1)) if t else 0), int(get(ends, t))
        for edge in range(begin, end):
            if edge + AHEAD < end:
                prefetch(table, int(get(sources, edge + AHEAD)))
            s = int(get(sources, edge))
            word = int(get(table, s))
            if word >> RANK_SHIFT:
                continue
            if winner == BOTH or (word >> MOVER_SHIFT & 1) == winner or word & REMOTENESS == 1:
                put(table, s, found | word & mover | remoteness)
                put(queue, tail, s)
                tail += 1
            else:
                put(table, s, word - 1)
    return tail


# ---------------------------------------------------------------- the work
def analysed(states: States, *, threads: int = 1, memory: int | None = None) -> RetrogradeTable:
    """Return the result and the remoteness of every state; the edges of ``states`` are freed."""
    count, edges = len(states), len(states.target)
    if edges >= 1 << 32:
        raise LimitError(f"{edges:,} edges are too many for retrograde analysis; at most {(1 << 32) - 1:,}")
    needed = states.num_bytes + ANALYSIS_BYTES * count + SOURCE_BYTES * edges
    require(needed, memory, f"the analysis of {count:,} states with {edges:,} edges")
    watch = TaskGroup()
    all_ends = np.flatnonzero((states.node & DEGREE) == 0).astype(np.uint32)
    results, rank = _results(states, all_ends, watch)
    into = _sources(states, threads, watch)
    entry = (states.node & DEGREE).astype(np.uint32)
    entry |= (states.node >> PLAYER_BIT & 1).astype(np.uint32) << np.uint32(MOVER_SHIFT)
    states.target = states.target[:0].copy()
    queue, tail = np.empty(count, np.uint32), 0
    for result, winner in _order(results, states.game.endless):
        k = results.index(result) + 1
        ends = all_ends[rank == k]
        entry[ends] |= np.uint32(k << RANK_SHIFT)
        queue[tail : tail + len(ends)] = ends
        task = partial(attract, into, winner, k, tail, tail + len(ends), watch.stop, entry, queue)
        tail = int(watch.run([task])[0])
    return RetrogradeTable(states.game, states.layout, states.fold, entry, results, states=states)


def _results(states: States, ends: NDArray[np.uint32], watch: TaskGroup) -> tuple[list[int], NDArray[np.uint8]]:
    """Return the distinct results of terminal states, and the rank of each one's result, from 1 on."""
    results, rank = np.zeros(MAX_RESULTS, np.int64), np.zeros(len(ends), np.uint8)
    given = (states.key_list, ends, watch.stop, results, rank)
    count = watch.run([partial(find_results, native(states.game), *given)])[0]
    if count < 0:
        what = f"the game has more than {MAX_RESULTS} different results"
        raise LimitError(f"{what}, too many for retrograde analysis; use method='value-iteration'")
    return [int(result) for result in results[:count]], rank


def _sources(states: States, threads: int, watch: TaskGroup) -> Sources:
    """Return the sources of the edges into each state; each thread has a share of the states."""
    count = len(states)
    first, source = np.zeros(count + 1, np.uint32), np.empty(len(states.target), np.uint32)
    threads = threads if count > FEW_STATES else 1
    cuts = [count * i // threads for i in range(threads + 1)]
    shares = list(pairwise(cuts))
    given = (states.node, states.target)
    watch.run([partial(count_sources, states.target, *share, watch.stop, first) for share in shares])
    np.cumsum(first, out=first, dtype=np.uint32)
    watch.run([partial(place_sources, *given, *share, watch.stop, first, source) for share in shares])
    return Sources(first, source)


def _order(results: list[int], endless: int) -> list[tuple[int, int]]:
    """Return the results in the order in which they are forced, each with the player who forces it."""
    above = [(result, FIRST) for result in sorted(results, reverse=True) if result > endless]
    below = [(result, SECOND) for result in sorted(results) if result < endless]
    winner = FIRST if endless > 0 else SECOND if endless < 0 else BOTH
    return [*above, *below, *((result, winner) for result in results if result == endless)]


def retrograde(
    game: Game[Any],
    state: State | None = None,
    *,
    threads: int = 1,
    memory: int | None = None,
    show: Show | None = None,
) -> RetrogradeTable:
    """Return the table of all states that are reachable from a state (default: the start)."""
    start = game.initial() if state is None else state
    return fill(Question(game, start, run=Run(threads=threads, memory=memory, progress=show)))


def prepared(question: Question) -> Enumeration:
    """Return a new enumeration; raise LimitError if random games show that the game is too large."""
    sample, threads = question.survey.sample, num_threads(question.run.threads)
    what = f"a table of more than {sample.least_states:.1g} states"
    require(sample.least_states * BYTES_PER_STATE, question.run.bytes, what)
    return Enumeration(
        question.game, question.state, fold=True, threads=threads, memory=question.run.bytes, widths=sample.widths
    )


# ---------------------------------------------------------------- the table
class RetrogradeTable(Table):
    """The result and the remoteness of every state, found by its number, or in a file by its sorted key."""

    method = kind = "retrograde"
    array_types: ClassVar = {
        "layout": "int64",
        "keys": "uint64",
        "ranks": "uint32",
        "results": "int64",
        "node": "uint16",
        "target": "uint32",
    }

    def __init__(
        self,
        game: Game[Any],
        layout: Layout,
        fold: bool,
        entries: NDArray[np.uint32],
        results: list[int],
        *,
        states: States | None = None,
        keys: NDArray[np.uint64] | None = None,
    ) -> None:
        self.game, self.layout, self.fold, self.entries, self.results = game, layout, fold, entries, results
        self.enumerated, self.sorted_keys = states, keys
        self._other: RetrogradeTable | None = None  # for states that this table does not have

    def __len__(self) -> int:
        return len(self.entries)

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player; without a distance if best play is infinite."""
        number = self.number(state)
        if number is None:
            return self._elsewhere(state).lookup(state, player)
        entry = int(self.entries[number])
        rank = entry >> RANK_SHIFT
        value = float(self.results[rank - 1] if rank else self.game.endless)
        return StateValue(-value if player else value, entry & REMOTENESS if rank else None)

    def endless(self, state: State) -> bool:
        """Return whether best play from a state is infinite."""
        return self.lookup(state, self.game.player(state)).distance is None

    def number(self, state: State) -> int | None:
        """Return the row of a state in the table; None if it is not there."""
        if self.enumerated is not None:
            return self.enumerated.number(state)
        assert self.sorted_keys is not None
        return sorted_index(self.game, state, self.layout, self.sorted_keys, self.fold)

    def _elsewhere(self, state: State) -> RetrogradeTable:
        """Return a table with a state that this one does not have."""
        if self._other is None or self._other.number(state) is None:
            self._other = retrograde(self.game, state)
        return self._other

    def state(self, number: int) -> Any:
        """Return the state of a row; of symmetric states the least image."""
        return state_of(self.game, self.keys()[number].view(np.int64), self.layout)

    def states(self) -> Iterator[Any]:
        """Yield all states; of symmetric states one."""
        return (self.state(number) for number in range(len(self)))

    def keys(self) -> NDArray[np.uint64]:
        """Return the keys of all states, a row for each."""
        if self.sorted_keys is not None:
            return self.sorted_keys
        assert self.enumerated is not None
        return self.enumerated.keys.view(np.uint64).reshape(len(self), num_words(self.layout))

    # ---------------------------------------------------------------- all states
    def weights(self) -> NDArray[np.int64]:
        """Return the number of positions that each state stands for: with symmetries, the size of its orbit."""
        states = self.enumerated or _listed(self)
        return states.orbits().astype(np.int64)

    def tally(self) -> dict[str, int]:
        """Return how many positions are won, lost, tied at the end and drawn by infinite play, for the mover.

        Positions that infinite play wins or loses (``endless`` is not 0) are counted as won or lost.
        """
        values, endless, weights = self._values(), self._ranks() == 0, self.weights()
        drawn = values == 0
        kinds = {"won": values > 0, "lost": values < 0, "tied": drawn & ~endless, "endless": drawn & endless}
        return {kind: int(weights[chosen].sum()) for kind, chosen in kinds.items()}

    def distances(self) -> dict[int, int]:
        """Return the number of positions by their plies to the end; those of infinite play are left out."""
        decided = self._ranks() != 0
        plies = self.entries[decided] & np.uint32(REMOTENESS)
        counts = np.bincount(plies, weights=self.weights()[decided])
        return {distance: int(count) for distance, count in enumerate(counts) if count}

    def arrays(self) -> Arrays:
        """Return the states, values and distances as arrays; the distance is -1 where play is infinite."""
        plies = (self.entries & np.uint32(REMOTENESS)).astype(np.int64)
        return {
            "states": packed_of(np.ascontiguousarray(self.keys()), self.layout).view(np.int64),
            "values": self._values().astype(np.float64),
            "distances": np.where(self._ranks() == 0, -1, plies),
        }

    def _ranks(self) -> NDArray[np.uint32]:
        ranks: NDArray[np.uint32] = self.entries >> np.uint32(RANK_SHIFT)
        return ranks

    def _values(self) -> NDArray[np.int64]:
        """Return the value of every state for its player to move."""
        values = np.array([self.game.endless, *self.results], np.int64)[self._ranks()]
        return np.where(self.entries >> np.uint32(MOVER_SHIFT) & np.uint32(1), -values, values)

    # ---------------------------------------------------------------- files
    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the table for a file, in the order of its keys."""
        keys = self.keys()
        order = np.lexsort(keys.T[::-1])
        arrays: Arrays = {
            "layout": self.layout,
            "keys": np.ascontiguousarray(keys[order]),
            "ranks": np.ascontiguousarray(self.entries[order]),
            "results": np.array(self.results, np.int64),
        }
        return arrays, {"fold": self.fold}

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> Table:
        """Return a finished analysis, or an unfinished enumeration."""
        if not facts["complete"]:
            return UnfinishedTable.from_file(game, arrays)
        check_layout(game, arrays, len(arrays["ranks"]))
        results = arrays["results"].tolist()
        if len(arrays["ranks"]) and int(arrays["ranks"].max()) >> RANK_SHIFT > len(results):
            raise FormatError(f"the file has ranks beyond its {len(results)} results")
        return cls(game, arrays["layout"], bool(facts["fold"]), arrays["ranks"], results, keys=arrays["keys"])


class UnfinishedTable(Table):
    """An interrupted enumeration, by number: keys, degrees (``node``) and successors (``target``)."""

    method = kind = "retrograde"

    def __init__(self, game: Game[Any], arrays: Arrays) -> None:
        self.game, self.enumeration = game, arrays

    @classmethod
    def from_file(cls, game: Game[Any], arrays: Arrays) -> UnfinishedTable:
        """Return the enumeration of a file."""
        node, target, count = arrays["node"], arrays["target"], len(arrays["keys"])
        check_layout(game, arrays, count)
        edges_fit = len(node) <= count and int((node & DEGREE).sum()) == len(target)
        if not edges_fit or (len(target) and int(target.max()) >= count):
            raise FormatError("the edges in the file are not those of its states")
        return cls(game, arrays)

    def __len__(self) -> int:
        return len(self.enumeration["keys"])

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays of the enumeration."""
        return self.enumeration, {}


def _listed(table: RetrogradeTable) -> States:
    """Return the states of a table from a file, without edges."""
    numbering = Numbering(num_words(table.layout), len(table) + 1)
    numbering.begin(np.ascontiguousarray(table.keys()).view(np.int64).ravel())
    node = np.zeros(len(table), np.uint16)
    return States(table.game, table.fold, table.layout, numbering, node, np.zeros(0, np.uint32))


def fill(question: Question) -> RetrogradeTable:
    """Return the table that answers a question, starting from an unfinished enumeration if there is one."""
    checkpoint, work = question.checkpoint, prepared(question)
    if isinstance(question.begun, UnfinishedTable):
        work.restore(np.array(question.begun.enumeration["layout"]), question.begun.enumeration)

    def save() -> None:
        if checkpoint is not None:
            checkpoint(UnfinishedTable(question.game, {"layout": work.layout, **work.arrays()}))

    watch = TaskGroup(work.threads, question.run.progress)
    with saving(save if checkpoint else None):
        while not work.complete:
            with stopped_after(watch, question.run.save_every if checkpoint else None):
                work.run(watch)
            if not work.complete:
                save()
    return analysed(work.states(), threads=work.threads, memory=question.run.bytes)
