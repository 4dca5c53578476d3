"""Compile kernels for games: plain Python functions, specialised by numba.

@kernel             an entry point, called from Python; cached on disk for each game
@inlined            a function of kernels, compiled into every kernel that calls it
direct(kernel, ..)  a kernel for arguments of known types: quick to call
native(game)        the game as an argument of a kernel
words, word         a state, an integer as arguments of a kernel
pack, unpack, load  states as words, inside kernels; viewed: as the positions of a view for proofs
unchecked_view      arrays for the innermost loops, with get, put and prefetch; MDPLAY_BOUNDS=1 checks each access
gather_total, store_indices   table lookups of the eight images of a 4 x 4 board, in vector instructions

Nothing in this folder imports numba; the folder ``numba`` does, when the first kernel is compiled or loaded:

kernels.py    kernels, plain first           plain.py     functions that kernels call, in plain Python
cache.py      compiled kernels on disk       digest.py    hashes of rules and kernels
identity.py   hashes for saved files         contract.py  the contract of games, and its messages
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
