"""Trained models of other libraries as agents, and agents as such models.

stable-baselines3 and those who follow it ask a model ``predict(observation) -> (action, None)``:

    ModelAgent(game, model)       a model as an agent in our matches: a side plays what it has learned
    AgentModel(game, agent)       an agent as a model, for their evaluation and their callbacks
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mdplay.adapters.spaces import Observation, Observe, mask_of, num_actions, observe_bits, read_bits
from mdplay.bits import elements
from mdplay.game import Game
from mdplay.playing.agents import Agent
from mdplay.rng import Random


class Model(Protocol):
    """Whoever answers an observation with an action."""

    def predict(self, observation: Observation) -> tuple[Any, Any]:
        """Return an action, or one for each row, and what a recurrent model remembers."""


class ModelAgent:
    """A model as an agent; one that knows masks (``action_masks``, sb3-contrib) gets the legal actions.

    A model without masks may choose what is not legal, as it does in its environment; then ``act`` returns that,
    and the match says so.  ``observe`` is the function that the model was trained with, if it was not the bits.
    """

    remembers = True  # a model may keep data between moves, and use random numbers of its own

    def __init__(self, game: Game[Any], model: Model, *, observe: Observe | None = None) -> None:
        self._game, self._model = game, model
        self._observe, self._size = observe or observe_bits(game), num_actions(game)
        self._asked = signature(model.predict).parameters

    def act(self, state: Any, rng: Random) -> int:
        """Return the action that the model holds for best."""
        mask = mask_of(self._game, elements(self._game.legal(state)), self._size)
        options = {"deterministic": True, "action_masks": mask}
        known = {name: value for name, value in options.items() if name in self._asked}
        action, _ = self._model.predict(self._observe(state), **known)
        return int(action)


class AgentModel:
    """An agent as a model: it reads the state in an observation of bits, and answers with its move."""

    def __init__(self, game: Game[Any], agent: Agent, *, seed: int = 0) -> None:
        self._agent, self._read, self._rng = agent, read_bits(game), Random(seed)

    def predict(
        self, observation: Observation, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[NDArray[np.int64], Any]:
        """Return the agent's action, or one for each row of observations; nothing is remembered."""
        if observation.ndim == 1:
            return np.asarray(self._action(observation)), state
        return np.array([self._action(row) for row in observation], np.int64), state

    def _action(self, observation: Observation) -> int:
        return self._agent.act(self._read(observation), self._rng)
