"""The base class of executors, and the serial executor.

Sending a task costs about a millisecond, so quick tasks travel together in chunks.  The size of a chunk follows
the clock; no answer depends on it.

Answers of finished tasks can be saved, a file each, so that a run whose driver died is resumed:

    FOLDER/IDENTITY/NUMBER.shard      (mdplay.storage.arrays) the arrays of the answer, the identity and the number

A file is written whole or not at all.  The task of a file that is damaged or belongs to other work is done
again.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any, NamedTuple, Self, TypeVar

from numpy import ndarray

from mdplay import FormatError, GameError, LimitError
from mdplay.runtime.executors import Actors, Keep, Show
from mdplay.runtime.signals import defer_exit
from mdplay.storage import arrays as store
from mdplay.storage.files import make_folder


class Addressed(NamedTuple):
    """Parts from each actor to each."""

    parts: list[list[Any]]

    def to(self, number: int) -> list[Any]:
        """Return the parts for an actor, in the order of those who sent them."""
        return [row[number] for row in self.parts]


def delivered(arguments: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """Return the arguments as an actor gets them: of what is addressed, its own."""
    return tuple(one.to(number) if isinstance(one, Addressed) else one for one in arguments)


class SerialActors:
    """Actors (``mdplay.runtime.executors.Actors``) in this process."""

    def __init__(self, make: Callable[..., Any], count: int, arguments: tuple[Any, ...]) -> None:
        self._objects = [make(number, *arguments) for number in range(count)]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each."""
        return [getattr(one, method)(*delivered(arguments, number)) for number, one in enumerate(self._objects)]

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a pair."""
        pairs = self.call(method, *arguments)
        return [large for large, _ in pairs], [small for _, small in pairs]

    def scatter(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a list of parts, one for each actor, and something small."""
        parts, smalls = self.exchange(method, *arguments)
        return Addressed(parts), smalls

    def fetch(self, held: Any) -> list[Any]:
        """Return the first parts of an exchange."""
        return list(held)

    def close(self) -> None:
        """Let them go."""
        self._objects = []


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
    """Return an outcome whose error can be sent: one that cannot is replaced by its message."""
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
        with defer_exit():
            store.save(self._folder / f"{number}.shard", answer, kind=KIND, meta=self._words(number))

    def _words(self, number: int) -> dict[str, Any]:
        return {"identity": self._identity, "number": number}


T = TypeVar("T")
Ended = Generator[tuple[list[int], Outcome], None, None]


class Executor(ABC):
    """An executor (``mdplay.runtime.executors.Executor``), and a context manager that closes it."""

    workers = 1

    @abstractmethod
    def _chunks(self, job: Job, feed: Feed) -> Ended:
        """Do the chunks of a feed and yield each as it ends; closing the generator cancels the rest."""

    def run(
        self, task: Callable[..., T], numbers: Iterable[int], *arguments: Any, done: Callable[[int, T], None]
    ) -> None:
        """Do a task for each number; ``done(number, answer)`` is called in this thread as they end."""
        feed, failed = Feed(numbers), dict[int, BaseException]()
        with closing(self._chunks(Job(task, arguments), feed)) as ended:
            for chunk, outcome in ended:
                feed.note(len(chunk), outcome.seconds)
                for number, answer in zip(chunk, outcome.answers, strict=False):
                    done(number, answer)
                if outcome.error is not None:
                    feed.close()
                    failed[chunk[len(outcome.answers)]] = outcome.error
        if failed:
            raise failed[min(failed)]

    def map(
        self,
        task: Callable[..., T],
        numbers: Iterable[int],
        *arguments: Any,
        keep: Keep | None = None,
        show: Show | None = None,
    ) -> list[T]:
        """Return the answers in the order of the numbers; what is kept already is not asked for again."""
        wanted = list(numbers)
        kept = None if keep is None else Kept(keep)
        found: dict[int, Any] = {} if kept is None else kept.load(wanted)

        def done(number: int, answer: T) -> None:
            if kept is not None:
                kept.save(number, answer)
            found[number] = answer
            if show is not None:
                show(len(found))

        self.run(task, [number for number in wanted if number not in found], *arguments, done=done)
        return [found[number] for number in wanted]

    def actors(self, make: Callable[..., Any], count: int, *arguments: Any) -> Actors:
        """Let workers make objects and keep them; here they are made in this process."""
        return SerialActors(make, count, arguments)

    def share(self, value: Any) -> Any:
        """Return what stands for a large value among the arguments."""
        return value

    @abstractmethod
    def close(self) -> None:
        """End the workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Serial(Executor):
    """One task after the other, in this thread."""

    def _chunks(self, job: Job, feed: Feed) -> Ended:
        for chunk in feed:
            yield chunk, do_chunk(job, chunk)

    def close(self) -> None:
        """There are no workers to end."""
