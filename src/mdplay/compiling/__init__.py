"""The bridge from plain Python to compiled kernels: the only place that knows numba's extension API.

@kernel            an entry point, called from Python; cached on disk for each game
@part              a piece of kernels, compiled into every kernel that calls it
direct(kernel, ..) a kernel for arguments of known types: quick to call
native(game)       what a kernel gets as its game
words, word        a state, an integer as a kernel's arguments
pack, unpack, load states as words, inside kernels; viewed: as a view for proofs has them
borrow, get, put   arrays for the innermost loops, inside kernels; prefetch; MDPLAY_BOUNDS=1 checks them
gather_total, store_indices   table look-ups of the eight images of a 4 x 4 board, in vector instructions

Nothing in this folder imports numba; the folder ``compiling`` does, when the first kernel is compiled or loaded:

kernels.py      kernels and parts, plain first                plain.py       what kernels call, in plain Python
fingerprint.py  what compiled code depends on, as a hash      cache.py       compiled kernels on disk
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mdplay.compiling.kernels import direct, inlined, kernel
    from mdplay.compiling.plain import (
        Packed,
        State,
        Word,
        Words,
        as_mask,
        first_word,
        gather_total,
        get,
        load,
        native,
        pack,
        prefetch,
        put,
        store_indices,
        unchecked_view,
        unpack,
        viewed,
        width,
        word,
        words,
    )

__all__ = [
    "Packed",
    "State",
    "Word",
    "Words",
    "as_mask",
    "direct",
    "first_word",
    "gather_total",
    "get",
    "inlined",
    "kernel",
    "load",
    "native",
    "pack",
    "prefetch",
    "put",
    "store_indices",
    "unchecked_view",
    "unpack",
    "viewed",
    "width",
    "word",
    "words",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: rules and positions need no kernels (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mdplay.compiling import kernels, plain

    return getattr(kernels if name in ("direct", "inlined", "kernel") else plain, name)
