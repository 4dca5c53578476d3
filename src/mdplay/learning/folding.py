"""Tables of the whole board, folded: of all images of a position one carries what together they are worth.

A tuple of all cells is looked up once under every symmetry, and the images of a position look up the same entries,
in another order.  So the sum of these entries may stand at the least of them, and nothing at the others: the same
value of every position, from an eighth of the weights where there are eight symmetries.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from mdplay.learning.board import Board
from mdplay.learning.tuples import Cells

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

CLOSE = 1e-3  # that sums of many weights may differ by rounding, relative to the largest


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
