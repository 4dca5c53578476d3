"""Evaluations: the value of every move of a position, from a table, a proof, a tree search or a network.

    for evaluation in evaluator.evaluate(state):
        evaluation.moves[action].value     value of a move for the player to move
        evaluation.best                    the best moves: the fastest wins, or the slowest losses
        evaluation.source                  where the values come from, as text

An evaluator yields improving evaluations; each one contains everything that is known, and the last is ``done``.
A table yields one, proof search and tree search yield several.  ``Solution``, ``Prover`` and the classes of
``mdplay.playing.evaluators`` are evaluators.

All values are for the player to move and count what is still to come, without points that were earned before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from mdplay.runtime.threads import Show

TIE = 1e-9  # values that differ from the best by at most TIE * max(1, |best|) are tied


def tie_margin(best: float) -> float:
    """Return the largest difference from the best value at which a move is still tied with the best."""
    return TIE * max(1.0, abs(best))


def rounded_off(number: float) -> float:
    """Return the nearest integer if it is tied with the number, else the number: 2e-16 becomes 0."""
    nearest = round(number) if math.isfinite(number) else number
    return float(nearest) if abs(number - nearest) <= tie_margin(number) else number


@dataclass(frozen=True)
class MoveEvaluation:
    """The value of a move, or of a position, for the player to move: at least ``low``, at most ``high``.

    An estimate has ``low == high`` and is not ``exact``.  ``distance`` is the number of plies to the end and
    ``score`` the score of games that count how soon they are won; both are None if they are not known.
    ``expected``: the value is a mean against a random opponent.  ``endless``: it is that of infinite play.
    """

    low: float
    high: float
    exact: bool
    distance: int | None = None
    score: int | None = None
    expected: bool = False
    endless: bool = False

    @classmethod
    def of(cls, value: float, exact: bool, *facts: Any, **flags: bool) -> MoveEvaluation:
        """Return the evaluation of a move whose value, or an estimate of it, is known."""
        return cls(float(value), float(value), exact, *facts, **flags)

    @classmethod
    def of_choice(cls, choice: Any, *, expected: bool = False) -> MoveEvaluation:
        """Return the evaluation of a ``Choice`` of a solution; it is exact unless only bounds are known."""
        low, high = (choice.low, choice.high) if choice.value is None else (choice.value, choice.value)
        return cls(float(low), float(high), choice.exact, choice.distance, choice.score, expected)

    @property
    def value(self) -> float:
        """The value or its estimate; the lower bound while only bounds are known."""
        return self.low

    @property
    def is_bound(self) -> bool:
        """Whether only bounds are known."""
        return not self.exact and self.low < self.high


@dataclass(frozen=True)
class Evaluation:
    """What is known about a position in which a player moves.

    ``moves`` has the evaluations by action, of the moves about which something is known.  ``value`` is the
    evaluation of the position, None until it is known.  ``best`` are the best moves, in ascending order, ``line``
    is the expected play, and ``source`` says where the values come from.  ``done``: nothing will follow.
    """

    moves: Mapping[int, MoveEvaluation] = field(default_factory=dict)
    value: MoveEvaluation | None = None
    best: tuple[int, ...] = ()
    source: str = ""
    line: tuple[str, ...] = ()
    done: bool = False

    @property
    def values(self) -> dict[int, float]:
        """The values of the moves by action."""
        return {action: move.value for action, move in self.moves.items()}

    @property
    def ranked(self) -> list[tuple[int, MoveEvaluation]]:
        """The moves with their evaluations, best first: by value, then by speed, then by action."""
        return sorted(self.moves.items(), key=lambda item: (*_rank(item[1]), item[0]))


@runtime_checkable
class Evaluator(Protocol):
    """An object that evaluates positions of one game."""

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield improving evaluations of a position in which a player moves.

        ``brief``: only the value of the position is needed.  ``show`` is called several times a second and may
        raise to cancel the work.
        """


def final_evaluation(evaluator: Evaluator, state: Any) -> Evaluation:
    """Return the last, and best, evaluation of a position."""
    *_, last = evaluator.evaluate(state)
    return last


def best_moves(moves: Mapping[int, MoveEvaluation], endless: float = 0.0) -> tuple[int, ...]:
    """Return the moves of the highest value, in ascending order: of wins the fastest, of losses the slowest.

    ``endless`` is the value of infinite play for the player to move; a player delays the end of a game that is
    worth less.  Moves are compared by their lower bounds.
    """
    if not moves:
        return ()
    top = max(move.low for move in moves.values())
    tied = {action: move for action, move in moves.items() if move.low >= top - tie_margin(top)}
    is_delaying = top < (endless - tie_margin(top) if endless >= 0 else endless + tie_margin(top))
    speed = {action: _slowness(move, is_delaying) for action, move in tied.items()}
    return tuple(sorted(action for action in tied if speed[action] == min(speed.values())))


def _slowness(move: MoveEvaluation, is_delaying: bool) -> float:
    """Return a number that is smaller for the better of two moves of equal value."""
    if move.score is not None:
        return -move.score
    plies = math.inf if move.distance is None else move.distance
    return -plies if is_delaying else plies


def _rank(move: MoveEvaluation) -> tuple[float, float, float]:
    return -move.low, -move.high, _slowness(move, move.high < 0)
