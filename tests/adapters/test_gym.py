import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mdplay import GameError, make
from mdplay.adapters.gym import ILLEGAL, GameEnv, env_id, register_game
from mdplay.naming.registry import names
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from tests.helpers import ROOT, python
from tests.nim import Nim


@pytest.mark.parametrize("name", names())
def test_gymnasium_finds_no_fault(name):
    check_env(gymnasium.make(env_id(name), render_mode="ansi").unwrapped)


def test_a_users_game_passes_too():
    check_env(GameEnv(Nim(7)), skip_render_check=True)


def test_parameters_of_the_game_are_options():
    env = gymnasium.make("mdplay/ConnectFour-v0", rows=4, cols=5, opponent="mcts:simulations=10")
    assert env.unwrapped.game == make("connect-four:rows=4,cols=5")
    assert env.action_space.n == 5


def test_the_side_of_the_board_is_a_parameter_of_the_game():
    env = gymnasium.make("mdplay/Othello-v0", side=6, player=1)
    assert (env.unwrapped.player, env.unwrapped.game) == (1, make("othello:side=6"))
    env = gymnasium.make("mdplay/Othello-v0", game="othello:side=4", player=1)
    assert (env.unwrapped.player, env.unwrapped.game) == (1, make("othello:side=4"))


def test_a_users_file_has_a_name_too():
    spec = f"{ROOT}/examples/games/kalah.py:pits=2,seeds=2"
    assert register_game(spec) == "mdplay/Kalah-v0"
    check_env(gymnasium.make("mdplay/Kalah-v0", render_mode="ansi").unwrapped)
    many = gymnasium.make_vec("mdplay/Kalah-v0", 3, vectorization_mode="vector_entry_point", seeds=1)
    assert many.game == make(f"{ROOT}/examples/games/kalah.py:pits=2,seeds=1")


def play(env, choose, seed):
    """Play an episode and return its rewards."""
    _, info = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        _, reward, over, _, info = env.step(choose(info["action_mask"]))
        rewards.append(reward)
    return rewards


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ["dots-and-boxes", "tic-tac-toe"])
def test_rewards_add_up_to_the_result_of_the_side(name, side):
    env, rng = GameEnv(name, player=side), np.random.default_rng(3)
    for seed in range(20):
        total = sum(play(env, lambda mask: rng.choice(np.flatnonzero(mask)), seed))
        assert total == env.position.result * (-1 if side else 1)


def test_the_opponent_plays_its_own_side():
    env = GameEnv(Nim(21), opponent="perfect", player=1)
    for seed in range(5):  # 21 is won for whoever begins
        assert sum(play(env, lambda mask: int(mask.argmax()), seed)) == -1


def test_a_perfect_player_wins_through_the_environment():
    env = GameEnv(Nim(21), player=0)
    agent = make_agent(env.game, "perfect")
    for seed in range(5):
        assert sum(play(env, lambda mask: agent.act(env.position.state, Random(0)), seed)) == 1


def test_an_illegal_action_ends_the_episode():
    env = GameEnv("tic-tac-toe")
    env.reset(seed=0)
    env.step(4)
    _, reward, over, _, info = env.step(4)
    assert (reward, over, info["illegal"]) == (ILLEGAL, True, True)


def test_a_seed_repeats_chance_and_the_opponent():
    def states(seed):
        env, seen = GameEnv("2048:rows=2,cols=2"), []
        _, info = env.reset(seed=seed)
        for _ in range(5):
            seen.append(env.position.state)
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            if over:
                break
        return seen

    assert states(5) == states(5)
    assert any(states(5) != states(seed) for seed in range(6, 10))


def test_a_side_that_does_not_exist_is_a_sentence():
    with pytest.raises(GameError, match="player=1 is not a player of Twenty48"):
        GameEnv("2048", player=1)


def test_observations_tell_all_states_apart():
    env = GameEnv("tic-tac-toe")
    seen = {}
    for seed in range(50):
        env.reset(seed=seed)
        over = False
        while not over:
            obs, _, over, _, _ = env.step(env.action_space.sample())
            assert seen.setdefault(obs.tobytes(), env.position.state) == env.position.state


def test_gymnasium_imports_the_games_when_they_are_named_with_their_module():
    code = "import gymnasium; print(gymnasium.make('mdplay.adapters.gym:mdplay/TicTacToe-v0').action_space)"
    assert python("-c", code) == "Discrete(9)\n"


def test_a_missing_library_is_a_sentence():
    code = "import sys; sys.modules['gymnasium'] = None\nimport mdplay.adapters.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "this needs gymnasium; pip install 'mdplay[adapters]'" in done.stderr


def test_an_option_that_nobody_has_is_a_sentence():
    with pytest.raises(GameError, match="side= is no parameter of ConnectFour nor of its environment; .*player"):
        gymnasium.make("mdplay/ConnectFour-v0", side=1)
