import pyspiel
import pytest

from mdplay import make, plan, solve
from mdplay.adapters.spiel import mdp_of


def test_their_tic_tac_toe_against_a_random_opponent_is_ours():
    model, number = mdp_of(pyspiel.load_game("tic_tac_toe"))
    ours = solve(make("tic-tac-toe"), opponent="uniform")
    first = number[str(pyspiel.load_game("tic_tac_toe").new_initial_state())]
    assert plan(model).value[first] == pytest.approx(ours.value(), abs=1e-6)


def test_a_game_of_chance_for_one_becomes_an_mdp():
    model, number = mdp_of(pyspiel.load_game("pig(players=1,winscore=6,horizon=40)"), max_states=100_000)
    assert len(number) == model.num_states - 1
