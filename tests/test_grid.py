import pytest

from mdplay.errors import PositionError
from mdplay.grid import cell_images, player_to_move, render


def test_identity_comes_first():
    assert cell_images(2, 3)[0] == tuple(range(6))
    assert len(cell_images(2, 3)) == 4


def test_columns_are_of_equal_width():
    assert render(["1", "16", ".", "2"], 2) == " 1 16\n .  2"


def test_x_moves_first_and_in_turn():
    assert (player_to_move(0b1, 0b10, "xo"), player_to_move(0b101, 0b10, "xox")) == (0, 1)
    with pytest.raises(PositionError, match="'oo': x has 0 discs and o 2; x moves first"):
        player_to_move(0, 0b11, "oo")
