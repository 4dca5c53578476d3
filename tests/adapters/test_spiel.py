import pyspiel
import pytest

from mdplay import GameError, make, solve
from mdplay.adapters.spiel import spiel_game
from mdplay.checking.limits import lengths
from mdplay.registry import names
from tests.nim import Nim

SMALL = {"2048": "2048:rows=2,cols=2"}  # whose random games are short
GAMES = [game for name in names() if not lengths(game := make(SMALL.get(name, name))).repeats]  # they must end


@pytest.mark.parametrize("game", [*GAMES, Nim(9)], ids=str)
def test_open_spiel_finds_no_fault(game):
    pyspiel.random_sim_test(spiel_game(game), 3, serialize=True, verbose=False)


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


def test_a_name_that_another_game_has_is_refused():
    spiel_game(Nim(5), name="mdplay_mine")
    with pytest.raises(GameError, match="OpenSpiel knows another game by the name mdplay_mine"):
        spiel_game(Nim(6), name="mdplay_mine")
