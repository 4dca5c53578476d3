"""How long a run of a training is, and where the points of its curve are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

FIRST_BLOCK, BLOCK_SECONDS = 64, 0.5  # episodes of the first run of a kernel; how long a run should take
POINTS = 10  # of the curve of a run
NO_END = 1 << 40  # episodes of a run whose end is told by the clock


class Timed(Protocol):
    """A training, as far as a budget asks."""

    episodes: int
    seconds: float


@dataclass
class Budget:
    """How long a run is: so many episodes, or so many seconds of learning."""

    episodes: int | None
    seconds: float | None
    began: float = 0.0  # the seconds that the training had before

    def share(self, training: Timed) -> float:
        """Return which part of the run is done."""
        if self.seconds is None:
            return training.episodes / (self.episodes or 1)
        return (training.seconds - self.began) / self.seconds

    def next_point(self, training: Timed) -> int:
        """Return the number of the point of the curve that comes next, from 1 to POINTS; beyond it at the end."""
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
        if self.seconds is not None:
            left = (self.seconds * point / POINTS + self.began - training.seconds) * speed
            return max(1, min(count, int(left) or 1))
        return max(1, min(count, -(-(self.episodes or 1) * point // POINTS) - training.episodes))
