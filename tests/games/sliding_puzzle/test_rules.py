"""The 8-puzzle: all distances (OEIS A089473), at most 31 moves."""

import pytest

from mdplay import PositionError, make, solve
from mdplay.states.enumeration import Enumeration

EIGHT = [
    *(1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529, 10878, 16993),
    *(17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2),
]


@pytest.mark.usefixtures("needs_compiler")
def test_the_eight_puzzle_by_distance():
    game = make("sliding-puzzle")
    solution = solve(game)
    assert list(solution.distances().values()) == EIGHT
    s = game.initial()
    for action in solution.line():
        s = game.step(s, action)
    assert (game.heuristic(s), len(solution.line())) == (0, solution.distance())


def test_half_of_all_orders_can_be_reached():
    assert len(Enumeration(make("sliding-puzzle:rows=2,cols=2")).finish()) == 12
    assert len(Enumeration(make("sliding-puzzle:rows=2,cols=3")).finish()) == 360


@pytest.mark.parametrize("text", ["1,2,3", "0 2 1 3 4 5 6 7 8", "0 1 2 3 4 5 6 7 9", "a"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("sliding-puzzle").parse(text)
