import lzma

import numpy as np
import pytest

from mdplay import FormatError, make
from mdplay.learning.board import board_of, random_games
from mdplay.learning.compact import NUMBERS, SCALE, folded, packed, unpacked, weights_of
from mdplay.learning.network import Network
from mdplay.learning.tuples import read_tuples

WEIGHTS = np.array([0, 0, 0.5, -0.25, 3.0, 1e-4, -3.0, 0], np.float32)


def test_weights_come_back_rounded():
    """w = scale * q * |q| with |q| up to 127: the step at w is scale * (2 |q| + 1), half of it the error."""
    found = unpacked("file", packed(WEIGHTS), len(WEIGHTS))
    scale = 3.0 / 127**2
    steps = scale * (2 * np.sqrt(np.abs(WEIGHTS) / scale) + 1)
    assert (np.abs(found - WEIGHTS) <= steps / 2 + 1e-6).all()
    assert (found[WEIGHTS == 0] == 0).all() and found.dtype == np.float32
    assert found[4] == pytest.approx(3.0) and found[6] == pytest.approx(-3.0)


def test_nothing_learned_is_nothing():
    assert not unpacked("file", packed(np.zeros(9, np.float32)), 9).any()


def test_what_nobody_looked_up_takes_no_room():
    many = np.zeros(100_000, np.float32)
    many[::1000] = 1.0
    assert len(packed(many)[NUMBERS]) < 1000


def test_whole_weights_are_taken_as_they_are():
    assert weights_of("file", {"weights": WEIGHTS}, len(WEIGHTS)) is WEIGHTS


@pytest.mark.parametrize(
    ("arrays", "count", "sentence"),
    [
        ({}, 8, "it has no array 'weights'"),
        ({"weights": WEIGHTS}, 9, "its weights are not those of its tuples"),
        (packed(WEIGHTS), 9, "its weights are not those of its tuples"),
        (packed(WEIGHTS), 7, "its weights are not those of its tuples"),
        (packed(WEIGHTS), 1 << 30, "it cannot hold 1,073,741,824 packed weights"),
        ({**packed(WEIGHTS), SCALE: np.ones(2, np.float32)}, 8, "it cannot hold 8 packed weights"),
        ({**packed(WEIGHTS), NUMBERS: np.arange(40, dtype=np.uint8)}, 8, "its weights cannot be unpacked"),
        ({**packed(WEIGHTS), NUMBERS: np.frombuffer(lzma.compress(b"")[:20], np.uint8)}, 8, "is damaged"),
    ],
)
def test_damaged_files_get_a_sentence(arrays, count, sentence):
    with pytest.raises(FormatError, match=sentence):
        weights_of("file", arrays, count)


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
