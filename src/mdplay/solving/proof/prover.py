"""Exact values of single positions, by proof search: no table of the whole game is needed.

    prover = Prover(make("connect-four"))
    prover.score(state)      for the player to move; on 7 x 6 22 minus the winner's discs, 0 for a draw
    prover.choices(state)    every move with its value, score and distance
    prover.line(state)       the principal variation

It supports all two-player games without chance whose values are integers, and is faster the more the game defines:
``bounds``, ``ordering_score``, ``key``, ``order``, or a ``proof_view`` (mdplay.game).  What was proved stays in
the transposition table, so later questions are answered faster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from mdplay.bits import elements, nonempty
from mdplay.compiling import State, width, words
from mdplay.errors import GameError, LimitError
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation, best_moves
from mdplay.game import Game, ProofView
from mdplay.learning.network import Network
from mdplay.position import as_state, takes_state
from mdplay.runtime.run import Progress, Run, RunOptions, run_of
from mdplay.runtime.threads import Show, num_threads, translating
from mdplay.solving.proof.search import ProofSearch, Rows, Values, full_windows
from mdplay.solving.proof.table import LIMIT, NODES, QUESTIONS
from mdplay.solving.values import Choice, StateValue, Table

SETTINGS = ("seconds", "memory", "threads", "progress")
MEMORY = 256 << 20  # bytes that the table may take
WEAK = (-1, 1)  # the window of the question who wins
REMEMBERED = 1024  # positions whose bounds are remembered if time is limited


@dataclass(frozen=True)
class Proof:
    """What was proved of a position: its score for the player to move is from ``low`` to ``high``."""

    low: int
    high: int
    nodes: int
    questions: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the search was completed."""
        return self.low == self.high


@dataclass(frozen=True)
class Scale:
    """Converts scores of proof search to values and distances of the game.

    A score is the value, unless the game has a proof view: that scores fast wins higher, and the value is the
    sign.
    ``weak``: scores only say who wins.
    """

    view: Game[Any]
    weak: bool = False

    @property
    def is_by_speed(self) -> bool:
        """Whether the score says how soon the game is won."""
        return isinstance(self.view, ProofView)

    def values(self, low: int, high: int) -> tuple[float, float]:
        """Return the bounds of the value for bounds of a score; the widest window has infinite ones."""
        if self.is_by_speed or self.weak:
            return (low > 0) - (low < 0), (high > 0) - (high < 0)
        if low == high:
            return low, high
        return (-math.inf if low <= -LIMIT else low), (math.inf if high >= LIMIT else high)

    def shown(self, score: int) -> int | None:
        """Return a score if it says more than the value."""
        return score if self.is_by_speed else None

    def distance(self, state: State, score: int) -> int | None:
        """Return the plies to the end, given a state and its score for player 0; None if scores do not say it."""
        if not isinstance(self.view, ProofView) or self.weak:
            return None
        return self.view.distance(self.view.convert(state), score)


class Prover(Table):
    """Exact values of the positions of one game, proved on demand.

    With a ``network`` moves are tried in the order of its values, not in that of the game; the results are the
    same.  ``memory`` limits the transposition table (default 256 MiB); ``threads`` (default 1) work together on
    one position.

    As the table of a solution:  ``seconds`` limits each call, for a position and all of its moves together;
    ``weak`` asks only who wins, not how soon or by how much; ``progress`` gets the number of nodes ten times a
    second.
    """

    method = "proof"
    on_demand = True

    def __init__(
        self,
        game: Game[Any],
        *,
        network: Network | None = None,
        weak: bool = False,
        run: Run | None = None,
        **settings: Unpack[RunOptions],
    ) -> None:
        run = run_of("Prover", SETTINGS, run, settings)
        memory, threads = run.bytes or MEMORY, run.threads or 1
        self._search = ProofSearch(game, memory=memory, threads=threads, network=network)
        self.game, self.proof_view = game, self._search.proof_view
        self.scale = Scale(self.proof_view, weak)
        self.weak, self.seconds, self._progress = weak, run.seconds, run.progress
        self._known: dict[tuple[Any, int], tuple[int, int]] = {}

    def __repr__(self) -> str:
        return f"<Prover of {self.game!r}>"

    def __len__(self) -> int:
        """Return the number of positions in the transposition table."""
        return len(self._search)

    @property
    def nodes(self) -> int:
        """The number of nodes searched so far, by all threads together."""
        return self._search.total(NODES)

    def forget(self) -> None:
        """Empty the transposition table, with the scores that were learned."""
        self._known.clear()
        self._search.forget()

    def learn(self, states: Iterable[Any] | Rows, scores: Iterable[int] | Values) -> None:
        """Store the scores of positions, or of rows of ``packed``, for their players to move, as proved."""
        rows = states if isinstance(states, np.ndarray) else self.packed(states)
        known = scores if isinstance(scores, np.ndarray) else np.fromiter(scores, np.int64, len(rows))
        self._search.learn(rows, known)

    # ---------------------------------------------------------------- scores
    @takes_state
    def prove(
        self,
        state: Any,
        *,
        weak: bool = False,
        lead: int = 0,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> Proof:
        """Prove the score of a position; after ``seconds`` seconds, return the bounds proved so far.

        ``weak`` asks only who wins if the player to move has ``lead`` points more: the score is then -1, 0 or 1.
        """
        began, nodes, questions = time.perf_counter(), self.nodes, self._search.total(QUESTIONS)
        window = full_windows(1)
        if weak:
            window[0] = np.clip(np.array(WEAK) - lead, -LIMIT, LIMIT)
        self._search.narrow(self.packed([state]), window, seconds=seconds, show=progress)
        low, high = (np.clip(window[0] + lead, *WEAK) if weak else window[0]).tolist()
        asked = self._search.total(QUESTIONS) - questions
        return Proof(low, high, self.nodes - nodes, asked, time.perf_counter() - began)

    def score(self, state: State) -> int:
        """Return the score of a position for the player to move."""
        if not isinstance(state, tuple):  # takes_state would take as long as the answer
            state = as_state(self.game, state)
        score = translating(self._search.quick_score, state)
        return int(self.scores([state], weak=False)[0]) if score is None else score

    @takes_state
    def quick(self, state: Any) -> int | None:
        """Return the score of a position if it is found in some milliseconds, else None."""
        score: int | None = translating(self._search.quick_score, state)
        return score

    def scores(
        self, states: Iterable[Any] | Rows, *, weak: bool | None = None, progress: Progress | None = None
    ) -> Values:
        """Return an array of the scores of positions for their players to move, without a time limit.

        ``weak`` and ``progress`` are by default those of the prover.  Rows of ``packed`` save a microsecond each.
        """
        rows = states if isinstance(states, np.ndarray) else self.packed(states)
        windows = full_windows(len(rows))
        if self.weak if weak is None else weak:
            windows[:] = WEAK
        self._search.narrow(rows, windows, show=progress or self._progress)
        return windows[:, 0]

    def packed(self, states: Iterable[Any]) -> Rows:
        """Return states of the game as rows of words, as ``scores`` takes them."""
        states = [state if isinstance(state, tuple) else as_state(self.game, state) for state in states]
        try:
            return np.array(states, np.uint64).reshape(len(states), width(self.game))
        except OverflowError:  # a negative field
            return np.array([words(state) for state in states], np.uint64)

    def evaluate(
        self, state: State | None = None, *, brief: bool = False, show: Show | None = None
    ) -> Iterator[Evaluation]:
        """Yield the evaluation of a state in which a player moves; ``brief`` and ``show`` have no effect."""
        s = as_state(self.game, state)
        moves = {choice.action: MoveEvaluation.of_choice(choice) for choice in self.choices(s)}
        best = best_moves(moves, self._sign(s) * self.game.endless)
        yield Evaluation(moves, moves[best[0]], best, "proof search", done=True)

    @takes_state
    def lookup(self, state: Any, player: int) -> StateValue:
        """Return the value of a position for a player; raise LimitError if the time limit was too short."""
        low, high = self._bounds(state, self.seconds)
        if low < high:
            least, most = self.scale.values(low, high)
            bounds = f"its value is {least:g} to {most:g}" if math.isfinite(most - least) else "its value is open"
            raise LimitError(f"{self.game.text(state)} is not solved within {self.seconds:g} s: {bounds}")
        turn = 1 if player == self.game.player(state) else -1
        value, distance = self.scale.values(low, low)[0], self.scale.distance(state, low * self._sign(state))
        return StateValue(turn * value, distance, self.scale.shown(turn * low))

    @takes_state
    def bounds(self, state: Any, player: int) -> tuple[float, float]:
        """Return bounds of the value of a position for a player."""
        low, high = self.scale.values(*self._bounds(state, self.seconds))
        return (low, high) if player == self.game.player(state) else (-high, -low)

    @takes_state
    def choices(self, state: Any) -> list[Choice]:
        """Return every legal move with its value and score, in ascending order; none if the game is over."""
        actions = elements(self.game.legal(state))
        if self.seconds is None and not self.weak:
            after = [self.game.step(state, action) for action in actions]
            scores = self.scores(after).tolist()
            return [self._choice(state, a, (score, score)) for a, score in zip(actions, scores, strict=True)]
        until = time.monotonic() + (self.seconds or 0.0)
        half = None if self.seconds is None else self.seconds / 2.0
        most = self.scale.values(*self._bounds(state, half))[1] if actions else 0.0  # no move has a higher value
        choices = []
        for number, action in enumerate(actions):
            left = None if self.seconds is None else (until - time.monotonic()) / (len(actions) - number)
            choices.append(self._limited_choice(state, action, most, None if left is None else max(0.0, left)))
        return choices

    @takes_state
    def choice(
        self, state: Any, action: int, *, seconds: float | None = None, progress: Progress | None = None
    ) -> Choice:
        """Return one legal move with its value and score, or only bounds if it is not proved within ``seconds``.

        ``progress`` gets the number of nodes ten times a second.  It may raise an exception, which ends the search
        and is propagated to the caller; what was proved stays in the table.
        """
        proof = self.prove(self.game.step(state, action), seconds=seconds, progress=progress)
        return self._choice(state, action, (proof.low, proof.high))

    @takes_state
    def line(self, state: Any, *, max_plies: int | None = None) -> list[int]:
        """Return the actions of best play to the end; none if only the winner is proved, or time ran out."""
        if self.weak or (self.seconds is not None and len(set(self._bounds(state, self.seconds))) > 1):
            return []
        line: list[int] = []
        total = self.score(state) * self._sign(state)
        while nonempty(self.game.legal(state)) and len(line) != max_plies:
            action = self._action_of_value(state, total)
            total -= self._gain(state, action)
            state = self.game.step(state, action)
            line.append(action)
        return line

    # ---------------------------------------------------------------- the parts
    def _bounds(self, state: State, seconds: float | None, lead: int = 0) -> tuple[int, int]:
        """Return the bounds of a position's score for its mover; if ``weak``, with ``lead`` points more."""
        if seconds is None and not self.weak and self._progress is None:
            score = self.score(state)
            return score, score
        if (state, lead) not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            proof = self.prove(state, weak=self.weak, lead=lead, seconds=seconds, progress=self._progress)
            self._known[state, lead] = proof.low, proof.high
        return self._known[state, lead]

    def _limited_choice(self, state: State, action: int, most: float, seconds: float | None) -> Choice:
        after, gain = self.game.step(state, action), int(self.game.reward(state, action))
        lead = gain if self.game.player(after) == self.game.player(state) else -gain
        return self._choice(state, action, self._bounds(after, seconds, lead if self.weak else 0), most)

    def _choice(self, state: State, action: int, scores: tuple[int, int], most: float = math.inf) -> Choice:
        """Return a move, given bounds of the score after it for the player to move then."""
        after = self.game.step(state, action)
        gain = 0 if self.weak else int(self.game.reward(state, action))  # a weak score includes it
        same = self.game.player(after) == self.game.player(state)
        low, high = scores if same else (-scores[1], -scores[0])
        least, highest = self.scale.values(low, high)
        if low < high:
            return Choice(action, gain + least, min(gain + highest, most))
        distance = self.scale.distance(after, scores[0] * self._sign(after))
        plies = None if distance is None else distance + 1
        return Choice(action, gain + least, min(gain + highest, most), plies, self.scale.shown(gain + low))

    def _action_of_value(self, state: State, value: int) -> int:
        """Return an action that keeps player 0's value; the table's move is tried before smaller ones."""
        actions, hint = elements(self.game.legal(state)), self._recalled(state)
        for action in sorted(actions, key=lambda action: action != hint):
            after, goal = self.game.step(state, action), value - self._gain(state, action)
            reached = [goal, goal + 1] if self.game.player(state) else [goal - 1, goal]
            windows = np.array([sorted(bound * self._sign(after) for bound in reached)], np.int64)
            self._search.narrow(self.packed([after]), windows)
            if windows[0, 0] == windows[0, 1] == goal * self._sign(after):
                return action
        raise GameError(
            f"no move in {self.game.text(state)} attains the proved value; `bounds` may be wrong, run mdplay check"
        )

    def _recalled(self, state: State) -> int:
        """Return the action whose successor is the one after the table's move, or -1."""
        convert, view = self._search.convert, self.proof_view
        move = self._search.recall_move(state)
        if move not in elements(view.legal(convert(state))):
            return -1
        wanted = view.step(convert(state), move)
        after = [(a, convert(self.game.step(state, a))) for a in elements(self.game.legal(state))]
        return next((action for action, s in after if s == wanted), -1)

    def _gain(self, state: State, action: int) -> int:
        return int(self.game.reward(state, action)) * self._sign(state)

    def _sign(self, state: State) -> int:
        return -1 if self.game.player(state) else 1


@takes_state
def prove(
    game: Game[Any],
    state: Any = None,
    *,
    weak: bool = False,
    network: Network | None = None,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Proof:
    """Prove the score of one position (default: the start), on all cores; the options are those of ``Prover``."""
    run = run_of("prove", SETTINGS, run, settings)
    prover = Prover(game, network=network, run=replace(run, threads=num_threads(run.threads)))
    return prover.prove(state, weak=weak, seconds=run.seconds, progress=run.progress)
