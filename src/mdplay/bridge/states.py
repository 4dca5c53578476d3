"""States as tuples of 64-bit words: how they cross the border and how tables keep them.

A state's NamedTuple class never appears in a kernel's signature (a class of ``__main__`` would spoil the cache
key); kernels take ``words`` and begin with ``unpack(game, words)``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numba import config
from numba.core import types
from numba.extending import intrinsic, overload

from mdplay.bits import U64, WORD
from mdplay.bridge.memory import get
from mdplay.bridge.methods import compiled_method
from mdplay.bridge.native import recast
from mdplay.contract import hints_of, state_class
from mdplay.game import Game, Study

S = TypeVar("S", bound=tuple[Any, ...])
SIGN = 1 << 63


def word(x: int) -> Any:
    """Return an integer as a kernel's argument of 64 bits: numba sees a uint64, plain Python an int."""
    return int(x) & WORD if config.DISABLE_JIT else np.uint64(int(x) & WORD)


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


def entered(study: Any, s: Any) -> Any:
    """Return the study's position for a state of the game; a game that is its own study has it already."""
    return study.enter(s) if isinstance(study, Study) else s


@intrinsic
def _to_words(typingctx: Any, s: Any) -> Any:
    target = types.UniTuple(types.uint64, len(s))

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[0], target, args[0])

    return target(s), emit


@intrinsic
def _to_state(typingctx: Any, game: Any, packed: Any) -> Any:
    target = compiled_method(game.identity, "initial")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, packed), emit


@overload(pack, strict=False)
def _pack(game: Any, s: Any) -> Any:
    return lambda game, s: _to_words(s)


@overload(unpack, strict=False)
def _unpack(game: Any, packed: Any) -> Any:
    return lambda game, packed: _to_state(game, packed)


@overload(load, strict=False)
def _load(game: Any, table: Any, i: Any) -> Any:
    state = compiled_method(game.identity, "initial")[1].return_type
    element = "table[i, {}]" if table.ndim == 2 else "get(table, i + {})"
    row = ", ".join(element.format(j) for j in range(len(state)))
    return eval(f"lambda game, table, i: unpack(game, ({row},))", {"get": get, "unpack": unpack})


@overload(entered, strict=False)
def _entered(study: Any, s: Any) -> Any:
    return (lambda study, s: study.enter(s)) if isinstance(study.instance, Study) else (lambda study, s: s)


@overload(width, strict=False)
def _width(game: Any) -> Any:
    count = len(compiled_method(game.identity, "initial")[1].return_type)
    return lambda game: count
