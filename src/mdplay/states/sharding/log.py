"""What a shard has found, in two files that only grow: whoever was killed goes on from there.

    FOLDER/NUMBER.keys      the keys in the order in which they were found, 64-bit words
    FOLDER/NUMBER.rounds    a row a round: how far the shard was at its end, see `Progress`, and a checksum

The row of a round is written after its keys.  So keys of a round without a row belong to work that was cut off and
is done again.  The checksum of a row is the CRC of all keys until then and of the row: damaged files are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError

Keys = NDArray[np.int64]
WORD = np.dtype("<i8")


class Progress(NamedTuple):
    """How far a shard is at the end of a round."""

    known: int = 0  # states found
    done: int = 0  # of these, whose followers were found
    level: int = -1  # the plies from the start to the states at work
    level_end: int = 0  # the first state beyond them
    edges: int = 0  # of the states that are done


COLUMNS = len(Progress._fields) + 1  # the last one is the checksum
ROW = COLUMNS * WORD.itemsize


class Log:
    """The files of a shard; keys have so many words."""

    def __init__(self, folder: Path, number: int, words: int) -> None:
        self._keys, self._rounds = folder / f"{number}.keys", folder / f"{number}.rounds"
        self._words = words
        self._crc = 0  # of all keys of the rounds that were ended
        for path in (self._keys, self._rounds):
            path.touch()

    @property
    def rounds(self) -> int:
        """The number of rounds that were ended."""
        return self._rounds.stat().st_size // ROW

    def history(self) -> list[Progress]:
        """Return how far the shard was after each round."""
        return [Progress(*row[:-1]) for row in self._rows()]

    def _rows(self) -> list[list[int]]:
        rows: list[list[int]] = (
            np.fromfile(self._rounds, WORD, self.rounds * COLUMNS).reshape(-1, COLUMNS).tolist()
        )
        return rows

    def back_to(self, rounds: int) -> tuple[Progress, Keys]:
        """Drop everything after round ``rounds``; return how far the shard was then, and its keys.

        Raise FormatError if a file is damaged.
        """
        rows = self._rows()[:rounds]
        progress = Progress(*rows[-1][:-1]) if rows else Progress()
        size = max((row[0] for row in rows), default=0) * self._words
        if not 0 <= size * WORD.itemsize <= self._keys.stat().st_size:
            raise self._damaged()
        keys = np.fromfile(self._keys, WORD, size)
        self._check(rows, keys)
        for path, length in ((self._rounds, rounds * ROW), (self._keys, size * WORD.itemsize)):
            with path.open("r+b") as file:
                file.truncate(length)
        return progress, keys

    def _check(self, rows: list[list[int]], keys: Keys) -> None:
        """Raise FormatError unless the keys and the rows are as they were written."""
        self._crc, begin = 0, 0
        for row in rows:
            end = row[0] * self._words
            self._crc, begin = crc32(keys[begin:end].data, self._crc), end
            if _checksum(row[:-1], self._crc) != row[-1]:
                raise self._damaged()

    def _damaged(self) -> FormatError:
        return FormatError(f"{self._keys} or {self._rounds.name} is damaged or truncated; remove its folder")

    def append(self, keys: Keys, progress: Progress) -> None:
        """Write the new keys of a round, and its row."""
        written = np.ascontiguousarray(keys, WORD)
        self._crc = crc32(written.data, self._crc)
        row = np.array([*progress, _checksum(progress, self._crc)], WORD)
        for path, array in ((self._keys, written), (self._rounds, row)):
            with path.open("ab") as file:
                array.tofile(file)


def _checksum(progress: Iterable[int], crc: int) -> int:
    return crc32(np.array(list(progress), WORD).data, crc)
