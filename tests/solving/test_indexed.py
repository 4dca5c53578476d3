"""The sweep over numbered states against the search over a hash table, and promises that are broken."""

from dataclasses import dataclass

import numpy as np
import pytest

from mdplay import GameError, LimitError, make, solve
from tests.nim import Nim, State


@dataclass(frozen=True)
class Numbered(Nim):
    """Nim with numbers: the fewer are left, the higher; whole values of any size at the end."""

    lookup: int = 1

    def index(self, s: State) -> int:
        return self.pile - s.pile

    def state(self, i: int) -> State:
        return State(self.pile - i, 0)

    def size(self) -> int:
        return self.pile + 1

    def result(self, s: State) -> int:
        return self.lookup * (2 * s.player - 1)


@dataclass(frozen=True)
class Backwards(Numbered):
    def index(self, s: State) -> int:
        return s.pile

    def state(self, i: int) -> State:
        return State(i, 0)


def test_dense_and_hashed_agree():
    game = Numbered()
    dense, hashed = solve(game), solve(game, method="hashed")
    assert (dense.method, hashed.method) == ("indexed", "hashed")
    for left in range(22):
        for player in (0, 1):
            s = State(left, player)
            assert (dense.value(s), dense.distance(s)) == (hashed.value(s), hashed.distance(s))
            assert dense.choices(s) == hashed.choices(s)


def test_dots_and_boxes_by_both(needs_compiler):
    game = make("dots-and-boxes")
    dense, hashed = solve(game, method="indexed"), solve(game, method="hashed")
    for i in range(0, 4096, 5):
        assert dense.value(game.state(i)) == hashed.value(game.state(i))


def test_values_take_as_many_bytes_as_they_need():
    assert solve(Numbered()).table.values.dtype == np.int8
    assert solve(Numbered(lookup=128)).table.values.dtype == np.int16


def test_numbers_that_do_not_rise_are_refused():
    with pytest.raises(GameError, match="does not raise the number"):
        solve(Backwards())


def test_a_table_that_does_not_fit_is_refused_before_it_starts():
    with pytest.raises(LimitError, match=r"33\.6 MB of memory; 1\.0 MB may be used"):
        solve(make("dots-and-boxes:rows=3,cols=3"), method="indexed", memory=1 << 20)
