import numpy as np
import pytest

from mdplay.bits import U64, elements
from mdplay.compiling import kernel, native, word
from mdplay.games.twenty48.files import board_for, parse_patterns
from mdplay.games.twenty48.moves import BoardNetwork, QuickTwenty48, greedy_move, largest, pop_up, start
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.network import Network
from mdplay.rng import Random, advance, scramble, stream

BOARDS = [(4, 4), (2, 3), (3, 3)]


@kernel
def first_boards(game, seed, out):
    for i in range(len(out)):
        out[i, 0] = int(start(game, stream(seed, i))[0])
        out[i, 1] = int(pop_up(game, U64(0x21), stream(seed, i)))


@kernel
def choose(game, evaluator, board, out):
    choice = greedy_move(game, evaluator, U64(board))
    out[0], out[1], out[2], out[3] = choice.action, choice.total, choice.points, largest(choice.after.board)


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
    quick = QuickTwenty48(rows, cols)
    for board in some_boards(game):
        s = State(board, 0)
        four = quick.four_moves(s)
        for action in range(4):
            assert quick.push(board, action) == game.push_cells(board, action)
            assert four[action] == game.step(s, action)
            assert (four.along if action > 1 else four.across) == game.reward(s, action)
        assert four.legal == game.legal(s)


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
        return game.reward(s, action) + network.estimate(after)
    total = 0.0
    for i in elements(game.outcomes(after)):
        chance = game.outcome(after, i)
        value = network.estimate(chance) if game.legal(chance) else 0.0
        total += game.probability(after, i) * value
    return game.reward(s, action) + total


@pytest.mark.parametrize("expected", [False, True])
@pytest.mark.parametrize(("rows", "cols"), [(4, 4)])
def test_the_best_move_is_best_by_the_rules(rows, cols, expected):
    game = Twenty48(rows, cols)
    board = board_for(rows, cols)
    network = Network.create(board, parse_patterns("0123,014", rows, cols), before=expected)
    network.weights[:] = np.random.default_rng(1).normal(scale=10, size=len(network.weights))
    out = np.zeros(4)
    for board in some_boards(game, 60):
        choose(native(network.game), BoardNetwork(network.arrays(), expected), word(board), out)
        legal = elements(game.legal(State(board, 0)))
        if not legal:
            assert out[0] == -1
            continue
        values = {action: value_of_move(game, network, board, action, expected) for action in legal}
        chosen = int(out[0])
        assert values[chosen] == pytest.approx(max(values.values()), rel=1e-4, abs=1e-3)
        assert out[1] == pytest.approx(values[chosen], rel=1e-4, abs=1e-3)
        assert out[2] == game.reward(State(board, 0), chosen)
