import warnings

import numpy as np
import pytest

from mdplay import IllegalMove, Position
from mdplay.adapters.zoo import GameAEC, env
from mdplay.registry import names
from tests.nim import Nim

with warnings.catch_warnings():  # its tests import its games in a way that it warns of itself
    warnings.simplefilter("ignore")
    from pettingzoo.classic import tictactoe_v3
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


def test_games_equal_pettingzoos_own_tic_tac_toe():
    """Cells are numbered by columns there, by rows here."""
    theirs, rng = tictactoe_v3.raw_env(), np.random.default_rng(2)
    for _ in range(200):
        theirs.reset()
        position = Position.start(GameAEC("tic-tac-toe").game)
        while not position.is_over:
            mask = theirs.observe(theirs.agent_selection)["action_mask"]
            assert sorted(3 * (a % 3) + a // 3 for a in np.flatnonzero(mask)) == position.actions
            action = int(rng.choice(position.actions))
            theirs.step(3 * (action % 3) + action // 3)
            position = position.play(action)
        assert theirs.rewards["player_1"] == position.result
