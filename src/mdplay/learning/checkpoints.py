"""Checkpoints of a training: written now and then, at the end and when the user stops; never half.

A training is anything that can ``save`` itself to a path.  Saving takes a twentieth of the time at most.  `Budget`
tells how long a run of a training is, and where the points of its curve are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mdplay.errors import FormatError
from mdplay.runtime.signals import StillRunning, defer_exit

FIRST_BLOCK, BLOCK_SECONDS = 64, 0.5  # episodes of the first run of a kernel; how long a run should take
POINTS = 10  # of the curve of a run
NO_END = 1 << 40  # episodes of a run whose end is told by the clock
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
                with defer_exit():
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


def check_settings(path: str | Path, settings: object, wanted: Mapping[str, Any]) -> None:
    """Raise FormatError where a training to go on with has not the settings that are asked for."""
    for name, value in wanted.items():
        if (has := getattr(settings, name)) != value:
            raise FormatError(f"{path} was learned with {name} {has}, not {value}; leave it out or start anew")


class Timed(Protocol):
    """A training, as far as a budget asks."""

    episodes: int
    seconds: float


@dataclass
class Budget:
    """How long a run is: so many episodes, or so many seconds of learning."""

    episodes: int | None
    seconds: float | None = None
    began: float = 0.0  # the seconds that the training had before
    every: int | None = None  # episodes from point to point of the curve; else the run has POINTS

    def share(self, training: Timed) -> float:
        """Return which part of the run is done."""
        if self.seconds is None:
            return training.episodes / (self.episodes or 1)
        return (training.seconds - self.began) / self.seconds

    def next_point(self, training: Timed) -> int:
        """Return the number of the point of the curve that comes next, from 1; beyond the last one at the end."""
        if self.every is not None:
            return training.episodes // self.every + 1
        if self.seconds is None:
            return training.episodes * POINTS // (self.episodes or 1) + 1
        return int(self.share(training) * POINTS) + 1

    def planned(self, training: Timed) -> int:
        """Return how many episodes the run will have in all, as far as that can be told."""
        if self.seconds is None:
            return self.episodes or 1
        share = self.share(training)
        return int(training.episodes / share) + 1 if share > 0 else NO_END

    def block(self, training: Timed, point: int, most: int | None = None) -> int:
        """Return how many episodes to learn before the clock is asked again, at most up to the next point.

        ``most``: so many unless the point comes sooner; else as many as take a while.
        """
        speed = training.episodes / training.seconds if training.seconds else 0.0
        count = most or max(FIRST_BLOCK, int(speed * BLOCK_SECONDS))
        return max(1, min(count, self._until(training, point, speed)))

    def _until(self, training: Timed, point: int, speed: float) -> int:
        """Return how many episodes there are up to a point or the end, whichever is first."""
        points = POINTS if self.every is None else point  # with points of their own the end is no point
        left = -(-(self.episodes or 1) * point // points) - training.episodes
        if self.seconds is not None:
            left = int((self.seconds * point / points + self.began - training.seconds) * speed) or 1
        return left if self.every is None else min(left, point * self.every - training.episodes)
