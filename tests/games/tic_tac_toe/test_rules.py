import pytest

from mdplay.bits import elements
from mdplay.boards import cell_images, lines_of_cells
from mdplay.errors import GameError, PositionError
from mdplay.games.tic_tac_toe.rules import State, TicTacToe, anti_tic_tac_toe
from mdplay.naming.notation import parse_position
from mdplay.naming.registry import make


def test_the_eight_lines():
    assert sorted(TicTacToe().lines) == sorted([7, 56, 448, 73, 146, 292, 273, 84])


@pytest.mark.parametrize("rows, cols, length", [(3, 3, 3), (4, 5, 3), (6, 7, 4), (2, 8, 5)])
def test_number_of_lines_by_formula(rows, cols, length):
    across, down = max(0, cols - length + 1), max(0, rows - length + 1)
    assert len(lines_of_cells(rows, cols, length)) == rows * across + cols * down + 2 * across * down


def test_symmetries_form_a_group():
    images = cell_images(3, 3)
    assert len(set(images)) == 8
    assert {tuple(a[b[i]] for i in range(9)) for a in images for b in images} == set(images)


def test_who_wins():
    won = parse_position(TicTacToe(), "moves:0,3,1,4,2")
    assert TicTacToe().legal(won) == 0
    assert TicTacToe().result(won) == 1
    assert anti_tic_tac_toe().result(won) == -1
    assert TicTacToe().result(parse_position(TicTacToe(), "moves:8,0,3,1,4,2")) == -1


def test_positions_as_digits():
    game = TicTacToe()
    assert game.parse("120 010 000") == State(mine=2, theirs=17, player=1)
    assert game.text(game.parse("120010000")) == "120010000"
    assert elements(game.legal(game.parse("120010000"))) == [2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize("text", ["", "12", "300000000", "110000000", "222111111", "111222000"])
def test_bad_positions_are_refused(text):
    with pytest.raises(PositionError):
        TicTacToe().parse(text)


def test_boards_that_do_not_fit():
    with pytest.raises(GameError, match="63"):
        make("tic-tac-toe:rows=8,cols=8")
