import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score, mcts
from open_spiel.python.policy import UniformRandomPolicy

from mdplay import make, match, solve
from mdplay.adapters.spiel import AgentBot, AgentPolicy, BotAgent, PolicyAgent, spiel_game
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from tests.nim import Nim


def test_an_agent_is_a_bot_and_a_bot_an_agent():
    game = make("tic-tac-toe")
    bots = [AgentBot(make_agent(game, "perfect")), pyspiel.make_uniform_random_bot(1, 7)]
    for _ in range(5):
        assert pyspiel.evaluate_bots(spiel_game(game).new_initial_state(), bots, 3)[0] >= 0
    theirs = BotAgent(game, AgentBot(make_agent(game, "perfect")))
    assert match(game, theirs, "random", games=10, openings="none").tally.losses == 0


def test_their_own_search_plays_our_matches():
    game = Nim(7)
    evaluator = mcts.RandomRolloutEvaluator(4, np.random.RandomState(1))
    search = mcts.MCTSBot(spiel_game(game), 2, 100, evaluator, random_state=np.random.RandomState(2), solve=True)
    assert match(game, BotAgent(game, search), "random", games=6, openings="none").tally.losses == 0


def test_their_algorithms_value_our_agents():
    """Perfect play against uniform play, by their expectation over all games and by our best response."""
    game = make("tic-tac-toe:rows=2,cols=3,length=2")
    played = spiel_game(game)
    perfect = AgentPolicy(game, make_agent(game, "perfect"))
    got = expected_game_score.policy_value(played.new_initial_state(), [perfect, UniformRandomPolicy(played)])
    assert got[0] == pytest.approx(-got[1])
    assert 0 < got[0] <= solve(game, opponent="uniform").value() + 1e-9


def test_an_agent_that_draws_is_a_policy_of_its_shares():
    game = make("tic-tac-toe")
    drawn = AgentPolicy(game, make_agent(game, "random"), samples=900)
    state = spiel_game(game).new_initial_state()
    shares = drawn.action_probabilities(state)
    assert shares == drawn.action_probabilities(state)
    assert list(shares) == state.legal_actions() and sum(shares.values()) == pytest.approx(1)
    assert all(0.06 < share < 0.17 for share in shares.values())  # 1/9 within five standard errors


@pytest.mark.parametrize("compiled", [True, False])
def test_a_policy_of_theirs_is_an_agent(compiled):
    game = Nim(9)
    policy = pyspiel.UniformRandomPolicy(spiel_game(game)) if compiled else UniformRandomPolicy(spiel_game(game))
    agent, rng = PolicyAgent(game, policy), Random(3)
    drawn = [agent.act(game.initial(), rng) for _ in range(300)]
    assert all(60 < drawn.count(action) < 140 for action in range(3))
    assert match(game, "perfect", agent, games=10, openings="none").tally.wins >= 5


def test_their_policy_goes_there_and_back():
    game = make("tic-tac-toe")
    agent = PolicyAgent(game, AgentPolicy(game, make_agent(game, "perfect")))
    assert match(game, agent, "perfect", games=4, openings="none").tally.draws == 4
