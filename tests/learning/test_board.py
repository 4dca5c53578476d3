"""The board as a network sees it: cells, neighbours, symmetries found by probing."""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, make
from mdplay.boards import cell_images
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.games.othello.rules import Othello
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.learning.board import board_of, cells_of
from mdplay.learning.tuples import choose_tuples, num_entries, places_of, read_tuples, tuples_text


def test_symmetries_of_cells_are_found_by_looking_at_images():
    assert set(board_of(TicTacToe()).symmetries) == set(cell_images(3, 3))
    game = DotsAndBoxes(2, 3)
    assert set(board_of(game).symmetries) == set(game.images)
    mirror = tuple((6 - c) * 6 + r for c, r in product(range(7), range(6)))
    assert board_of(ConnectFour()).symmetries == (tuple(range(42)), mirror)
    assert len(board_of(make("qubic")).symmetries) == 192


def test_what_values_are():
    assert not board_of(TicTacToe()).points and board_of(TicTacToe()).sides == 2
    assert (
        board_of(DotsAndBoxes()).points and board_of(DotsAndBoxes()).sides == 1
    )  # what is to come is the mover's
    assert board_of(make("othello:side=4,discs=yes")).points and not board_of(make("othello:side=4")).points
    assert board_of(make("2048:rows=2,cols=2")).sides == 1


def test_cells_of_connect_four_tell_where_a_disc_would_land():
    game = ConnectFour(4, 3)
    cells = cells_of(game, (), game.parse("112"))
    assert cells == [2, 3, 1, 0, 2, 1, 0, 0, 1, 0, 0, 0]


class Bits(NamedTuple):
    """Marks as most people would keep them."""

    mine: int
    theirs: int
    player: int


@dataclass(frozen=True)
class Plain(Game[Bits]):
    """Tic-Tac-Toe that names no cells."""

    side: int = 3

    def initial(self) -> Bits:
        return Bits(0, 0, 0)

    def legal(self, s: Bits) -> int:
        return TicTacToe().legal(s)

    def step(self, s: Bits, action: int) -> Bits:
        return Bits(s.theirs, s.mine | 1 << action, 1 - s.player)

    def result(self, s: Bits) -> int:
        return TicTacToe().result(s)


def test_cells_read_off_the_fields_are_those_that_the_game_would_name():
    game, named = Plain(), TicTacToe()
    board = board_of(game)
    assert board.sizes == (3,) * 9
    for text in ("000000000", "120010200", "121122211"):
        s = named.parse(text)
        assert cells_of(game, board.layout, s) == [named.cell(s, i) for i in range(9)]
    assert [set(one) for one in board.neighbours] == [set(one) for one in board_of(named).neighbours]


class Pile(NamedTuple):
    """A number, and a switch."""

    pile: int
    switch: int
    player: int


@dataclass(frozen=True)
class Counting(Game[Pile]):
    """Take one or two; numbers are cells of their own."""

    def initial(self) -> Pile:
        return Pile(12, 0, 0)

    def legal(self, s: Pile) -> int:
        return (1 << min(2, s.pile)) - 1

    def step(self, s: Pile, action: int) -> Pile:
        return Pile(s.pile - action - 1, 1 - s.switch, 1 - s.player)


def test_small_numbers_are_cells():
    board = board_of(Counting())
    assert board.sizes == (13, 2) and cells_of(board.game, board.layout, Pile(7, 1, 0)) == [7, 1]
    assert cells_of(board.game, board.layout, Pile(99, 0, 0)) == [12, 0]  # beyond what was seen: the highest


@dataclass(frozen=True)
class Wrong(TicTacToe):
    """Cells that break their promise."""

    def cell(self, s, i: int) -> int:  # type: ignore[no-untyped-def]
        return 3


def test_cells_that_break_their_promise_are_refused():
    with pytest.raises(GameError, match="cell 0 holds 3 in .*; its values are 0 to 2"):
        board_of(Wrong())


# ---------------------------------------------------------------- tuples
@dataclass(frozen=True)
class OneTooMany(DotsAndBoxes):
    """Dots and Boxes that claims a symmetry which it has no table for."""

    def symmetries(self) -> int:
        return super().symmetries() + 1


def test_what_a_rule_raises_is_told_as_the_games_fault():
    with pytest.raises(GameError, match="OneTooMany raised IndexError"):
        board_of(OneTooMany(1, 1))


def test_tuples_are_chosen_by_what_fits():
    assert choose_tuples(board_of(TicTacToe()), 0) == (tuple(range(9)),)
    tuples = choose_tuples(board_of(ConnectFour()), 0)
    assert len(tuples) == 70 and {len(cells) for cells in tuples} == {8}
    assert num_entries(board_of(ConnectFour()), tuples) == 70 * 2 * 4**8
    assert tuples != choose_tuples(board_of(ConnectFour()), 1)
    board = board_of(DotsAndBoxes(3, 3))
    assert sorted(map(len, choose_tuples(board, 0))) == [10, 10, 10, 10, 16, 16, 24]


@pytest.mark.parametrize("game", [ConnectFour(), Othello(side=6)], ids=["discs", "othello"])
def test_all_cells_are_looked_at_about_equally_often(game):
    """Of plain walks one seed looked at a cell of Connect Four 8 times, at another 49, and learned far worse."""
    board = board_of(game)
    for seed in range(6):
        images = [image[c] for cells in choose_tuples(board, seed) for image in board.symmetries for c in cells]
        counts = [images.count(c) for c in range(board.num_cells)]
        assert min(counts) > 0.7 * sum(counts) / len(counts)


def test_tuples_as_texts():
    board = board_of(ConnectFour())
    tuples = read_tuples("3x5,0-1-2,all", board, 7)
    assert [len(cells) for cells in tuples] == [5, 5, 5, 3, 42]
    assert read_tuples(tuples_text(tuples[:4]), board, 0) == tuples[:4]


def test_places_of_look_ups_by_the_definition():
    """The place of a look-up is base + side + sum of value * 3 ** position * sides, image by image."""
    board = board_of(TicTacToe())
    base, powers = places_of(board, ((0, 1, 4),))
    assert len(base) == 8 and not base.any()
    cells = cells_of(TicTacToe(), (), TicTacToe().parse("120010200"))
    ours = sorted(int(sum(cells[i] * powers[i, j] for i in range(9))) for j in range(8))
    theirs = sorted(2 * sum(cells[k[c]] * 3**n for n, c in enumerate((0, 1, 4))) for k in board.symmetries)
    assert ours == theirs
