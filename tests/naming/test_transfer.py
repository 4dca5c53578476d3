import pickle

import pytest

from mdplay import GameError, make
from mdplay.naming.transfer import rebuild, recipe_of
from tests.helpers import NIM, write


@pytest.mark.parametrize("text", ["connect-four:rows=4,cols=5", "anti-tic-tac-toe", "2048:rows=2,cols=2"])
def test_a_game_is_made_again(text):
    game = make(text)
    again = rebuild(pickle.loads(pickle.dumps(recipe_of(game))))
    assert again == game and type(again) is type(game)


def test_a_users_game_comes_from_its_file_and_must_have_the_same_rules(tmp_path):
    file = write(tmp_path, "shipped.py", NIM)
    recipe = recipe_of(make(f"{file}:Nim:pile=5"))
    assert rebuild(recipe).initial() == (5, 0)
    with pytest.raises(GameError, match="other rules of Nim"):
        rebuild(recipe._replace(identity="0" * 32))
    with pytest.raises(GameError, match="no Nom in"):
        rebuild(recipe._replace(name="Nom"))


def test_a_game_inside_a_function_cannot_be_sent():
    from mdplay.games.tic_tac_toe import TicTacToe

    class Inner(TicTacToe):
        pass

    with pytest.raises(GameError, match="is inside a function"):
        recipe_of(Inner())
