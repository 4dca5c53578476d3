"""Which cells a network looks at together: tuples of cells, and where their lookups lie in the weights.

A tuple of cells c0, c1, ... has a table with an entry for everything that its cells may hold, and one table of
each kind for each player to move.  Under every symmetry of the board the same table is looked up at the image of
the tuple.  The place of lookup j is

    base[j] + side + sum over the cells of  value(cell) * powers[cell, j]

so that a move changes it by (new value - old value) * powers for the few cells that the move changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from mdplay.boards import cell_images
from mdplay.errors import FormatError, LimitError
from mdplay.game import Compiled
from mdplay.learning.board import PACKED_VALUES, Board, Permutation
from mdplay.rng import Random

Cells = tuple[int, ...]
Ints = NDArray[np.int32]

TABLE = 1 << 16  # entries of a table that a walk of cells may have
WHOLE = 1 << 24  # entries up to which one tuple takes the whole board
ENOUGH = 1 << 17  # entries of a whole board that needs no other tuples beside it
LOOK_UPS = 140  # of a network, all images counted
BESIDE_WHOLE = ((2, TABLE), (4, 1 << 10))  # walks beside the whole board: how many, and their tables
MAX_ENTRIES = (1 << 31) - 1  # differences of places are int32
MAX_PACKED_ENTRIES = 1 << 32  # places are uint32
MAX_TUPLES = 4096
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
    """Return the tuples of a file, whose cells are all named; its size is checked first."""
    items = text[: 64 * MAX_TUPLES].split(",")
    return _not_too_many([_named(item, board) for item in items])


def _not_too_many(tuples: list[Cells]) -> tuple[Cells, ...]:
    if len(tuples) > MAX_TUPLES:
        raise LimitError(f"{len(tuples):,} tuples are too many; at most {MAX_TUPLES:,}")
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
    """Return random walks of limited length or table size, no two of them images of each other.

    Of some walks the one is taken whose cells, under all symmetries, were looked at least so far: networks that
    hardly see a part of the board play far worse.
    """
    rng, found, known = Random(seed, entries + cells), list[Cells](), set[Cells]()
    seen = [0] * board.num_cells  # by how many lookups
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
    """Return the cells of one walk, in ascending order; where it is stuck it continues anywhere."""
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


# ---------------------------------------------------------------- where lookups lie
def num_entries(board: Board, tuples: Sequence[Cells], *, packed: bool = False) -> int:
    """Return the number of weights that tuples need; raise LimitError if places cannot count them."""
    sizes = (PACKED_VALUES,) * board.num_cells if packed else board.sizes
    total = sum(board.sides * prod(sizes[c] for c in cells) for cells in tuples)
    most = MAX_PACKED_ENTRIES if packed else MAX_ENTRIES
    if total > most:
        raise LimitError(f"the tuples need {total:,} weights; at most {most:,}, so use fewer cells")
    return total


def places_of(board: Board, tuples: Sequence[Cells]) -> tuple[Ints, Ints]:
    """Return ``base`` of every lookup, and ``powers`` by cell and lookup."""
    num_entries(board, tuples)
    base, powers, first = [], [], 0
    for cells in tuples:
        for image in dict.fromkeys(tuple(symmetry[c] for c in cells) for symmetry in board.symmetries):
            base.append(first)
            powers.append(list(_powers(board, cells, image)))
        first += board.sides * prod(board.sizes[c] for c in cells)
    return np.array(base, np.int32), np.ascontiguousarray(np.array(powers, np.int32).T)


def _powers(board: Board, cells: Cells, image: Cells) -> Iterator[int]:
    """Yield for every cell of the board what a value of it adds to the place; equal images are one lookup."""
    strides, stride = {}, board.sides
    for cell, seen in zip(cells, image, strict=True):
        strides[seen] = stride
        stride *= board.sizes[cell]
    return (strides.get(i, 0) for i in range(board.num_cells))


# ---------------------------------------------------------------- boards that a word holds
@dataclass(frozen=True)
class TupleShape(Compiled):
    """The tuples of a network as far as compiled code knows them in advance; here nothing: they are arrays."""

    is_packed = uses_vectors = four_moves = False


@dataclass(frozen=True)
class PackedTuples(TupleShape):
    """Tuples on a board that a word holds, a nibble for each cell, as constants of compiled code.

    A table has 16 ** len(tuple) entries.  Its canonical index has the first cell in the lowest nibble.  In memory
    the entries are in an order that misses fewer cache lines: the last cell is lowest, and two tuples that differ
    in one cell share a table of double size, so that their entries for one board lie side by side:

        bits    24 ........ 5    4      3 ... 0
                common cells  | which | the cell in which they differ

    ``images`` are the symmetries of the board: where each takes each cell.  ``vector`` asks for vector
    instructions, which are used if these are the eight symmetries of 4 x 4 cells.  ``four_moves`` is
    that of the board.
    """

    is_packed = True

    cells: tuple[Cells, ...]
    images: tuple[Permutation, ...]
    vector: bool = True
    four_moves: bool = False

    @cached_property
    def num_cells(self) -> int:
        """The cells of the board."""
        return len(self.images[0])

    @cached_property
    def num_images(self) -> int:
        """The images of a board."""
        return len(self.images)

    @cached_property
    def num_tuples(self) -> int:
        """The number of tables."""
        return len(self.cells)

    @cached_property
    def num_lookups(self) -> int:
        """The weights whose sum is the value of a board."""
        return self.num_images * self.num_tuples

    @property
    def num_entries(self) -> int:
        """The entries of all tables together."""
        return sum(16 ** len(cells) for cells in self.cells)

    @cached_property
    def uses_vectors(self) -> bool:  # type: ignore[override]  # a constant of each instance
        """Whether the vector instructions apply."""
        return self.vector and self.images == cell_images(4, 4)

    # ---------------------------------------------------------------- where tables lie
    @cached_property
    def tables(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """For each tuple the first entry of its table, and the bit of the index at which each cell's nibble is."""
        found: dict[int, tuple[int, tuple[int, ...]]] = {}
        base = 0
        for p, cells in enumerate(self.cells):
            if p in found:
                continue
            others = (q for q in range(p + 1, len(self.cells)) if q not in found and self._differ_in_one(p, q))
            q = next(others, None)
            if q is None:
                found[p] = base, tuple(4 * (len(cells) - 1 - i) for i in range(len(cells)))
                base += 16 ** len(cells)
            else:
                common = sorted(set(cells) & set(self.cells[q]))
                bit = {cell: 5 + 4 * i for i, cell in enumerate(common)}
                one, other = (tuple(bit.get(cell, 0) for cell in self.cells[i]) for i in (p, q))
                found[p], found[q] = (base, one), (base + 16, other)
                base += 2 * 16 ** len(cells)
        return tuple(found[p] for p in range(len(self.cells)))

    def _differ_in_one(self, p: int, q: int) -> bool:
        one, other = set(self.cells[p]), set(self.cells[q])
        return len(one) == len(other) == len(one & other) + 1

    def canonical(self, p: int) -> NDArray[np.uint32]:
        """Return where the entries of a tuple's table are in the weights, in canonical order."""
        base, bits = self.tables[p]
        found = np.full(1, base, np.uint32)
        for bit in bits:  # each cell becomes the new highest nibble
            found = ((np.arange(16, dtype=np.uint32) << np.uint32(bit))[:, None] + found).reshape(-1)
        return found

    # ---------------------------------------------------------------- the same as constants of compiled code
    @cached_property
    def groups(self) -> tuple[tuple[tuple[tuple[int, int], ...], int], ...]:
        """For each tuple the (shift, mask) pairs that put its index together, and its base."""
        return tuple(
            (_fields(cells, bits), base) for cells, (base, bits) in zip(self.cells, self.tables, strict=True)
        )

    @cached_property
    def first(self) -> tuple[int, ...]:
        """Where the cells of each tuple begin in ``bit`` and ``origin``, and where the last ones end."""
        return tuple(sum(map(len, self.cells[:p])) for p in range(len(self.cells) + 1))

    @cached_property
    def base(self) -> tuple[int, ...]:
        """The first entry of each tuple's table."""
        return tuple(base for base, _ in self.tables)

    @cached_property
    def bit(self) -> tuple[int, ...]:
        """The bit of the index at which each cell's nibble stands, tuple after tuple."""
        return tuple(bit for _, bits in self.tables for bit in bits)

    @cached_property
    def origin(self) -> tuple[tuple[int, ...], ...]:
        """For each image: the bit of the board from which each cell of the tuples is taken."""
        back = [{to: cell for cell, to in enumerate(image)} for image in self.images]
        return tuple(tuple(4 * b[cell] for cells in self.cells for cell in cells) for b in back)


def _fields(cells: Sequence[int], bits: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return (shift, mask) pairs, one for all cells that are shifted alike."""
    masks: dict[int, int] = {}
    for cell, bit in zip(cells, bits, strict=True):
        masks[4 * cell - bit] = masks.get(4 * cell - bit, 0) | 15 << bit
    return tuple(masks.items())
