"""Tasks done a few at a time: sending one costs about a millisecond, so quick ones travel together.

How many travel together follows the clock; no answer depends on it.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from mdplay.errors import GameError, LimitError

QUICK_SECONDS, LONG_SECONDS = 0.05, 0.2  # a chunk that takes less is doubled, one that takes more is halved
MOST = 1024  # numbers in a chunk


class Outcome(NamedTuple):
    """What became of a chunk: the answers to its first numbers, and the error of the one after these."""

    answers: list[Any]
    error: BaseException | None
    seconds: float


class Job(NamedTuple):
    """What is to be done for each number."""

    task: Callable[..., Any]
    arguments: tuple[Any, ...]


def do_chunk(job: Job, numbers: Sequence[int]) -> Outcome:
    """Do the tasks of some numbers, up to the first that raises."""
    began, answers = time.perf_counter(), list[Any]()
    error: Exception | None = None
    try:
        for number in numbers:
            answers.append(job.task(number, *job.arguments))
    except MemoryError:
        error = LimitError(f"task {numbers[len(answers)]} needs more memory than a worker may use")
    except Exception as raised:
        error = raised
    return Outcome(answers, error, time.perf_counter() - began)


def sendable(outcome: Outcome) -> Outcome:
    """Return an outcome whose error can be sent: one that cannot is told in words."""
    if outcome.error is None:
        return outcome
    try:
        pickle.loads(pickle.dumps(outcome.error))
    except Exception:
        error = outcome.error
        return outcome._replace(error=GameError(f"a task raised {type(error).__name__}: {error}"))
    return outcome


class Feed:
    """Numbers handed out in order, a chunk at a time, until it is closed."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers, self._size, self._closed = iter(numbers), 1, False

    def __iter__(self) -> Iterator[list[int]]:
        return self

    def __next__(self) -> list[int]:
        chunk = [] if self._closed else list(islice(self._numbers, self._size))
        if not chunk:
            raise StopIteration
        return chunk

    def note(self, size: int, seconds: float) -> None:
        """Take note of how long a chunk took."""
        if seconds > LONG_SECONDS:
            self._size = max(1, min(self._size, size // 2))
        elif seconds < QUICK_SECONDS and size == self._size:
            self._size = min(MOST, 2 * size)

    def close(self) -> None:
        """Hand out no more."""
        self._closed = True
