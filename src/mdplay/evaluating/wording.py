"""The text of evaluations: the same in the terminal, in commands, on the page and in notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from mdplay.bits import elements, nonempty
from mdplay.errors import pluralize
from mdplay.evaluating.evaluation import TIE, Evaluation, MoveEvaluation, rounded_off, tie_margin
from mdplay.game import Game, num_players
from mdplay.rng import Random

MAX_LISTED = 6  # moves named in a sentence
MAX_EVEN = 0.1  # an estimate at most this far from 0 counts as a draw
MIN_SOLVED_SHARE = 0.005  # a smaller estimated share of solved tries of a puzzle is not distinguished from 0
SAMPLE_GAMES, SAMPLE_MOVES = 8, 200  # random games, and moves of each, that show whether a game is a puzzle
MINUS = "\N{MINUS SIGN}"


# ---------------------------------------------------------------- numbers
def signed(number: float) -> str:
    """Return a number with its sign, a true minus sign; 0 has none."""
    number = rounded_off(number)
    return f"{number:+.4g}".replace("-", MINUS) if number else "0"


def estimated(number: float) -> str:
    """Return an estimate with its sign and at most two decimals."""
    return signed(round(number, 2 if abs(number) < 1 else 1))


def format_bounds(low: float | None, high: float | None) -> str:
    """Return the bounds of a value; None and infinite numbers are no bounds."""
    has_low, has_high = (bound is not None and math.isfinite(bound) for bound in (low, high))
    if not has_low:
        return f"at most {high:+.10g}" if has_high else "any value"
    return f"{low:+.10g} to {high:+.10g}" if has_high else f"at least {low:+.10g}"


# ---------------------------------------------------------------- kinds of values
@lru_cache(maxsize=64)
def is_puzzle(game: Game[Any]) -> bool:
    """Return whether a game is a puzzle: one player, no chance, no points, and every result is 0 or 1.

    The results are those of a few random games; a game that none of them ends is taken for a puzzle.
    """
    if num_players(game) != 1 or game.has_reward or game.has_outcomes:
        return False
    return all(_result(game, Random(number)) in (None, 0.0, 1.0) for number in range(SAMPLE_GAMES))


def _result(game: Game[Any], rng: Random) -> float | None:
    """Return the result of a random game; None if it has not ended after ``SAMPLE_MOVES`` moves."""
    state = game.initial()
    for _ in range(SAMPLE_MOVES):
        if not nonempty(mask := game.legal(state)):
            return float(game.result(state))
        state = game.step(state, rng.pick(mask))
    return None


def kind_of(value: float, exact: bool = True) -> str:
    """Return win, draw or loss; an estimate near 0 is a draw."""
    edge = TIE if exact else MAX_EVEN
    return "win" if value > edge else "loss" if value < -edge else "draw"


def is_share(game: Game[Any], move: MoveEvaluation) -> bool:
    """Return whether an exact value is a share of the games, because chance decides who wins."""
    by_chance = bool(game.has_outcomes) and not game.has_reward
    return by_chance and move.exact and not move.expected and abs(rounded_off(move.value)) < 1


def percent(move: MoveEvaluation) -> float:
    """Return the percentage of games that the player to move wins; a draw counts half."""
    return 50 * (move.value + 1)


def is_known(move: MoveEvaluation) -> bool:
    """Return whether anything is known about a puzzle: a search that found no solution knows nothing."""
    return move.exact or move.value >= MIN_SOLVED_SHARE


def margin_of(game: Game[Any], move: MoveEvaluation, lead: float = 0.0) -> float:
    """Return the final margin of the player to move, who is ``lead`` points ahead."""
    return rounded_off(move.value + lead if game.has_reward else move.value)


# ---------------------------------------------------------------- words
def describe(
    game: Game[Any],
    move: MoveEvaluation,
    *,
    lead: float = 0.0,
    side: str = "the player to move",
    margins: bool = True,
) -> str:
    """Return the value of a move as text, such as ``wins in 3 plies``, ``draws`` or ``about 62 % for X``.

    ``lead``: the points by which the player to move is ahead.  ``side``: the name of that player.  ``margins``:
    a win by points names its margin.
    """
    if move.is_bound:
        return format_bounds(move.low, move.high)
    if num_players(game) == 1:
        return _describe_single(game, move)
    margin = margin_of(game, move, lead)
    if game.has_reward and not move.exact:
        return f"about {estimated(margin)} points for {side}"
    if move.expected and not game.has_reward:
        return f"{move.value:+.4f} on average".replace("-", MINUS)
    if is_share(game, move):
        return f"{percent(move):.1f} % for {side}"
    if not move.exact:
        size = f"{percent(move):.0f} %" if abs(move.value) <= 1 else estimated(move.value)
        return f"about {size} for {side}"
    kind = kind_of(margin)
    if kind == "draw":
        return "draws by infinite play" if move.endless else "draws"
    by = f" by {abs(margin):.10g}" if margins and (game.has_reward or abs(margin) != 1) else ""
    score = f", score {signed(move.score)}" if move.score else ""
    return f"{'wins' if kind == 'win' else 'loses'}{by}{in_plies(move)}{score}"


def compare_moves(game: Game[Any], state: Any, evaluation: Evaluation) -> str:
    """Return a sentence on how the moves of an exact evaluation differ, such as ``Only 4 wins.``; or nothing.

    It is for two players whose results are known without chance, and for points.
    """
    moves, best = evaluation.moves, evaluation.best
    exact = all(move.exact and not move.expected for move in moves.values())
    if not best or len(moves) < len(elements(game.legal(state))) or not exact or num_players(game) == 1:
        return ""
    if len(moves) == 1:
        return "It is the only legal move."
    names = listed([game.move_text(state, action) for action in best])
    top = moves[best[0]].value
    tied = [action for action, move in moves.items() if abs(move.value - top) <= tie_margin(top)]
    if game.has_reward or game.has_outcomes:
        return _compare_values(moves, tied, names, by_points=bool(game.has_reward))
    kind, fastest = kind_of(top), len(best) < len(tied)
    if len(best) > MAX_LISTED:
        names = f"{len(best)} of them"
    if kind == "loss":
        longest = f" {names} {_verb(best, 'delay')} the loss longest." if fastest else ""
        return f"All moves lose.{longest}"
    result = "wins" if kind == "win" else "does not lose"
    if len(tied) == 1:
        return f"Only {names} {result}."
    share = "All" if len(tied) == len(moves) else f"{len(tied)} of {len(moves)}"
    quickest = f" {names} {_verb(best, 'win')} soonest." if kind == "win" and fastest else ""
    return f"{share} moves {'win' if kind == 'win' else 'draw'}.{quickest}"


def _compare_values(moves: Mapping[int, MoveEvaluation], tied: list[int], names: str, *, by_points: bool) -> str:
    """Return the sentence for values that are more than a win, a draw or a loss."""
    if len(tied) == len(moves):
        return "All moves have the same value."
    if len(tied) > 1:
        return f"{len(tied)} of {len(moves)} moves are optimal."
    others = max(move.value for action, move in moves.items() if action not in tied)
    lost = moves[tied[0]].value - others
    unit = pluralize(round(lost), "point") if float(lost).is_integer() else f"{lost:.3g} points"
    cost = unit if by_points else f"{50 * lost:.2g} %"
    return f"Only {names} is optimal; the next best move loses {cost}."


def _verb(subjects: Sequence[Any], plural: str) -> str:
    return f"{plural}s" if len(subjects) == 1 else plural


def listed(names: Sequence[str]) -> str:
    """Return names as an enumeration: ``3, 6 and 7``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def in_plies(move: MoveEvaluation) -> str:
    """Return the distance to the end as words that follow a verb; empty if it is not known."""
    if move.endless:
        return " by infinite play"
    return "" if move.distance is None else f" in {pluralize(move.distance, 'ply')}"


def _describe_single(game: Game[Any], move: MoveEvaluation) -> str:
    """Return the value of a move of a single-player game as text."""
    if game.has_reward:
        size = f"{move.value:,.10g}" if move.exact else f"about {float(f'{move.value:.3g}'):,.0f}"
        return f"{size} more points"
    if not is_puzzle(game):
        return f"{result_name(game)} {signed(move.value)}" if move.exact else f"about {estimated(move.value)}"
    if not move.exact:
        return f"solved in {100 * move.value:.0f} % of the tries" if is_known(move) else "no solution found yet"
    if move.value <= 0:
        return "cannot be solved"
    return "solved" if move.distance is None else f"solved in {pluralize(move.distance, 'move')}"


def result_name(game: Game[Any]) -> str:
    """Return the words for the value of a single-player game."""
    return "expected result" if game.has_outcomes else "best result"
