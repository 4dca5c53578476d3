"""The arrays and threads of proof search: Python's side of the kernels.

kernel.py  one question, yes or no, and questions until bounds meet
children.py  the moves of a node      table.py  the transposition table, and the stack of a thread
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import State, Words, direct, native, width, words
from mdplay.compiling.contract import rule_error
from mdplay.errors import GameError, LimitError
from mdplay.game import Game, ProofView
from mdplay.learning.network import Network, check_network
from mdplay.runtime.threads import Show, TaskGroup, num_threads, translating
from mdplay.solving.proof import table as stack_of
from mdplay.solving.proof.kernel import BUSY, grow_to, narrow_windows, recall_move, remember
from mdplay.solving.proof.table import EXACT_BITS, LIMIT, TAG_BITS, WAYS

FIRST_BYTES = 1 << 18  # of the table at first
QUICK = 65_536  # nodes, some milliseconds, that are searched in the calling thread before others are started
ALONE = 300_000  # nodes that one thread searches before the others join it
LINE = 64  # bytes of a cache line

Values = NDArray[np.int64]
Rows = Words


def full_windows(count: int) -> Values:
    """Return the widest window for each of ``count`` positions."""
    return np.tile(np.array((-LIMIT, LIMIT), np.int64), (count, 1))


class ProofSearch:
    """The transposition table of one game, and the threads that search with it."""

    def __init__(self, game: Game[Any], *, memory: int, threads: int | None, network: Network | None) -> None:
        _refuse(game, network)
        spot_check(game)
        self.game, self.proof_view = game, game.proof_view()
        spot_check(self.proof_view, self.convert(game.initial()))
        self._native, self._natives = native(self.proof_view), (native(game), native(self.proof_view))
        self._first, self._most, self._bucket_words = _table_sizes(self.proof_view, memory)
        self._table = _aligned((self._most + 1) * self._bucket_words)
        self._busy = np.zeros(BUSY, np.uint64)
        size = stack_of.ROWS_AT + stack_of.KIDS * (stack_of.CHILD + width(self.proof_view))
        self._stacks = [np.zeros(size, np.int64) for _ in range(num_threads(threads))]
        self._networks = [None if network is None else network.arrays() for _ in self._stacks]
        self._watch = TaskGroup(len(self._stacks))  # of searches in the calling thread
        self.forget()

    def __len__(self) -> int:
        """Return the number of positions in the table."""
        return int(np.count_nonzero(self._table[:: self._bucket_words // WAYS]))

    def forget(self) -> None:
        """Empty the table."""
        self._table[: int(self._stacks[0][stack_of.BUCKETS] + 1) * self._bucket_words] = 0
        for number, stack in enumerate(self._stacks):
            stack[: stack_of.CONTROL] = 0
            stack[stack_of.THREAD] = number
        self._set(stack_of.BUCKETS, self._first)
        self._set(stack_of.MAX_BUCKETS, self._most)
        self._set(stack_of.THREADS, 1)

    def total(self, counter: int) -> int:
        """Return a counter of the stacks, such as NODES or QUESTIONS, summed over all threads."""
        return sum(int(stack[counter]) for stack in self._stacks)

    def convert(self, state: State) -> Any:
        """Return a state of the game as a state of its proof view."""
        return self.proof_view.convert(state) if isinstance(self.proof_view, ProofView) else state

    def learn(self, rows: Rows, scores: Values) -> None:
        """Store the scores of packed states, for their players to move, as proved."""
        room = min(self._most, 1 << len(rows).bit_length())
        grow_to(self._native, self._table, self._stacks[0], room)
        if len(scores) and np.abs(scores).max() > LIMIT:
            raise GameError(f"proof search stores scores from {-LIMIT} to {LIMIT}, not {np.abs(scores).max()}")
        remember(*self._natives, rows, scores, self._table, self._stacks[0])

    def recall_move(self, state: State) -> int:
        """Return the move of the proof view that the table has for a state, or a number that is no move."""
        return int(recall_move(self._native, words(self.convert(state)), self._table, self._stacks[0]))

    # ---------------------------------------------------------------- searches
    def narrow(
        self, rows: Rows, windows: Values, *, seconds: float | None = None, show: Show | None = None
    ) -> None:
        """Narrow the windows around the scores of packed states, in place; hard ones on all threads."""
        self._until = time.monotonic() + (math.inf if seconds is None else seconds)
        translating(self._narrow, self._stacks[0], rows, windows, self._watch, QUICK)
        self._check_status()
        has_threads = len(self._stacks) > 1
        if _open(windows).size:
            budget = ALONE if has_threads else 0
            self._run([partial(self._narrow, self._stacks[0], rows, windows, budget=budget)], show)
        left = _open(windows)
        if has_threads and left.size and time.monotonic() < self._until:
            windows[left] = self._narrow_on_all(rows[left], windows[left], show)

    @cached_property
    def quick_score(self) -> Callable[[Any], int | None]:
        """A function that returns the score of a state, or None if it is not found within ``QUICK`` nodes.

        A call takes a microsecond besides the search, because the arguments are converted only once.
        """
        row, window = np.zeros((1, width(self.game)), np.uint64), full_windows(1)
        fields, bounds, control = row[0].data, window[0].data, self._stacks[0].data
        arguments, narrow = self._arguments(self._stacks[0], row, window, self._watch, QUICK), self._kernel

        def score(state: State) -> int | None:
            try:
                for i, field in enumerate(state):
                    fields[i] = field
            except ValueError:  # a negative field
                row[0] = words(state)
            bounds[0], bounds[1] = -LIMIT, LIMIT
            try:
                narrow(*arguments)
            except Exception as error:
                raise rule_error(error, self._natives) or error from None
            low: int = bounds[0]
            return None if low < bounds[1] or control[stack_of.STATUS] else low

        return score

    # ---------------------------------------------------------------- threads
    def _narrow_on_all(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        """Search a shared table of full size: one position per thread or, if they are few, all threads on each."""
        grow_to(self._native, self._table, self._stacks[0], self._most)
        self._set(stack_of.BUCKETS, self._most)
        if len(rows) >= len(self._stacks):
            return self._narrow_apart(rows, windows, show)
        return np.vstack(
            [self._narrow_together(rows[i : i + 1], windows[i : i + 1], show) for i in range(len(rows))]
        )

    def _narrow_apart(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        numbers = iter(range(len(rows)))  # each thread takes the next position

        def work(stack: Values, watch: TaskGroup) -> None:
            for i in numbers:
                self._narrow(stack, rows[i : i + 1], windows[i : i + 1], watch)

        self._run([partial(work, stack) for stack in self._stacks], show)
        return windows

    def _narrow_together(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        self._busy[:] = 0
        self._set(stack_of.THREADS, len(self._stacks))
        own = [windows.copy() for _ in self._stacks]

        def work(stack: Values, windows: Values, watch: TaskGroup) -> None:
            self._narrow(stack, rows, windows, watch)
            watch.stop[0] = 1  # the answer of one thread is enough

        try:
            self._run([partial(work, *pair) for pair in zip(self._stacks, own, strict=True)], show)
        finally:
            self._set(stack_of.THREADS, 1)
        lows, highs = zip(*(window[0] for window in own), strict=True)
        return np.array([[max(lows), min(highs)]])

    def _run(self, tasks: list[Callable[[TaskGroup], None]], show: Show | None) -> None:
        def look_at_clock(nodes: int) -> None:
            if time.monotonic() > self._until:
                watch.stop[0] = 1
            if show is not None:
                show(nodes)

        watch = TaskGroup(len(self._stacks), look_at_clock)
        watch.run([partial(task, watch) for task in tasks])
        self._check_status()

    def _narrow(self, stack: Values, rows: Rows, windows: Values, watch: TaskGroup, budget: int = 0) -> None:
        arguments = self._arguments(stack, np.ascontiguousarray(rows, np.uint64), windows, watch, budget)
        try:
            self._kernel(*arguments)
        except Exception as error:
            raise rule_error(error, self._natives) or error from None

    def _arguments(
        self, stack: Values, rows: Rows, windows: Values, watch: TaskGroup, budget: int
    ) -> tuple[Any, ...]:
        shared = self._table, self._busy, stack, watch.stop, watch.progress
        return *self._natives, self._networks[stack[stack_of.THREAD]], rows, windows, budget, *shared

    @cached_property
    def _kernel(self) -> Callable[..., None]:
        rows = np.zeros((1, width(self.game)), np.uint64)
        return direct(narrow_windows, *self._arguments(self._stacks[0], rows, full_windows(1), self._watch, QUICK))

    def _check_status(self) -> None:
        """Raise the error that a kernel noted in its stack."""
        status = max(int(stack[stack_of.STATUS]) for stack in self._stacks)
        self._set(stack_of.STATUS, stack_of.GOOD)
        name = type(self.game).__name__
        if status == stack_of.UNFIT:
            needed = f"proof search needs integer values from {-LIMIT} to {LIMIT}"
            raise GameError(f"{needed}; {name} has others, use another method")
        if status == stack_of.BROKEN:
            what = "player, bounds or key of a position"
            raise GameError(f"{what} of {name} does not follow the contract; run mdplay check")
        if status == stack_of.ENDLESS:
            raise GameError(f"{name} has forced moves without end; proof search needs games that end")
        if status == stack_of.TOO_DEEP:
            what = f"proof search met a line of {name} with more than {stack_of.DEPTH} choices"
            raise LimitError(f"{what}; if the game has cycles, use method='retrograde'")

    def _set(self, what: int, value: int) -> None:
        for stack in self._stacks:
            stack[what] = value


def _open(windows: Values) -> NDArray[np.intp]:
    """Return the windows that are wider than one number."""
    return np.flatnonzero(windows[:, 0] < windows[:, 1])


def _refuse(game: Game[Any], network: Network | None) -> None:
    """Raise GameError for games that proof search does not support, or not with a network."""
    check_network(network)
    name = type(game).__name__
    if network is not None and game.has_proof_view:
        raise GameError(f"{name} has a proof view with an order of its own; leave out the network")
    if game.has_outcomes:
        raise GameError(f"{name} has chance events; proof search needs games without chance")


def _table_sizes(proof_view: Game[Any], memory: int) -> tuple[int, int, int]:
    """Return the buckets of the table at first and at most, and the words of a bucket."""
    exact = proof_view.has_key and proof_view.key_bits <= EXACT_BITS
    bucket_words = WAYS * (1 if exact else 2)
    least = 1 << max(proof_view.key_bits - TAG_BITS, 0) if exact else 1
    most = max(1 << (memory // (8 * bucket_words)).bit_length() - 1, least)
    if exact:
        most = min(most, 1 << proof_view.key_bits)
    return min(max(FIRST_BYTES // (8 * bucket_words), least), most), most, bucket_words


def _aligned(size: int) -> Words:
    """Return zeros that begin at a cache line, so that no bucket lies on two."""
    room = np.zeros(size + LINE // 8, np.uint64)
    skip = -room.ctypes.data % LINE // 8
    return room[skip : skip + size]
