"""A position to hold in the hand: a game, a state and the moves that led there.

    >>> from mdplay import Position, make
    >>> p = Position.start(make("connect-four")).play("4").play("4").play("5")
    >>> p.player, p.moves
    (1, ['1', '2', '3', '4', '5', '6', '7'])
    >>> print(p)
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . O . . .
    . . . X X . .
    1 2 3 4 5 6 7

A state is all that matters for the rest of the game; who earned which points is a matter of the past, which
only a position knows.  In a notebook a position draws itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic

from mdplay.bits import members, some
from mdplay.errors import IllegalMove
from mdplay.game import Game, Past, S, find_action, find_outcome, follow_moves, num_players, parse_position


@dataclass(frozen=True)
class Position(Generic[S]):
    """A state of a game, with its past as far as it is known.  Playing a move gives another position."""

    game: Game[S]
    state: S
    past: Past = field(default=(), repr=False, compare=False)

    @classmethod
    def start(cls, game: Game[S]) -> Position[S]:
        """Return the start of a game; chance may have to move first."""
        return cls(game, game.initial())

    @classmethod
    def parse(cls, game: Game[S], text: str) -> Position[S]:
        """Return the position that a text names: ``moves:a,b,c``, or the game's own notation."""
        if text.strip().startswith("moves:"):
            return cls(game, *follow_moves(game, game.initial(), text.strip().removeprefix("moves:")))
        return cls(game, parse_position(game, text))

    # ---------------------------------------------------------------- what there is
    @property
    def is_chance(self) -> bool:
        """Whether chance moves."""
        return some(self.game.outcomes(self.state))

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return not self.is_chance and not some(self.game.legal(self.state))

    @property
    def player(self) -> int | None:
        """Who moves, 0 or 1; None when chance does or nobody."""
        return None if self.is_chance or self.is_over else self.game.player(self.state)

    @property
    def actions(self) -> list[int]:
        """The legal actions."""
        return [] if self.is_chance else members(self.game.legal(self.state))

    @property
    def moves(self) -> list[str]:
        """The legal moves, in the game's notation."""
        return [self.game.move_text(self.state, action) for action in self.actions]

    @property
    def outcomes(self) -> dict[str, float]:
        """What chance may do, in the game's notation, with the probabilities."""
        game, s = self.game, self.state
        return {game.outcome_text(s, i): game.probability(s, i) for i in members(game.outcomes(s))}

    @property
    def points(self) -> tuple[float, ...]:
        """What each player has earned in the past that is known."""
        earned = [0.0] * num_players(self.game)
        for s, action in self.past:
            earned[self.game.player(s)] += self.game.reward(s, action)
        return tuple(earned)

    @property
    def result(self) -> float | None:
        """What the end is worth to player 0, points of the known past included; None before the end."""
        if not self.is_over:
            return None
        mine, *theirs = self.points
        return mine - sum(theirs) + self.game.result(self.state)

    # ---------------------------------------------------------------- what one can do
    def play(self, move: str | int) -> Position[S]:
        """Return the position after a move in the game's notation, an action, or an outcome of chance."""
        game, s = self.game, self.state
        if self.is_chance:
            i = find_outcome(game, s, f"*{move}" if isinstance(move, int) else move)
            return replace(self, state=game.outcome(s, i))
        action = find_action(game, s, move) if isinstance(move, str) else self._legal(move)
        return replace(self, state=game.step(s, action), past=(*self.past, (s, action)))

    def _legal(self, action: int) -> int:
        if action not in self.actions:
            raise IllegalMove(f"action {action} is not legal in {self.text}; choose from {self.actions}")
        return action

    def undo(self) -> Position[S]:
        """Return the position in which the last move was made."""
        if not self.past:
            raise IllegalMove(f"there is no move to take back in {self.text}")
        return replace(self, state=self.past[-1][0], past=self.past[:-1])

    # ---------------------------------------------------------------- what it looks like
    @property
    def text(self) -> str:
        """The state in the game's notation."""
        return self.game.text(self.state)

    @property
    def board(self) -> str:
        """The picture in characters."""
        return self.game.board_after(self.state, self.past)

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return self.game.svg_after(self.state, self.past)

    def __str__(self) -> str:
        return self.board

    def _repr_svg_(self) -> str:
        return self.svg
