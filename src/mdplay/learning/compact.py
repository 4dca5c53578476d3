"""Weights in a fraction of their room, for networks that are handed on: a byte each, then compressed.

A weight w becomes a whole number q of -127 .. 127 with  w = scale * q * |q|:  fine steps for small weights, coarse
ones for the few that are large.  Most weights of a network are 0, as they were never looked up, and hardly
take any room.

A tuple of all cells is looked up once under every symmetry, and the images of a position look up the same entries,
in another order.  So the sum of these entries may stand at the least of them, and nothing at the others: the same
value of every position, from an eighth of the weights where there are eight symmetries (``folded``).
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError
from mdplay.learning.board import Board
from mdplay.learning.tuples import Cells
from mdplay.runtime.memory import new_floats

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

MOST = 127  # the largest number
MAX_WEIGHTS = 1 << 26  # weights of a packed file, whose stated size is not trusted
SCALE, NUMBERS = "scale", "numbers"  # the arrays of a file
CLOSE = 1e-3  # that sums of many weights may differ by rounding, relative to the largest
TYPES = {SCALE: "float32", NUMBERS: "uint8"}


def packed(weights: NDArray[np.float32]) -> Arrays:
    """Return the arrays of a file from which ``unpacked`` makes nearly the same weights."""
    largest = float(np.abs(weights).max(initial=0.0))
    scale = np.float32(largest / MOST**2 or 1.0)
    numbers = (np.sign(weights) * np.rint(np.sqrt(np.abs(weights) / scale))).astype(np.int8)
    data = lzma.compress(numbers.tobytes())
    return {SCALE: np.array([scale], np.float32), NUMBERS: np.frombuffer(data, np.uint8)}


def weights_of(path: str | Path, arrays: Arrays, count: int) -> NDArray[np.float32]:
    """Return the weights of a file, whole or packed, or raise FormatError saying what is wrong with it."""
    if SCALE in arrays and NUMBERS in arrays:
        return unpacked(path, arrays, count)
    if "weights" not in arrays:
        raise FormatError(f"{path} is damaged: it has no array 'weights'")
    if arrays["weights"].shape != (count,):
        raise FormatError(f"{path} is damaged: its weights are not those of its tuples")
    return arrays["weights"]


def unpacked(path: str | Path, arrays: Arrays, count: int) -> NDArray[np.float32]:
    """Return the weights, or raise FormatError saying what is wrong with the file."""
    if arrays[SCALE].shape != (1,) or count > MAX_WEIGHTS:
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


# ---------------------------------------------------------------- tables of the whole board
def folded(board: Board, tuples: Sequence[Cells], weights: Floats) -> Floats:
    """Return weights that give every position the same value, those of tuples of all cells folded."""
    found, first = weights.copy(), 0
    for cells in tuples:
        size = board.sides * prod(board.sizes[c] for c in cells)
        if len(cells) == board.num_cells:
            for side in range(board.sides):  # the tables of the players lie entry by entry beside each other
                part = slice(first + side, first + size, board.sides)
                found[part] = _folded_table(board, cells, weights[part])
        first += size
    return found


def _folded_table(board: Board, cells: Cells, table: Floats) -> Floats:
    """Return the table of one player folded, or as it is where the symmetries are not all of a group."""
    images = list(dict.fromkeys(tuple(symmetry[c] for c in cells) for symmetry in board.symmetries))
    entries = [_entries(board, cells, image) for image in images]
    least = np.minimum.reduce(entries)
    total = np.sum([table[one] for one in entries], axis=0, dtype=np.float64)
    times = np.sum([one == least for one in entries], axis=0)
    found = np.zeros_like(table)
    found[least] = (total / times).astype(np.float32)
    again = np.sum([found[one] for one in entries], axis=0, dtype=np.float64)
    right = np.abs(again - total).max() <= CLOSE * max(1.0, float(np.abs(total).max()))
    return found if right else table


def _entries(board: Board, cells: Cells, image: Cells) -> Ints:
    """Return for every entry of a table the one that is looked up under a symmetry: of two halves the sums."""
    sizes = [board.sizes[c] for c in cells]
    strides = [prod(sizes[: image.index(c)]) for c in cells]  # of each cell under the symmetry
    half = len(cells) // 2
    low, high = (_sums(sizes[span], strides[span]) for span in (slice(half), slice(half, None)))
    return np.add.outer(high, low).ravel()


def _sums(sizes: Sequence[int], strides: Sequence[int]) -> Ints:
    """Return the sums of value * stride for all values of some cells, the first changing quickest."""
    found = np.zeros(1, np.int64)
    for size, stride in zip(sizes, strides, strict=True):
        found = np.add.outer(np.arange(size) * stride, found).ravel()
    return found
