"""The moves of 2048 as the learner needs them: all four moves of a board at once, and the tiles that pop up.

On 4 x 4 boards one load gives a row pushed both ways and its points:

    row_pushes[row] = points << 32 | row pushed right << 16 | row pushed left

and columns are the rows of the transposed board.  Other boards are pushed cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import U64, lowest, nonempty, popcount, without_lowest
from mdplay.compiling import inlined, unpack
from mdplay.games.twenty48.rules import Push, State, Twenty48, row_tables, transpose
from mdplay.learning.lookups import NO_MOVE, Choice, NetworkArrays, greedy, packed_total
from mdplay.rng import advance, scramble

TWO, FOUR = np.float32(0.9), np.float32(0.1)  # the probabilities of the tiles that pop up


class FourMoves(NamedTuple):
    """The positions after left, right, up and down, the points across and along, and which moves are legal."""

    first: State
    second: State
    third: State
    fourth: State
    across: int
    along: int
    legal: int


class RowPush(NamedTuple):
    """The rows of a 4 x 4 board pushed left and right, and the points of either."""

    left: U64
    right: U64
    points: int


@dataclass(frozen=True)
class QuickTwenty48(Twenty48):
    """2048 with the same rules, for kernels that play by a network: one table of rows, and all moves at once."""

    @cached_property
    def row_pushes(self) -> tuple[int, ...]:
        """The points of each row of four cells, the row pushed right and the row pushed left."""
        return tuple(points << 32 | right << 16 | left for left, right, points in zip(*row_tables(), strict=True))

    def push_rows(self, board: U64) -> RowPush:
        """Push the rows of a 4 x 4 board both ways."""
        a, b = U64(self.row_pushes[board & 0xFFFF]), U64(self.row_pushes[board >> 16 & 0xFFFF])
        c, d = U64(self.row_pushes[board >> 32 & 0xFFFF]), U64(self.row_pushes[board >> 48])
        left = a & 0xFFFF | (b & 0xFFFF) << 16 | (c & 0xFFFF) << 32 | (d & 0xFFFF) << 48
        right = a >> 16 & 0xFFFF | b & 0xFFFF_0000 | (c & 0xFFFF_0000) << 16 | (d & 0xFFFF_0000) << 32
        return RowPush(left, right, int((a >> 32) + (b >> 32) + (c >> 32) + (d >> 32)))

    def push_by_rows(self, board: U64, action: int) -> Push:
        """Push the four rows of a 4 x 4 board, or its columns made rows, by table."""
        rows = self.push_rows(board if action < 2 else transpose(board))
        pushed = rows.right if action & 1 else rows.left
        return Push(pushed if action < 2 else transpose(pushed), rows.points)

    def four_moves(self, s: State) -> FourMoves:
        """Return all afterstates at once; a move that changes nothing is illegal."""
        board = s.board
        if self.rows == 4 and self.cols == 4:
            rows, columns = self.push_rows(board), self.push_rows(transpose(board))
            left, right, up, down = rows.left, rows.right, transpose(columns.left), transpose(columns.right)
            across, along = rows.points, columns.points
        else:
            one, two = self.push_cells(board, 0), self.push_cells(board, 2)
            left, right = one.board, self.push_cells(board, 1).board
            up, down = two.board, self.push_cells(board, 3).board
            across, along = one.points, two.points
        legal = (left != board) | (right != board) << 1 | (up != board) << 2 | (down != board) << 3
        return FourMoves(State(left, 1), State(right, 1), State(up, 1), State(down, 1), across, along, legal)


class BoardNetwork(NamedTuple):
    """What values boards: a network, and whether its values are those of the boards on which the player moves."""

    network: NetworkArrays
    before: Any


class Games(NamedTuple):
    """What games or episodes came to, an entry of each array for each."""

    scores: Any
    tiles: Any
    moves: Any


def no_games(count: int) -> Games:
    """Return room for games, all marked as not played."""
    return Games(*(np.full(count, -1, np.int32) for _ in range(3)))


@inlined
def pop_up(game: Any, board: Any, x: Any) -> Any:
    """Return the board with one more tile, drawn by the random state."""
    s = unpack(game, (board, 1))
    return game.outcome(s, game.draw(s, scramble(x))).board


@inlined
def start(game: Any, x: Any) -> Any:
    """Return a first board, and the random state after it."""
    x = advance(x)
    board = pop_up(game, U64(0), x)
    x = advance(x)
    return pop_up(game, board, x), x


@inlined
def largest(board: Any) -> int:
    """Return the largest exponent on a board."""
    most = 0
    while board != 0:
        most = max(most, int(board & 15))
        board = board >> 4
    return most


@inlined
def expectation(game: Any, network: NetworkArrays, board: Any) -> Any:
    """Return the mean value of the boards that chance makes of one; a finished board has the value 0."""
    shape, weights = network.tables.shape, network.tables.weights
    free = game.outcomes(unpack(game, (board, 1))) & 0x1111_1111_1111_1111
    last_cell = popcount(free) == 1  # only then can a tile end the game
    twos = fours = np.float32(0)
    left = free
    while nonempty(left):
        with_two, with_four = board | U64(1) << lowest(left), board | U64(2) << lowest(left)
        left = without_lowest(left)
        if not last_cell or nonempty(game.legal(unpack(game, (with_two, 0)))):
            twos += packed_total(shape, weights, with_two)
        if not last_cell or nonempty(game.legal(unpack(game, (with_four, 0)))):
            fours += packed_total(shape, weights, with_four)
    return (TWO * twos + FOUR * fours) / np.float32(popcount(free))


@inlined
def best_expected_move(game: Any, network: NetworkArrays, board: Any) -> Any:
    """Return the move with the highest points plus expectation over the tiles that may pop up."""
    s = unpack(game, (board, 0))
    choice = Choice(-1, NO_MOVE, np.float32(0), s)
    for action in range(4):
        push = game.push(board, action)
        if push.board != board:
            total = np.float32(push.points) + expectation(game, network, push.board)
            if total > choice.total:
                choice = Choice(action, total, np.float32(push.points), unpack(game, (push.board, 1)))
    return choice


@inlined
def greedy_move(game: Any, evaluator: BoardNetwork, board: Any) -> Any:
    """Return the best move by values of before-states or after-states."""
    if evaluator.before:
        return best_expected_move(game, evaluator.network, board)
    tables = evaluator.network.tables
    return greedy(game, tables.shape, tables, unpack(game, (board, 0)), evaluator.network.places)
