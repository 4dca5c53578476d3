import numpy as np
import pytest

from mdplay import make
from mdplay.learning.board import board_of, random_games
from mdplay.learning.folding import folded
from mdplay.learning.network import Network
from mdplay.learning.tuples import read_tuples


@pytest.mark.parametrize("name", ["tic-tac-toe", "dots-and-boxes"], ids=["two tables", "one table"])
def test_the_same_values_from_an_eighth_of_the_weights(name):
    """Few positions are images of themselves, so nearly seven of eight weights become nothing."""
    game = make(name)
    board = board_of(game)
    network = Network.create(board, read_tuples("all,0-1-2", board, 0))
    network.weights[:] = np.random.default_rng(1).normal(size=len(network.weights))
    found = Network(board, network.tuples, folded(board, network.tuples, network.weights))
    assert np.count_nonzero(found.weights) < 0.17 * len(network.weights)
    for s in [s for one in random_games(game, 1) for s in one[:-1:3]]:
        assert found.values(s) == pytest.approx(network.values(s), abs=1e-3)


def test_other_tuples_stay_as_they_are():
    board = board_of(make("tic-tac-toe"))
    tuples = read_tuples("0-1-2,3-4-5", board, 0)
    weights = np.arange(108, dtype=np.float32)
    assert (folded(board, tuples, weights) == weights).all()
