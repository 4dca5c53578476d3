"""Methods and tables of games, called from compiled code.

``game.legal(s)`` inside a kernel compiles the plain method against its annotations, once per game, with all
the helper functions that it calls.  ``game.rows`` is a constant; ``game.table`` a constant array.
"""

from __future__ import annotations

import inspect
import linecache
import re
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit
from numba.core import errors, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, overload, register_jitable

from mdplay import bits
from mdplay.bridge.fingerprint import TOOLCHAIN, mentions
from mdplay.bridge.masks import COMPILED
from mdplay.bridge.native import (
    LIVE,
    InstanceType,
    castable,
    native_type,
    recast,
    result_type,
)
from mdplay.contract import hints_of, method_hints, where
from mdplay.errors import GameError


@infer_getattr
class _Attributes(AttributeTemplate):
    key = InstanceType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Resolve ``game.name``: a method, or a constant; None lets numba report the unknown name."""
        if isinstance(getattr(type(kind.instance), name, None), FunctionType):
            return types.BoundFunction(_method_template(name), kind)
        if hasattr(kind.instance, name):
            return self.context.resolve_value_type(constant(kind.identity, name))
        return None


@lower_getattr_generic(InstanceType)
def _constant_value(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    found = constant(kind.identity, name)
    return context.get_constant_generic(builder, context.typing_context.resolve_value_type(found), found)


@cache
def constant(identity: str, name: str) -> Any:
    """Return a parameter or table as compiled code sees it: a tuple of numbers is a small constant array."""
    value = getattr(LIVE[identity], name)
    if not isinstance(value, tuple):
        return value
    array = np.array(value)
    if array.dtype.kind not in "iubf":
        where = f"{type(LIVE[identity]).__name__}.{name}"
        raise GameError(
            f"{where}: a table must be a tuple of numbers (nested tuples of equal length), not {value!r:.60}"
        )
    if array.dtype.kind == "i" and array.size:  # small and signed: mixing unsigned types makes floats
        for small in (np.int8, np.int16, np.int32):
            if np.iinfo(small).min <= array.min() and array.max() <= np.iinfo(small).max:
                return array.astype(small)
    return array


@cache
def _method_template(name: str) -> type:
    class Template(AbstractTemplate):
        key = (InstanceType, name)

        def generic(self, args: Any, kws: Any) -> Any:
            _, wanted, _ = compiled_method(self.this.identity, name)
            expected = wanted.args[1:]
            if kws or len(args) != len(expected) or not all(map(castable, args, expected)):
                raise errors.TypingError(f"{name} takes {_named(expected)}, not {_named(args)}")
            return signature(wanted.return_type, *map(types.unliteral, args), recvr=self.this)

    @lower_builtin((InstanceType, name), InstanceType, types.VarArg(types.Any))
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        dispatcher, wanted, inferred = compiled_method(sig.args[0].identity, name)
        cast = [
            recast(context, builder, f, t, v)
            for f, t, v in zip(sig.args[1:], wanted.args[1:], args[1:], strict=True)
        ]
        call = context.get_function(types.Dispatcher(dispatcher), inferred)
        context.add_linking_libs(getattr(call, "libs", ()))
        value = call(builder, [args[0], *cast])
        return recast(context, builder, inferred.return_type, wanted.return_type, value)

    return Template


def _named(kinds: Any) -> str:
    return "(" + ", ".join(str(types.unliteral(kind)) for kind in kinds) + ")"


@cache
def compiled_method(identity: str, name: str) -> tuple[Any, Any, Any]:
    """Compile a method of a game against its annotations.

    Return the dispatcher, the annotated signature and the inferred one; callers convert between the two.
    """
    cls = type(LIVE[identity])
    function = getattr(cls, name)
    hints = method_hints(cls, function)
    names = list(inspect.signature(function).parameters)[1:]
    if missing := [n for n in (*names, "return") if n not in hints]:
        raise GameError(f"{where(function)}: annotate {', '.join(missing)}")
    define_helpers(function)
    args = (InstanceType(identity), *(_annotated(function, hints[n]) for n in names))
    dispatcher = njit(nogil=True, error_model="numpy")(function)
    try:
        dispatcher.compile(args)
    except errors.NumbaError as error:
        raise GameError(f"{where(function)} does not compile: {explain(error)}") from None
    inferred = dispatcher.overloads[args].signature
    _annotated(function, hints["return"])
    wanted = result_type(cls, name, hints["return"])
    if not castable(inferred.return_type, wanted):
        raise GameError(f"{where(function)} returns {inferred.return_type}, not the annotated {wanted}")
    return dispatcher, wanted(*args), inferred


def _annotated(function: Any, annotation: Any) -> Any:
    try:
        return native_type(annotation)
    except GameError as error:
        raise GameError(f"{where(function)}: {error}") from None


# ---------------------------------------------------------------- helper functions
_DEFINED: set[Any] = {bits.rest, *(entry[0] for entry in COMPILED)}


def define_helpers(function: FunctionType) -> None:
    """Make the plain functions that a rule calls callable from compiled code, and those that they call.

    An annotated result is converted like a method's, so that a U64 stays a word.
    """
    for _, helper in mentions(function):
        if not isinstance(helper, FunctionType) or helper in _DEFINED:
            continue
        if helper.__module__.partition(".")[0] in TOOLCHAIN:
            continue
        _DEFINED.add(helper)
        define_helpers(helper)
        _define_helper(helper)


def _define_helper(helper: FunctionType) -> None:
    hints = hints_of(helper)
    names = ", ".join(inspect.signature(helper).parameters)
    if "return" not in hints or not _has_native(hints["return"]):
        register_jitable(helper)
        return
    scope = {
        "cast": _cast_to(native_type(hints["return"])),
        "helper": njit(nogil=True, error_model="numpy")(helper),
    }
    body = eval(f"lambda {names}: cast(helper({names}))", scope)
    overload(helper)(eval(f"lambda {names}: body", {"body": body}))


def _has_native(annotation: Any) -> bool:
    try:
        native_type(annotation)
    except GameError:
        return False
    return True


@cache
def _cast_to(target: Any) -> Any:
    from numba.extending import intrinsic

    @intrinsic
    def cast(typingctx: Any, x: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return recast(context, builder, sig.args[0], target, args[0])

        return (target(x), emit) if castable(x, target) else None

    return cast


# ---------------------------------------------------------------- errors in two lines
def explain(error: Exception) -> str:
    """Return the first cause that numba names and, on a second line, the source line where it lies."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    if unknown := re.search(r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(\S+)'>", text):
        cause = f"{unknown[1]} is a {unknown[2]}, which has no compiled form"
    elif unknown := re.search(r"NameError: global name '(\w+)' is not defined|Untyped global name '(\w+)'", text):
        cause = f"NameError: name {(unknown[1] or unknown[2])!r} is not defined"
    elif table := re.search(r"assigned to variable '(\w+)' in globals", text):
        cause = f"{table[1]} is a list; rules use tuples"
    else:
        cause = _first_cause(text)
    return f"{cause}{_source_line(text)}"


def _first_cause(text: str) -> str:
    noise = (
        "Failed in",
        "During",
        "File",
        "There are",
        "- Of which",
        "Invalid use of",
        "No implementation of",
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith(noise)]
    if missing := re.search(r">>> (.+)", text):
        return f"no compiled form of {missing[1].strip()}"
    return plain[0] if plain else lines[0]


def _source_line(text: str) -> str:
    found = re.findall(r'File "(.*?)", line (\d+)', text)
    if not found:
        return ""
    file, number = found[-1]
    line = linecache.getline(str(Path(file)), int(number)).strip()
    return f"\n  {Path(file).name}, line {number}: {line}"
