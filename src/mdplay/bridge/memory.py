"""Arrays for the innermost loops: no reference counts, no wrap-around, and a hint to the cache.

numba counts references when it hands arrays from function to function, by atomic operations, and ``array[i]``
first asks whether ``i`` counts from the end.  In a search that takes a hundred nanoseconds a node either costs too
much.  What is borrowed is kept alive by the kernel's caller and must not be returned; an index of ``get``, ``put``
and ``prefetch`` must be in 0 .. len - 1.
"""

from __future__ import annotations

from platform import machine
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from mdplay.bits import WORD
from mdplay.bridge.words import convert, word_type


def borrow(array: Any) -> Any:
    """Return an array of the caller without counting references to it, in kernels and in plain Python."""
    return array


def get(array: Any, i: int) -> Any:
    """Return element i of a flat array: of uint64 a word, else a number of its own type."""
    return int(array[i])


def peek(array: Any, i: int) -> Any:
    """Return element i of a flat array as it is now, for a thread that waits until another one changes it."""
    return int(array[i])


def put(array: Any, i: int, value: Any) -> None:
    """Write element i of a flat array."""
    word = int(value) & WORD
    array[i] = word - (WORD + 1) if array.dtype.kind == "i" and word >> 63 else word


def prefetch(array: Any, i: int) -> None:
    """Ask the memory for element i of a flat array, to be read soon."""


@intrinsic
def _borrow(typingctx: Any, array: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        copy = context.make_array(sig.return_type)(context, builder, value=args[0])
        copy.meminfo = cgutils.get_null_value(copy.meminfo.type)
        copy.parent = cgutils.get_null_value(copy.parent.type)
        return copy._getvalue()

    return (array(array), emit) if isinstance(array, types.Array) else None


def _address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.gep(data, [convert(context, builder, args[1], sig.args[1], types.int64)])


def _element(array: Any) -> Any:
    return word_type if array.dtype == types.uint64 else array.dtype


@intrinsic
def _get(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig, args))

    return _element(array)(array, i), emit


@intrinsic
def _peek(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if machine() in ("x86_64", "AMD64"):  # leave the core to its other thread for a moment
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return builder.load_atomic(_address(context, builder, sig, args), "acquire", 8)

    return array.dtype(array, i), emit


@intrinsic
def _put(typingctx: Any, array: Any, i: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = convert(context, builder, args[2], sig.args[2], _element(sig.args[0]))
        builder.store(element, _address(context, builder, sig, args))
        return context.get_dummy_value()

    return types.none(array, i, value), emit


@intrinsic
def _prefetch(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = builder.bitcast(_address(context, builder, sig, args), byte)
        builder.call(hint, [place, flag(0), flag(3), flag(1)])  # read, keep close, data
        return context.get_dummy_value()

    return types.none(array, i), emit


overload(borrow)(lambda array: lambda array: _borrow(array))
overload(get)(lambda array, i: lambda array, i: _get(array, i))
overload(peek)(lambda array, i: lambda array, i: _peek(array, i))
overload(put)(lambda array, i, value: lambda array, i, value: _put(array, i, value))
overload(prefetch)(lambda array, i: lambda array, i: _prefetch(array, i))
