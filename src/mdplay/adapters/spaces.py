"""Actions and observations of a game as arrays; trained models of other libraries as agents, and the reverse.

A *mask* has a 1 for each legal action.  An *observation* has all bits of all fields of a state, the lowest first,
so that no information is lost; environments accept another function of a state instead.

stable-baselines3 and compatible libraries call ``predict(observation) -> (action, None)`` of a model:

    ModelAgent(game, model)       a model as an agent in our matches: a side plays what it has learned
    AgentModel(game, agent)       an agent as a model, for their evaluation and their callbacks
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from itertools import accumulate, pairwise
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mdplay import Agent, Game, GameError, Position
from mdplay.bits import WORD, elements
from mdplay.compiling import unpack
from mdplay.compiling.contract import hints_of, state_class
from mdplay.compiling.digest import per_game
from mdplay.position import takes_state
from mdplay.rng import Random

Mask = NDArray[np.int8]
Observation = NDArray[np.int8]
Observe = Callable[[Any], Observation]  # from a state

WORD_BITS = 64
TRIAL_GAMES, TRIAL_MOVES = 32, 256  # long games show their actions early; puzzles never end


def library(name: str) -> ModuleType:
    """Import a library of the extra ``adapters``, or say in a sentence what to install."""
    try:
        return import_module(name)
    except ImportError:
        raise GameError(f"this needs {name.partition('.')[0]}; pip install 'mdplay[adapters]'") from None


# ---------------------------------------------------------------- actions
@per_game(maxsize=64)
def num_actions(game: Game[Any]) -> int:
    """Return how many actions a game has: what it says itself, or one more than the highest seen in random games.

    A game states it by an attribute ``num_actions``.  Without it, a rare higher action raises GameError when it
    occurs.
    """
    said = getattr(game, "num_actions", None)
    if said is not None:
        return int(said)
    return 1 + max(_highest(game, number) for number in range(TRIAL_GAMES))


def _highest(game: Game[Any], number: int) -> int:
    """Return the highest legal action in a random game."""
    position, rng, highest = Position.start(game), Random(0, number), 0
    while not position.is_over and position.num_events < TRIAL_MOVES:
        if position.is_chance:
            position = position.after(position.draw(rng.word()))
            continue
        highest = max(highest, position.actions[-1])
        position = position.after(position.actions[rng.below(len(position.actions))])
    return highest


def mask_of(game: Game[Any], actions: list[int], size: int) -> Mask:
    """Return legal actions as an array of 0 and 1."""
    if actions and actions[-1] >= size:
        name = type(game).__name__
        raise GameError(f"{name} has an action {actions[-1]} where {size} actions were seen; give it num_actions")
    mask = np.zeros(size, np.int8)
    mask[actions] = 1
    return mask


# ---------------------------------------------------------------- observations
def num_bits(game: Game[Any]) -> int:
    """Return the length of an observation."""
    return sum(widths(game))


@takes_state
def observe(game: Game[Any], state: Any = None) -> Observation:
    """Return the observation of a state (default: the start), an array of bits, as the Gymnasium environment does.

    It has all bits of all fields of the state, the lowest first: one bit for a truth value and for the field
    ``player``, 64 bits for any other number.

    >>> from mdplay import make
    >>> observe(make("tic-tac-toe"), "100020000").nonzero()[0].tolist()
    [0, 68]
    """
    return observe_bits(game)(state)


@per_game(maxsize=64)
def observe_bits(game: Game[Any]) -> Observe:
    """Return the function from a state to all bits of its fields."""
    sizes = widths(game)

    def bits_of(state: Any) -> Observation:
        words = np.array([int(field) & WORD for field in state], np.uint64)
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little").reshape(len(words), WORD_BITS)
        return np.concatenate([row[:width] for row, width in zip(bits, sizes, strict=True)]).view(np.int8)

    return bits_of


def read_bits(game: Game[Any]) -> Callable[[Observation], Any]:
    """Return the function from all bits of the fields back to the state: the inverse of ``observe_bits``."""
    sizes = widths(game)
    ends = list(accumulate(sizes, initial=0))

    def read(observation: Observation) -> Any:
        fields = [observation[begin:end] for begin, end in pairwise(ends)]
        words = [sum(1 << int(i) for i in np.flatnonzero(bits)) for bits in fields]
        return unpack(game, words)

    return read


def widths(game: Game[Any]) -> list[int]:
    """Return the bits of each field of a state: one for a truth value, a word for a number."""
    cls = state_class(type(game))
    hints = hints_of(cls)
    return [1 if hints[name] is bool or name == "player" else WORD_BITS for name in cls._fields]


def legal_actions(position: Position[Any]) -> list[int]:
    """Return the legal actions; none at the end of the game and none if chance moves."""
    return [] if position.is_chance else elements(position.game.legal(position.state))


class Model(Protocol):
    """A policy, which maps an observation to an action."""

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
