"""A position as the page names it (parameters, a start, the moves since, the points before), and its wording.

The client holds the game; every request contains its position.  Games without chance send all moves, so that
their past is known; games with chance send the position and the points so far, so that a game of five thousand
moves costs no more than its last one.

The wording is the status, the headline and the labels of moves.  All values are for the player to move; only
``height``, on the curve, is for the first player.  The words for values are those of
``mdplay.evaluating.wording``.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

from mdplay import Game, MoveEvaluation, Position, PositionError, UnknownName
from mdplay.evaluating.evaluation import rounded_off
from mdplay.evaluating.wording import (
    MINUS,
    describe,
    estimated,
    in_plies,
    is_known,
    is_puzzle,
    is_share,
    kind_of,
    margin_of,
    percent,
    result_name,
    signed,
)
from mdplay.game import num_players
from mdplay.naming.notation import split_moves
from mdplay.rng import Random
from mdplay.views.html import safe_picture
from mdplay.web.games.catalogue import Entry

MAX_MOVES = 2_000
MAX_CHANCE = 1_000  # outcomes drawn in a row


@dataclass(frozen=True)
class Ask:
    """A position that the page asks about."""

    entry: Entry
    params: str
    position: Position[Any]
    base: tuple[float, ...] = ()

    @property
    def game(self) -> Game[Any]:
        """The game."""
        return self.position.game

    @property
    def state(self) -> Any:
        """The state."""
        return self.position.state

    @property
    def single(self) -> bool:
        """Whether it is a game for one."""
        return num_players(self.game) == 1

    @property
    def for_points(self) -> bool:
        """Whether one player collects points."""
        return self.single and bool(self.game.has_reward)

    @property
    def puzzle(self) -> bool:
        """Whether it is a puzzle, which is solved or not."""
        return is_puzzle(self.game)

    @property
    def mover(self) -> int:
        """The player to move; player 0 if no player moves."""
        return self.position.player or 0

    @property
    def points(self) -> list[float]:
        """The points of each player, those before the first position included."""
        earned = list(self.position.points)
        return [own + before for own, before in zip(earned, self.base or [0.0] * len(earned), strict=True)]

    @property
    def lead(self) -> float:
        """What player 0 has more than player 1."""
        points = self.points
        return points[0] - (points[1] if len(points) > 1 else 0.0)

    @property
    def side(self) -> str:
        """The name of the player to move."""
        return self.entry.about.sides[self.mover]

    @property
    def movers_lead(self) -> float:
        """The points by which the player to move is ahead."""
        return -self.lead if self.mover else self.lead

    @property
    def plies(self) -> int | None:
        """How many moves were made since the start of the game, if that is known."""
        first = self.position.positions[0]
        return len(self.position.past) if first.state == self.game.initial() else None


def ask(entry: Entry, params: str = "", start: str = "", moves: str = "", base: str = "") -> Ask:
    """Return the position that a question names, or raise MdplayError."""
    game = entry.make(params)
    position = Position.parse(game, start) if start else Position.start(game)
    names = split_moves(moves)
    if len(names) > MAX_MOVES:
        raise PositionError(f"{len(names)} moves are too many; send the position instead")
    return Ask(entry, params, position.play_all(names), _points(base, num_players(game)))


def _points(base: str, players: int) -> tuple[float, ...]:
    if not base:
        return ()
    try:
        found = tuple(float(number) for number in base.split(","))
    except ValueError:
        raise PositionError("base is not a list of numbers") from None
    if len(found) != players or not all(abs(number) < 1e12 for number in found):
        raise PositionError(f"base must be {players} numbers, the points of each player")
    return found


def drawn(asked: Ask, seed: int | None) -> Ask:
    """Return the question after pending chance was drawn."""
    position, rng = asked.position, Random(secrets.randbits(63) if seed is None else seed)
    for _ in range(MAX_CHANCE):
        if not position.is_chance:
            break
        position = position.after(position.draw(rng.word()))
    return replace(asked, position=position)


def picture_of(position: Position[Any]) -> str:
    """Return the picture of a position; the text of the board if it contains a shape without a colour."""
    try:
        svg = position.svg
    except UnknownName:  # `mdplay check` reports the shape; the game can be played
        svg = ""
    return safe_picture(svg, position.board)


def document(asked: Ask, status: str) -> dict[str, Any]:
    """Return all that the page needs to draw a position and to play on."""
    position, game = asked.position, asked.game
    past = position.past
    return {
        "game": asked.entry.id,
        "params": asked.params,
        "position": position.text,
        "events": position.played,
        "player": position.player,
        "over": position.is_over,
        "chance": position.is_chance,
        "points": asked.points,
        "result": asked.lead + float(game.result(asked.state)) if position.is_over else None,
        "status": status,
        "past": [{"move": game.move_text(s, action), "player": game.player(s)} for s, action in past],
        "last": past[-1][1] if past else None,
        "svg": picture_of(position),
        "board": position.board,
        "legal": [
            {"action": action, "move": move, "name": move}
            for action, move in zip(position.actions, position.moves, strict=True)
        ],
    }


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
