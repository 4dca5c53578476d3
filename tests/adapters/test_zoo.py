import warnings

import numpy as np
import pytest

from mdplay import IllegalMove, Position, make
from mdplay.adapters.zoo import GameAEC, env
from mdplay.naming.registry import names
from mdplay.rng import Random
from tests.nim import Nim

with warnings.catch_warnings():  # its tests import its games in a way that it warns of itself
    warnings.simplefilter("ignore")
    from pettingzoo.classic import connect_four_v3, tictactoe_v3
    from pettingzoo.test import api_test, seed_test

GAMES = [*names(), Nim(9)]


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")  # that our environments are not among its own
def test_pettingzoo_finds_no_fault(game):
    api_test(env(game), num_cycles=50)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_equal_seeds_give_equal_games(game):
    seed_test(lambda: env(game), num_cycles=20)


def random_game(made, seed, choose):
    made.reset(seed=seed)
    totals = dict.fromkeys(made.possible_agents, 0.0)
    for agent in made.agent_iter():
        observation, reward, over, cut, _ = made.last()
        totals[agent] += reward
        made.step(None if over or cut else choose(observation["action_mask"]))
    return totals


def test_rewards_are_those_of_the_rules():
    rng = np.random.default_rng(1)
    made = GameAEC("dots-and-boxes")
    for seed in range(20):
        totals = random_game(made, seed, lambda mask: int(rng.choice(np.flatnonzero(mask))))
        assert totals == {"player_0": made.position.result, "player_1": -made.position.result}


def test_the_bare_environment_refuses_what_is_not_legal():
    made = GameAEC("tic-tac-toe")
    made.reset(seed=0)
    made.step(0)
    with pytest.raises(IllegalMove, match="action 0 is not legal"):
        made.step(0)


THEIRS = {  # cells of Tic-Tac-Toe are numbered by columns there, by rows here
    "tic-tac-toe": (tictactoe_v3, "player_1", lambda action: 3 * (action % 3) + action // 3),
    "connect-four": (connect_four_v3, "player_0", lambda action: action),
}


@pytest.mark.parametrize("games", [100, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", THEIRS)
def test_games_equal_pettingzoos_own(name, games):
    module, first, renumbered = THEIRS[name]
    theirs, rng, game = module.raw_env(), Random(2), make(name)
    for _ in range(games):
        theirs.reset()
        position = Position.start(game)
        while not position.is_over:
            mask = theirs.observe(theirs.agent_selection)["action_mask"]
            assert sorted(renumbered(int(a)) for a in np.flatnonzero(mask)) == position.actions
            assert not any(theirs.terminations.values())
            action = position.actions[rng.below(len(position.actions))]
            theirs.step(renumbered(action))
            position = position.play(action)
        assert all(theirs.terminations.values())
        assert theirs.rewards[first] == position.result
