import pyspiel
import pytest

from mdplay import make, match, plan, solve
from mdplay.adapters.spiel import AgentBot, BotAgent, mdp_of, spiel_game
from mdplay.checking.limits import lengths
from mdplay.playing.agents import make_agent
from mdplay.registry import names
from tests.nim import Nim

SMALL = {"2048": "2048:rows=2,cols=2"}  # whose random games are short
GAMES = [game for name in names() if not lengths(game := make(SMALL.get(name, name))).repeats]  # they must end


@pytest.mark.parametrize("game", [*GAMES, Nim(9)], ids=str)
def test_open_spiel_finds_no_fault(game):
    pyspiel.random_sim_test(spiel_game(game), 3, False, False)


def test_their_search_plays_our_game():
    from open_spiel.python.algorithms import minimax

    value, action = minimax.alpha_beta_search(spiel_game(Nim(9)))
    assert (value, action) == (1.0, 0)


def test_their_values_are_ours():
    from open_spiel.python.algorithms import minimax

    game = make("dots-and-boxes:rows=1,cols=2")
    value, _ = minimax.alpha_beta_search(spiel_game(game))
    assert value == solve(game).value()


def test_an_agent_is_a_bot_and_a_bot_an_agent():
    game = make("tic-tac-toe")
    bots = [AgentBot(make_agent(game, "perfect")), pyspiel.make_uniform_random_bot(1, 7)]
    for _ in range(5):
        assert pyspiel.evaluate_bots(spiel_game(game).new_initial_state(), bots, 3)[0] >= 0
    theirs = BotAgent(game, AgentBot(make_agent(game, "perfect")))
    assert match(game, theirs, "random", games=10, openings="none").tally.losses == 0


def test_their_tic_tac_toe_against_a_random_opponent_is_ours():
    model, number = mdp_of(pyspiel.load_game("tic_tac_toe"))
    ours = solve(make("tic-tac-toe"), opponent="uniform")
    first = number[str(pyspiel.load_game("tic_tac_toe").new_initial_state())]
    assert plan(model).value[first] == pytest.approx(ours.value(), abs=1e-6)


def test_a_game_of_chance_for_one_becomes_an_mdp():
    model, number = mdp_of(pyspiel.load_game("pig(players=1,winscore=6,horizon=40)"), max_states=100_000)
    assert len(number) == model.num_states - 1
