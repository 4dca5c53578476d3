"""The pocket cube: all distances in both metrics (OEIS A079761, A079762)."""

import pytest

from mdplay import PositionError, make, solve

HALF = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
QUARTER = [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276]


@pytest.mark.slow
@pytest.mark.parametrize("name, counts", [("pocket-cube", HALF), ("pocket-cube:half=no", QUARTER)])
def test_all_positions_by_distance(name, counts):
    solution = solve(make(name))
    assert list(solution.distances().values()) == counts
    assert len(solution.line()) == solution.distance()


def test_turns():
    game = make("pocket-cube")
    for face in range(3):
        s = game.initial()
        once, twice, back = (game.step(s, 3 * face + k) for k in range(3))
        assert game.step(once, 3 * face) == twice
        assert game.step(twice, 3 * face) == back
        assert game.step(back, 3 * face) == s
    assert game.legal(game.parse("1y2y3y4y5y6y7y")) == 0


def test_every_colour_is_there_four_times():
    game = make("pocket-cube")
    letters = "".join(game.board(game.initial()).split())
    assert sorted(letters) == sorted("LRDUBF" * 4)
    solved = game.board(game.parse("1y2y3y4y5y6y7y"))
    assert solved == "  UU\n  UU\nLLFFRRBB\nLLFFRRBB\n  DD\n  DD"


@pytest.mark.parametrize("text", ["1y2y3y4y5y6y7x", "1y1y3y4y5y6y7y", "abc", ""])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("pocket-cube").parse(text)
