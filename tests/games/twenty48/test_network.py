"""Networks of boards that a word holds: by the definition, in vectors, and of a game that is not 2048.

Here are tested besides: ``mdplay.compiling.numba.vectors``.
"""

import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.games.twenty48.files import board_for, index, parse_patterns
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.learning.network import Network
from mdplay.rng import Random

CASES = [(4, 4, "0123,4567,0145,1256,569a"), (4, 4, "012,0124,3"), (2, 3, "0123,14"), (3, 3, "0124"), (1, 4, "01")]


def exponents(board, size):
    return [board >> 4 * cell & 15 for cell in range(size)]


def random_boards(game, count=20, seed=3):
    rng = Random(seed)
    return [
        sum((rng.below(16) if rng.below(3) else 0) << 4 * cell for cell in range(game.rows * game.cols))
        for _ in range(count)
    ]


def random_network(text, rows, cols, vector=True):
    network = Network.create(board_for(rows, cols), parse_patterns(text, rows, cols), vector=vector)
    network.weights[:] = np.random.default_rng(1).normal(size=len(network.weights))
    return network


@pytest.mark.parametrize(("rows", "cols", "text"), CASES)
def test_the_value_is_the_sum_over_images_and_patterns(rows, cols, text):
    """The definition, by the game's own symmetries and the canonical tables."""
    game, network = Twenty48(rows, cols), random_network(text, rows, cols)
    tables = [network.table(p).astype(float) for p in range(len(network.tuples))]
    for board in random_boards(game):
        images = [game.image(State(board, 0), k).board for k in range(game.symmetries())]
        looked_up = [
            table[index(pattern, exponents(image, rows * cols))]
            for image in images
            for pattern, table in zip(network.tuples, tables, strict=True)
        ]
        assert len(looked_up) == network.num_lookups
        assert network.estimate(State(board, 0)) == pytest.approx(sum(looked_up), abs=1e-4)


@pytest.mark.parametrize("text", ["0123,4567,0145,1256,569a", "012,0124,3"])
def test_vector_and_scalar_agree_to_the_last_bit(text):
    vector, scalar = random_network(text, 4, 4), random_network(text, 4, 4, vector=False)
    for board in random_boards(Twenty48(), 200):
        s = State(board, 0)
        assert vector.estimate(s) == scalar.estimate(s)
        assert (vector.weight_indices(s) == scalar.weight_indices(s)).all()


@pytest.mark.parametrize(("rows", "cols", "text"), CASES)
def test_all_images_have_one_value(rows, cols, text):
    game, network = Twenty48(rows, cols), random_network(text, rows, cols)
    for board in random_boards(game, 5):
        images = [game.image(State(board, 0), k) for k in range(game.symmetries())]
        values = [network.estimate(image) for image in images]
        assert values == pytest.approx([values[0]] * len(values), abs=1e-5)


def test_an_update_is_spread_over_the_look_ups():
    network = Network.create(board_for(4, 4), parse_patterns("5x4"))
    board = State(0x0123_4567_89AB_CDEF, 0)  # no two images look alike
    network.update(board, 8.0)
    assert network.estimate(board) == pytest.approx(8.0)
    assert network.weights[network.weight_indices(board)] == pytest.approx(8.0 / 40)
    assert np.count_nonzero(network.weights) == len(set(network.weight_indices(board)))


def test_a_place_looked_up_twice_moves_twice():
    network = Network.create(board_for(4, 4), parse_patterns("0123"))
    network.update(State(0, 0), 8.0)  # the eight images of the empty board are one
    assert network.estimate(State(0, 0)) == pytest.approx(8 * 8.0)


def test_optimistic_networks_give_one_value_to_all():
    network = Network.create(board_for(4, 4), parse_patterns("5x4"), 320.0)
    assert {network.estimate(State(board, 0)) for board in random_boards(Twenty48())} == {320.0}


def test_tables_can_be_taken_out_and_put_back():
    network = random_network("012,0124,3,0125", 4, 4)
    other = Network.create(network.board, network.tuples)
    for p in range(len(network.tuples)):
        other.set_table(p, network.table(p))
    assert (other.weights == network.weights).all()
    with pytest.raises(FormatError):
        other.set_table(0, np.zeros(5, np.float32))
