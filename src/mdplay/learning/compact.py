"""Weights in a fraction of their room, for networks that are handed on: a byte each, then compressed.

A weight w becomes a whole number q of -127 .. 127 with  w = scale * q * |q|:  fine steps for small weights, coarse
ones for the few that are large.  Most weights of a network are 0, as nobody has ever looked them up, and hardly
take any room.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError
from mdplay.learning.memory import new_floats

Arrays = dict[str, NDArray[Any]]

MOST = 127  # the largest number
MOST_WEIGHTS = 1 << 26  # of a file that is unpacked: nobody vouches for how large it says it is
SCALE, NUMBERS = "scale", "numbers"  # the arrays of a file
TYPES = {SCALE: "float32", NUMBERS: "uint8"}


def packed(weights: NDArray[np.float32]) -> Arrays:
    """Return the arrays of a file from which ``unpacked`` makes nearly the same weights."""
    largest = float(np.abs(weights).max(initial=0.0))
    scale = np.float32(largest / MOST**2 or 1.0)
    numbers = (np.sign(weights) * np.rint(np.sqrt(np.abs(weights) / scale))).astype(np.int8)
    data = lzma.compress(numbers.tobytes())
    return {SCALE: np.array([scale], np.float32), NUMBERS: np.frombuffer(data, np.uint8)}


def weights_of(path: str | Path, arrays: Arrays, count: int) -> NDArray[np.float32]:
    """Return so many weights of a file, whole or packed, or raise FormatError saying what is wrong with it."""
    if SCALE in arrays and NUMBERS in arrays:
        return unpacked(path, arrays, count)
    if "weights" not in arrays:
        raise FormatError(f"{path} is damaged: it has no array 'weights'")
    if arrays["weights"].shape != (count,):
        raise FormatError(f"{path} is damaged: its weights are not those of its tuples")
    return arrays["weights"]


def unpacked(path: str | Path, arrays: Arrays, count: int) -> NDArray[np.float32]:
    """Return so many weights, or raise FormatError saying what is wrong with the file."""
    if arrays[SCALE].shape != (1,) or count > MOST_WEIGHTS:
        raise FormatError(f"{path} is damaged: it cannot hold {count:,} packed weights")
    try:
        data = lzma.LZMADecompressor().decompress(arrays[NUMBERS].tobytes(), max_length=count + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise FormatError(f"{path} is damaged: its weights cannot be unpacked ({error})") from None
    if len(data) != count:
        raise FormatError(f"{path} is damaged: its weights are not those of its tuples")
    numbers, weights = np.frombuffer(data, np.int8), new_floats(count)
    found = np.flatnonzero(numbers)
    sizes = numbers[found].astype(np.float32)
    weights[found] = arrays[SCALE].astype(np.float32)[0] * sizes * np.abs(sizes)
    return weights
