"""Pig: values found by an independent program, and by Neller and Presser (2004)."""

import pytest

from mdplay import PositionError, make, respond, solve

PIG_20 = 0.6155585498050428  # who begins wins with this probability


@pytest.mark.usefixtures("needs_compiler")
def test_pig_to_twenty_by_two_ways():
    game = make("pig:goal=20")
    solution = solve(game)
    low, high = solution.bounds()
    assert low <= 2 * PIG_20 - 1 <= high
    assert high - low < 1e-11
    assert (1 + solution.value()) / 2 == pytest.approx(PIG_20, abs=1e-13)
    first, second = respond(game).last
    assert (first.value, second.value) == (pytest.approx(PIG_20, abs=1e-6), pytest.approx(1 - PIG_20, abs=1e-6))


@pytest.mark.slow
def test_pig_to_a_hundred():
    assert (1 + solve(make("pig")).value()) / 2 == pytest.approx(0.5306, abs=5e-5)


def test_a_one_loses_the_turn():
    game = make("pig")
    s = game.parse("31-40+12*x")
    assert game.text(game.outcome(s, 0)) == "40-31+0o"
    assert game.text(game.outcome(s, 4)) == "31-40+17x"
    held = game.step(game.parse("90-40+9x"), 1)
    assert (game.text(held), game.legal(held)) == ("40-99+0o", 0b01)  # one short of the goal, and a turn is a roll
    last = game.outcome(game.parse("90-40+9*x"), 1)
    assert (game.text(last), game.legal(last), game.result(last)) == ("40-100+0o", 0, 1)
    won = game.outcome(game.parse("90-40+9*o"), 1)
    assert (game.legal(won), game.result(won)) == (0, -1)


@pytest.mark.parametrize("text", ["1-2", "99-0+5x", "1-2+1x", "1-2+3z"])
def test_positions_that_cannot_be(text):
    with pytest.raises(PositionError):
        make("pig").parse(text)


def test_cells_tell_scores_in_steps_and_the_total_of_a_roll():
    """They are the players' own, whoever moves; a total counts only where it may be lost."""
    game = make("pig")

    def cells(text):
        return [game.cell(game.parse(text), i) for i in range(game.num_cells)]

    assert cells("31-40+12*x") == [6, 8, 7] and cells("40-31+12*o") == [6, 8, 7]
    assert cells("32-44+12x") == [6, 8, 0] and cells("0-99+0*x") == [0, 19, 1]
