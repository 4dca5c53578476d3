"""Dodgem: solved by Berlekamp, Conway and Guy (Winning Ways): the first player wins on 3 x 3."""

import pytest

from mdplay import PositionError, make, solve
from mdplay.bits import elements


@pytest.mark.usefixtures("needs_compiler")
def test_the_first_player_wins_in_twenty_plies():
    game = make("dodgem")
    solution = solve(game)
    assert (solution.value(), solution.distance()) == (1.0, 20)
    assert solution.tally() == {"won": 1215, "lost": 840, "tied": 0, "endless": 0}
    s = game.initial()
    for action in solution.line():
        s = game.step(s, action)
    assert (game.legal(s), game.result(s)) == (0, 1)


@pytest.mark.slow
def test_four_by_four_is_a_draw():
    solution = solve(make("dodgem:side=4"))
    assert (solution.value(), solution.endless()) == (0.0, True)


def test_who_is_blocked_in_wins():
    game = make("dodgem")
    blocked = game.parse("...^..>^.,>")
    assert (game.legal(blocked), game.result(blocked)) == (0, 1)
    free = game.parse("...^..>.^,>")
    assert [game.move_text(free, a) for a in elements(game.legal(free))] == ["6f"]


@pytest.mark.parametrize("text", [">..", ">>>......,>", "...,>", ">..>...^^,x"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("dodgem").parse(text)
