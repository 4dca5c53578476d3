"""A prover as the table of a solution: values, bounds where time runs out, choices and the best line.

A game with a view for proofs is scored by how soon it is won: its value is the sign of the score.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from mdplay.bits import elements
from mdplay.errors import LimitError
from mdplay.game import ProofView
from mdplay.runtime.threads import Show
from mdplay.solving.proof.prover import Prover, Values
from mdplay.solving.proof.table import LIMIT
from mdplay.solving.values import Choice, StateValue

REMEMBERED = 1024  # positions whose bounds are kept where time is limited


class ProofTable:
    """Answers to questions about positions, each proved when it is asked.

    ``weak`` asks only who wins, not how soon or by how much.  ``seconds`` limits each call, for a position and all
    of its moves together.
    """

    method = "proof"

    def __init__(
        self, prover: Prover, *, weak: bool = False, seconds: float | None = None, show: Show | None = None
    ) -> None:
        self.prover, self.game = prover, prover.game
        self.weak, self.seconds, self._show = weak, seconds, show
        self._known: dict[tuple[Any, int], tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self.prover)

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a position is worth to a player; raise LimitError if the time did not suffice."""
        low, high = self._scores(state, self.seconds)
        if low < high:
            least, most = self._values(low, high)
            bounds = f"its value is {least:g} to {most:g}" if math.isfinite(most - least) else "its value is open"
            raise LimitError(f"{self.game.text(state)} is not solved within {self.seconds:g} s: {bounds}")
        turn = 1 if player == self.game.player(state) else -1
        return StateValue(turn * self._value(low), self._distance(state, low), self._shown(turn * low))

    def bounds(self, state: Any, player: int) -> tuple[float, float]:
        """Return what a position is worth to a player at least and at most."""
        low, high = self._values(*self._scores(state, self.seconds))
        return (low, high) if player == self.game.player(state) else (-high, -low)

    def choices(self, state: Any) -> list[Choice]:
        """Return every legal move with its score, in ascending order; none where the game is over."""
        if self.seconds is None and not self.weak:
            return self.prover.choices(state)
        actions, until = elements(self.game.legal(state)), time.monotonic() + (self.seconds or 0.0)
        half = None if self.seconds is None else self.seconds / 2.0
        most = self._values(*self._scores(state, half))[1] if actions else 0.0  # no move has a higher value
        choices = []
        for number, action in enumerate(actions):
            left = None if self.seconds is None else (until - time.monotonic()) / (len(actions) - number)
            choices.append(self._choice(state, action, most, None if left is None else max(0.0, left)))
        return choices

    def line(self, state: Any) -> list[int]:
        """Return the actions of best play to the end; none where only the winner is asked for, or time ran out."""
        decided = self.seconds is None or self._decided(state)
        return self.prover.line(state) if decided and not self.weak else []

    def scores(self, states: Iterable[Any]) -> Values:
        """Return the score of each position for its player to move, without a limit of time."""
        return self.prover.scores(states, weak=self.weak, show=self._show)

    # ---------------------------------------------------------------- scores and values
    def _scores(self, state: Any, seconds: float | None, lead: int = 0) -> tuple[int, int]:
        """Return the bounds of a position's score for its mover; ``weak``: if that has ``lead`` points more."""
        if seconds is None and not self.weak and self._show is None:
            score = self.prover.score(state)
            return score, score
        if (state, lead) not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            proof = self.prover.prove(state, weak=self.weak, lead=lead, seconds=seconds, show=self._show)
            self._known[state, lead] = proof.low, proof.high
        return self._known[state, lead]

    def _decided(self, state: Any) -> bool:
        low, high = self._scores(state, self.seconds)
        return low == high

    def _choice(self, state: Any, action: int, most: float, seconds: float | None) -> Choice:
        after, gain = self.game.step(state, action), int(self.game.reward(state, action))
        same = self.game.player(after) == self.game.player(state)
        scores = self._scores(after, seconds, (gain if same else -gain) if self.weak else 0)
        low, high = scores if same else (-scores[1], -scores[0])
        gain = 0 if self.weak else gain  # the score counts it already
        distance = self._distance(after, scores[0]) if low == high else None
        least, highest = self._values(low, high)
        return Choice(
            action,
            gain + least,
            min(gain + highest, most),
            None if distance is None else distance + 1,
            None if low < high else self._shown(gain + low),
        )

    @property
    def _is_scored(self) -> bool:
        return isinstance(self.prover.proof_view, ProofView)

    def _value(self, score: int) -> int:
        """Return the game's value of a score: of a game that counts how soon it is won, the sign."""
        return (score > 0) - (score < 0) if self._is_scored or self.weak else score

    def _values(self, low: int, high: int) -> tuple[float, float]:
        """Return the game's values of bounds of a score; an end that the search began with says nothing."""
        least, most = self._value(low), self._value(high)
        if low == high or self._is_scored or self.weak:
            return least, most
        return (-math.inf if low <= -LIMIT else least), (math.inf if high >= LIMIT else most)

    def _shown(self, score: int) -> int | None:
        return score if self._is_scored else None

    def _distance(self, state: Any, score: int) -> int | None:
        return None if self.weak else self.prover.distance(state, score)
