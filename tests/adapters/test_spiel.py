import pyspiel
import pytest

from mdplay import GameError, make, solve
from mdplay.adapters.spiel import spiel_game
from mdplay.naming.registry import names
from mdplay.states.game_length import lengths
from tests.helpers import ROOT
from tests.nim import Nim

SMALL = {"2048": "2048:rows=2,cols=2"}  # whose random games are short
GAMES = [SMALL.get(name, name) for name in names()]
USERS = ["examples/games/kalah.py", "examples/games/pig.py", "examples/games/three_mens_morris.py"]


@pytest.mark.parametrize("spec", [*GAMES, *USERS, "tests/nim.py:pile=9"])
def test_open_spiel_finds_no_fault(spec):
    game = make(f"{ROOT}/{spec}" if ".py" in spec else spec)
    longest = 60 if lengths(game).repeats else None  # else random games are long
    pyspiel.random_sim_test(spiel_game(game, max_length=longest), 3, serialize=True, verbose=False)


def test_their_search_plays_our_game():
    from open_spiel.python.algorithms import minimax

    value, action = minimax.alpha_beta_search(spiel_game(Nim(9)))
    assert (value, action) == (1.0, 0)


def test_their_values_are_ours():
    from open_spiel.python.algorithms import minimax

    game = make("dots-and-boxes:rows=1,cols=2")
    value, _ = minimax.alpha_beta_search(spiel_game(game))
    assert value == solve(game).value()


def test_games_of_one_class_with_other_parameters_have_names_of_their_own():
    """OpenSpiel makes the game of a saved state again by its name."""
    for rows in (2, 3):
        game = spiel_game(make(f"tic-tac-toe:rows={rows},cols=4"))
        state = game.new_initial_state()
        state.apply_action(1)
        saved = pyspiel.serialize_game_and_state(game, state)
        _, again = pyspiel.deserialize_game_and_state(saved)
        assert again.legal_actions() == state.legal_actions()


def test_a_game_that_repeats_is_called_off_there_as_in_a_match():
    state = spiel_game(make("sliding-puzzle"), max_length=6, name="mdplay_short_puzzle").new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert state.move_number() <= 6 and not state.legal_actions()


def test_a_name_that_another_game_has_is_refused():
    spiel_game(Nim(5), name="mdplay_mine")
    with pytest.raises(GameError, match="OpenSpiel knows another game by the name mdplay_mine"):
        spiel_game(Nim(6), name="mdplay_mine")
