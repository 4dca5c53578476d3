"""The bridge from plain Python to compiled kernels: the only place that knows numba's extension API.

    @kernel   an entry point, called from Python; cached on disk
    @part     a piece of kernels, compiled into every kernel that calls it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import config, njit

from mdplay.bridge.cache import KernelCache

__all__ = ["kernel", "part"]

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a compiled entry point: without the GIL, cached on disk for each type of arguments."""
    compiled: Callable[P, R] = njit(nogil=True, error_model="numpy")(function)
    if not config.DISABLE_JIT:
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined, arg-type]
    return compiled


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a piece of kernels; it is compiled with them and never cached on its own."""
    compiled: Callable[P, R] = njit(nogil=True, error_model="numpy")(function)
    return compiled
