"""Patterns of cells: their names, their texts and the boards that they are made for.

A pattern is a tuple of cells (``mdplay.learning.tuples``).  Its table has 16 ** len(pattern) entries; the tiles on
the cells, read as nibbles, select one.  All images of the board (eight, or four where rows and columns differ)
share the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mdplay.boards import cell_images
from mdplay.errors import FormatError, unknown
from mdplay.games.twenty48.moves import QuickTwenty48
from mdplay.learning.board import PACKED_VALUES, Board
from mdplay.learning.tuples import Cells, num_entries

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


def index(pattern: Sequence[int], exponents: Sequence[int]) -> int:
    """Return the canonical index of a pattern on a board given as exponents; beyond 15 they count as 15.

    >>> f"{index([1, 5, 9, 13], [0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]):#06x}"
    '0x0310'
    """
    return sum(min(exponents[cell], 15) << 4 * i for i, cell in enumerate(pattern))


@cache
def board_for(rows: int, cols: int) -> Board:
    """Return the board of 2048 as networks see it, without the random games that show those of other games."""
    game = QuickTwenty48(rows, cols)
    size = rows * cols
    sizes, neighbours = (PACKED_VALUES,) * size, ((),) * size
    return Board(game, sizes, neighbours, game.images, (), shared=False, points=True, four_moves=True)


def patterns_text(patterns: Sequence[Cells]) -> str:
    """Return the patterns as hexadecimal cells, separated by commas."""
    return ",".join("".join(f"{cell:x}" for cell in pattern) for pattern in patterns)


def parse_patterns(text: str, rows: int = 4, cols: int = 4) -> tuple[Cells, ...]:
    """Return the patterns that a text names: ``4x6`` and the like, ``default``, or cells as ``0123,4567``.

    Raise FormatError or UnknownName for a text that names none, LimitError if the tables are too large.
    """
    if text == "default":
        return default_patterns(rows, cols)
    if "x" in text and (text not in NAMED or (rows, cols) != (4, 4)):
        if text in NAMED:
            raise FormatError(f"the network {text} is made for the 4 x 4 board; give lists of cells, as 0123,1245")
        raise unknown("network", text, NAMED)
    words = NAMED.get(text, text).lower().split(",")
    if not all(words) or set("".join(words)) - set("0123456789abcdef"):
        raise FormatError(f"{text!r} names no patterns: give {', '.join(NAMED)} or cells in hex, as 0123,4567")
    found = tuple(tuple(int(cell, 16) for cell in word) for word in words)
    for pattern in found:
        if len(set(pattern)) < len(pattern) or max(pattern) >= rows * cols:
            last = rows * cols - 1
            raise FormatError(f"the pattern {list(pattern)} is not a list of different cells 0 .. {last}")
    num_entries(board_for(rows, cols), found, packed=True)
    return found


def default_patterns(rows: int, cols: int) -> tuple[Cells, ...]:
    """Return 4x6 for the 4 x 4 board; one table of all cells for up to six; else blocks of 2 x 3 and their kin."""
    if (rows, cols) == (4, 4):
        return parse_patterns("4x6")
    if rows * cols <= 6:
        return (tuple(range(rows * cols)),)
    return tuple(_blocks(rows, cols))


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
