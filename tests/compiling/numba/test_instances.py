"""Games as types: equal rules are one type, and states are what the annotations say."""

from typing import NamedTuple

import pytest
from numba import njit, typeof

from mdplay.bits import U64
from mdplay.checking.check import check_game
from mdplay.compiling import kernel, native, pack, unpack, words
from mdplay.compiling.numba.instances import native_type
from mdplay.game import Game
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.searching.playouts import playouts
from tests.helpers import COMPILED, NIM


def test_equal_games_have_one_type_and_different_ones_two():
    assert typeof(ConnectFour(5, 5)) == typeof(ConnectFour(5, 5))
    assert typeof(ConnectFour(5, 5)) != typeof(ConnectFour(5, 4))


@kernel
def there_and_back(game, start):
    return pack(game, unpack(game, start))


def test_a_cell_run_twice_is_one_game(needs_compiler):
    """The classes differ, the rules do not: kernels compiled before and after must fit together."""
    first, second = {"__name__": "notebook"}, {"__name__": "notebook"}
    exec(NIM, first)
    exec(NIM, second)
    assert check_game(first["Nim"](pile=9), games=1).compiled
    assert playouts(second["Nim"](pile=9), games=10, seed=1).games == 10


@pytest.mark.parametrize("state", [State(0, 2), State((1 << 64) - 1, 0), State(1 << 63, 1)])
def test_states_survive_the_border(state):
    game = Twenty48()
    packed = there_and_back(native(game), words(state))
    assert unpack(game, packed) == state


def test_flags_and_parameters_are_constants(needs_compiler):
    @njit
    def bounds(game):
        return game.has_outcomes, game.rows, game.cols

    assert bounds(Twenty48(3, 2)) == (True, 3, 2)
    assert bounds(ConnectFour()) == (False, 6, 7)


def test_the_plain_path_gets_a_checked_double():
    game = ConnectFour()
    assert isinstance(native(game), Game)
    assert (native(game) is game) == COMPILED


def test_states_may_be_made_by_keyword_with_defaults_anywhere(needs_compiler):
    class Local(NamedTuple):
        word: U64
        small: int = -3
        flag: bool = True

    native_type(Local)

    @njit
    def make(n):
        a, b = Local(n), Local(flag=False, word=n, small=5)
        return int(a.word >> 1), a.small, a.flag, int(b.word), b.small, b.flag

    assert make(-1) == ((1 << 63) - 1, -3, True, -1, 5, False)
