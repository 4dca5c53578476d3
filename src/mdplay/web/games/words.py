"""Values in words: the headline, a label of a few characters, a sentence, a height for the curve.

Everything is told for the player to move; ``height`` alone is for the first player (or in points, for one player).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mdplay.web.games.asking import Ask
from mdplay.web.numbers import TIE, rounded_off

if TYPE_CHECKING:
    from mdplay.playing.advising import Value

EVEN = 0.1  # an estimate this close to 0 is called even
AHEAD = 0.5
SELDOM = 0.005  # an estimated share of solved tries that is written as 0 %
LONG = 12  # plies from which on a win is as far as it gets, on the curve
FAR_SCORE = 18  # Connect Four's quickest wins
MINUS = "−"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ..."""
    tail = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def signed(number: float) -> str:
    """Return a number with its sign, a true minus; 0 has none."""
    number = rounded_off(number)
    return f"{number:+.4g}".replace("-", MINUS) if number else "0"


def rounded(number: float) -> str:
    """Return three digits of a number."""
    return f"{float(f'{number:.3g}'):,.0f}"


def compact(number: float) -> str:
    """Return a number of points in a few characters."""
    return f"{number / 1000:.1f}k" if abs(number) >= 10_000 else f"{number:.0f}"


def kind_of(value: float, exact: bool = True) -> str:
    """Return win, draw or loss; an estimate near 0 is a draw."""
    edge = TIE if exact else EVEN
    return "win" if value > edge else "loss" if value < -edge else "draw"


def margin_of(asked: Ask, value: Value) -> float:
    """Return by how much the player to move will have won: points so far included."""
    lead = -asked.lead if asked.mover else asked.lead
    return rounded_off(value.value + lead if asked.game.has_reward else value.value)


def is_share(asked: Ask, value: Value) -> bool:
    """Tell whether an exact value is a share of the games, since chance decides: the dice may fall either way."""
    chance = bool(asked.game.has_outcomes) and not asked.game.has_reward
    return chance and value.exact and not value.expected and abs(rounded_off(value.value)) < 1


def share_of(value: Value) -> float:
    """Return the games that are won, of a hundred; a draw counts half."""
    return 50 * (value.value + 1)


def total_points(asked: Ask) -> int | None:
    """Return how many points there are in all, where a game's scoring sets tell."""
    return len(asked.game.scoring_sets) or None if asked.game.has_scoring_sets else None


# ---------------------------------------------------------------- status
def status(asked: Ask) -> str:
    """Return who moves, or how it ended."""
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
    """Return how a game of one player ended."""
    result = float(asked.game.result(asked.state))
    if asked.puzzle and result > 0:
        return "Solved."
    return "No move left." if asked.puzzle or asked.for_points else f"The game is over: result {signed(result)}."


# ---------------------------------------------------------------- values
def shown(asked: Ask, value: Value) -> dict[str, Any]:
    """Return a value as the page shows it."""
    facts = {"value": value.value, "exact": value.exact, "distance": value.distance, "score": value.score}
    if asked.for_points:
        return facts | _points(asked, value)
    if asked.puzzle:
        return facts | _puzzle_label(value)
    if asked.single:
        return facts | _result_label(asked, value)
    sign, margin = -1 if asked.mover else 1, margin_of(asked, value)
    kind = kind_of(margin, value.exact)
    label = _label(asked, value, margin, kind)
    mean = value.expected or is_share(asked, value)
    return facts | {"kind": kind, "margin": margin, "mean": mean, **label, "height": sign * label["height"]}


def _puzzle_label(value: Value) -> dict[str, Any]:
    """Return what a move of a puzzle is worth; the height is what is still to do."""
    if not value.exact:
        words = f"solved in {100 * value.value:.0f} % of the tries" if is_known(value) else "no way found yet"
        return {"kind": kind_of(value.value, False), "short": _percent(value), "words": words, "height": 0.0}
    if value.value <= 0:
        return {"kind": "loss", "short": "×", "words": "cannot be solved", "height": 0.0}
    moves = "" if value.distance is None else f" in {value.distance} {'move' if value.distance == 1 else 'moves'}"
    short = "✓" if value.distance is None else str(value.distance)
    return {"kind": "win", "short": short, "words": f"solved{moves}", "height": float(value.distance or 0)}


def is_known(value: Value) -> bool:
    """Tell whether something is known of a puzzle's position: a search that has found no way knows nothing."""
    return value.exact or value.value >= SELDOM


def _percent(value: Value) -> str:
    return f"{100 * value.value:.0f}%" if is_known(value) else "?"


def _result_label(asked: Ask, value: Value) -> dict[str, Any]:
    """Return the value of a move in a game of one player that is no puzzle: its best or expected result."""
    if value.exact:
        words = f"{_expected(asked)} {signed(value.value)}"
    else:
        words = f"about {_two_digits(value.value)}"
    short = signed(float(f"{value.value:.3g}")) if value.exact else _two_digits(value.value)
    return {"kind": "points", "short": short, "words": words, "height": value.value, "total": value.value}


def _expected(asked: Ask) -> str:
    return "expected result" if asked.game.has_outcomes else "best result"


def _two_digits(number: float) -> str:
    """Return an estimate, whose further digits mean nothing."""
    return signed(round(number, 2 if abs(number) < 1 else 1))


def _points(asked: Ask, value: Value) -> dict[str, Any]:
    more = f"{value.value:,.10g}" if value.exact else f"about {rounded(value.value)}"
    total = asked.points[0] + value.value
    return {
        "kind": "points",
        "short": compact(value.value),
        "words": f"{more} more points",
        "height": total,
        "total": total,
    }


def _label(asked: Ask, value: Value, margin: float, kind: str) -> dict[str, Any]:
    """Return the short form, the words and the height for the player to move."""
    verb = {"win": "wins", "draw": "draws", "loss": "loses"}[kind]
    if asked.game.has_reward:
        height = margin / (total_points(asked) or 4)
        if not value.exact:
            short = _two_digits(margin)
            side = asked.entry.about.sides[asked.mover]
            return {"short": short, "words": f"about {short} points for {side}", "height": height}
        by = f" by {abs(margin):.4g}" if margin else ""
        return {"short": signed(margin), "words": verb + by, "height": height}
    if value.expected:
        mean = f"{value.value:+.4f} on average".replace("-", MINUS)
        return {"short": f"{value.value:+.3f}".replace("-", MINUS), "words": mean, "height": value.value}
    side = asked.entry.about.sides[asked.mover]
    if is_share(asked, value):
        share = f"{share_of(value):.1f}"
        return {"short": f"{share}%", "words": f"{share} % for {side}", "height": value.value}
    if value.exact:
        return _exact_label(value, kind, verb)
    share = f"{share_of(value):.0f}"
    return {"short": f"{share}%", "words": f"about {share} % for {side}", "height": value.value}


def _exact_label(value: Value, kind: str, verb: str) -> dict[str, Any]:
    plies = f" in {value.distance} {'ply' if value.distance == 1 else 'plies'}" if _has_end(value, kind) else ""
    direction = {"win": 1.0, "draw": 0.0, "loss": -1.0}[kind]
    if value.score is not None:
        size = 0.3 + 0.7 * min(1.0, abs(value.score) / FAR_SCORE)
        tail = f", score {signed(value.score)}" if value.score else ""
        return {"short": signed(value.score), "words": verb + plies + tail, "height": direction * size}
    size = 0.35 + 0.65 * (1 - min(LONG if value.distance is None else value.distance, LONG) / LONG)
    short = str(value.distance) if plies else {"win": "+1", "draw": "=", "loss": f"{MINUS}1"}[kind]
    return {"short": short, "words": verb + plies, "height": direction * size}


def _has_end(value: Value, kind: str) -> bool:
    return value.distance is not None and kind != "draw"


# ---------------------------------------------------------------- the headline
def headline(asked: Ask, value: Value) -> str:
    """Return the verdict in a sentence."""
    if asked.for_points:
        return f"{value.value:,.10g} more points" if value.exact else f"About {rounded(value.value)} more points"
    if asked.puzzle:
        return _puzzle(value)
    if asked.single:
        words = str(_result_label(asked, value)["words"])
        return words[0].upper() + words[1:] if value.exact else f"{_expected(asked).capitalize()} {words}"
    sides, margin = asked.entry.about.sides, margin_of(asked, value)
    kind = kind_of(margin, value.exact)
    winner = sides[asked.mover if margin > 0 else 1 - asked.mover]
    if value.expected:
        return f"{sides[asked.mover]} expects {value.value:+.3f}".replace("-", MINUS)
    if not value.exact:
        return "It looks even" if kind == "draw" else f"{winner} is {'well ' if abs(margin) >= AHEAD else ''}ahead"
    if asked.game.has_reward:
        return _by_points(asked, margin, winner)
    if is_share(asked, value):
        return f"{50 + abs(share_of(value) - 50):.1f} % for {winner}"
    if kind == "draw":
        return "A draw: best play never ends" if value.endless else "A draw with best play"
    return f"{winner} wins{_when(asked, value)}"


def _puzzle(value: Value) -> str:
    """Return what is known of a puzzle."""
    if value.exact and value.value <= 0:
        return "It cannot be solved"
    words = str(_puzzle_label(value)["words"])
    return words[0].upper() + words[1:]


def _by_points(asked: Ask, margin: float, winner: str) -> str:
    every = total_points(asked)
    if every is not None and float((every + margin) / 2).is_integer():
        high, low = (every + abs(margin)) / 2, (every - abs(margin)) / 2
        return f"{winner} wins {high:.0f}–{low:.0f}" if margin else f"A draw, {high:.0f}–{low:.0f}"
    return f"{winner} wins by {abs(margin):.4g}" if margin else "A draw with best play"


def _when(asked: Ask, value: Value) -> str:
    """Return with which piece, or in how many plies."""
    if value.distance is None:
        return ""
    plies, piece = asked.plies, asked.entry.about.piece
    if plies is not None and piece != "move":
        return f" with the {ordinal(plies + value.distance)} {piece}"
    return f" in {value.distance} {'ply' if value.distance == 1 else 'plies'}"


def bound_headline(asked: Ask, value: Value) -> str:
    """Return what is certain while moves are still being proved."""
    side = asked.entry.about.sides[asked.mover]
    margin = margin_of(asked, value)
    if margin > 0:
        return f"{side} wins"
    return f"{side} has at least a draw" if margin == 0 else f"{side} to move"
