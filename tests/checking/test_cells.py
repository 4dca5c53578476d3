"""Cells of games: what is promised, and one sentence for each way to break it."""

from dataclasses import dataclass

import pytest

from mdplay import GameError, make
from mdplay.checking.check import check_game
from mdplay.checking.understood import check_cells
from mdplay.games.tic_tac_toe.rules import State, TicTacToe


@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four", "dots-and-boxes", "2048", "othello", "breakthrough"]
)
def test_the_cells_of_the_shipped_games(name):
    assert "cell" in check_game(make(name), games=3, compiled=False).knowledge


@dataclass(frozen=True)
class Unseen(TicTacToe):
    """Does not tell what changes."""

    def changed(self, s: State, action: int) -> int:
        return 1


@dataclass(frozen=True)
class Outside(TicTacToe):
    """Has neighbours that are no cells."""

    def neighbours(self, i: int) -> int:
        return 1 << 9


@dataclass(frozen=True)
class Empty(TicTacToe):
    """Has no cells at all."""

    @property
    def num_cells(self) -> int:
        return 0


@pytest.mark.parametrize(
    "game, sentence",
    [
        (Unseen(), "action 1 in .* changes cell 1, which changed does not list"),
        (Outside(), r"neighbours of cell 0 are \[9\]; they are other cells of the board"),
        (Empty(), "num_cells is 0; a board with cells has 1 to 128"),
    ],
)
def test_broken_promises_are_one_sentence(game, sentence):
    with pytest.raises(GameError, match=sentence):
        check_cells(game, [game.initial()])
    with pytest.raises(GameError, match=sentence):
        check_game(game, games=2, compiled=False)
