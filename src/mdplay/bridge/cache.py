"""Compiled kernels on disk, in a folder of the user's own.

One file an entry, named by all that its machine code depends on: the kernel's fingerprint, the argument types
(a game's type carries its fingerprint), the sources of the bridge, the processor, the versions of mdplay, Python,
numba, llvmlite and numpy, and the settings of numba such as the optimisation level.
So there is no index to race for, no entry is ever stale, and two processes may write at once.  numba's own
cache stamps a function's file only, not the helpers it calls (numba #8396), and shares one index.

    <cache>/kernels/sample-81c5..-2f9c....bin        sha256 of its name and of the rest | a pickled CompileResult

A kernel file is executed when it is loaded.  So the folder must be the user's own and closed to others
(``mdplay.folders``), and nothing is unpickled before its checksum is right: a damaged file is removed and the
kernel compiled again.  An entry that nobody used for ``KEEP_DAYS`` days is removed when a new one is written.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from types import FunctionType

from mdplay.bridge.fingerprint import UNKNOWN, function_fingerprint
from mdplay.bridge.plain import BOUNDS
from mdplay.digest import Unhashable
from mdplay.folders import cache_folder, is_own, private_folder

KEEP_DAYS = 90
PART_DAYS = 0.1  # what a killed writer left is removed after so long
SUFFIX, PART = ".bin", ".part"
CHECKSUM = 32  # bytes


def kernels_folder() -> Path:
    """Return the folder of the compiled kernels."""
    return cache_folder() / ("checked-kernels" if BOUNDS else "kernels")


@cache
def trusted_folder(folder: Path) -> Path | None:
    """Return the folder if kernels may be loaded from it and written to it; else None, with one warning."""
    return private_folder(folder, "compiled kernels")


def folder_of_kernels() -> Path | None:
    """Return the folder of the compiled kernels if it may be used."""
    return trusted_folder(kernels_folder())


def entries() -> Iterator[Path]:
    """Yield the files of all compiled kernels."""
    yield from kernels_folder().glob(f"*{SUFFIX}")


def stem(function: FunctionType, identities: Iterable[str]) -> str:
    """Return how the names of a kernel's files begin that were made for these games and selectors.

    A look at the folder then tells what is probably kept, before numba is imported; the whole name decides.
    """
    try:
        key = repr((function_fingerprint(function)[0], list(identities)))
    except Unhashable:
        key = UNKNOWN
    return f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:12]}-"


def is_kept(function: FunctionType, identities: Iterable[str]) -> bool:
    """Tell whether a kernel was compiled for these games and selectors before; the versions may have changed."""
    folder = folder_of_kernels()
    return folder is not None and any(folder.glob(f"{stem(function, identities)}*{SUFFIX}"))


# ---------------------------------------------------------------- files with a checksum
def read_checked(path: Path) -> bytes | None:
    """Return the content of an entry; None if there is none, and a damaged one is removed."""
    try:
        with path.open("rb") as file:
            own, content = is_own(os.fstat(file.fileno())), file.read()
    except OSError:
        return None
    data = content[CHECKSUM:]
    if own and content[:CHECKSUM] == _checksum(path, data):
        return data
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def write_checked(path: Path, data: bytes) -> None:
    """Write an entry, whole or not at all."""
    number, part = mkstemp(suffix=PART, prefix=f"{path.stem}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_checksum(path, data) + data)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)


def _checksum(path: Path, data: bytes) -> bytes:
    """Return the sha256 of an entry; its name is part of it, so that no entry stands for another."""
    total = hashlib.sha256(path.name.encode())
    total.update(data)
    return total.digest()


def prune(keep_days: float = KEEP_DAYS) -> int:
    """Remove the entries, and the remains of killed writers, that nobody used lately; return how many."""
    return sum(_removed(path, keep_days) for path in kernels_folder().glob("*"))


def _removed(path: Path, keep_days: float) -> bool:
    """Remove a file that is too old; another process may have done so first."""
    days = min(keep_days, PART_DAYS) if path.suffix == PART else keep_days
    try:
        if path.stat().st_mtime >= time.time() - days * 86_400:
            return False
        path.unlink()
    except OSError:
        return False
    return True
