"""Environments: steps of random play in Connect Four, ours beside those of other libraries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mdplay.benching.games import SPIEL, with_peer
from mdplay.benching.measuring import OURS, Group, Prepare
from mdplay.rng import Random

PGX = "pgx, JAX"


def group(quick: bool) -> Group:
    """Return the group: moves of random play in environments of Connect Four."""
    vector = 64 if quick else 1024  # environments in one call
    contenders: dict[str, Prepare] = {}
    missing = with_peer(contenders, "gymnasium", OURS, partial(_vector_steps, vector))
    missing += with_peer(contenders, "gymnasium", "Gymnasium, SyncVectorEnv", partial(_sync_steps, vector))
    missing += with_peer(contenders, "pettingzoo", "mdplay, agent by agent", partial(_aec_steps, _our_env))
    missing += with_peer(contenders, "pettingzoo", "PettingZoo, connect_four_v3", partial(_aec_steps, _their_env))
    missing += with_peer(contenders, SPIEL, "OpenSpiel, from Python", _spiel_steps)
    missing += with_peer(contenders, "pgx", PGX, partial(_pgx_steps, vector))
    sizes = (vector, 2 * vector) if quick else (vector, 4 * vector, 64 * vector)
    title = f"moves of random play in environments of Connect Four; {vector:,} at once where there is a way"
    slow = dict.fromkeys(set(contenders) - {OURS, PGX}, 4 * vector)
    return Group("environments", title, "moves", sizes, contenders, missing=missing, limits=slow)


def _vector_steps(vector: int, steps: int) -> Callable[[], Any]:
    import numpy as np

    from mdplay.adapters.gym import make_vec

    envs = make_vec("connect-four", num_envs=vector, opponent=None)

    def run() -> int:
        _, info = envs.reset(seed=1)
        for _ in range(steps // vector):
            mask = info["action_mask"]
            _, _, _, _, info = envs.step(np.argmax(mask * envs.np_random.random(mask.shape), axis=1))
        return steps

    return run


def _sync_steps(vector: int, steps: int) -> Callable[[], Any]:
    """Return random play in as many environments, stepped by Gymnasium; a step is a move and the answer to it."""
    import gymnasium
    import numpy as np

    from mdplay.adapters.gym import GameEnv

    envs = gymnasium.vector.SyncVectorEnv([lambda: GameEnv("connect-four")] * vector)

    def run() -> int:
        _, info = envs.reset(seed=1)
        rng = np.random.default_rng(1)
        for _ in range(max(1, steps // vector // 2)):
            mask = np.stack(info["action_mask"])
            _, _, _, _, info = envs.step(np.argmax(mask * rng.random(mask.shape), axis=1))
        return steps

    return run


def _pgx_steps(vector: int, steps: int) -> Callable[[], Any]:
    """Return random play by pgx: rules and choice of moves compiled by JAX, which may use all cores."""
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("connect_four")
    begin, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    choose = jax.jit(lambda key, mask: jax.random.categorical(key, jax.numpy.log(mask.astype(float)), axis=1))

    def run() -> int:
        key = jax.random.PRNGKey(1)
        state = begin(jax.random.split(key, vector))
        for _ in range(steps // vector):
            key, one, two = jax.random.split(key, 3)
            action = choose(one, state.legal_action_mask)
            state = step(state, action, jax.random.split(two, vector))
        state.observation.block_until_ready()
        return steps

    return run


def _our_env() -> Any:
    from mdplay.adapters.zoo import env

    return env("connect-four")


def _their_env() -> Any:
    from pettingzoo.classic.connect_four.connect_four import env

    return env()


def _aec_steps(make: Callable[[], Any], steps: int) -> Callable[[], Any]:
    """Return random play in an environment of PettingZoo, agent by agent."""
    env = make()

    def run() -> int:
        env.reset(seed=1)
        for _ in range(steps):
            observation, _, over, _, _ = env.last()
            if over:
                env.reset()
                observation = env.last()[0]
            env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
        return steps

    return run


def _spiel_steps(steps: int) -> Callable[[], Any]:
    import pyspiel

    game, rng = pyspiel.load_game("connect_four"), Random(1)

    def run() -> int:
        state = game.new_initial_state()
        for _ in range(steps):
            actions = state.legal_actions()
            state.apply_action(actions[rng.below(len(actions))])
            state = game.new_initial_state() if state.is_terminal() else state
        return steps

    return run
