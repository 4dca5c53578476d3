"""What all engines do, and the one that needs nobody else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from typing import Any, Self, TypeVar

from mdplay.cluster.actors import SerialActors
from mdplay.cluster.chunks import Feed, Job, Outcome, do_chunk
from mdplay.cluster.keeping import Kept
from mdplay.engines import Actors, Keep, Show

T = TypeVar("T")
Ended = Generator[tuple[list[int], Outcome], None, None]


class Executor(ABC):
    """An engine (``mdplay.engines.Engine``), and a context manager that closes it."""

    workers = 1

    @abstractmethod
    def _chunks(self, job: Job, feed: Feed) -> Ended:
        """Do the chunks of a feed and yield each as it ends; whoever closes this leaves the rest undone."""

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
        """There is nobody to end."""
