"""The plainest agents: one that plays at random, one that follows a policy file."""

from __future__ import annotations

from typing import Any

from mdplay.game import Game
from mdplay.rng import Random


class RandomAgent:
    """Play every legal action with equal probability."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action drawn at random."""
        return rng.pick(self.game.legal(state))
