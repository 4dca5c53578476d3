"""A game as a Gymnasium environment: a single-player game, or one player of a two-player game against any agent.

    import gymnasium, mdplay.adapters.gym
    env = gymnasium.make("mdplay/ConnectFour-v0", opponent="mcts:simulations=100")
    env = GameEnv("path/to/my_game.py:MyGame", player=1)

The reward of a step is what the player has gained since the last one: own points minus the opponent's, and the
result at the end.  ``info["action_mask"]`` has the legal actions, and ``action_masks()`` too, where sb3-contrib
looks for them.  An illegal action ends the episode with the reward ``ILLEGAL`` and ``info["illegal"]``, since
Gymnasium's own checkers, and learners that know no masks, try such actions.
"""

from __future__ import annotations

from dataclasses import fields, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mdplay import Agent, Game, GameError, Position, make
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
from mdplay.naming.registry import names
from mdplay.playing.agents import Answering, check_player, named_agent

if TYPE_CHECKING:
    import gymnasium
else:
    gymnasium = library("gymnasium")

ILLEGAL = -1.0


class GameEnv(gymnasium.Env[Observation, np.int64]):
    """A game as an environment."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "svg"], "render_fps": 4}

    def __init__(
        self,
        game: Game[Any] | str,
        *,
        opponent: Agent | str = "random",
        player: int = 0,
        observe: Observe | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.game = make(game) if isinstance(game, str) else game
        check_player(self.game, player)
        self.player, self.render_mode = player, render_mode
        self._opponent = named_agent(self.game, opponent)
        self._size = num_actions(self.game)
        self._observe: Observe = observe_bits(self.game) if observe is None else lambda s: np.asarray(observe(s))
        self.action_space = gymnasium.spaces.Discrete(self._size)
        self.observation_space = _box(self._observe(self.game.initial()), observe is None)
        self.position = Position.start(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, from ``options["state"]`` if it is given, and return the first observation."""
        super().reset(seed=seed)
        word = int(self.np_random.integers(1 << 63))
        self._answering = Answering(self._opponent, self.player, word)
        self.position = self._answering.answer(Position.start(self.game, (options or {}).get("state")))
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move, and those of chance and of the opponent after it."""
        if int(action) not in legal_actions(self.position):
            return self._observation(), ILLEGAL, True, False, self._info() | {"illegal": True}
        before = self.position.total
        self.position = self._answering.answer(self.position.after(int(action)))
        gain = self.position.total - before
        reward = 0.0 - gain if self.player else gain  # 0.0 - gain is never -0.0
        return self._observation(), reward, self.position.is_over, False, self._info()

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
    """Return the environment of a game; parameters of the game may be among the options."""
    made = _made(game, options, GameEnv)
    if unknown_options := options.keys() - signature(GameEnv).parameters.keys():
        known = ", ".join([*signature(GameEnv).parameters][1:])
        name = min(unknown_options)
        raise GameError(
            f"{name}= is no parameter of {type(made).__name__} nor of its environment; these are {known}"
        )
    return GameEnv(made, **options)


def make_vec(game: str, num_envs: int = 1, **options: Any) -> Any:
    """Return many environments of a game that are stepped in one compiled call."""
    from mdplay.adapters.vector import VectorGames

    return VectorGames(_made(game, options, VectorGames), num_envs, **options)


def _made(text: str, options: dict[str, Any], environment: type) -> Game[Any]:
    """Make a game with those of the options that are its parameters, and take them out.

    A parameter that both have is the environment's; the game's is then given in the text.
    """
    game = make(text)
    own = signature(environment).parameters
    mine = [one.name for one in fields(cast(Any, game)) if one.name in options and one.name not in own]
    made: Game[Any] = replace(cast(Any, game), **{word: options.pop(word) for word in mine})
    return made


def env_id(name: str) -> str:
    """Return the name of a registered game, or of a class, in Gymnasium.

    >>> env_id("connect-four"), env_id("2048"), env_id("MyGame")
    ('mdplay/ConnectFour-v0', 'mdplay/2048-v0', 'mdplay/MyGame-v0')
    """
    return f"mdplay/{''.join(word[:1].upper() + word[1:] for word in name.split('-'))}-v0"


def register_game(text: str, name: str | None = None) -> str:
    """Register a game with Gymnasium, such as ``my_game.py:MyGame``; return its name there.

    Without a ``name`` it is called after its class.
    """
    known = env_id(name or type(make(text)).__name__)
    gymnasium.register(
        known,
        entry_point="mdplay.adapters.gym:make_env",
        vector_entry_point="mdplay.adapters.gym:make_vec",
        kwargs={"game": text},
    )
    return known


def register_games() -> None:
    """Register every game with Gymnasium, those of installed packages included."""
    for name in names():
        if env_id(name) not in gymnasium.registry:
            register_game(name, name)


register_games()
