import pytest

from mdplay.boards import (
    cell_images,
    cell_name,
    marks_of,
    masks_of,
    player_to_move,
    read_mover,
    read_rows,
    render,
    rows_of,
)
from mdplay.errors import PositionError


def test_identity_comes_first():
    assert cell_images(2, 3)[0] == tuple(range(6))
    assert len(cell_images(2, 3)) == 4


def test_columns_are_of_equal_width():
    assert render(["1", "16", ".", "2"], 2) == " 1 16\n .  2"


def test_x_moves_first_and_in_turn():
    assert (player_to_move(0b1, 0b10, "xo"), player_to_move(0b101, 0b10, "xox")) == (0, 1)
    with pytest.raises(PositionError, match="'oo': x has 0 discs and o 2; x moves first"):
        player_to_move(0, 0b11, "oo")


def test_words_of_a_board_and_back():
    board, player = read_mover(".xo/x.. o")
    rows = read_rows(board, 2, 3)
    assert (rows, player) == ([".xo", "x.."], 1)
    mine, theirs = masks_of("".join(rows), "ox")
    assert (mine, theirs) == (0b100, 0b1010)
    assert rows_of(marks_of(mine, theirs, player, 6), 3) == rows
    assert [cell_name(cell, 3) for cell in (0, 2, 3)] == ["a1", "c1", "a2"]


@pytest.mark.parametrize("text", ["", ".xo", ".xo/x.z", ".xo/x...", ".xo/x../..."])
def test_a_board_of_another_shape_is_refused(text):
    with pytest.raises(PositionError, match="2 rows of 3 cells . x o from the top"):
        read_rows(text, 2, 3)


@pytest.mark.parametrize("text", ["", ".xo/x..", ".xo/x.. z"])
def test_a_board_without_a_mover_is_refused(text):
    with pytest.raises(PositionError, match="who moves"):
        read_mover(text)
