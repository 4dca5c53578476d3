"""Bots and policies of OpenSpiel as agents, and agents as theirs.

    AgentBot(agent)             an agent as a bot            BotAgent(game, bot)         a bot as an agent
    AgentPolicy(game, agent)    an agent as a policy         PolicyAgent(game, policy)   a policy as an agent

All of them play games of ours: a state of theirs is a ``SpielState`` (spiel.py).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from zlib import crc32

from mdplay.adapters.spaces import library
from mdplay.adapters.spiel import SpielState, spiel_game
from mdplay.bits import elements
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent
from mdplay.rng import Random

if TYPE_CHECKING:
    import pyspiel
    from open_spiel.python import policy as spiel_policy
else:
    pyspiel, spiel_policy = library("pyspiel"), library("open_spiel.python.policy")


class AgentBot(pyspiel.Bot):
    """An agent of ours where OpenSpiel wants a bot."""

    def __init__(self, agent: Agent, *, seed: int = 0) -> None:
        super().__init__()
        self._agent, self._rng = agent, Random(seed)

    def step(self, state: SpielState) -> int:
        """Return the agent's action."""
        return self._agent.act(state.state, self._rng)

    def restart_at(self, state: Any) -> None:
        """Nothing is remembered."""


class BotAgent:
    """A bot of OpenSpiel as an agent in our matches."""

    remembers = True  # a bot may keep data between moves, and use random numbers of its own

    def __init__(self, game: Game[Any], bot: Any) -> None:
        self._game, self._bot = game, bot
        self._parent = spiel_game(game)

    def act(self, state: Any, rng: Random) -> int:
        """Return the bot's action."""
        return int(self._bot.step(SpielState(self._parent, self._game, state)))


class AgentPolicy(spiel_policy.Policy):
    """An agent of ours where OpenSpiel wants a policy: what share of its answers each action has.

    An agent that draws its moves is asked ``samples`` times.  The shares of a state are the same whenever it is
    asked about.
    """

    def __init__(self, game: Game[Any], agent: Agent, *, samples: int = 1, seed: int = 0) -> None:
        super().__init__(spiel_game(game), list(range(num_players(game))))
        self._agent, self._samples, self._seed = agent, samples, seed

    def action_probabilities(self, state: SpielState, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of every legal action."""
        rng = Random(self._seed, crc32(str(state).encode()))
        counts = Counter(self._agent.act(state.state, rng) for _ in range(self._samples))
        return {action: counts[action] / self._samples for action in elements(state.game.legal(state.state))}


class PolicyAgent:
    """A policy of OpenSpiel, in Python or C++, as an agent in our matches."""

    def __init__(self, game: Game[Any], policy: Any) -> None:
        self._game, self._policy = game, policy
        self._parent = spiel_game(game)

    def act(self, state: Any, rng: Random) -> int:
        """Draw an action by the policy's probabilities."""
        shares = self._policy.action_probabilities(SpielState(self._parent, self._game, state))
        return rng.draw(shares)
