"""Exact values of positions near the end, by looking at everything: what knowledge is checked against."""

from __future__ import annotations

import math
from typing import Any

from mdplay.bits import elements
from mdplay.game import Game, State

MAX_NODES = 300  # positions looked at for one value; fewer than Python's frames


class Exact:
    """Values for player 0, in plain Python; what was found once is remembered."""

    def __init__(self, game: Game[Any]) -> None:
        self.game, self.known, self.left = game, dict[Any, float](), 0

    def sees(self, s: State) -> bool:
        """Tell whether few enough positions follow to find the value."""
        self.left = MAX_NODES
        try:
            self.value(s)
        except _TooManyError:
            return False
        return True

    def value(self, s: State) -> float:
        """Return what is still to come for player 0."""
        if s not in self.known:
            if not self.left:
                raise _TooManyError
            self.left -= 1
            self.known[s] = self.find(s)
        return self.known[s]

    def find(self, s: State) -> float:
        """Return the value from those of the positions that follow."""
        game = self.game
        if outcomes := elements(game.outcomes(s)):
            return math.fsum(game.probability(s, i) * self.value(game.outcome(s, i)) for i in outcomes)
        if not (actions := elements(game.legal(s))):
            return game.result(s)
        return (min if game.player(s) else max)(self.value_of(s, a) for a in actions)

    def value_of(self, s: State, action: int) -> float:
        """Return the value of an action."""
        points = self.game.reward(s, action)
        return (-points if self.game.player(s) else points) + self.value(self.game.step(s, action))


class _TooManyError(Exception):
    pass
