"""Patterns of cells, and where their tables lie in one array.

A pattern is a list of cells.  Its table has 16 ** len(pattern) entries; the tiles on the cells, read as nibbles,
select one.  All images of the board (eight, or four where rows and columns differ) share the table.

The canonical index of a pattern has its first cell in the lowest nibble: files use it.  In memory the entries
are put in an order that misses fewer cache lines: the last cell is lowest, and two patterns that differ in one
cell only share a table of double size, so that their entries for one board lie side by side:

    bits    24 ........ 5    4      3 ... 0
            common cells  | which | the cell in which they differ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mdplay.boards import cell_images
from mdplay.errors import FormatError, LimitError, unknown
from mdplay.game import Compiled

# The names and cells that TDL2048 made common (Guei 2021, Yeh et al. 2016).
NAMED = {
    "4x5": "01234,45678,01245,45689",
    "5x4": "0123,4567,0145,1256,569a",
    "4x6": "012345,456789,012456,45689a",
    "5x6": "012345,456789,012456,45689a,89abcd",
    "6x6": "012456,456789,012345,234569,01259a,345678",
    "7x6": "012456,456789,012345,234569,01259a,345678,134567",
    "8x6": "012456,456789,012345,234569,01259a,345678,134567,01489a",
    "2x7": "0123456,456789a",
    "3x7": "0123456,456789a,89abcde",
}
MAX_ENTRIES = 1 << 32  # indices are kept as uint32


def index(pattern: Sequence[int], exponents: Sequence[int]) -> int:
    """Return the canonical index of a pattern on a board given as exponents; beyond 15 they count as 15.

    >>> f"{index([1, 5, 9, 13], [0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]):#06x}"
    '0x0310'
    """
    return sum(min(exponents[cell], 15) << 4 * i for i, cell in enumerate(pattern))


@dataclass(frozen=True)
class Place:
    """Where a pattern's table lies: its first entry, and the bit at which each cell's nibble stands."""

    base: int
    bits: tuple[int, ...]


@dataclass(frozen=True)
class Patterns(Compiled):
    """Patterns on a board of rows x cols cells; ``vector`` asks for vector instructions where they apply."""

    cells: tuple[tuple[int, ...], ...]
    rows: int = 4
    cols: int = 4
    vector: bool = True

    def __post_init__(self) -> None:
        """Refuse patterns that do not fit the board, repeat a cell, or whose tables are too large."""
        board = range(self.rows * self.cols)
        for pattern in self.cells:
            if not pattern or len(set(pattern)) < len(pattern) or not all(cell in board for cell in pattern):
                raise FormatError(f"the pattern {list(pattern)} is not a list of different cells 0 .. {board[-1]}")
        if not self.cells:
            raise FormatError("a network needs at least one pattern")
        if self.num_entries > MAX_ENTRIES:
            raise LimitError(f"the tables have {self.num_entries} entries; at most {MAX_ENTRIES} are possible")

    @property
    def num_entries(self) -> int:
        """The entries of all tables together."""
        return sum(16 ** len(pattern) for pattern in self.cells)

    @cached_property
    def num_images(self) -> int:
        """The images of a board: eight of a square, else four."""
        return len(cell_images(self.rows, self.cols))

    @cached_property
    def num_patterns(self) -> int:
        """The number of tables."""
        return len(self.cells)

    @cached_property
    def num_lookups(self) -> int:
        """The weights whose sum is the value of a board."""
        return self.num_images * self.num_patterns

    @cached_property
    def uses_vectors(self) -> bool:
        """Whether the vector code applies: it is made for 4 x 4 boards."""
        return self.vector and self.rows == 4 and self.cols == 4

    @cached_property
    def text(self) -> str:
        """The patterns as hexadecimal cells, separated by commas."""
        return ",".join("".join(f"{cell:x}" for cell in pattern) for pattern in self.cells)

    # ---------------------------------------------------------------- places in memory
    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where each pattern's table lies."""
        found: dict[int, Place] = {}
        base = 0
        for p, pattern in enumerate(self.cells):
            if p in found:
                continue
            q = next(
                (q for q in range(p + 1, len(self.cells)) if q not in found and self._differ_in_one(p, q)), None
            )
            if q is None:
                found[p] = Place(base, tuple(4 * (len(pattern) - 1 - i) for i in range(len(pattern))))
                base += 16 ** len(pattern)
            else:
                found[p], found[q] = self._paired(p, q, base)
                base += 2 * 16 ** len(pattern)
        return tuple(found[p] for p in range(len(self.cells)))

    def _differ_in_one(self, p: int, q: int) -> bool:
        one, other = set(self.cells[p]), set(self.cells[q])
        return len(one) == len(other) == len(one & other) + 1

    def _paired(self, p: int, q: int, base: int) -> tuple[Place, Place]:
        common = sorted(set(self.cells[p]) & set(self.cells[q]))
        bit = {cell: 5 + 4 * i for i, cell in enumerate(common)}
        one, other = (tuple(bit.get(cell, 0) for cell in self.cells[i]) for i in (p, q))
        return Place(base, one), Place(base + 16, other)

    # ---------------------------------------------------------------- the same as constants of compiled code
    @cached_property
    def groups(self) -> tuple[tuple[tuple[tuple[int, int], ...], int], ...]:
        """For each pattern the (shift, mask) pairs that put its index together, and its base."""
        return tuple(
            (_fields(pattern, place.bits), place.base)
            for pattern, place in zip(self.cells, self.places, strict=True)
        )

    @cached_property
    def first(self) -> tuple[int, ...]:
        """Where the cells of each pattern begin in ``bit`` and ``origin``, and where the last ones end."""
        return tuple(sum(map(len, self.cells[:p])) for p in range(len(self.cells) + 1))

    @cached_property
    def base(self) -> tuple[int, ...]:
        """The first entry of each pattern's table."""
        return tuple(place.base for place in self.places)

    @cached_property
    def bit(self) -> tuple[int, ...]:
        """The bit of the index at which each cell's nibble stands, pattern after pattern."""
        return tuple(bit for place in self.places for bit in place.bits)

    @cached_property
    def origin(self) -> tuple[tuple[int, ...], ...]:
        """For each image: the bit of the board from which each cell of the patterns is taken."""
        back = [{to: cell for cell, to in enumerate(image)} for image in cell_images(self.rows, self.cols)]
        return tuple(tuple(4 * b[cell] for pattern in self.cells for cell in pattern) for b in back)


def _fields(pattern: Sequence[int], bits: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return (shift, mask) pairs, one for all cells that are shifted alike."""
    masks: dict[int, int] = {}
    for cell, bit in zip(pattern, bits, strict=True):
        masks[4 * cell - bit] = masks.get(4 * cell - bit, 0) | 15 << bit
    return tuple(masks.items())


def parse_patterns(text: str, rows: int = 4, cols: int = 4, *, vector: bool = True) -> Patterns:
    """Return the patterns that a text names: ``4x6`` and the like, ``default``, or cells as ``0123,4567``."""
    if text == "default":
        return default_patterns(rows, cols, vector=vector)
    if "x" in text and (text not in NAMED or (rows, cols) != (4, 4)):
        if text in NAMED:
            raise FormatError(f"the network {text} is made for the 4 x 4 board; give lists of cells, as 0123,1245")
        raise unknown("network", text, NAMED)
    words = NAMED.get(text, text).lower().split(",")
    if not all(words) or set("".join(words)) - set("0123456789abcdef"):
        raise FormatError(f"{text!r} names no patterns: give {', '.join(NAMED)} or cells in hex, as 0123,4567")
    return Patterns(tuple(tuple(int(cell, 16) for cell in word) for word in words), rows, cols, vector)


def default_patterns(rows: int, cols: int, *, vector: bool = True) -> Patterns:
    """Return 4x6 for the 4 x 4 board; one table of all cells for up to six; else blocks of 2 x 3 and their kin."""
    if (rows, cols) == (4, 4):
        return parse_patterns("4x6", vector=vector)
    if rows * cols <= 6:
        return Patterns((tuple(range(rows * cols)),), rows, cols, vector)
    return Patterns(tuple(_blocks(rows, cols)), rows, cols, vector)


def _blocks(rows: int, cols: int) -> list[tuple[int, ...]]:
    """Return windows of six cells, one of each kind that symmetry distinguishes."""
    images = cell_images(rows, cols)
    found: dict[frozenset[tuple[int, ...]], tuple[int, ...]] = {}
    for height, width in ((2, 3), (3, 2), (1, 6), (6, 1)):
        for r in range(rows - height + 1):
            for c in range(cols - width + 1):
                block = [(r + i) * cols + c + j for i in range(height) for j in range(width)]
                kind = frozenset(tuple(sorted(image[cell] for cell in block)) for image in images)
                found.setdefault(kind, tuple(block))
    return list(found.values())
