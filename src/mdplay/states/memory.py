"""How much memory there is, and the sentence for work that would not fit into it."""

from __future__ import annotations

import os
from pathlib import Path

from mdplay.errors import LimitError

SHARE = 0.8  # of the free memory that a table may take when nobody sets a limit
UNKNOWN = 4 << 30  # assumed where the system does not tell


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
    """Return the bytes that a table may take: what was asked for, or a share of what is free."""
    return int(SHARE * available()) if memory is None else memory


def in_words(size: float) -> str:
    """Return a number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


def require(needed: float, memory: int | None, what: str) -> None:
    """Raise LimitError unless so many bytes fit."""
    limit = budget(memory)
    if needed > limit:
        given = f"{in_words(needed)} of memory; {in_words(limit)} may be used"
        raise LimitError(f"{what} would need {given}, and mdplay search needs no table")
