"""What the page says about a position: the status, the headline, and the labels of moves.

All values are for the player to move; only ``height``, on the curve, is for the first player.  The words for
values are those of ``mdplay.evaluating.wording``.
"""

from __future__ import annotations

from typing import Any

from mdplay.evaluating.evaluation import MoveEvaluation, rounded_off
from mdplay.evaluating.wording import (
    MINUS,
    describe,
    estimated,
    in_plies,
    is_known,
    is_share,
    kind_of,
    margin_of,
    percent,
    result_name,
    signed,
)
from mdplay.web.games.requests import Ask

MIN_AHEAD = 0.5  # from this estimate on a player is well ahead
MAX_CURVE_PLIES = 12  # a win at least this far away has the smallest height on the curve
MAX_SCORE = 18  # a win of at least this score has the largest height on the curve


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ..."""
    tail = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def compact(number: float) -> str:
    """Return a number of points in a few characters."""
    return f"{number / 1000:.1f}k" if abs(number) >= 10_000 else f"{number:.0f}"


def total_points(asked: Ask) -> int | None:
    """Return the number of points in the game, if its scoring sets are known."""
    return len(asked.game.scoring_sets) or None if asked.game.has_scoring_sets else None


# ---------------------------------------------------------------- status
def status(asked: Ask) -> str:
    """Return the player to move, or the result."""
    position, sides = asked.position, asked.entry.about.sides
    if position.is_chance:
        return "Chance moves"
    if asked.single:
        return _ended_alone(asked) if position.is_over else "Your move"
    if not position.is_over:
        return f"{sides[asked.mover]} to move"
    result = rounded_off(asked.lead + float(asked.game.result(asked.state)))
    return "Drawn." if result == 0 else f"{sides[0] if result > 0 else sides[1]} has won."


def _ended_alone(asked: Ask) -> str:
    """Return the result of a single-player game."""
    result = float(asked.game.result(asked.state))
    if asked.puzzle and result > 0:
        return "Solved."
    return "No move left." if asked.puzzle or asked.for_points else f"The game is over: result {signed(result)}."


# ---------------------------------------------------------------- values
def shown(asked: Ask, value: MoveEvaluation) -> dict[str, Any]:
    """Return a value as the page shows it: kind, a label of a few characters, words, height on the curve."""
    margin = margin_of(asked.game, value, asked.movers_lead)
    facts = {
        "value": value.value,
        "exact": value.exact,
        "distance": value.distance,
        "score": value.score,
        "words": describe(asked.game, value, lead=asked.movers_lead, side=asked.side),
    }
    if asked.for_points:
        total = asked.points[0] + value.value
        return facts | {"kind": "points", "short": compact(value.value), "height": total, "total": total}
    if asked.puzzle:
        return facts | _puzzle_label(value)
    if asked.single:
        short = signed(float(f"{value.value:.3g}")) if value.exact else estimated(value.value)
        return facts | {"kind": "points", "short": short, "height": value.value, "total": value.value}
    kind = kind_of(margin, value.exact)
    short, height = _label(asked, value, margin, kind)
    mean = value.expected or is_share(asked.game, value)
    height = -height if asked.mover else height
    return facts | {"kind": kind, "margin": margin, "mean": mean, "short": short, "height": height}


def _puzzle_label(value: MoveEvaluation) -> dict[str, Any]:
    """Return kind, label and height of a move of a puzzle; the height is the number of moves that remain."""
    if not value.exact:
        short = f"{100 * value.value:.0f}%" if is_known(value) else "?"
        return {"kind": kind_of(value.value, False), "short": short, "height": 0.0}
    if value.value <= 0:
        return {"kind": "loss", "short": "×", "height": 0.0}
    short = "✓" if value.distance is None else str(value.distance)
    return {"kind": "win", "short": short, "height": float(value.distance or 0)}


def _label(asked: Ask, value: MoveEvaluation, margin: float, kind: str) -> tuple[str, float]:
    """Return the label of a move of a two-player game and its height for the player to move."""
    if asked.game.has_reward:
        short = signed(margin) if value.exact else estimated(margin)
        return short, margin / (total_points(asked) or 4)
    if value.expected:
        return f"{value.value:+.3f}".replace("-", MINUS), value.value
    if is_share(asked.game, value):
        return f"{percent(value):.1f}%", value.value
    if not value.exact:
        return f"{percent(value):.0f}%", value.value
    direction = {"win": 1.0, "draw": 0.0, "loss": -1.0}[kind]
    if value.score is not None:
        return signed(value.score), direction * (0.3 + 0.7 * min(1.0, abs(value.score) / MAX_SCORE))
    plies = MAX_CURVE_PLIES if value.distance is None else min(value.distance, MAX_CURVE_PLIES)
    short = {"win": "+1", "draw": "=", "loss": f"{MINUS}1"}[kind]
    if value.distance is not None and kind != "draw":
        short = str(value.distance)
    return short, direction * (0.35 + 0.65 * (1 - plies / MAX_CURVE_PLIES))


# ---------------------------------------------------------------- the headline
def headline(asked: Ask, value: MoveEvaluation) -> str:
    """Return the value of the position in a sentence."""
    words = describe(asked.game, value, lead=asked.movers_lead, side=asked.side)
    if asked.puzzle and value.exact and value.value <= 0:
        return "It cannot be solved"
    if asked.single:
        is_estimate = not (value.exact or asked.for_points or asked.puzzle)
        words = f"{result_name(asked.game)} {words}" if is_estimate else words
        return words[0].upper() + words[1:]
    sides, margin = asked.entry.about.sides, margin_of(asked.game, value, asked.movers_lead)
    kind = kind_of(margin, value.exact)
    winner = sides[asked.mover if margin > 0 else 1 - asked.mover]
    if value.expected:
        return f"{asked.side} expects {value.value:+.3f}".replace("-", MINUS)
    if not value.exact:
        well = "well " if abs(margin) >= MIN_AHEAD else ""
        return "It looks even" if kind == "draw" else f"{winner} is {well}ahead"
    if asked.game.has_reward:
        return _by_points(asked, margin, winner)
    if is_share(asked.game, value):
        return f"{50 + abs(percent(value) - 50):.1f} % for {winner}"
    if kind == "draw":
        return "A draw: best play never ends" if value.endless else "A draw with best play"
    return f"{winner} wins{_when(asked, value)}"


def _by_points(asked: Ask, margin: float, winner: str) -> str:
    every = total_points(asked)
    if every is not None and float((every + margin) / 2).is_integer():
        high, low = (every + abs(margin)) / 2, (every - abs(margin)) / 2
        return f"{winner} wins {high:.0f}–{low:.0f}" if margin else f"A draw, {high:.0f}–{low:.0f}"
    return f"{winner} wins by {abs(margin):.4g}" if margin else "A draw with best play"


def _when(asked: Ask, value: MoveEvaluation) -> str:
    """Return with which piece, or in how many plies, the game is won."""
    if value.distance is None:
        return ""
    plies, piece = asked.plies, asked.entry.about.piece
    if plies is not None and piece != "move":
        return f" with the {ordinal(plies + value.distance)} {piece}"
    return in_plies(value)


def bound_headline(asked: Ask, value: MoveEvaluation) -> str:
    """Return the lower bound of the value in a sentence."""
    margin = margin_of(asked.game, value, asked.movers_lead)
    if margin > 0:
        return f"{asked.side} wins"
    return f"{asked.side} has at least a draw" if margin == 0 else f"{asked.side} to move"
