"""The board to click; what the browser does with it is in tests/web/static/test_notebook.py."""

from xml.etree import ElementTree as ET

import pytest

from mdplay import GameError, Position
from mdplay.notebook import play
from tests.helpers import python
from tests.nim import Nim


def click(board, **message):
    board._handle_custom_msg(message, [])


class TakingAll:
    def act(self, state, rng):
        return min(state.pile, 3) - 1


def actions_of(board):
    """Return what can be clicked: shapes of the picture, and buttons."""
    shapes = {shape.get("data-action") for shape in ET.fromstring(board.picture).iter()} - {None}
    return sorted({*map(int, shapes), *(told["action"] for told, _ in board.buttons if "action" in told)})


@pytest.mark.parametrize("game", ["connect-four", "2048", "breakthrough", Nim(21)], ids=str)
def test_every_legal_move_can_be_clicked(game):
    board = play(game, "random", seed=2)
    for _ in range(3):
        assert actions_of(board) == board.position.actions
        click(board, action=board.position.actions[-1])


def test_a_click_is_a_move_and_the_agent_answers():
    board = play("tic-tac-toe", "perfect")
    click(board, action=4)
    assert board.position.num_events == 2 and board.position.player == 0
    assert "Your move." in board.words


def test_whoever_moves_second_finds_the_first_move_made():
    board = play("tic-tac-toe", "random", side=1)
    assert board.position.num_events == 1 and board.position.player == 1


def test_what_is_not_legal_changes_nothing():
    board = play("tic-tac-toe", "random")
    click(board, action=4)
    before = board.position
    for late in ({"action": 4}, {"action": 99}, {"action": "4"}, {"action": None}, {}):
        click(board, **late)
    assert board.position is before


def test_the_end_is_told_and_a_game_can_be_taken_back_and_begun_again():
    board = play(Nim(4), TakingAll())
    click(board, action=0)
    assert "you lost" in board.words and board.position.is_over
    click(board, do="back")
    assert board.position == Position.start(Nim(4)) and "Your move." in board.words
    click(board, action=2)
    click(board, do="again")
    assert board.position == Position.start(Nim(4))


def test_an_agent_that_fails_is_told_below_the_board():
    class Failing:
        def act(self, state, rng):
            raise RuntimeError("out of <ideas>")

    board = play("tic-tac-toe", Failing())
    click(board, action=4)
    assert "Failing" in board.words and "out of &lt;ideas&gt;" in board.words
    assert board.position.num_events == 0


def test_a_side_that_does_not_exist_is_a_sentence():
    with pytest.raises(GameError, match="side=1 is not a player of Twenty48"):
        play("2048", side=1)


def test_a_missing_library_is_a_sentence():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "try: import mdplay.notebook\nexcept Exception as error: print(error)"
    )
    assert python("-c", code) == "this needs anywidget; pip install 'mdplay[notebook]'\n"
