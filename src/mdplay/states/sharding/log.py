"""What a shard has found, in two files that only grow: whoever was killed goes on from there.

    FOLDER/NUMBER.keys      the keys in the order in which they were found, 64-bit words
    FOLDER/NUMBER.rounds    a row a round: how far the shard was at its end, see `Progress`

The row of a round is written after its keys.  So keys of a round without a row belong to work that was cut off and
is done again.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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


ROW = len(Progress._fields) * WORD.itemsize


class Log:
    """The files of a shard; keys have so many words."""

    def __init__(self, folder: Path, number: int, words: int) -> None:
        self._keys, self._rounds = folder / f"{number}.keys", folder / f"{number}.rounds"
        self._words = words
        for path in (self._keys, self._rounds):
            path.touch()

    @property
    def rounds(self) -> int:
        """The number of rounds that were ended."""
        return self._rounds.stat().st_size // ROW

    def history(self) -> list[Progress]:
        """Return how far the shard was after each round."""
        rows = np.fromfile(self._rounds, WORD, self.rounds * len(Progress._fields))
        return [Progress(*row) for row in rows.reshape(-1, len(Progress._fields)).tolist()]

    def back_to(self, rounds: int) -> tuple[Progress, Keys]:
        """Forget what came after so many rounds; return how far the shard was then, and its keys."""
        progress = self.history()[rounds - 1] if rounds else Progress()
        size = progress.known * self._words
        if self._keys.stat().st_size < size * WORD.itemsize:
            raise FormatError(f"{self._keys} is truncated; remove its folder")
        for path, length in ((self._rounds, rounds * ROW), (self._keys, size * WORD.itemsize)):
            with path.open("r+b") as file:
                file.truncate(length)
        return progress, np.fromfile(self._keys, WORD, size)

    def append(self, keys: Keys, progress: Progress) -> None:
        """Write the new keys of a round, and its row."""
        for path, array in ((self._keys, keys), (self._rounds, np.array(progress, WORD))):
            with path.open("ab") as file:
                array.astype(WORD, copy=False).tofile(file)
