import lzma

import numpy as np
import pytest

from mdplay import FormatError
from mdplay.learning.compact import NUMBERS, SCALE, packed, unpacked, weights_of

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
