"""What kernels call of the bridge, in plain Python: arrays and states as words.  No numba in here.

Each function is the specification of its compiled form (memory.py, states.py, vectors.py), and what runs where a
kernel is not compiled.
"""

from __future__ import annotations

import os
from functools import reduce
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, WORD
from mdplay.compiling.contract import checked, hints_of, state_class
from mdplay.game import Compiled, Game, ProofView

State = tuple[Any, ...]  # a state of a game: an instance of its NamedTuple
Packed = tuple[Any, ...]  # a position as words
Words = NDArray[np.uint64]
Word = Any  # 64 bits: an int in plain Python, a uint64 in kernels
C = TypeVar("C", bound=Compiled)
S = TypeVar("S", bound=tuple[Any, ...])
T = TypeVar("T")
SIGN = 1 << 63
LANES = 8  # symmetric images of a 4 x 4 board
ROWS_OVER, COLUMNS_OVER = 1, 2  # bits of the number of an image
BOUNDS = os.environ.get("MDPLAY_BOUNDS", "") not in ("", "0")
PARTS: list[FunctionType] = []  # what is compiled into kernels
NO_COMPILER = os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0")


def native(instance: C) -> C:
    """Return what a kernel is to get: the game itself, or its checked double when the compiler is off."""
    return checked(instance) if NO_COMPILER else instance


# ---------------------------------------------------------------- arrays
def unchecked_view(arrays: T) -> T:
    """Return an array of the caller, or a tuple of arrays, without counting references to them.

    Call it once at the start of a kernel: counting references in its loops would cost more than the loops.
    """
    return arrays


def get(array: Any, i: int) -> Any:
    """Return element i of a flat array: of uint64 a word, else a number of its own type."""
    return int(array[i])


def put(array: Any, i: int, value: Any) -> None:
    """Write element i of a flat array."""
    word = int(value) & WORD
    array[i] = word - (WORD + 1) if array.dtype.kind == "i" and word >> 63 else word


def prefetch(array: Any, i: int) -> None:
    """Ask the memory for element i of a flat array, to be read soon."""


# ---------------------------------------------------------------- eight boards in one vector (vectors.py)
def images(board: int, turned: int) -> Any:
    """Return the eight images of a 4 x 4 board; ``turned`` is its transposed image.  Plain Python only."""
    cells = np.array([[int(b) >> 4 * i & 15 for i in range(16)] for b in (board, turned)], np.uint64)
    square = cells.reshape(2, 4, 4)
    lanes = []
    for half, rows_over, columns_over in flips():
        image = square[half, :: -1 if rows_over else 1, :: -1 if columns_over else 1]
        lanes.append(sum(int(cell) << 4 * i for i, cell in enumerate(image.flat)))
    return np.array(lanes, np.uint64)


def flips() -> list[tuple[int, bool, bool]]:
    """Return for each lane which of the two boards it starts from, and how that is turned over.

    An image of number 4 and more is turned over first and transposed then; here it is the other way round,
    which exchanges rows and columns.
    """
    lanes = []
    for k in range(LANES):
        rows_over, columns_over = bool(k & ROWS_OVER), bool(k & COLUMNS_OVER)
        lanes.append((1, columns_over, rows_over) if k >= 4 else (0, rows_over, columns_over))
    return lanes


def group_indices(tables: Any, board: int, turned: int) -> list[Any]:
    """Return for each group the eight indices, one a lane.  Plain Python only."""
    lanes = images(board, turned)
    return [
        reduce(np.bitwise_or, [_shifted(lanes, shift) & np.uint64(mask) for shift, mask in pairs])
        + np.uint64(base)
        for pairs, base in tables.groups
    ]


def _shifted(lanes: Any, shift: int) -> Any:
    return lanes >> np.uint64(shift) if shift >= 0 else lanes << np.uint64(-shift)


def gather_total(tables: Any, weights: Any, board: int, turned: int) -> Any:
    """Return the sum of the weights that the eight images select in every group, as a float32."""
    total = reduce(np.add, [weights[index] for index in group_indices(tables, board, turned)])
    for half in (4, 2, 1):
        total = total[:half] + total[half : 2 * half]
    return total[0]


def store_indices(tables: Any, board: int, turned: int, out: Any) -> None:
    """Write the indices of every group to ``out`` (uint32): eight for the first group, eight for the next ..."""
    for number, index in enumerate(group_indices(tables, board, turned)):
        out[LANES * number : LANES * (number + 1)] = index


# ---------------------------------------------------------------- states as words
def word(x: int) -> Any:
    """Return an integer as a kernel's argument of 64 bits: numba sees a uint64, plain Python an int."""
    return int(x) & WORD if NO_COMPILER else np.uint64(int(x) & WORD)


def words(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a state as the tuple of words that kernels take."""
    return tuple(word(v) for v in state)


def width(game: Game[Any]) -> int:
    """Return the number of words of a packed state, in kernels and in plain Python."""
    return len(state_class(type(game))._fields)


def pack(game: Any, s: Any) -> Any:
    """Return a state as a tuple of words, in kernels and in plain Python."""
    return tuple(int(v) & WORD for v in s)


def unpack(game: Game[S], packed: Any) -> S:
    """Return the state of a tuple of words, in kernels and in plain Python."""
    cls = state_class(type(game))
    hints = hints_of(cls)
    fields = zip(cls._fields, packed, strict=True)
    found: S = cls(*(_field(int(w), hints[name]) for name, w in fields))
    return found


def _field(value: int, annotation: Any) -> Any:
    if annotation is bool:
        return bool(value)
    if annotation is U64:
        return value & WORD
    return value - (1 << 64) if value & SIGN else value


def load(game: Any, table: Any, i: Any) -> Any:
    """Return the state in row i of a table of packed states, or from element i of a flat array on."""
    row = table[i] if table.ndim == 2 else table[i : i + width(game)]
    return unpack(game, [int(w) & WORD for w in row])


def as_mask(game: Any, moves: Any) -> Any:
    """Return a one-word mask in the type of the game's masks, in kernels and in plain Python."""
    return moves


def first_word(mask: Any) -> Any:
    """Return the first 64 elements of a mask, in kernels and in plain Python."""
    return mask[0] if isinstance(mask, tuple) else mask


def viewed(proof_view: Any, s: Any) -> Any:
    """Return the view's position for a state of the game; a game that is its own view has it already."""
    return proof_view.convert(s) if isinstance(proof_view, ProofView) else s
