"""A game as a PettingZoo environment: players ``player_0`` and ``player_1`` take turns, chance is drawn between.

    from mdplay.adapters.zoo import env
    game = env("connect-four")

An observation is a dictionary, as in PettingZoo's own classic games: ``observation`` and ``action_mask``.  An
illegal action is refused with IllegalMove; ``env`` wraps the game as PettingZoo does, so that it loses instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mdplay import Game, IllegalMove, Position, make
from mdplay.adapters.spaces import legal_actions, library, mask_of, num_actions, num_bits, observe_bits
from mdplay.game import num_players
from mdplay.rng import Random

if TYPE_CHECKING:
    import gymnasium
    import pettingzoo
    from pettingzoo.utils import wrappers
else:
    gymnasium, pettingzoo = library("gymnasium"), library("pettingzoo")
    wrappers = library("pettingzoo.utils.wrappers")

ILLEGAL = -1.0


class GameAEC(pettingzoo.AECEnv[str, dict[str, Any], int]):
    """A game whose players act one after the other."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "mdplay_v0",
        "render_modes": ["ansi", "svg"],
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(self, game: Game[Any] | str, render_mode: str | None = None) -> None:
        super().__init__()
        self.game = make(game) if isinstance(game, str) else game
        self.render_mode = render_mode
        self.possible_agents = [f"player_{i}" for i in range(num_players(self.game))]
        self.agents: list[str] = []
        self._size, self._observe = num_actions(self.game), observe_bits(self.game)
        spaces = gymnasium.spaces
        seen = {
            "observation": spaces.Box(0, 1, (num_bits(self.game),), np.int8),
            "action_mask": spaces.Box(0, 1, (self._size,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(seen) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._size) for agent in self.possible_agents}
        self._seed = 0

    def observation_space(self, agent: str) -> Any:
        """Return what an agent may see."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return what an agent may do."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the position, and the legal actions of the player to move."""
        mine = agent == self.agent_selection and not self.terminations.get(agent, False)
        actions = legal_actions(self.position) if mine else []
        mask = mask_of(self.game, actions, self._size)
        return {"observation": self._observe(self.position.state), "action_mask": mask}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; without a seed each has another chance."""
        self._seed = self._seed + 1 if seed is None else seed
        self._rng = Random(self._seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.position = self._drawn(Position.start(self.game))
        self.agent_selection = self._mover()

    def step(self, action: int | None) -> None:
        """Make a move of the player to move, and those of chance after it."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or int(action) not in legal_actions(self.position):
            raise IllegalMove(f"action {action} is not legal in {self.position.text}")
        before = self.position.total
        self.position = self._drawn(self.position.after(int(action)))
        gain = self.position.total - before
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {one: -gain if i else gain for i, one in enumerate(self.possible_agents)}
        if self.position.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self._mover()
        self._accumulate_rewards()

    def _drawn(self, position: Position[Any]) -> Position[Any]:
        while position.is_chance:
            position = position.after(position.draw(self._rng.word()))
        return position

    def _mover(self) -> str:
        return self.possible_agents[self.position.player or 0]

    def render(self) -> Any:
        """Return the board in characters, or as SVG, as ``render_mode`` says."""
        return self.position.svg if self.render_mode == "svg" else self.position.board

    def close(self) -> None:
        """Nothing is open."""


def env(game: Game[Any] | str, render_mode: str | None = None) -> Any:
    """Return the environment in PettingZoo's wrappers: illegal moves lose, calls out of order raise errors."""
    made = wrappers.TerminateIllegalWrapper(GameAEC(game, render_mode), illegal_reward=ILLEGAL)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(made))
