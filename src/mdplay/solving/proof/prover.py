"""Exact values of single positions, by proof search: no table of the whole game is needed.

    prover = Prover(make("connect-four"))
    prover.score(state)      for the player to move; on 7 x 6 22 minus the winner's discs, 0 for a draw
    prover.choices(state)    every move with its value, score and distance
    prover.line(state)       how the game goes if both play their best

It answers for every game of two players without chance whose values are whole numbers, and the better the more
the game knows: ``bounds``, ``ordering_score``, ``key``, ``order``, or a ``proof_view`` of its own
(mdplay.game).  What was proved stays in the table, so later questions are quicker.

    kernel.py  one question, yes or no        table.py  what is remembered
    values.py  questions until bounds meet    stack.py  what a thread works on
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, nonempty
from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import direct, native, width, words
from mdplay.compiling.contract import rule_error
from mdplay.errors import GameError, LimitError
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation, best_moves
from mdplay.game import Game, ProofView
from mdplay.learning.network import Network, check_network
from mdplay.position import as_state, takes_state
from mdplay.runtime.threads import Show, TaskGroup, num_threads, translating
from mdplay.solving.proof import table as stack_of
from mdplay.solving.proof.kernel import BUSY, grow_to, narrow_windows, recall_move, remember
from mdplay.solving.proof.table import EXACT_BITS, LIMIT, TAG_BITS, WAYS
from mdplay.solving.values import Choice, StateValue

MEMORY = 256 << 20  # bytes that the table may take
FIRST_BYTES = 1 << 18  # of the table at first
QUICK = 65_536  # nodes, some milliseconds, searched where the question is asked before a thread is made for it
ALONE = 300_000  # nodes that one thread searches before the others join it
LINE = 64  # bytes that the memory moves at once
WEAK = (-1, 1)  # the window that asks only who wins

Values = NDArray[np.int64]
Rows = NDArray[np.uint64]


@dataclass(frozen=True)
class Proof:
    """What was proved of a position: its score for the player to move is in low .. high."""

    low: int
    high: int
    nodes: int
    questions: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the search came to its end."""
        return self.low == self.high


class Prover:
    """Exact values of one game's positions, proved when they are asked for.

    ``memory`` is what the table may take, in bytes; ``threads`` work on one position together.  ``network``: moves
    are tried in the order of what was learned, not in that of the game; the values stay the same.
    """

    method = "proof"

    def __init__(
        self, game: Game[Any], *, memory: int = MEMORY, threads: int | None = 1, network: Network | None = None
    ) -> None:
        _refuse(game, network)
        spot_check(game)
        self.game = game
        self.proof_view = game.proof_view()
        spot_check(self.proof_view, self._enter(game.initial()))
        self._native, self._natives = native(self.proof_view), (native(game), native(self.proof_view))
        self._first, self._most, self._bucket_words = _table_sizes(self.proof_view, memory)
        self._table = _aligned((self._most + 1) * self._bucket_words)
        self._busy = np.zeros(BUSY, np.uint64)
        size = stack_of.ROWS_AT + stack_of.KIDS * (stack_of.CHILD + width(self.proof_view))
        self._stacks = [np.zeros(size, np.int64) for _ in range(num_threads(threads))]
        self._networks = [None if network is None else network.arrays() for _ in self._stacks]
        self._watch = TaskGroup(len(self._stacks))  # of what is searched where the question is asked
        self.forget()

    def __repr__(self) -> str:
        return f"<Prover of {self.game!r}>"

    def forget(self) -> None:
        """Empty the table, of what was learned too."""
        self._table[: int(self._stacks[0][stack_of.BUCKETS] + 1) * self._bucket_words] = 0
        for number, stack in enumerate(self._stacks):
            stack[: stack_of.CONTROL] = 0
            stack[stack_of.THREAD] = number
        self._set(stack_of.BUCKETS, self._first)
        self._set(stack_of.MAX_BUCKETS, self._most)
        self._set(stack_of.THREADS, 1)

    @property
    def nodes(self) -> int:
        """The nodes searched so far, all threads together."""
        return sum(int(stack[stack_of.NODES]) for stack in self._stacks)

    def __len__(self) -> int:
        """Return the number of positions in the table."""
        return int(np.count_nonzero(self._table[:: self._bucket_words // WAYS]))

    # ---------------------------------------------------------------- questions
    @takes_state
    def prove(
        self,
        state: Any,
        *,
        weak: bool = False,
        lead: int = 0,
        seconds: float | None = None,
        show: Show | None = None,
    ) -> Proof:
        """Prove the score of a position; after ``seconds`` seconds, return the bounds proved so far.

        ``weak`` asks only who wins if the player to move has ``lead`` points more: the score is then -1, 0 or 1.
        """
        began = time.perf_counter()
        nodes, questions = self.nodes, self._sum(stack_of.QUESTIONS)
        window = self._windows(1, weak)
        if weak:
            window = np.clip(window - lead, -LIMIT, LIMIT)
        self._search(self.packed([state]), window, seconds=seconds, show=show)
        low, high = (np.clip(window[0] + lead, *WEAK) if weak else window[0]).tolist()
        asked = self._sum(stack_of.QUESTIONS) - questions
        return Proof(low, high, self.nodes - nodes, asked, time.perf_counter() - began)

    def score(self, state: Any) -> int:
        """Return the score of a position for the player to move."""
        if not isinstance(state, tuple):  # by hand: takes_state would cost as much as the question
            state = as_state(self.game, state)
        score = translating(self._quick_score, state)
        return int(self.scores([state])[0]) if score is None else score

    @takes_state
    def quick(self, state: Any) -> int | None:
        """Return the score of a position if some milliseconds suffice, else None: the first answer of many."""
        score: int | None = translating(self._quick_score, state)
        return score

    @takes_state
    def choice(self, state: Any, action: int, *, seconds: float | None = None, show: Show | None = None) -> Choice:
        """Return one legal move with its value and score; only bounds where so many seconds did not suffice.

        ``show`` is told of the nodes ten times a second.  It may raise: then the search ends, what was proved
        stays in the table, and the exception goes on to the caller.
        """
        after = self.game.step(state, action)
        proof = self.prove(after, seconds=seconds, show=show)
        if proof.exact:
            return self._choice(state, action, after, proof.low)
        turn, gain = self._sign(state) * self._sign(after), self._gain(state, action) * self._sign(state)
        low, high = sorted(gain + turn * self._value(bound) for bound in (proof.low, proof.high))
        return Choice(action, low, high)

    def scores(self, states: Iterable[Any] | Rows, *, weak: bool = False, show: Show | None = None) -> Values:
        """Return the score of each position for its player to move; ``packed`` states save a microsecond each."""
        rows = states if isinstance(states, np.ndarray) else self.packed(states)
        windows = self._windows(len(rows), weak)
        self._search(rows, windows, show=show)
        return windows[:, 0]

    def packed(self, states: Iterable[Any]) -> Rows:
        """Return states of the game as the search takes them, a row each."""
        states = [state if isinstance(state, tuple) else as_state(self.game, state) for state in states]
        try:
            return np.array(states, np.uint64).reshape(len(states), width(self.game))
        except OverflowError:  # a negative field
            return np.array([words(state) for state in states], np.uint64)

    @takes_state
    def choices(self, state: Any) -> list[Choice]:
        """Return every legal move with its score, in ascending order; none where the game is over."""
        actions = elements(self.game.legal(state))
        after = [self.game.step(state, action) for action in actions]
        scores = self.scores(after)
        return [self._choice(state, *item) for item in zip(actions, after, scores.tolist(), strict=True)]

    def evaluate(
        self, state: Any = None, *, brief: bool = False, show: Show | None = None
    ) -> Iterator[Evaluation]:
        """Yield the evaluation of a state in which a player moves; ``brief`` and ``show`` have no effect."""
        s = as_state(self.game, state)
        moves = {choice.action: MoveEvaluation.of_choice(choice) for choice in self.choices(s)}
        best = best_moves(moves, self._sign(s) * self.game.endless)
        yield Evaluation(moves, moves[best[0]], best, "proof search", done=True)

    @takes_state
    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a position is worth to a player, and the plies to the end if the score tells."""
        score = self.score(state)
        turn = 1 if player == self.game.player(state) else -1
        shown = turn * score if isinstance(self.proof_view, ProofView) else None
        return StateValue(turn * self._value(score), self.distance(state, score), shown)

    @takes_state
    def line(self, state: Any, *, max_plies: int | None = None) -> list[int]:
        """Return the actions of best play from a position to the end; the table's move before smaller ones."""
        line: list[int] = []
        total = self.score(state) * self._sign(state)
        while nonempty(self.game.legal(state)) and len(line) != max_plies:
            action = self._action_of_value(state, total)
            total -= self._gain(state, action)
            state = self.game.step(state, action)
            line.append(action)
        return line

    def learn(self, states: Iterable[Any], scores: Iterable[int]) -> None:
        """Take the scores of positions, for their players to move, as proved."""
        states = list(states)
        room = min(self._most, 1 << len(states).bit_length())
        grow_to(self._native, self._table, self._stacks[0], room)
        values = np.fromiter(scores, np.int64, len(states))
        if len(values) and np.abs(values).max() > LIMIT:
            raise GameError(f"proof search keeps scores in {-LIMIT} .. {LIMIT}, not {np.abs(values).max()}")
        remember(*self._natives, self.packed(states), values, self._table, self._stacks[0])

    # ---------------------------------------------------------------- moves
    def _choice(self, state: Any, action: int, after: Any, score: int) -> Choice:
        turn, gain = self._sign(state) * self._sign(after), self._gain(state, action) * self._sign(state)
        distance = self.distance(after, score)
        return Choice(
            action,
            gain + turn * self._value(score),
            gain + turn * self._value(score),
            None if distance is None else distance + 1,
            gain + turn * score if isinstance(self.proof_view, ProofView) else None,
        )

    def _action_of_value(self, state: Any, value: int) -> int:
        """Return an action after which player 0's value is still this one."""
        actions, hint = elements(self.game.legal(state)), self._recalled(state)
        for action in sorted(actions, key=lambda action: action != hint):
            after, goal = self.game.step(state, action), value - self._gain(state, action)
            reached = [goal, goal + 1] if self.game.player(state) else [goal - 1, goal]
            windows = np.array([sorted(bound * self._sign(after) for bound in reached)], np.int64)
            self._search(self.packed([after]), windows)
            if windows[0, 0] == windows[0, 1] == goal * self._sign(after):
                return action
        raise GameError(f"no move of {self.game.text(state)} keeps its value; do the bounds tell the truth?")

    def _recalled(self, state: Any) -> int:
        """Return the action whose successor is the one after the table's move, or -1."""
        move = int(recall_move(self._native, words(self._enter(state)), self._table, self._stacks[0]))
        if move not in elements(self.proof_view.legal(self._enter(state))):
            return -1
        wanted = self.proof_view.step(self._enter(state), move)
        after = [(a, self._enter(self.game.step(state, a))) for a in elements(self.game.legal(state))]
        return next((action for action, s in after if s == wanted), -1)

    def _gain(self, state: Any, action: int) -> int:
        return int(self.game.reward(state, action)) * self._sign(state)

    def _value(self, score: int) -> int:
        """Return the game's value: a view for proofs scores by distance, and only the sign is the game's."""
        return (score > 0) - (score < 0) if isinstance(self.proof_view, ProofView) else score

    @takes_state
    def distance(self, state: Any, score: int) -> int | None:
        """Return the plies to the end, given the score for the player to move; None if that does not tell."""
        if not isinstance(self.proof_view, ProofView):
            return None
        return self.proof_view.distance(self._enter(state), score * self._sign(state))

    # ---------------------------------------------------------------- the search
    def _search(
        self, rows: Rows, windows: Values, *, seconds: float | None = None, show: Show | None = None
    ) -> None:
        """Narrow the windows around the values of packed states, in place; hard ones on all threads."""
        self._until = time.monotonic() + (math.inf if seconds is None else seconds)
        translating(self._narrow, self._stacks[0], rows, windows, self._watch, QUICK)
        self._complain()
        several = len(self._stacks) > 1
        if _open(windows).size:
            self._run(
                [partial(self._narrow, self._stacks[0], rows, windows, budget=ALONE if several else 0)], show
            )
        left = _open(windows)
        if several and left.size and time.monotonic() < self._until:
            windows[left] = self._search_on_all(rows[left], windows[left], show)

    def _search_on_all(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        """Search on a shared table of full size: a position a thread or, if they are few, all threads on each."""
        grow_to(self._native, self._table, self._stacks[0], self._most)
        self._set(stack_of.BUCKETS, self._most)
        if len(rows) >= len(self._stacks):
            return self._search_apart(rows, windows, show)
        return np.vstack(
            [self._search_together(rows[i : i + 1], windows[i : i + 1], show) for i in range(len(rows))]
        )

    def _search_apart(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        numbers = iter(range(len(rows)))  # each thread takes the next position

        def work(stack: Values, watch: TaskGroup) -> None:
            for i in numbers:
                self._narrow(stack, rows[i : i + 1], windows[i : i + 1], watch)

        self._run([partial(work, stack) for stack in self._stacks], show)
        return windows

    def _search_together(self, rows: Rows, windows: Values, show: Show | None) -> Values:
        self._busy[:] = 0
        self._set(stack_of.THREADS, len(self._stacks))
        own = [windows.copy() for _ in self._stacks]

        def work(stack: Values, windows: Values, watch: TaskGroup) -> None:
            self._narrow(stack, rows, windows, watch)
            watch.stop[0] = 1  # one thread's answer is enough

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
        self._complain()

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
        rows, windows = np.zeros((1, width(self.game)), np.uint64), self._windows(1, False)
        return direct(narrow_windows, *self._arguments(self._stacks[0], rows, windows, self._watch, QUICK))

    @cached_property
    def _quick_score(self) -> Callable[[Any], int | None]:
        """A function that gives the score of a state, or None if it is not found within ``QUICK`` nodes.

        It costs a microsecond a call besides the search: the arguments stay where they are.
        """
        row, window = np.zeros((1, width(self.game)), np.uint64), self._windows(1, False)
        fields, bounds, control = row[0].data, window[0].data, self._stacks[0].data
        arguments, narrow = self._arguments(self._stacks[0], row, window, self._watch, QUICK), self._kernel

        def score(state: Any) -> int | None:
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

    def _complain(self) -> None:
        status = max(int(stack[stack_of.STATUS]) for stack in self._stacks)
        self._set(stack_of.STATUS, stack_of.GOOD)
        name = type(self.game).__name__
        if status == stack_of.UNFIT:
            raise GameError(
                f"proof search needs whole values in {-LIMIT} .. {LIMIT}; {name} has others, solve it by tables"
            )
        if status == stack_of.BROKEN:
            what = "player, bounds or key of a position"
            raise GameError(f"{what} of {name} is not what the contract promises; mdplay check may tell which")
        if status == stack_of.ENDLESS:
            raise GameError(f"{name} has forced moves without end; proof search needs games that come to an end")
        if status == stack_of.TOO_DEEP:
            what = f"proof search met a line of {name} with more than {stack_of.DEPTH} choices"
            raise LimitError(f"{what}; where positions come back, solve with method='retrograde'")

    def _set(self, what: int, value: int) -> None:
        for stack in self._stacks:
            stack[what] = value

    def _sum(self, what: int) -> int:
        return sum(int(stack[what]) for stack in self._stacks)

    def _windows(self, count: int, weak: bool) -> Values:
        return np.tile(np.array(WEAK if weak else (-LIMIT, LIMIT), np.int64), (count, 1))

    def _enter(self, state: Any) -> Any:
        return self.proof_view.convert(state) if isinstance(self.proof_view, ProofView) else state

    def _sign(self, state: Any) -> int:
        return -1 if self.game.player(state) else 1


@takes_state
def prove(
    game: Game[Any],
    state: Any = None,
    *,
    weak: bool = False,
    seconds: float | None = None,
    memory: int = MEMORY,
    threads: int | None = None,
    network: Network | None = None,
    show: Show | None = None,
) -> Proof:
    """Prove the score of one position (default: the start), on all cores; see ``Prover``."""
    prover = Prover(game, memory=memory, threads=threads, network=network)
    return prover.prove(state, weak=weak, seconds=seconds, show=show)


def _open(windows: Values) -> NDArray[np.intp]:
    """Return which windows are still wider than a number."""
    return np.flatnonzero(windows[:, 0] < windows[:, 1])


def _refuse(game: Game[Any], network: Network | None) -> None:
    """Raise GameError for games that this search cannot prove, or not by a network."""
    check_network(network)
    name = type(game).__name__
    if network is not None and game.has_proof_view:
        raise GameError(f"{name} is proved in a view of its own, with an order of its own: leave the network out")
    if game.has_outcomes:
        raise GameError(f"{name} has chance events; proof search is for games without chance")


def _table_sizes(proof_view: Game[Any], memory: int) -> tuple[int, int, int]:
    """Return the buckets of the table at first and at most, and the words of a bucket."""
    exact = proof_view.has_key and proof_view.key_bits <= EXACT_BITS
    bucket_words = WAYS * (1 if exact else 2)
    least = 1 << max(proof_view.key_bits - TAG_BITS, 0) if exact else 1
    most = max(1 << (memory // (8 * bucket_words)).bit_length() - 1, least)
    if exact:
        most = min(most, 1 << proof_view.key_bits)
    return min(max(FIRST_BYTES // (8 * bucket_words), least), most), most, bucket_words


def _aligned(size: int) -> NDArray[np.uint64]:
    """Return zeros that begin at a line of the memory, so that no bucket lies on two."""
    room = np.zeros(size + LINE // 8, np.uint64)
    skip = -room.ctypes.data % LINE // 8
    return room[skip : skip + size]
