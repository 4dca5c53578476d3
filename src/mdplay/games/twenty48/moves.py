"""The rules of 2048 as the learner needs them: all four moves of a board at once.

On 4 x 4 boards one load gives a row pushed both ways and its points:

    rows[row] = points << 32 | row pushed right << 16 | row pushed left

and columns are the rows of the transposed board.  Other boards are pushed by the game's own method.  A move that
changes nothing is illegal.  ``Pushes`` names the four results, ``turned`` their transposed boards.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, lowest, nonempty, popcount, without_lowest
from mdplay.compiling import inlined, kernel, native, unpack
from mdplay.games.twenty48.network import estimate
from mdplay.games.twenty48.rules import Twenty48
from mdplay.rng import advance, scramble

NO_MOVE = np.float32(-1e30)  # less than any value of a move
TWO, FOUR = np.float32(0.9), np.float32(0.1)  # the probabilities of the tiles that pop up


class Evaluator(NamedTuple):
    """What values boards: a network's patterns, the rule it learns by, its weights, the table of rows."""

    net: Any
    rule: Any
    weights: Any
    rows: Any


class Games(NamedTuple):
    """What games or episodes came to, an entry of each array for each."""

    scores: Any
    tiles: Any
    moves: Any


def no_games(count: int) -> Games:
    """Return room for games, all marked as not played."""
    return Games(*(np.full(count, -1, np.int32) for _ in range(3)))


class GreedyMove(NamedTuple):
    """A move: its number (-1 none), its points plus the value it leads to, the points, the board after it."""

    action: Any
    total: Any
    points: Any
    board: Any
    turned: Any


@kernel
def fill_rows(game: Any, out: Any) -> None:
    """Fill ``out`` with what becomes of every row; the game is 2048 on a single row of four."""
    for row in range(len(out)):
        left, right = game.push_cells(U64(row), 0), game.push_cells(U64(row), 1)
        out[row] = int(U64(left.points) << 32 | right.board << 16 | left.board)


@cache
def row_table() -> NDArray[np.uint64]:
    """Return the table of pushed rows."""
    out = np.zeros(1 << 16, np.uint64)
    fill_rows(native(Twenty48(1, 4)), out)
    return out


@inlined
def transposed(x: Any) -> Any:
    """Swap rows and columns of a 4 x 4 board: first inside the 2 x 2 blocks, then the blocks."""
    x = (x & 0xF0F0_0F0F_F0F0_0F0F) | (x & 0x0000_F0F0_0000_F0F0) << 12 | (x & 0x0F0F_0000_0F0F_0000) >> 12
    return (x & 0xFF00_FF00_00FF_00FF) | (x & 0x00FF_00FF_0000_0000) >> 24 | (x & 0x0000_0000_FF00_FF00) << 24


@inlined
def turn(net: Any, board: Any) -> Any:
    """Return the transposed board where the network wants it, else the board itself."""
    return transposed(board) if net.rows == 4 and net.cols == 4 else board


@inlined
def push_rows(rows: Any, board: Any) -> Any:
    """Return a 4 x 4 board pushed left and right, and the points."""
    a, b = U64(rows[board & 0xFFFF]), U64(rows[board >> 16 & 0xFFFF])
    c, d = U64(rows[board >> 32 & 0xFFFF]), U64(rows[board >> 48])
    left = a & 0xFFFF | (b & 0xFFFF) << 16 | (c & 0xFFFF) << 32 | (d & 0xFFFF) << 48
    right = a >> 16 & 0xFFFF | b & 0xFFFF_0000 | (c & 0xFFFF_0000) << 16 | (d & 0xFFFF_0000) << 32
    return left, right, int((a >> 32) + (b >> 32) + (c >> 32) + (d >> 32))


@inlined
def pushes(game: Any, rows: Any, board: Any) -> Any:
    """Return the board pushed left, right, up and down, each with its transposed board, and the two points."""
    if game.rows == 4 and game.cols == 4:
        left, right, across = push_rows(rows, board)
        up, down, along = push_rows(rows, transposed(board))
        return (
            left,
            transposed(left),
            right,
            transposed(right),
            transposed(up),
            up,
            transposed(down),
            down,
            across,
            along,
        )
    left, right, up, down = (
        game.push_cells(board, 0),
        game.push_cells(board, 1),
        game.push_cells(board, 2),
        game.push_cells(board, 3),
    )
    a, b, c, d = left.board, right.board, up.board, down.board
    return a, a, b, b, c, c, d, d, left.points, up.points


@inlined
def push_one(game: Any, rows: Any, board: Any, action: int) -> Any:
    """Return the board after one move, and its points."""
    if game.rows == 4 and game.cols == 4:
        left, right, points = push_rows(rows, board if action < 2 else transposed(board))
        pushed = right if action & 1 else left
        return (pushed if action < 2 else transposed(pushed)), points
    push = game.push_cells(board, action)
    return push.board, push.points


@inlined
def better(choice: Any, action: int, before: Any, board: Any, turned: Any, points: Any, value: Any) -> Any:
    """Return the better of two moves; of equals, and where the new one is illegal, the old one."""
    total = np.float32(points) + value if board != before else NO_MOVE
    if total > choice.total:
        return GreedyMove(action, total, points, board, turned)
    return choice


@inlined
def best_move(game: Any, net: Any, weights: Any, rows: Any, board: Any) -> Any:
    """Return the move with the highest points plus value of the board after it."""
    a, a_turned, b, b_turned, c, c_turned, d, d_turned, across, along = pushes(game, rows, board)
    left, right = estimate(net, weights, a, a_turned), estimate(net, weights, b, b_turned)
    up, down = estimate(net, weights, c, c_turned), estimate(net, weights, d, d_turned)
    choice = better(GreedyMove(-1, NO_MOVE, 0, board, board), 0, board, a, a_turned, across, left)
    choice = better(choice, 1, board, b, b_turned, across, right)
    choice = better(choice, 2, board, c, c_turned, along, up)
    return better(choice, 3, board, d, d_turned, along, down)


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
def expectation(game: Any, net: Any, weights: Any, board: Any) -> Any:
    """Return the mean value of the boards that chance makes of one; a finished board is worth 0."""
    free = game.outcomes(unpack(game, (board, 1))) & 0x1111_1111_1111_1111
    last_cell = popcount(free) == 1  # only then can a tile end the game
    twos = fours = np.float32(0)
    left = free
    while nonempty(left):
        with_two, with_four = board | U64(1) << lowest(left), board | U64(2) << lowest(left)
        left = without_lowest(left)
        if not last_cell or nonempty(game.legal(unpack(game, (with_two, 0)))):
            twos += estimate(net, weights, with_two, turn(net, with_two))
        if not last_cell or nonempty(game.legal(unpack(game, (with_four, 0)))):
            fours += estimate(net, weights, with_four, turn(net, with_four))
    return (TWO * twos + FOUR * fours) / np.float32(popcount(free))


@inlined
def best_expected_move(game: Any, net: Any, weights: Any, rows: Any, board: Any) -> Any:
    """Return the move with the highest points plus expectation over the tiles that may pop up."""
    a, a_turned, b, b_turned, c, c_turned, d, d_turned, across, along = pushes(game, rows, board)
    choice = GreedyMove(-1, NO_MOVE, 0, board, board)
    if a != board:
        choice = better(choice, 0, board, a, a_turned, across, expectation(game, net, weights, a))
    if b != board:
        choice = better(choice, 1, board, b, b_turned, across, expectation(game, net, weights, b))
    if c != board:
        choice = better(choice, 2, board, c, c_turned, along, expectation(game, net, weights, c))
    if d != board:
        choice = better(choice, 3, board, d, d_turned, along, expectation(game, net, weights, d))
    return choice


@inlined
def greedy_move(game: Any, evaluator: Evaluator, board: Any) -> Any:
    """Return the best move by values of before-states or after-states, as the rule says."""
    net, rule, weights, rows = evaluator
    if rule.before:
        return best_expected_move(game, net, weights, rows, board)
    return best_move(game, net, weights, rows, board)
