from dataclasses import dataclass

import pytest

from mdplay.bits import U64, Wide
from mdplay.contract import check_fits, check_shape, checked, state_class, where
from mdplay.errors import GameError
from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.games.twenty48.rules import Twenty48


def rule():
    """A function to blame."""


@pytest.mark.parametrize(
    "value, annotation",
    [
        (5, int),
        (-(1 << 63), int),
        (True, int),
        (1.5, float),
        (2, float),
        ((1 << 64) - 1, U64),
        (State(1, 2, 0), State),
    ],
)
def test_what_fits(value, annotation):
    check_fits(value, annotation, rule)


@pytest.mark.parametrize(
    "value, annotation",
    [
        (1 << 63, int),
        (1.0, int),
        ("x", float),
        (-1, U64),
        (1 << 64, U64),
        ((1, 2, 0), State),
        (State(1 << 63, 0, 0), State),
    ],
)
def test_what_does_not_fit_raises(value, annotation):
    with pytest.raises(GameError, match=r"rule \(test_contract.py, line \d+\) returned"):
        check_fits(value, annotation, rule)


def test_masks_may_be_complements_and_small():
    check_fits(-2, U64, rule, is_mask=True)
    check_fits(7, Wide, rule, is_mask=True)


def test_a_double_plays_like_the_game_and_keeps_its_flags():
    game, double = Twenty48(2, 2), checked(Twenty48(2, 2))
    assert double.initial() == game.initial()
    assert (double.has_outcomes, double.has_order) == (True, False)
    assert checked(double) is double


def test_state_class_and_where():
    assert state_class(ConnectFour) is State
    assert where(rule).startswith("rule (test_contract.py, line ")


def test_a_number_that_cannot_be_written_out_is_named():
    with pytest.raises(GameError, match="returned a number of 16610 bits, which does not fit"):
        check_fits(10**5000, int, check_fits)
    with pytest.raises(GameError, match="returned a tuple that cannot be shown"):
        check_fits((10**5000,), int, check_fits)


def test_a_parameter_hides_no_method():
    @dataclass(frozen=True)
    class Board(ConnectFour):
        size: int = 3

    with pytest.raises(GameError, match="the parameter size of Board hides the method size of games; rename it"):
        check_shape(Board())
