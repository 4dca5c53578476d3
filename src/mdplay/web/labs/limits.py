"""The time limit of the labs."""

from __future__ import annotations

import time
from typing import Any

from mdplay.errors import LimitError
from mdplay.web.work.jobs import Job


class Deadline:
    """The ``show`` of a job that may take so long and no more."""

    def __init__(self, job: Job, seconds: float) -> None:
        self._job, self._until, self._seconds = job, time.monotonic() + seconds, seconds

    def __call__(self, *_: Any) -> None:
        """Raise when the client has gone or the time is up."""
        self._job.check()
        if time.monotonic() > self._until:
            raise LimitError(f"this takes longer than the {self._seconds:.0f} seconds that the page allows")
