"""Answers of finished tasks in files, a file each, so that a run whose driver died goes on where it was.

    FOLDER/IDENTITY/NUMBER.shard      (mdplay.store) the arrays of the answer; identity and number once more inside

A file is written whole or not at all.  One that is damaged or of other work counts as not there: its task is done
again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from numpy import ndarray

from mdplay import store
from mdplay.engines import Keep
from mdplay.errors import FormatError
from mdplay.files import make_folder
from mdplay.stopping import finishing

KIND = "shard"


class Kept:
    """The answers that a folder has, and those to come."""

    def __init__(self, keep: Keep) -> None:
        self._identity = hashlib.sha256(keep.identity.encode()).hexdigest()
        self._folder = make_folder(keep.folder / self._identity[:16])

    def load(self, numbers: Iterable[int]) -> dict[int, Any]:
        """Return the answers to these numbers that are there."""
        found = {}
        for number in numbers:
            with suppress(FormatError):
                stored = store.load(self._folder / f"{number}.shard", kind=KIND)
                if stored.meta == self._words(number):
                    found[number] = stored.arrays
        return found

    def save(self, number: int, answer: Any) -> None:
        """Write an answer."""
        if not isinstance(answer, dict) or not all(isinstance(array, ndarray) for array in answer.values()):
            raise FormatError(f"the answer of task {number} is no dict of arrays: it cannot be kept")
        with finishing():
            store.save(self._folder / f"{number}.shard", answer, kind=KIND, meta=self._words(number))

    def _words(self, number: int) -> dict[str, Any]:
        return {"identity": self._identity, "number": number}
