"""Large values in memory that all processes of a machine see: written once, read without a copy.

The value is pickled; its arrays go, as they are, into one piece of shared memory, one after the other.  The piece
is removed when its owner closes, or by multiprocessing's tracker when the owner was killed.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from functools import cache, lru_cache
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple

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
