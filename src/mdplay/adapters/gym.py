"""A game as a Gymnasium environment: a game for one, or one side of a game for two against any agent.

    import gymnasium, mdplay.adapters.gym
    env = gymnasium.make("mdplay/ConnectFour-v0", opponent="mcts:simulations=100")
    env = GameEnv("path/to/my_game.py:MyGame", side=1)

The reward of a step is what the player has gained since the last one: own points minus the opponent's, and the
result at the end.  ``info["action_mask"]`` has the legal actions, and ``action_masks()`` too, where sb3-contrib
looks for them.  An illegal action ends the episode with the reward ``ILLEGAL`` and ``info["illegal"]``, since
Gymnasium's
own checkers, and learners that know no masks, try such actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mdplay.adapters.spaces import (
    Mask,
    Observation,
    Observe,
    legal_actions,
    library,
    mask_of,
    num_actions,
    observe_bits,
)
from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, choose, named_agent
from mdplay.position import Position
from mdplay.registry import make, maker, names
from mdplay.rng import Random

if TYPE_CHECKING:
    import gymnasium
else:
    gymnasium = library("gymnasium")

ILLEGAL = -1.0
CHANCE, OPPONENT = range(2)  # random streams of an episode


class GameEnv(gymnasium.Env[Observation, np.int64]):
    """A game as an environment."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "svg"], "render_fps": 4}

    def __init__(
        self,
        game: Game[Any] | str,
        *,
        opponent: Agent | str = "random",
        side: int = 0,
        observe: Observe | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.game = make(game) if isinstance(game, str) else game
        if side not in range(num_players(self.game)):
            raise GameError(f"side={side} is not a player of {type(self.game).__name__}")
        self.side, self.render_mode = side, render_mode
        self._opponent = named_agent(self.game, opponent)
        self._size = num_actions(self.game)
        self._observe = observe or observe_bits(self.game)
        self.action_space = gymnasium.spaces.Discrete(self._size)
        self.observation_space = _box(self._observe(self.game.initial()), observe is None)
        self.position = Position.start(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, from ``options["state"]`` if it is given, and return the first observation."""
        super().reset(seed=seed)
        word = int(self.np_random.integers(1 << 63))
        self._rngs = [Random(word, number) for number in range(2)]
        self._agent = self._opponent.fresh()
        self.position = self._waited(Position.start(self.game, (options or {}).get("state")))
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move, and those of chance and of the opponent after it."""
        if int(action) not in legal_actions(self.position):
            return self._observation(), ILLEGAL, True, False, self._info() | {"illegal": True}
        before = self.position.total
        self.position = self._waited(self.position.after(int(action)))
        gain = self.position.total - before
        reward = -gain if self.side else gain
        return self._observation(), reward, self.position.is_over, False, self._info()

    def _waited(self, position: Position[Any]) -> Position[Any]:
        """Return the position in which this side moves next, or the end."""
        while not position.is_over and position.player != self.side:
            position = position.after(self._event(position))
        return position

    def _event(self, position: Position[Any]) -> int:
        if position.is_chance:
            return position.draw(self._rngs[CHANCE].word())
        rng = self._rngs[OPPONENT]
        return choose(self._agent, self._opponent.name, self.game, position.state, rng)

    def action_masks(self) -> Mask:
        """Return the legal actions as an array of 0 and 1."""
        return mask_of(self.game, legal_actions(self.position), self._size)

    def render(self) -> Any:
        """Return the board in characters, or as SVG, as ``render_mode`` says."""
        return self.position.svg if self.render_mode == "svg" else self.position.board

    def _observation(self) -> Observation:
        return self._observe(self.position.state)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks()}


def _box(example: Observation, is_bits: bool) -> gymnasium.spaces.Box:
    """Return the space of observations like an example; what a user's function gives may be any number."""
    if is_bits:
        return gymnasium.spaces.Box(0, 1, example.shape, np.int8)
    low, high = (-np.inf, np.inf) if example.dtype.kind == "f" else _range(example.dtype)
    return gymnasium.spaces.Box(low, high, example.shape, example.dtype)


def _range(kind: np.dtype[Any]) -> tuple[int, int]:
    limits = np.iinfo(kind)
    return int(limits.min), int(limits.max)


# ---------------------------------------------------------------- games by name
def make_env(game: str, **options: Any) -> GameEnv:
    """Return the environment of a registered game; the game's parameters may be among the options."""
    return GameEnv(_made(game, options), **options)


def _made(name: str, options: dict[str, Any]) -> Game[Any]:
    """Make a game with those of the options that are its parameters, and take them out."""
    from mdplay.specs import parameters

    mine = [one.name for one in parameters(maker(name)) if one.name in options]
    game: Game[Any] = maker(name)(**{word: options.pop(word) for word in mine})
    return game


def make_vec(game: str, num_envs: int = 1, **options: Any) -> Any:
    """Return many environments of a registered game that are stepped in one compiled call."""
    from mdplay.adapters.vector import VectorGames

    return VectorGames(_made(game, options), num_envs, **options)


def env_id(name: str) -> str:
    """Return the name of a registered game in Gymnasium.

    >>> env_id("connect-four"), env_id("2048")
    ('mdplay/ConnectFour-v0', 'mdplay/2048-v0')
    """
    return f"mdplay/{''.join(word.capitalize() for word in name.split('-'))}-v0"


def register_games() -> None:
    """Register every game with Gymnasium, those of installed packages included."""
    for name in names():
        if env_id(name) not in gymnasium.registry:
            gymnasium.register(
                env_id(name),
                entry_point="mdplay.adapters.gym:make_env",
                vector_entry_point="mdplay.adapters.gym:make_vec",
                kwargs={"game": name},
            )


register_games()
