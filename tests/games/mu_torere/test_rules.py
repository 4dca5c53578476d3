"""Mu Torere: a draw by endless play; the counts were found by an independent program."""

import pytest

from mdplay import PositionError, make, solve
from mdplay.bits import elements


@pytest.mark.usefixtures("needs_compiler")
def test_nobody_wins():
    solution = solve(make("mu-torere"))
    assert (solution.value(), solution.distance(), solution.endless()) == (0.0, None, True)
    assert solution.tally() == {"won": 208, "lost": 128, "tied": 0, "endless": 844}


def test_to_the_middle_only_from_beside_the_other_side():
    game = make("mu-torere")
    assert elements(game.legal(game.initial())) == [0, 3]


@pytest.mark.parametrize("text", ["XXXXOOOO.", "XXXXOOOOX,x", "XXX.OOOO.,x"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("mu-torere").parse(text)
