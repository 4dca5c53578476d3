"""A strategy for Qubic as a book: what to play where threats alone do not win.

A line a position, the attacker to move: ``attacker defender cell``, the marks as decimal bit masks, cell =
x + 4y + 16z.  Any symmetric image of a position may be stored.  What is not in the book must fall to threats.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import Words
from mdplay.errors import FormatError
from mdplay.games.qubic.rules import Qubic
from mdplay.storage.files import write

SHIPPED = "book.txt.gz"
GAME = Qubic()
Words = Words


@dataclass(frozen=True)
class StrategyBook:
    """The positions of a book, row by row, and the cell to play in each."""

    attackers: Words
    defenders: Words
    cells: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cells)

    def text(self) -> str:
        """Return the book as lines."""
        rows = zip(self.attackers.tolist(), self.defenders.tolist(), self.cells.tolist(), strict=True)
        return "".join(f"{attacker} {defender} {cell}\n" for attacker, defender, cell in rows)

    @cached_property
    def moves(self) -> dict[tuple[int, int], int]:
        """The cell to play in each position of the book, under the least of its images."""
        attackers, defenders, turns = least_images(self.attackers, self.defenders)
        cells = np.array(GAME.images)[turns, self.cells]
        positions = zip(attackers.tolist(), defenders.tolist(), strict=True)
        return dict(zip(positions, cells.tolist(), strict=True))

    def move(self, attacker: int, defender: int) -> int | None:
        """Return the cell to play in a position, or None if no image of it is in the book."""
        mine, theirs, turns = least_images(*(np.array([marks], np.uint64) for marks in (attacker, defender)))
        cell = self.moves.get((int(mine[0]), int(theirs[0])))
        return None if cell is None else GAME.images[int(turns[0])].index(cell)


@lru_cache(maxsize=1)
def image_tables() -> Words:
    """Return for each symmetry and byte of a mask where the cells go, as [symmetry, byte, value]."""
    bits = np.arange(256)[:, None] >> np.arange(8) & 1  # [value, bit]
    weights = np.uint64(1) << np.array(GAME.images, np.uint64).reshape(192, 8, 8)  # [symmetry, byte, bit]
    return np.asarray((bits.astype(np.uint64) * weights[:, :, None, :]).sum(axis=3, dtype=np.uint64))


def turned(marks: Words, k: int) -> Words:
    """Return where symmetry k takes masks."""
    table, bytes_of = image_tables()[k], marks.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.asarray(np.bitwise_or.reduce([table[i, bytes_of[:, i]] for i in range(8)]))


def least_images(attackers: Words, defenders: Words) -> tuple[Words, Words, NDArray[np.int64]]:
    """Return the least image of each position, attacker first, and a symmetry that leads to it."""
    mine, theirs, turns = attackers.copy(), defenders.copy(), np.zeros(len(attackers), np.int64)
    for k in range(1, len(GAME.images)):
        image, other = turned(attackers, k), turned(defenders, k)
        less = (image < mine) | (image == mine) & (other < theirs)
        mine[less], theirs[less], turns[less] = image[less], other[less], k
    return mine, theirs, turns


def write_book(path: str | Path, book: StrategyBook) -> None:
    """Write a book, whole or not at all; a name that ends in .gz is compressed."""
    data = book.text().encode()
    write(path, gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def parse_book(data: bytes, name: str) -> StrategyBook:
    """Return the book of a text, or raise FormatError that names the line."""
    rows = []
    for number, line in enumerate(data.splitlines(), start=1):
        words = line.split()
        if len(words) != 3 or not all(
            word.isdigit() and len(word) <= 20 and int(word) < 1 << 64 for word in words
        ):
            raise FormatError(f"{name}, line {number}: give attacker, defender and cell as decimal numbers")
        rows.append([int(word) for word in words])
    table = np.array(rows, np.uint64).reshape(-1, 3)
    return StrategyBook(table[:, 0], table[:, 1], table[:, 2].astype(np.int64))


@lru_cache(maxsize=1)
def shipped_book() -> StrategyBook:
    """Return the book that comes with mdplay: it was proved and verified by the commands of the same names."""
    return parse_book(gzip.decompress((files("mdplay.games.qubic") / SHIPPED).read_bytes()), SHIPPED)
