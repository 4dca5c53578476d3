"""The bridge from plain Python to compiled kernels: the only place that knows numba's extension API.

@kernel            an entry point, called from Python; cached on disk for each game
@part              a piece of kernels, compiled into every kernel that calls it
direct(kernel, ..) a kernel for arguments of known types: quick to call
native(game)       what a kernel gets as its game
words, word        a state, an integer as a kernel's arguments
pack, unpack, load states as words, inside kernels; entered: as a study has them
borrow, get, put   arrays for the innermost loops, inside kernels; prefetch, peek

fingerprint.py  what compiled code depends on, as a hash      words.py    U64, a word that cannot go wrong
cache.py        compiled kernels on disk                      masks.py    bit masks and random words
native.py       games as types, annotations as types          methods.py  game.legal(s) in compiled code
states.py       states as words                               memory.py   arrays without book-keeping
vectors.py      eight boards in one vector
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numba import config, njit, typeof

from mdplay.bridge.cache import KernelCache
from mdplay.bridge.memory import borrow, get, peek, prefetch, put
from mdplay.bridge.native import native
from mdplay.bridge.states import entered, load, pack, unpack, width, word, words

__all__ = [
    "borrow",
    "direct",
    "entered",
    "get",
    "kernel",
    "load",
    "native",
    "pack",
    "part",
    "peek",
    "prefetch",
    "put",
    "unpack",
    "width",
    "word",
    "words",
]

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a compiled entry point: without the GIL, cached on disk for each type of arguments."""
    compiled: Callable[P, R] = njit(nogil=True, error_model="numpy")(function)
    if not config.DISABLE_JIT:
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined, arg-type]
    return compiled


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a piece of kernels; it is compiled into them and never cached on its own."""
    compiled: Callable[P, R] = njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled


def direct(compiled: Callable[..., R], *examples: Any) -> Callable[..., R]:
    """Return a kernel compiled for arguments like the examples; it must get no arrays of another layout.

    A call takes half a microsecond, not 16: numba looks at the type of each argument, a game's among them.
    """
    if config.DISABLE_JIT:
        return compiled
    entry: Callable[..., R] = compiled.compile(tuple(map(typeof, examples)))  # type: ignore[attr-defined]
    return entry
