"""What runs in a worker process: chunks come through a pipe, outcomes go back.

Ctrl-C is for the driver, which ends its workers; when the driver is gone, a worker leaves, whatever it is at.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from mdplay.cluster.chunks import Job, do_chunk, sendable
from mdplay.cluster.sharing import Shared, seen


def work(pipe: Connection[Any, Any], memory: int | None) -> None:
    """Do chunks until the pipe is closed; ``memory`` is what may be used, in bytes."""
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
