"""Executors run numbered tasks in this process, in other processes or on other machines.

    serial          one task after the other, in this process
    processes       worker processes of this machine; a worker that dies is replaced, and its task is repeated
    ray             workers of Ray on this machine
    ray:ADDRESS     workers of a running Ray cluster

A task is a module-level function ``task(number, *arguments)``.  It depends on its number and its arguments only,
and its random numbers are seeded by the number.  The results are therefore identical, byte for byte, for every
executor, number of workers and order of completion, and a task can be repeated.

Functions take ``executor: Executor | str``; `mdplay.distributed` implements the executors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from mdplay.naming.registry import load_attribute

T = TypeVar("T")
Show = Callable[[int], None]
DRIVERS = {  # functions of mdplay.distributed by what they do, loaded when an executor is used
    "open": "mdplay.distributed:open_executor",
    "solve": "mdplay.distributed.layers:solve_layers",
    "plan": "mdplay.distributed.planning:plan_sharded",
    "learn": "mdplay.distributed.training:spread",
}
WORDS = "serial, processes, ray or ray:ADDRESS"  # as a user may name an executor


class Keep(NamedTuple):
    """Where the answers of finished tasks are saved, with the question they answer, so that a run can resume."""

    folder: Path
    identity: str


class Executor(Protocol):
    """Runs numbered tasks."""

    workers: int

    def run(
        self, task: Callable[..., T], numbers: Iterable[int], *arguments: Any, done: Callable[[int, T], None]
    ) -> None:
        """Do a task for each number; ``done(number, answer)`` is called in this thread as they end.

        When a task raises, no further one is begun, and the error of the smallest number is raised.
        """

    def map(
        self,
        task: Callable[..., T],
        numbers: Iterable[int],
        *arguments: Any,
        keep: Keep | None = None,
        show: Show | None = None,
    ) -> list[T]:
        """Return the answers in the order of the numbers; ``show`` is called with their number.

        Answers that are dicts of arrays can be kept: they are saved as they arrive, and not computed again.
        """

    def share(self, value: Any) -> Any:
        """Return what stands for a large value among the arguments: each worker sees it once, and read-only."""

    def actors(self, make: Callable[..., Any], count: int, *arguments: Any) -> Actors:
        """Let workers make ``make(number, *arguments)`` for each number below ``count``, and keep them."""

    def close(self) -> None:
        """End the workers."""


class Actors(Protocol):
    """Objects that live in workers.  One whose worker dies is made again, and does again what it was at.

    So it must be able to: what it is comes from its number and arguments; what calls have left in it may be gone.
    """

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each with the same arguments, side by side, and return the answers in order."""

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method that answers a pair; return what stands for the first parts, and the second ones.

        The first parts may be large: they stay where they are, and go from worker to worker when what stands for
        them is an argument of a later call, where it is the list of them all.
        """

    def scatter(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method that answers a list of parts, one for each actor, and something small.

        As in ``exchange`` the parts stay where they are; in a later call each actor gets the list of those for it.
        """

    def fetch(self, held: Any) -> list[Any]:
        """Return the first parts of an exchange."""

    def close(self) -> None:
        """End them."""


def driver(verb: str) -> Any:
    """Return the function of `mdplay.distributed` that does the work of a verb on an executor."""
    return load_attribute(DRIVERS[verb])


@contextmanager
def using(executor: Executor | str, workers: int | None = None) -> Iterator[Executor]:
    """Give the executor that a text names, and end its workers at the end; an executor itself goes on as it is."""
    if not isinstance(executor, str):
        yield executor
        return
    opened: Executor = driver("open")(executor, workers)
    try:
        yield opened
    finally:
        opened.close()
