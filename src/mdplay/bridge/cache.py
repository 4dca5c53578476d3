"""Compiled kernels on disk, in a folder of the user's own.

One file an entry, named by all that its machine code depends on: the kernel's fingerprint, the argument types
(a game's type carries the game's fingerprint), the processor, and the versions of Python, numba and llvmlite.
So there is no index to race for, no entry is ever stale, and two processes may write at once.  numba's own
cache stamps a function's file only, not the helpers it calls (numba #8396), and shares one index.

    <cache>/kernels/playouts-2f9c....bin

An entry that nobody used for ``KEEP_DAYS`` days is removed when a new one is written.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from mdplay.bridge.fingerprint import function_fingerprint
from mdplay.folders import cache_folder

KEEP_DAYS = 90
SUFFIX = ".bin"


def kernels_folder() -> Path:
    """Return the folder of the compiled kernels."""
    return cache_folder() / "kernels"


def entries() -> Iterator[Path]:
    """Yield the files of all compiled kernels."""
    yield from kernels_folder().glob(f"*{SUFFIX}")


class KernelCache(NullCache):
    """The cache that a kernel's dispatcher asks before it compiles."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._stamp = ""

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics want it."""
        return str(kernels_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these argument types, or None."""
        path = self._path(sig, target_context)
        try:
            payload = pickle.loads(path.read_bytes())
        except OSError:
            return None
        except Exception:  # a damaged pickle may raise anything: compile again
            path.unlink(missing_ok=True)
            return None
        with suppress(OSError):
            os.utime(path)
        target_context.refresh()
        return CompileResult._rebuild(target_context, *payload)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel; what cannot be written costs speed, not the answer.

        That is a full or read-only disk, and a game whose state class no other process could import.
        """
        if data.library.has_dynamic_globals:
            return
        path = self._path(sig, data.target_context)
        part = path.with_suffix(f".{os.getpid()}.part")
        with suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(pickle.dumps(data._reduce(), protocol=-1))
            part.replace(path)
            prune()

    def _path(self, sig: Any, target_context: Any) -> Path:
        self._stamp = self._stamp or function_fingerprint(self._function)
        codegen = target_context.codegen()
        versions = (platform.python_version(), numba.__version__, llvmlite.__version__)
        key = repr((self._stamp, str(sig), codegen.magic_tuple(), versions))
        return (
            kernels_folder() / f"{self._function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:40]}{SUFFIX}"
        )


def prune(keep_days: float = KEEP_DAYS) -> int:
    """Remove the entries, and the remains of killed writers, that nobody used lately; return how many."""
    oldest = time.time() - keep_days * 86_400
    old = [path for path in kernels_folder().glob("*") if path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)
