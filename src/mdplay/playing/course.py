"""A game in progress: the one place that applies events to a state and counts what players earn.

An *event* is an action where a player moves and an outcome where chance does; the state tells which.  The total
is what player 0 has got: own rewards, minus the opponent's, plus the result once the game is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mdplay.bits import Mask, some
from mdplay.errors import FormatError, IllegalMove
from mdplay.game import Game, Past, find_event, follow, parse_position


class Course:
    """The events of one game so far, and where they led."""

    def __init__(self, game: Game[Any], start: Any = None) -> None:
        self.game = game
        self.start = game.initial() if start is None else start
        self.states = [self.start]  # before each event, and the last one
        self.events: list[int] = []
        self._earned = [0.0]  # by player 0, beside each state

    @property
    def state(self) -> Any:
        """Where the game stands."""
        return self.states[-1]

    @property
    def chance(self) -> Mask:
        """The outcomes of chance that are pending; 0 when a player moves or the game is over."""
        return self.game.outcomes(self.state)

    @property
    def over(self) -> bool:
        """Whether nobody can move."""
        return not some(self.chance) and not some(self.game.legal(self.state))

    @property
    def total(self) -> float:
        """What player 0 has got so far; the result included once the game is over."""
        return self._earned[-1] + (float(self.game.result(self.state)) if self.over else 0.0)

    @property
    def past(self) -> Past:
        """The moves of the players, each with the state in which it was made."""
        pairs = zip(self.states, self.events, strict=False)
        return tuple((s, event) for s, event in pairs if not some(self.game.outcomes(s)))

    @property
    def board(self) -> str:
        """The picture of the state, with what its past tells."""
        return self.game.board_after(self.state, self.past)

    def add(self, event: int) -> None:
        """Apply a legal action, or an outcome where chance moves."""
        self._earned.append(self._earned[-1] + self._points(event))
        self.states.append(follow(self.game, self.state, event))
        self.events.append(event)

    def take_back(self) -> None:
        """Undo the last event."""
        for history in (self.events, self.states, self._earned):
            history.pop()

    def _points(self, event: int) -> float:
        if some(self.chance):
            return 0.0
        points = float(self.game.reward(self.state, event))
        return -points if self.game.player(self.state) else points

    def add_texts(self, moves: Iterable[str]) -> None:
        """Play moves in the game's notation; raise FormatError naming the first that cannot be played."""
        for number, move in enumerate(moves, start=1):
            if self.over:
                raise FormatError(f"move {number}, {move!r}, comes after the end of the game")
            try:
                self.add(find_event(self.game, self.state, move))
            except IllegalMove as error:
                raise FormatError(f"move {number}: {error}") from None

    def texts(self) -> list[str]:
        """Return the events in the game's notation."""
        game = self.game
        return [
            game.outcome_text(s, event) if some(game.outcomes(s)) else game.move_text(s, event)
            for s, event in zip(self.states, self.events, strict=False)
        ]


def course_at(game: Game[Any], text: str) -> Course:
    """Return a game that stands where a text says: a position, or ``moves:a,b,c``, which it remembers."""
    if not text.startswith("moves:"):
        return Course(game, parse_position(game, text))
    course = Course(game)
    course.add_texts(text.removeprefix("moves:").replace(",", " ").split())
    return course
