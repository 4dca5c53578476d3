"""A position as the page names it: parameters, a start, the moves since, the points before.

The client holds the game; every question brings its position along.  Games without chance send all moves, so that
their past is known; games with chance send where they are and the points so far, so that a game of five thousand
moves costs no more than its last one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

from mdplay.errors import PositionError, UnknownName
from mdplay.evaluating.wording import is_puzzle
from mdplay.game import Game, num_players
from mdplay.naming.notation import split_moves
from mdplay.position import Position
from mdplay.rng import Random
from mdplay.views.safe_svg import safe_picture
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
