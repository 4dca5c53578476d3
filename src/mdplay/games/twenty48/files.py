"""Network files: our own, and those of TDL2048 and its demonstration program.

Our own (``.safetensors``) is a ``mdplay.storage.arrays`` file of kind ``network``: the array ``weights`` in the
order of ``PackedTuples`` (the number LAYOUT names that order), the board and the patterns, and whatever the
training adds.  A shipped one has its weights packed (mdplay.learning.compact) and tells the identity of its rules.

TDL2048 (``.w``), little-endian:        u8 0 | u32 number of tables | the tables
    a table      u8 4 | u32 pattern, its cells as hexadecimal digits | u16 cells | u16 0 | u16 bytes a weight
                 | u64 entries | weights | then blocks of u16 bytes | u64 entries | data, until u16 0
TDL2048-Demo (``.bin``), little-endian: u64 number of tables | the tables
    a table      u32 length | name, whose last word is the pattern's cells | u64 entries | float32 weights

In both the first cell of a pattern is the lowest nibble of the index, as in ``Network.table``.  Sums of temporal
coherence in a ``.w`` file are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling.identity import cells_identity, game_identity
from mdplay.errors import FormatError, MdplayError, UnknownName
from mdplay.games.twenty48.patterns import board_for, parse_patterns, patterns_text
from mdplay.games.twenty48.rules import Twenty48
from mdplay.learning import compact
from mdplay.learning.network import Network
from mdplay.learning.tuples import Cells, num_entries
from mdplay.storage.arrays import load, mapped, save
from mdplay.storage.files import replacing

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
        """Read so many bytes."""
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
