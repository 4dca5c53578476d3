"""Arrays for tables: zeros of float32 where the cache and the system like them, or a sentence."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import LimitError

ALIGNED = 128  # bytes: two cache lines, which are fetched together


def new_floats(*shape: int) -> NDArray[np.float32]:
    """Return zeros of float32, or raise LimitError where the memory cannot hold them."""
    size = 4 * int(np.prod(shape, dtype=np.int64))
    if size > free_memory():
        raise LimitError(f"the tables need {size / 2**30:.1f} GiB, more memory than is free; use fewer cells")
    count = size // 4
    raw = np.zeros(count + ALIGNED // 4, np.float32)  # numpy asks for huge pages
    skip = -raw.ctypes.data % ALIGNED // 4
    return raw[skip : skip + count].reshape(shape)


def free_memory() -> int:
    """Return the bytes of memory that can be had, or a large number where nobody tells."""
    with suppress(OSError, ValueError, IndexError):
        return 1024 * int(Path("/proc/meminfo").read_text().split("MemAvailable:")[1].split()[0])
    return 1 << 62
