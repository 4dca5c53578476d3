"""What runs in a worker process: chunks come through a pipe, outcomes go back.

Ctrl-C is for the driver, which ends its workers; when the driver is gone, a worker leaves, whatever it is at.

Large values in memory that all processes of a machine see: written once, read without a copy.

The value is pickled; its arrays go, as they are, into one piece of shared memory, one after the other.  The piece
is removed when its owner closes, or by multiprocessing's tracker when the owner was killed.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from threading import Thread
from typing import Any, NamedTuple

from mdplay.distributed.executor import Job, do_chunk, sendable
from mdplay.runtime.signals import own_process

ALIGNED = 64  # bytes: where an array may begin


class Shared(NamedTuple):
    """A value that lies in shared memory; ``seen`` reads it."""

    memory: str
    frame: bytes  # the pickle without its arrays
    spans: tuple[tuple[int, int], ...]  # where each array begins and ends


def put(value: Any) -> tuple[Shared, SharedMemory]:
    """Write a value into a new piece of shared memory; who called removes it in the end."""
    buffers: list[pickle.PickleBuffer] = []
    frame = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    spans, end = [], 0
    for buffer in buffers:
        begin = -(-end // ALIGNED) * ALIGNED
        end = begin + buffer.raw().nbytes
        spans.append((begin, end))
    memory = SharedMemory(create=True, size=max(1, end))
    for buffer, (begin, stop) in zip(buffers, spans, strict=True):
        view(memory)[begin:stop] = buffer.raw()
    return Shared(memory.name, frame, tuple(spans)), memory


@lru_cache(maxsize=64)
def seen(shared: Shared) -> Any:
    """Return a shared value; its arrays are views of the shared memory, and cannot be written."""
    bytes_of = view(_attached(shared.memory)).toreadonly()
    return pickle.loads(shared.frame, buffers=[bytes_of[begin:end] for begin, end in shared.spans])


def view(memory: SharedMemory) -> memoryview:
    """Return the bytes of shared memory that was not closed."""
    assert memory.buf is not None
    return memory.buf


class _Attached(SharedMemory):
    """Memory of another process, which stays open as long as this one: its arrays may be in use to the end."""

    def close(self) -> None:
        """Close it, unless an array still looks at it; then the system does when the process ends."""
        with suppress(BufferError):
            super().close()


@cache
def _attached(name: str) -> SharedMemory:
    return _Attached(name)


def work(pipe: Connection[Any, Any], memory: int | None) -> None:
    """Do chunks until the pipe is closed; ``memory`` is what may be used, in bytes."""
    own_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()
    limit_memory(memory)
    job = Job(print, ())
    try:
        while True:
            told, numbers = pipe.recv()
            if told is not None:  # else as before
                job = _told(told)
            pipe.send(sendable(do_chunk(job, numbers)))
    except (EOFError, OSError):  # the driver has closed, or is gone
        os._exit(0)  # views of shared memory would complain about an end in order


def _told(pickled: bytes) -> Job:
    task, arguments = pickle.loads(pickled)
    return Job(task, tuple(seen(one) if isinstance(one, Shared) else one for one in arguments))


OBJECTS: dict[int, Any] = {}  # the actors of this process, by their numbers


def call_object(
    number: int,
    make: Callable[..., Any],
    arguments: tuple[Any, ...],
    method: str,
    given: tuple[Any, ...] | dict[int, tuple[Any, ...]],
) -> Any:
    """Call a method of an actor, which is made if it is not there: the task of a worker that has actors.

    ``given`` are the method's arguments, or those of each actor by its number.
    """
    if number not in OBJECTS:
        OBJECTS[number] = make(number, *arguments)
    return getattr(OBJECTS[number], method)(*(given[number] if isinstance(given, dict) else given))


def _follow_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def limit_memory(memory: int | None) -> None:
    """Let this process use at most so many bytes of its own, where the system sees to it; None: all it may."""
    if os.name != "posix":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard if memory is None else memory, hard))
