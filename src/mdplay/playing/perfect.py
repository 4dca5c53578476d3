"""The agent that knows: the game's own perfect player, or one who follows the exact solution of the game.

A game is solved once, however many agents play it, and they ask one at a time: a solution that proves positions
when they are asked for writes to its memory as it answers.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from mdplay.digest import per_game
from mdplay.game import Game
from mdplay.playing.agents import Agent, Maker
from mdplay.registry import brought
from mdplay.rng import Random

if TYPE_CHECKING:
    from mdplay.solving.solution import Solution


LOCK = Lock()


@per_game(maxsize=4)
def _solution(game: Game[Any]) -> Solution:
    from mdplay.solving.solvers import solve

    return solve(game)


class PerfectAgent:
    """Play the best move of the exact solution: win soonest, lose latest, then the smallest action."""

    exact = True

    def __init__(self, game: Game[Any]) -> None:
        with LOCK:
            self.solution = _solution(game)

    def act(self, state: Any, rng: Random) -> int:
        """Return the best action."""
        with LOCK:
            return self.solution.action(state)

    def values(self, state: Any) -> dict[int, float]:
        """Return the value of each move for the player to move; where only bounds are known, the lower one."""
        with LOCK:
            choices = self.solution.choices(state)
        return {choice.action: choice.low if choice.value is None else choice.value for choice in choices}


def perfect_agent(game: Game[Any]) -> Agent:
    """Return the agent that knows best: the game's own perfect player, else the exact solution."""
    maker: Maker = brought(game, "agents").get("perfect", PerfectAgent)
    return maker(game)
