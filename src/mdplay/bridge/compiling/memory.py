"""Arrays for the innermost loops, compiled: no reference counts, no wrap-around, and a hint to the cache.

numba counts references when it hands arrays from function to function, by atomic operations, and ``array[i]``
first asks whether ``i`` counts from the end.  In a search that takes a hundred nanoseconds a node either costs too
much.  What is borrowed is kept alive by the kernel's caller and must not be returned; an index of ``get``, ``put``
and ``prefetch`` must be in 0 .. len - 1.

With ``MDPLAY_BOUNDS=1`` in the environment every access is checked, ``array[i]`` too, and one outside raises
IndexError with the names of the function and its kernel.  That is for tests: such kernels are slow, and kept apart
in the cache.
"""

from __future__ import annotations

import re
from platform import machine
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from mdplay.bridge.compiling.emitting import emitted
from mdplay.bridge.compiling.word_type import convert, word_type
from mdplay.bridge.plain import BOUNDS, borrow, get, peek, prefetch, put


@emitted(borrow)
def _borrow(typingctx: Any, array: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        copy = context.make_array(sig.return_type)(context, builder, value=args[0])
        copy.meminfo = cgutils.get_null_value(copy.meminfo.type)
        copy.parent = cgutils.get_null_value(copy.parent.type)
        return copy._getvalue()

    return (array(array), emit) if isinstance(array, types.Array) else None


def _address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    i = convert(context, builder, args[1], sig.args[1], types.int64)
    if BOUNDS:
        with builder.if_then(builder.icmp_unsigned(">=", i, array.nitems), likely=False):
            place = (f"an index outside of its array, in {_function_name(builder)}",)
            context.call_conv.return_user_exc(builder, IndexError, place)
    return builder.gep(array.data, [i])


def _function_name(builder: Any) -> str:
    """Return the name of the function that is compiled: the last part of it in the mangled one."""
    mangled, names, at = str(builder.function.name).removeprefix("_ZN"), [], 0
    while found := re.compile(r"\d+").match(mangled, at):
        at = found.end() + int(found[0])
        names.append(mangled[found.end() : at])
    return names[-1] if names else mangled


def _element(array: Any) -> Any:
    return word_type if array.dtype == types.uint64 else array.dtype


@emitted(get)
def _get(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig, args))

    return _element(array)(array, i), emit


@emitted(peek)
def _peek(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if machine() in ("x86_64", "AMD64"):  # leave the core to its other thread for a moment
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return builder.load_atomic(_address(context, builder, sig, args), "acquire", 8)

    return array.dtype(array, i), emit


@emitted(put)
def _put(typingctx: Any, array: Any, i: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = convert(context, builder, args[2], sig.args[2], _element(sig.args[0]))
        builder.store(element, _address(context, builder, sig, args))
        return context.get_dummy_value()

    return types.none(array, i, value), emit


@emitted(prefetch)
def _prefetch(typingctx: Any, array: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = builder.bitcast(_address(context, builder, sig, args), byte)
        builder.call(hint, [place, flag(0), flag(3), flag(1)])  # read, keep close, data
        return context.get_dummy_value()

    return types.none(array, i), emit
