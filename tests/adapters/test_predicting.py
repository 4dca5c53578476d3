"""Models in the manner of stable-baselines3; tests/test_examples.py tries the library itself."""

import numpy as np
import pytest

from mdplay import AgentError, make, match
from mdplay.adapters.gym import GameEnv
from mdplay.adapters.spaces import AgentModel, ModelAgent
from mdplay.adapters.vector import VectorGames
from mdplay.playing.agents import make_agent
from tests.nim import Nim


class First:
    """A model that chooses the first action, or the first that is legal if it is told."""

    def predict(self, observation, deterministic=False, action_masks=None):
        assert deterministic and observation.shape == (65,)
        return np.asarray(np.argmax(action_masks)), None


class Blind:
    def predict(self, observation):
        return np.int64(5), None


def test_a_model_is_told_what_is_legal():
    assert match(Nim(9), ModelAgent(Nim(9), First()), "random", games=4).tally.games == 4


def test_a_model_that_knows_no_masks_is_told_when_it_errs():
    with pytest.raises(AgentError, match="ModelAgent returned 5 in"):
        match(Nim(9), ModelAgent(Nim(9), Blind()), "random", games=4)


def test_an_agent_plays_as_a_model():
    env, model = GameEnv(Nim(21)), AgentModel(Nim(21), make_agent(Nim(21), "perfect"))
    for seed in range(5):  # 21 is won for whoever begins
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            action, _ = model.predict(observation)
            observation, reward, over, _, _ = env.step(action)
        assert reward == 1


def test_an_agent_answers_many_observations_at_once():
    game = make("tic-tac-toe")
    envs, model = VectorGames(game, 8), AgentModel(game, make_agent(game, "perfect"))
    observations, _ = envs.reset(seed=1)
    actions, _ = model.predict(observations)
    assert actions.shape == (8,) and len(set(actions.tolist())) == 1


def test_a_model_of_an_agent_is_the_agent():
    game = make("tic-tac-toe")
    there_and_back = ModelAgent(game, AgentModel(game, make_agent(game, "perfect")))
    assert match(game, there_and_back, "perfect", games=4, openings="none").tally.draws == 4
