"""Which cells a network looks at together: tuples of cells, and where their look-ups lie in the weights.

A tuple of cells c0, c1, ... has a table with an entry for everything that its cells may hold, and one table of
each kind for each player to move.  Under every symmetry of the board the same table is looked up at the image of
the tuple.  The place of look-up j is

    base[j] + side + sum over the cells of  value(cell) * powers[cell, j]

so that a move changes it by (new value - old value) * powers for the few cells that the move changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError, LimitError
from mdplay.learning.board import Board
from mdplay.rng import Random

Cells = tuple[int, ...]
Ints = NDArray[np.int32]

TABLE = 1 << 16  # entries of a table that a walk of cells may have
WHOLE = 1 << 24  # entries up to which one tuple takes the whole board
ENOUGH = 1 << 17  # entries of a whole board that needs no other tuples beside it
LOOK_UPS = 140  # of a network, all images counted
BESIDE_WHOLE = ((2, TABLE), (4, 1 << 10))  # walks beside the whole board: how many, and their tables
MOST_ENTRIES = (1 << 31) - 1  # places are int32
MOST_TUPLES = 4096
TRIES = 200  # walks that are tried for each one that is wanted
CANDIDATES = 8  # walks of which the one is taken that evens out how often cells are looked at
COUNTED = re.compile(r"(\d{1,4})x(\d{1,3})")


def choose_tuples(board: Board, seed: int) -> tuple[Cells, ...]:
    """Return tuples for a board: the whole of it where that fits, and random walks from cell to cell."""
    size = prod(board.sizes) * board.sides
    whole = tuple(range(board.num_cells))
    if size <= ENOUGH:
        return (whole,)
    images = len(board.symmetries)
    wanted = BESIDE_WHOLE if size <= WHOLE else ((max(2, LOOK_UPS // images), TABLE),)
    found: list[Cells] = [whole] if size <= WHOLE else []
    for count, entries in wanted:
        found += _walks(board, count, seed, entries=entries)
    return tuple(found)


def read_tuples(text: str, board: Board, seed: int) -> tuple[Cells, ...]:
    """Return the tuples that a text names: ``70x8`` walks of eight cells, ``all``, or cells as ``0-1-2,3-4-5``."""
    found: list[Cells] = []
    for item in text.replace(" ", "").split(","):
        if item == "all":
            found.append(tuple(range(board.num_cells)))
        elif counted := COUNTED.fullmatch(item):
            found += _walks(board, int(counted[1]), seed, cells=int(counted[2]))
        else:
            found.append(_named(item, board))
    return _not_too_many(found)


def named_tuples(text: str, board: Board) -> tuple[Cells, ...]:
    """Return the tuples of a file, whose cells are all named: nobody vouches for it, so nothing long is begun."""
    items = text[: 64 * MOST_TUPLES].split(",")
    return _not_too_many([_named(item, board) for item in items])


def _not_too_many(tuples: list[Cells]) -> tuple[Cells, ...]:
    if len(tuples) > MOST_TUPLES:
        raise LimitError(f"{len(tuples):,} tuples are too many; at most {MOST_TUPLES:,}")
    return tuple(tuples)


def _named(item: str, board: Board) -> Cells:
    parts = item.split("-")
    if not all(part.isdecimal() and len(part) < 5 for part in parts):
        raise FormatError(f"tuples {item!r:.60} are not cells as 0-1-2, nor walks as 70x8, nor all")
    cells = tuple(map(int, parts))
    if len(set(cells)) < len(cells) or max(cells) >= board.num_cells:
        raise FormatError(f"the tuple {item!r:.60} is not of different cells 0 to {board.num_cells - 1}")
    return cells


def tuples_text(tuples: Sequence[Cells]) -> str:
    """Return the text that ``read_tuples`` reads back."""
    return ",".join("-".join(map(str, cells)) for cells in tuples)


# ---------------------------------------------------------------- walks
def _walks(board: Board, count: int, seed: int, *, entries: int = 0, cells: int = 0) -> list[Cells]:
    """Return random walks of so many cells or so large tables, no two of them images of each other.

    Of some walks the one is taken whose cells, under all symmetries, were looked at least so far: networks that
    hardly see a part of the board play far worse.
    """
    rng, found, known = Random(seed, entries + cells), list[Cells](), set[Cells]()
    seen = [0] * board.num_cells  # by how many look-ups
    for _ in range(TRIES * count):
        if len(found) == count:
            break
        drawn = [_walk(board, rng, entries, min(cells, board.num_cells)) for _ in range(CANDIDATES)]
        walk = min(drawn, key=lambda walk: (_kind(board, walk) in known, sum(seen[c] for c in walk) / len(walk)))
        if (kind := _kind(board, walk)) not in known:
            known.add(kind)
            found.append(walk)
            for image in board.symmetries:
                for c in walk:
                    seen[image[c]] += 1
    return found


def _kind(board: Board, walk: Cells) -> Cells:
    """Return the same cells for all images of a walk."""
    return min(tuple(sorted(image[c] for c in walk)) for image in board.symmetries)


def _walk(board: Board, rng: Random, entries: int, cells: int) -> Cells:
    """Return the cells of one walk, in ascending order; where it is stuck it goes on anywhere."""
    here = rng.below(board.num_cells)
    walk, size = [here], board.sizes[here]
    while len(walk) < (cells or board.num_cells):
        free = [i for i in board.neighbours[here] if i not in walk]
        if not free:
            around = {i for c in walk for i in board.neighbours[c]} or set(range(board.num_cells))
            free = sorted(around - set(walk)) or sorted(set(range(board.num_cells)) - set(walk))
        here = free[rng.below(len(free))]
        size *= board.sizes[here]
        if not cells and size > entries:
            break
        walk.append(here)
    return tuple(sorted(walk))


# ---------------------------------------------------------------- where look-ups lie
def num_entries(board: Board, tuples: Sequence[Cells]) -> int:
    """Return the number of weights that tuples need; raise LimitError if places cannot count them."""
    total = sum(board.sides * prod(board.sizes[c] for c in cells) for cells in tuples)
    if total > MOST_ENTRIES:
        raise LimitError(f"the tuples need {total:,} weights; at most {MOST_ENTRIES:,}, so use fewer cells")
    return total


def places_of(board: Board, tuples: Sequence[Cells]) -> tuple[Ints, Ints]:
    """Return ``base`` of every look-up, and ``powers`` by cell and look-up."""
    num_entries(board, tuples)
    base, powers, first = [], [], 0
    for cells in tuples:
        for image in dict.fromkeys(tuple(symmetry[c] for c in cells) for symmetry in board.symmetries):
            base.append(first)
            powers.append(list(_powers(board, cells, image)))
        first += board.sides * prod(board.sizes[c] for c in cells)
    return np.array(base, np.int32), np.ascontiguousarray(np.array(powers, np.int32).T)


def _powers(board: Board, cells: Cells, image: Cells) -> Iterator[int]:
    """Yield for every cell of the board what a value of it adds to the place; equal images are one look-up."""
    strides, stride = {}, board.sides
    for cell, seen in zip(cells, image, strict=True):
        strides[seen] = stride
        stride *= board.sizes[cell]
    return (strides.get(i, 0) for i in range(board.num_cells))
