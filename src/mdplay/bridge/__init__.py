"""The bridge from plain Python to compiled kernels: the only place that knows numba's extension API.

@kernel            an entry point, called from Python; cached on disk for each game
@part              a piece of kernels, compiled into every kernel that calls it
direct(kernel, ..) a kernel for arguments of known types: quick to call
native(game)       what a kernel gets as its game
words, word        a state, an integer as a kernel's arguments
pack, unpack, load states as words, inside kernels; viewed: as a view for proofs has them
borrow, get, put   arrays for the innermost loops, inside kernels; prefetch, peek; MDPLAY_BOUNDS=1 checks them

Without numba, which is imported when the first kernel is compiled or loaded:

kernels.py      kernels and parts, plain first                plain.py       what kernels call, in plain Python
fingerprint.py  what compiled code depends on, as a hash      cache.py       compiled kernels on disk

With numba:

compiler.py     kernels compiled, saved and loaded            word_type.py   U64, a word that cannot go wrong
instances.py    games as types, annotations as types          masks.py       bit masks and random words
methods.py      game.legal(s) in compiled code                states.py      states as words
memory.py       arrays without book-keeping                   vectors.py     eight boards in one vector
linking.py      parts put together in kernels                 emitting.py    functions as instructions
folding.py      what a game has not got is not compiled       numbers.py     what Python's whole numbers can do
"""

from mdplay.bridge.kernels import direct, kernel, part
from mdplay.bridge.plain import (
    Packed,
    State,
    Word,
    as_mask,
    borrow,
    first_word,
    get,
    load,
    native,
    pack,
    peek,
    prefetch,
    put,
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
    "as_mask",
    "borrow",
    "direct",
    "first_word",
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
    "viewed",
    "width",
    "word",
    "words",
]
