"""The compiler itself: what imports numba, and only when something is compiled or loaded.

To import this module is to teach numba all that kernels and rules may use.  A ``part`` stays the plain function
that it is; here it gets ``_numba_type_``, which numba asks for where a kernel calls it.

Arrays for the innermost loops, compiled: no reference counts, no wrap-around, and a hint to the cache.

numba counts references when it hands arrays from function to function, by atomic operations, and ``array[i]``
first asks whether ``i`` counts from the end.  In a search that takes a hundred nanoseconds a node either costs too
much.  What is borrowed is kept alive by the kernel's caller and must not be returned; an index of ``get``, ``put``
and ``prefetch`` must be in 0 .. len - 1.

With ``MDPLAY_BOUNDS=1`` in the environment every access is checked, ``array[i]`` too, and one outside raises
IndexError with the names of the function and its kernel.  That is for tests: such kernels are slow, and kept apart
in the cache.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import config, njit, typeof
from numba.core import cgutils, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from mdplay.compiling.cache import (
    COVERED,
    SUFFIX,
    UNKNOWN,
    beyond,
    folder_of_kernels,
    function_fingerprint,
    prune,
    read_checked,
    stem,
    write_checked,
)
from mdplay.compiling.digest import Unhashable
from mdplay.compiling.numba import methods, vectors  # noqa: F401  register what rules and kernels may call
from mdplay.compiling.numba.instances import ASKED, convert, emitted, instance_types, word_type
from mdplay.compiling.numba.linking import KernelCompiler, make_ready, outside_names, part_of_kernels
from mdplay.compiling.numba.numbers import prefer_instructions
from mdplay.compiling.plain import BOUNDS, PARTS, get, prefetch, put, unchecked_view
from mdplay.errors import NotCompiled
from mdplay.game import NEVER_COMPILED
from mdplay.runtime.threads import compiling


@emitted(unchecked_view)
def _unchecked_view(typingctx: Any, arrays: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _without_owner(context, builder, sig.return_type, args[0])

    return arrays(arrays), emit


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an array without its reference count, or a tuple in which all arrays are without theirs."""
    if isinstance(kind, types.Array):
        copy = context.make_array(kind)(context, builder, value=value)
        copy.meminfo = cgutils.get_null_value(copy.meminfo.type)
        copy.parent = cgutils.get_null_value(copy.parent.type)
        return copy._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            inner = _without_owner(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, inner, i)
    return value


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


if BOUNDS:
    config.BOUNDSCHECK = 1  # for array[i] in kernels, parts and rules

DECISIVE = (  # the settings of numba that decide the machine code
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML", "EXTEND_VARIABLE_LIFETIMES", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS",
)  # fmt: skip

_ADOPTED: dict[FunctionType, CPUDispatcher] = {}
_LOCK = Lock()


class _Named(CPUDispatcher):
    """A kernel that tells its name when an access is outside of an array."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except IndexError as error:
            raise IndexError(f"{error} (kernel {self.__name__})") from None


def dispatcher_of(function: FunctionType) -> Any:
    """Return what compiles and calls a kernel: without the GIL, cached on disk for each type of arguments."""
    compiled = njit(nogil=True, error_model="numpy", pipeline_class=KernelCompiler)(function)
    compiled._cache = KernelCache(function)
    if BOUNDS:
        compiled.__class__ = _Named
    compile_here = compiled.compile

    def compile_there(signature: Any) -> Any:
        """Compile where Ctrl-C does not disturb it; here, if this thread is at compiling code of others."""
        adopt_parts()
        if global_compiler_lock.is_locked():
            return compile_here(signature)
        return compiling.run(partial(compile_here, signature))

    compiled.compile = compile_there
    return compiled


def entry_point(dispatcher: Any, examples: tuple[Any, ...]) -> Any:
    """Return a kernel's code for arguments like the examples."""
    return dispatcher.compile(tuple(map(typeof, examples)))


def type_of(dispatcher: Any) -> Any:
    """Return the type of a kernel where another one calls it."""
    return types.Dispatcher(dispatcher)


def adopt_parts() -> None:
    """Let numba know the parts that it has not met."""
    with _LOCK:
        for function in PARTS[len(_ADOPTED) :]:
            _ADOPTED[function] = part_of_kernels(function, error_model="numpy", forceinline=True)
            function._numba_type_ = types.Dispatcher(_ADOPTED[function])  # type: ignore[attr-defined]


class KernelCache(NullCache):
    """The cache that a kernel's dispatcher asks before it compiles."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics want it."""
        return str(folder_of_kernels() or "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these argument types, or None: then numba compiles it.

        Raise NotCompiled where compiling is left to another process.
        """
        found = self._load(sig, target_context)
        if found is None and compiling.elsewhere:
            raise NotCompiled(f"the kernel {self._function.__name__} is not compiled yet")
        if found is None:
            prefer_instructions()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        path = self._path(sig, target_context)
        data = None if path is None else read_checked(path)
        if path is None or data is None:
            return None
        try:
            outside, reduced = pickle.loads(data)
            make_ready(target_context, outside)
            found = CompileResult._rebuild(target_context, *reduced)
        except Exception:  # made by a library that has changed since: compile again
            path.unlink(missing_ok=True)
            return None
        with suppress(OSError):
            os.utime(path)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel; what cannot be written costs speed, not the answer.

        That is a full or read-only disk, and a game whose state class no other process could import.
        """
        path = None if data.library.has_dynamic_globals else self._path(sig, data.target_context)
        if path is None or not self._covers(sig):
            return
        with suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
            write_checked(path, pickle.dumps((outside_names(data.library), data._reduce()), protocol=-1))
            prune()

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        """Return the file of an entry; None if there is no folder for it, or no hash of what it depends on."""
        folder = folder_of_kernels()
        if folder is None or UNKNOWN in str(sig):
            return None
        kinds = list(instance_types(sig))
        try:
            stamp, names = function_fingerprint(self._function)
            more = [beyond(kind.instance, _covered(kind), names) for kind in kinds]
        except Unhashable:
            return None
        versions = (platform.python_version(), *(one.__version__ for one in (numba, llvmlite, np)))
        settings = [getattr(config, name, None) for name in DECISIVE]
        key = repr((stamp, str(sig), more, target_context.codegen().magic_tuple(), versions, settings))
        digest = hashlib.sha256(key.encode()).hexdigest()[:40]
        return folder / f"{stem(self._function, [kind.identity for kind in kinds])}{digest}{SUFFIX}"

    def _covers(self, sig: Any) -> bool:
        """Return whether the key covers all that compiled code has asked of the games among its arguments."""
        names = function_fingerprint(self._function)[1] - set(NEVER_COMPILED)
        return all(ASKED[kind.identity] <= _covered(kind) | names for kind in instance_types(sig))


def _covered(kind: Any) -> frozenset[str]:
    return COVERED.get(kind.identity.rpartition("#")[2], frozenset())
