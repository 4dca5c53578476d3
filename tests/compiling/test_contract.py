from dataclasses import dataclass
from typing import Annotated

import pytest

from mdplay import Between, solve
from mdplay.bits import U64, Wide
from mdplay.compiling.contract import check_fits, check_shape, checked, state_class, where
from mdplay.errors import GameError
from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.games.twenty48.rules import Twenty48
from mdplay.naming.specs import load_module
from tests.helpers import NIM, write
from tests.nim import Nim


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


CELL = "`cell` is part of the contract of a game \\(cell\\(self, s, i\\) -> int\\); rename your method"
ENDLESS = (
    "`endless` is part of the contract of a game \\(endless: int, a constant of the class\\); rename your method"
)
RESERVED = {
    "def cell(self, car: int, place: int) -> int: return 0": CELL,
    "def cell(self, car: int) -> int: return 0": CELL,
    "def state(self, s: State) -> int: return s.pile": "`state` is part of .*state\\(self, i\\) -> State",
    "def endless(self, s: State) -> bool: return False": ENDLESS,
    "def max_moves(self, s: State) -> int: return 9": "`max_moves` is part of the contract",
    "def draw(self, s: State) -> bool: return False": "`draw` is part of .*draw\\(self, s, word\\) -> int",
    "def key(self, a: int, b: int) -> int: return a": "`key` is part of .*key\\(self, s\\) -> U64",
    "def bounds(self, s: State) -> int: return 0": "`bounds` is part of .*bounds\\(self, s\\) -> Bounds",
    "def index(self, row: int) -> int: return row": "`index` is part of .*index\\(self, s\\) -> int",
    "def size(self) -> int: return 9": "no index; write both; if you mean .*`size` is part of the contract",
    "size = 9": "^`size` is part of the contract of a game \\(size\\(self\\) -> int\\); rename your attribute",
    "def num_cells(self, s: State) -> int: return 9": "`num_cells` is part of .*num_cells: int, a property",
    "def text(self, n: int) -> str: return ''": "`text` is part of .*text\\(self, s\\) -> str",
    "def neighbours(self, i: int) -> tuple: return ()": "`neighbours` is part of the contract",
}


@pytest.mark.parametrize("helper", RESERVED)
def test_a_helper_with_a_name_of_the_contract_is_to_be_renamed(tmp_path, helper):
    game = load_module(write(tmp_path, "taken.py", f"{NIM}\n    {helper}\n")).Nim()
    with pytest.raises(GameError, match=RESERVED[helper]):
        check_shape(game)


@pytest.mark.parametrize(
    "member",
    [
        "def board(self, s: State, past: object = ()) -> str: return ''",
        "def key(self, s: State) -> int: return 0",
        "def heuristic(self, s: State) -> int: return 0",
        "def cell(self, board: State, place: int) -> bool: return True",
        "endless = 1",
        "num_cells = 9",
    ],
)
def test_what_the_contract_means_by_a_name_may_be_written_in_other_words(tmp_path, member):
    check_shape(load_module(write(tmp_path, "meant.py", f"{NIM}\n    {member}\n")).Nim())


def test_the_range_of_a_parameter_holds_in_python_too():
    @dataclass(frozen=True)
    class Ranged(Nim):
        pile: Annotated[int, Between(1, 30)] = 21

    check_shape(Ranged(30))
    with pytest.raises(GameError, match="pile=31 is out of range; 1 to 30"):
        solve(Ranged(31))
