"""Whoever moves between two moves of one side: chance, and an agent for the other side."""

from __future__ import annotations

from typing import Any

from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.playing.agents import NamedAgent, choose
from mdplay.position import Position
from mdplay.rng import Random

CHANCE, OPPONENT = range(2)  # random streams of a game


def check_player(game: Game[Any], player: int, name: str = "player") -> None:
    """Raise GameError if the game has no such player; ``name`` is that of the argument."""
    if player not in range(num_players(game)):
        raise GameError(f"{name}={player} is not a player of {type(game).__name__}")


class Answering:
    """Chance and an agent in one game, which one seed repeats."""

    def __init__(self, opponent: NamedAgent, side: int, seed: int) -> None:
        self._name, self._agent, self._side = opponent.name, opponent.fresh(), side
        self._rngs = [Random(seed, number) for number in (CHANCE, OPPONENT)]

    def answer(self, position: Position[Any]) -> Position[Any]:
        """Return the position in which the side moves next, or the end."""
        while not position.is_over and position.player != self._side:
            position = position.after(self._event(position))
        return position

    def _event(self, position: Position[Any]) -> int:
        if position.is_chance:
            return position.draw(self._rngs[CHANCE].word())
        return choose(self._agent, self._name, position.game, position.state, self._rngs[OPPONENT])
