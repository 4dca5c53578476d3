"""Files of 2048: networks in our format and in those of TDL2048 and its demonstration program; games as text.

Our own (``.safetensors``) is a ``mdplay.storage.arrays`` file of kind ``network``: the array ``weights`` in the
order of ``PackedTuples`` (the number LAYOUT names that order), the board and the patterns, and the arrays that the
training adds.  A pretrained one has packed weights (mdplay.learning.compact) and the identity of its rules.

TDL2048 (``.w``), little-endian:        u8 0 | u32 number of tables | the tables
    a table      u8 4 | u32 pattern, its cells as hexadecimal digits | u16 cells | u16 0 | u16 bytes a weight
                 | u64 entries | weights | then blocks of u16 bytes | u64 entries | data, until u16 0
TDL2048-Demo (``.bin``), little-endian: u64 number of tables | the tables
    a table      u32 length | name, whose last word is the pattern's cells | u64 entries | float32 weights

In both the first cell of a pattern is the lowest nibble of the index, as in ``Network.table``.  Sums of temporal
coherence in a ``.w`` file are skipped.

A pattern is a tuple of cells (``mdplay.learning.tuples``).  Its table has 16 ** len(pattern) entries; the tiles on
the cells, read as nibbles, select one.  All images of the board (eight, or four where rows and columns differ)
share the table.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.boards import cell_images
from mdplay.compiling.identity import cells_identity, game_identity
from mdplay.errors import FormatError, MdplayError, UnknownName, short, unknown
from mdplay.games.twenty48.moves import QuickTwenty48
from mdplay.games.twenty48.rules import MOVES, Twenty48
from mdplay.learning import compact
from mdplay.learning.board import PACKED_VALUES, Board
from mdplay.learning.network import Network
from mdplay.learning.tuples import Cells, num_entries
from mdplay.playing.formats import ForeignFormat, from_the_start
from mdplay.playing.records import Record
from mdplay.storage.arrays import load, mapped, save
from mdplay.storage.files import replacing

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


KIND = "network"
LAYOUT = 1
TYPES = {"weights": "float32", "coherence": "float32", "scores": "int32", "tiles": "uint8", "moves": "int32"}
TYPES |= compact.TYPES
MAX_CELLS = 16  # of a board, a nibble each


def save_network(
    path: str | Path, network: Network, arrays: Mapping[str, NDArray[Any]] | None = None, meta: Any = None
) -> None:
    """Write a network, with further arrays and words of its owner."""
    save(path, {"weights": network.weights, **(arrays or {})}, kind=KIND, meta={**(meta or {}), **_words(network)})


def save_compact(path: str | Path, network: Network) -> None:
    """Write a network alone, rounded, in a fraction of the room: to play by, not to learn on."""
    game = game_of(network)
    known = {"rules": game_identity(game), "cells": cells_identity(game)}
    save(path, compact.packed(network.weights), kind=KIND, meta={**_words(network), **known})


def _words(network: Network) -> dict[str, Any]:
    game = game_of(network)
    board = {"rows": game.rows, "cols": game.cols, "patterns": patterns_text(network.tuples)}
    return {"layout": LAYOUT, "before": network.before, **board}


def game_of(network: Network) -> Twenty48:
    """Return the game that a network of 2048 knows."""
    game = network.game
    assert isinstance(game, Twenty48)
    return Twenty48(game.rows, game.cols)


def load_network(path: str | Path) -> tuple[Network, dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a network, its owner's arrays and words.  Whole weights are a read-only view of the mapped file."""
    stored = load(path, kind=KIND, types=TYPES)
    patterns, board = _patterns_of(path, stored.meta), board_for(stored.meta["rows"], stored.meta["cols"])
    weights = compact.weights_of(path, stored.arrays, num_entries(board, patterns, packed=True))
    return Network.of(board, patterns, weights, before=bool(stored.meta.get("before"))), stored.arrays, stored.meta


def _patterns_of(path: str | Path, meta: dict[str, Any]) -> tuple[Cells, ...]:
    if meta.get("layout") != LAYOUT:
        raise FormatError(f"{path} has layout {meta.get('layout')}; this version of mdplay reads layout {LAYOUT}")
    rows, cols = meta.get("rows"), meta.get("cols")
    if type(rows) is not int or type(cols) is not int or min(rows, cols) < 1 or not 1 < rows * cols <= MAX_CELLS:
        raise FormatError(f"{path} is damaged: its board has {rows!r:.40} x {cols!r:.40} cells")
    try:
        return parse_patterns(meta["patterns"], rows, cols)
    except MdplayError as error:
        raise FormatError(f"{path} is damaged: its patterns cannot be read ({error})") from None
    except (KeyError, TypeError, AttributeError):
        raise FormatError(f"{path} is damaged: its patterns are missing or no text") from None


def read_network(path: str | Path) -> Network:
    """Read a network in any of the formats, by the file's ending, or raise FormatError."""
    kind = Path(path).suffix
    if kind in READERS:
        return READERS[kind](Path(path))
    return load_network(path)[0]


def write_network(path: str | Path, network: Network) -> None:
    """Write a network in the format of the file's ending: .w, .bin, or our own."""
    kind = Path(path).suffix
    if kind not in WRITERS:
        save_network(path, network)
        return
    if game_of(network) != Twenty48():
        raise FormatError(f"{path}: files of type {kind} hold networks of the 4 x 4 board only")
    with replacing(path) as file:
        for piece in WRITERS[kind](network):
            file.write(piece)


# ---------------------------------------------------------------- the formats of others
class _Reader:
    """A file read piece by piece; whatever is missing becomes a FormatError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._content = mapped(path)
        self._at = 0

    def numbers(self, layout: str) -> tuple[int, ...]:
        """Read integers in the notation of struct."""
        return struct.unpack(f"<{layout}", self.data(struct.calcsize(f"<{layout}")).tobytes())

    def data(self, size: int) -> NDArray[np.uint8]:
        """Read ``length`` bytes."""
        if not 0 <= size <= len(self._content) - self._at:
            raise FormatError(f"{self.path} is truncated or no network: {size} bytes are missing at {self._at}")
        self._at += size
        return np.asarray(self._content[self._at - size : self._at])

    def table(self, cells: str, entries: int, dtype: str) -> NDArray[np.float32]:
        """Read the weights of a pattern."""
        if entries != 16 ** len(cells):
            raise FormatError(f"{self.path}: a table of {entries} entries does not fit the pattern {cells!r}")
        return self.data(entries * np.dtype(dtype).itemsize).view(dtype).astype(np.float32)

    def end(self) -> None:
        """Check that nothing follows."""
        if self._at != len(self._content):
            raise FormatError(
                f"{self.path} is too long: its tables end at {self._at} of {len(self._content)} bytes"
            )


FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}
MAX_TABLES = 64


def _read_tdl(path: Path) -> Network:
    file = _Reader(path)
    kind, count = file.numbers("BI")
    if kind != 0 or not 1 <= count <= MAX_TABLES:
        raise FormatError(f"{path} is not a network of TDL2048")
    tables = {}
    for _ in range(count):
        kind, sign, width, _, size, entries = file.numbers("BIHHHQ")
        if kind != 4 or size not in FLOATS or width > 8:
            raise FormatError(f"{path} has a table of an unknown kind ({kind}, {width} cells, {size} bytes)")
        cells = f"{sign:0{width}x}"
        tables[cells] = file.table(cells, entries, FLOATS[size])
        while block := file.numbers("H")[0]:  # sums of temporal coherence, and the like
            file.data(block * file.numbers("Q")[0])
    file.end()
    return _assemble(path, tables)


def _read_demo(path: Path) -> Network:
    file = _Reader(path)
    (count,) = file.numbers("Q")
    if not 1 <= count <= MAX_TABLES:
        raise FormatError(f"{path} is not a network of TDL2048-Demo")
    tables = {}
    for _ in range(count):
        (length,) = file.numbers("I")
        name = file.data(min(length, 1000)).tobytes().decode("ascii", "replace")
        cells = (name.split() or [""])[-1]
        tables[cells] = file.table(cells, file.numbers("Q")[0], "<f4")
    file.end()
    return _assemble(path, tables)


def _assemble(path: Path, tables: Mapping[str, NDArray[np.float32]]) -> Network:
    try:
        network = Network.create(board_for(4, 4), parse_patterns(",".join(tables)))
    except (UnknownName, FormatError) as error:
        raise FormatError(f"{path}: {error}") from None
    for p, table in enumerate(tables.values()):
        network.set_table(p, table)
    return network


def _write_tdl(network: Network) -> Iterator[bytes]:
    names = patterns_text(network.tuples).split(",")
    yield struct.pack("<BI", 0, len(names))
    for p, name in enumerate(names):
        table = network.table(p)
        yield struct.pack("<BIHHHQ", 4, int(name, 16), len(name), 0, 4, table.size)
        yield table.astype("<f4").tobytes()
        yield struct.pack("<H", 0)


def _write_demo(network: Network) -> Iterator[bytes]:
    names = patterns_text(network.tuples).split(",")
    yield struct.pack("<Q", len(names))
    for p, name in enumerate(names):
        table, title = network.table(p), f"{len(name)}-tuple pattern {name}".encode()
        yield struct.pack("<I", len(title)) + title + struct.pack("<Q", table.size)
        yield table.astype("<f4").tobytes()


READERS = {".w": _read_tdl, ".bin": _read_demo}
WRITERS = {".w": _write_tdl, ".bin": _write_demo}


LETTERS = {move[0].upper(): move for move in MOVES}


class Runs(ForeignFormat):
    """Games as text: the first tiles, then a line for each move and the tile after it; an empty line ends a game.

        2@5 4@10
        L 2@0
        U 2@3

    L, R, U and D are the moves; 2@5 is a tile 2 on cell 5, cells counted row by row from 0.
    """

    ending: ClassVar[str] = ".2048"

    def dump(self, record: Record) -> str:
        """Return a game and the empty line that ends it."""
        words = [move if "@" in move else f"\n{move[0].upper()}" for move in from_the_start(record, "runs").moves]
        return " ".join(words).replace(" \n", "\n") + "\n\n"

    def load(self, text: str) -> list[Record]:
        """Return the games of a text."""
        games = [game for game in re.split(r"\n[ \t\r]*\n", text) if game.strip()]
        return [self.replayed(f"game {n}", [_move(n, w) for w in g.split()]) for n, g in enumerate(games, start=1)]


def _move(number: int, word: str) -> str:
    if "@" in word:
        return word
    if word.upper() not in LETTERS:
        raise FormatError(f"game {number}: {short(word)!r} is neither a move, L, R, U or D, nor a tile as 2@5")
    return LETTERS[word.upper()]
