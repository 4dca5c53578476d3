"""How much memory there is, the sentence for work that would not fit into it, and large arrays of it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import LimitError

SHARE = 0.8  # of the free memory that a table may take unless a limit is given
UNKNOWN = 4 << 30  # assumed where the system does not tell
ALIGNED = 128  # bytes: two cache lines, which are fetched together


def available() -> int:
    """Return the bytes of memory that are free for new data."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return UNKNOWN


def budget(memory: int | None) -> int:
    """Return the bytes that a table may take: the requested limit, or a share of the free memory."""
    return int(SHARE * available()) if memory is None else memory


def format_bytes(size: float) -> str:
    """Return a number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


def require(needed: float, memory: int | None, what: str) -> None:
    """Raise LimitError unless ``needed`` bytes fit into ``memory`` (default: most of the free memory)."""
    limit = budget(memory)
    if needed > limit:
        given = f"{format_bytes(needed)} of memory; {format_bytes(limit)} may be used"
        raise LimitError(f"{what} would need {given}, and mdplay search needs no table")


def new_floats(*shape: int) -> NDArray[np.float32]:
    """Return zeros that begin at a cache line, or raise LimitError where the memory cannot hold them."""
    size = 4 * int(np.prod(shape, dtype=np.int64))
    if size > available():
        raise LimitError(f"the tables need {size / 2**30:.1f} GiB, more memory than is free; use fewer cells")
    count = size // 4
    raw = np.zeros(count + ALIGNED // 4, np.float32)  # numpy asks for huge pages
    skip = -raw.ctypes.data % ALIGNED // 4
    return raw[skip : skip + count].reshape(shape)
