"""Work beyond one process: the executors of ``mdplay.runtime.executors``, and the verbs that they run in shards.

executor.py     the base class of executors, serial     planning*.py            planning in shards of a model
processes.py    worker processes of this machine        states.py, layers.py    enumerating and solving in shards
on_ray.py       Ray, here or on a cluster               training.py             learning by several workers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdplay import UnknownName
from mdplay.errors import check_integer, short
from mdplay.runtime.executors import WORDS
from mdplay.runtime.threads import num_threads

if TYPE_CHECKING:
    from mdplay.distributed.executor import Executor

__all__ = ["open_executor"]


def open_executor(text: str, workers: int | None = None, *, memory: int | None = None) -> Executor:
    """Return the executor that a text names, with ``workers`` workers, by default one for each core.

    ``memory`` limits each worker, in bytes; a task that needs more raises LimitError.  Close the executor, or use
    it in a ``with`` block.
    """
    name, colon, address = text.partition(":")
    if workers is not None:
        check_integer("workers", workers)
    if text == "serial":
        from mdplay.distributed.executor import Serial

        return Serial()
    if text == "processes":
        from mdplay.distributed.processes import Processes

        return Processes(num_threads(workers), memory)
    if name == "ray" and bool(colon) == bool(address):
        from mdplay.distributed.on_ray import OnRay

        return OnRay(address or None, workers, memory)
    player = "a program that plays is the agent engine:COMMAND"
    raise UnknownName(f"no executor {short(text)!r}; choose {WORDS}; {player}")
