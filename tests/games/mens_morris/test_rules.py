"""Men's Morris: published counts and results, and rules seen from outside."""

import numpy as np
import pytest

from mdplay import PositionError, make, solve
from mdplay.bits import elements
from mdplay.solving.retrograde import MOVER_SHIFT, RANK_SHIFT


@pytest.mark.usefixtures("needs_compiler")
@pytest.mark.parametrize(
    "name, tally",
    [("mens-morris", (2997, 1185, 0, 1208)), ("mens-morris:diagonals=no", (2877, 1201, 0, 1312))],
)
def test_three_men_the_first_player_wins_in_nine_plies(name, tally):
    solution = solve(make(name))
    assert (solution.method, solution.value(), solution.distance()) == ("retrograde", 1.0, 9)
    assert tuple(solution.tally().values()) == tally
    assert len(solution.line()) == 9


def counted(men):
    """Return how many positions there are where nobody is about to take a man, and their results."""
    solution = solve(make(f"mens-morris:men={men}"))
    table = solution.table
    word, shift, size = table.layout[3]  # taking
    calm = table.keys()[:, word] >> np.uint64(shift) & np.uint64((1 << size) - 1) == 0
    weights, entries = table.weights()[calm], table.entries[calm]
    values = np.array([0, *table.results])[entries >> np.uint32(RANK_SHIFT)]
    mine = np.where(entries >> np.uint32(MOVER_SHIFT) & np.uint32(1), -values, values)
    assert (solution.value(), solution.endless()) == (0.0, True)
    return [int(weights.sum()), *(int(weights[mine == value].sum()) for value in (1, -1, 0))]


@pytest.mark.slow
def test_four_men():
    assert counted(4)[0] == 4_111_151


@pytest.mark.slow
def test_five_men():
    assert counted(5) == [17_844_721, 10_070_264, 6_049_820, 1_724_637]


@pytest.mark.slow
def test_six_men():
    assert counted(6) == [42_372_745, 23_392_364, 15_520_996, 3_459_385]


def test_a_row_takes_a_man_outside_of_rows():
    game = make("mens-morris:men=4")
    s = game.parse("XX.OOO.........O,7,x")  # the points 3, 4, 5 are in no row of the outer square
    s = game.step(s, 2)
    assert (s.taking, s.player) == (1, 0)
    assert elements(game.legal(s)) == [3, 4, 5, 15]
    s = game.parse("XXXO.......OOO..,8,x!")
    assert elements(game.legal(s)) == [3, 11, 12, 13]
    assert elements(game.legal(game.parse("XXXO....OOO.....,8,x!"))) == [3]
    assert elements(game.legal(game.parse("XXX.....OOO.....,7,x!"))) == [8, 9, 10]


def test_two_men_have_lost():
    game = make("mens-morris:men=4")
    s = game.parse("XX.OOO..........,8,x")
    assert (game.legal(s), game.result(s)) == (0, -1)


@pytest.mark.parametrize("text", ["XX", "XXXX.....,4,x", ".........,0,z", "X........,9,x"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("mens-morris").parse(text)
