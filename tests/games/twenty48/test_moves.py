import numpy as np
import pytest

from mdplay.bits import U64, elements
from mdplay.compiling import kernel, native, word
from mdplay.games.twenty48.moves import best_expected_move, best_move, largest, pop_up, pushes, row_table, start
from mdplay.games.twenty48.network import Network
from mdplay.games.twenty48.patterns import parse_patterns
from mdplay.games.twenty48.rules import State, Twenty48, transpose
from mdplay.rng import Random, advance, scramble, stream

BOARDS = [(4, 4), (2, 3), (3, 3)]


@kernel
def push_all(game, rows, boards, out, points):
    for i in range(len(boards)):
        a, at, b, bt, c, ct, d, dt, across, along = pushes(game, rows, U64(boards[i]))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = int(a), int(b), int(c), int(d)
        out[i, 4], out[i, 5], out[i, 6], out[i, 7] = int(at), int(bt), int(ct), int(dt)
        points[i, 0], points[i, 1] = across, along


@kernel
def first_boards(game, seed, out):
    for i in range(len(out)):
        out[i, 0] = int(start(game, stream(seed, i))[0])
        out[i, 1] = int(pop_up(game, U64(0x21), stream(seed, i)))


@kernel
def choose(game, net, weights, rows, board, expected, out):
    if expected:
        choice = best_expected_move(game, net, weights, rows, U64(board))
    else:
        choice = best_move(game, net, weights, rows, U64(board))
    out[0], out[1], out[2], out[3] = choice.action, choice.total, choice.points, largest(choice.board)


def some_boards(game, count=300):
    """Boards with many equal tiles, also of the largest kind, and the empty and the full one."""
    rng = Random(5)
    kinds = [(0, 1, 1, 2), (0, 14, 15, 15), (0, 1, 2, 3, 4, 5), (15,), tuple(range(16))]
    boards = [0]
    for i in range(count):
        kind = kinds[i % len(kinds)]
        boards.append(sum(kind[rng.below(len(kind))] << 4 * cell for cell in range(game.rows * game.cols)))
    return boards


@pytest.mark.parametrize(("rows", "cols"), BOARDS)
def test_the_four_moves_are_those_of_the_game(rows, cols):
    game = Twenty48(rows, cols)
    boards = some_boards(game)
    out, points = np.zeros((len(boards), 8), np.uint64), np.zeros((len(boards), 2), np.int64)
    push_all(native(game), row_table(), np.array(boards, np.uint64), out, points)
    for board, pushed, earned in zip(boards, out.tolist(), points.tolist(), strict=True):
        for action in range(4):
            expected = game.push_cells(board, action)
            assert pushed[action] == expected.board
            assert earned[action // 2] == expected.points
            assert pushed[4 + action] == (transpose(expected.board) if rows == cols == 4 else expected.board)
        changed = [action for action in range(4) if pushed[action] != board]
        assert changed == elements(game.legal(State(board, 0)))


def test_tiles_pop_up_as_in_the_game():
    game, seed = Twenty48(), 7
    out = np.zeros((50, 2), np.uint64)
    first_boards(native(game), word(seed), out)
    for i, (first, popped) in enumerate(out.tolist()):
        x, s = stream(seed, i), game.initial()
        for _ in range(2):
            x = advance(x)
            s = game.outcome(s, game.draw(s, scramble(x)))
        assert first == s.board
        s = State(0x21, 1)
        assert popped == game.outcome(s, game.draw(s, scramble(stream(seed, i)))).board


def value_of_move(game, network, board, action, expected):
    s = State(board, 0)
    after = game.step(s, action)
    if not expected:
        return game.reward(s, action) + network.estimate(after.board)
    total = 0.0
    for i in elements(game.outcomes(after)):
        chance = game.outcome(after, i)
        value = network.estimate(chance.board) if game.legal(chance) else 0.0
        total += game.probability(after, i) * value
    return game.reward(s, action) + total


@pytest.mark.parametrize("expected", [False, True])
@pytest.mark.parametrize(("rows", "cols"), [(4, 4)])
def test_the_best_move_is_best_by_the_rules(rows, cols, expected):
    game = Twenty48(rows, cols)
    network = Network.create(parse_patterns("0123,014", rows, cols))
    network.weights[:] = np.random.default_rng(1).normal(scale=10, size=len(network.weights))
    out = np.zeros(4)
    for board in some_boards(game, 60):
        choose(native(game), native(network.patterns), network.weights, row_table(), word(board), expected, out)
        legal = elements(game.legal(State(board, 0)))
        if not legal:
            assert out[0] == -1
            continue
        values = {action: value_of_move(game, network, board, action, expected) for action in legal}
        chosen = int(out[0])
        assert values[chosen] == pytest.approx(max(values.values()), rel=1e-4, abs=1e-3)
        assert out[1] == pytest.approx(values[chosen], rel=1e-4, abs=1e-3)
        assert out[2] == game.reward(State(board, 0), chosen)
