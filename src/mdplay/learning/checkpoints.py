"""Checkpoints of a training: written now and then, at the end and when the user stops; never half.

A training is anything that can ``save`` itself to a path.  Saving takes a twentieth of the time at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from mdplay.errors import FormatError
from mdplay.stopping import StillRunning, finishing

SAVE_SHARE = 20  # saving takes at most one part in so many of the time


class Saved(Protocol):
    """What can be kept."""

    def save(self, path: str | Path) -> None:
        """Write everything to a file, atomically."""


T = TypeVar("T", bound=Saved)


class Checkpoints:
    """When a training is written to its file; without a path nothing is written."""

    def __init__(self, training: Saved, path: str | Path | None, seconds: float) -> None:
        self._training, self._path, self._seconds = training, path, seconds
        self._wait, self._saved = seconds, time.monotonic()

    def save_if_due(self) -> None:
        """Write a checkpoint if the last one is old enough, and saving is not too slow for that."""
        if self._path is None or time.monotonic() - self._saved < self._wait:
            return
        began = time.monotonic()
        self._training.save(self._path)
        self._saved = time.monotonic()
        self._wait = max(self._seconds, SAVE_SHARE * (self._saved - began)) if self._seconds else 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write the checkpoint before a run and, however it ends, after it.

        A path that cannot be written is better known at once.  Where a kernel still writes into the weights the
        last checkpoint stays.
        """
        if self._path is not None:
            self._training.save(self._path)
            self._saved = time.monotonic()
        try:
            yield
        except StillRunning:
            self._path = None
            raise
        finally:
            if self._path is not None:
                with finishing():
                    self._training.save(self._path)


def begin_or_resume(
    file: str | Path | None, again: bool, begin: Callable[[], T], resume: Callable[[str | Path], T]
) -> T:
    """Return a new training, or that of the file to go on with; never one that would overwrite another."""
    if again and file is None:
        raise FormatError("resume needs a file to go on from")
    if file is not None and Path(file).exists():
        if again:
            return resume(file)
        raise FormatError(f"{file} is already there; resume it, or name another file")
    return begin()
