"""Methods and tables of games, called from compiled code.

``game.legal(s)`` inside a kernel compiles the plain method against its annotations, once per game, with all
the helper functions that it calls.  ``game.rows`` is a constant; ``game.table`` a constant array.

States as tuples of 64-bit words, compiled: how they cross the border and how tables keep them.

A state's NamedTuple class never appears in a kernel's signature (a class of ``__main__`` would spoil the cache
key); kernels take ``words`` and begin with ``unpack(game, words)``.
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
from numba.core import errors, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, overload, register_jitable

from mdplay import bits
from mdplay.compiling.cache import LIVE
from mdplay.compiling.constructs import fault_of, faults, source_line
from mdplay.compiling.contract import hints_of, mask_size, method_hints, where
from mdplay.compiling.digest import in_toolchain, mentions
from mdplay.compiling.numba.instances import (
    ASKED,
    InstanceType,
    castable,
    emitted,
    native_type,
    recast,
    result_type,
)
from mdplay.compiling.numba.linking import PART, part_of_kernels
from mdplay.compiling.numba.numbers import COMPILED
from mdplay.compiling.numba.rewriting import rewritten
from mdplay.compiling.plain import as_mask, first_word, get, load, pack, unpack, viewed, width
from mdplay.errors import GameError, MdplayError
from mdplay.game import ProofView


@infer_getattr
class _Attributes(AttributeTemplate):
    key = InstanceType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Resolve ``game.name``: a method, or a constant; None lets numba report the unknown name."""
        ASKED[kind.identity].add(name)
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
        return _plain(value, f"{type(LIVE[identity]).__name__}.{name}")
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


def _plain(value: Any, name: str) -> Any:
    """Return a value that compiled code knows, or raise GameError with what to write instead."""
    if isinstance(value, (list, dict, set, frozenset)):
        instead = "a table is a tuple of numbers, as in tuple(...)"
        raise GameError(f"{name} is a {type(value).__name__}; {instead}")
    if isinstance(value, str) or value is None:
        raise GameError(f"{name} is {value!r}; rules use numbers")
    return value


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
    _annotated(function, hints["return"])  # now: the rule may make one
    try:
        dispatcher = part_of_kernels(rewritten(function), error_model="python")  # x // 0 is an error in a rule
        dispatcher.compile(args)
    except MdplayError:
        raise
    except Exception as error:  # authors of rules should not have to read numba's own messages
        raise GameError(f"{where(function)} does not compile: {explain(error, function)}") from None
    inferred = dispatcher.overloads[args].signature
    wanted = result_type(cls, name, hints["return"])
    if not castable(inferred.return_type, wanted):
        raise GameError(f"{where(function)} returns {_told(function, inferred.return_type, hints['return'])}")
    return dispatcher, wanted(*args), inferred


def _told(function: FunctionType, found: Any, annotation: Any) -> str:
    """Return a sentence about the type that a rule returns and the type that is annotated."""
    wanted = getattr(annotation, "__name__", str(annotation))
    if isinstance(found, types.Optional) and (
        fault := next((f for f in faults(function) if "dict" in f.words), None)
    ):
        return f"what may be missing, by {fault.words}"
    if isinstance(found, types.Generator):
        return "a generator (yield); return one value"
    if isinstance(found, types.Optional):
        return f"nothing on some path; return the annotated {wanted} on every path"
    return f"{_kind(str(NAMES.get(found, found)))}, not the annotated {wanted}"


NAMES = {types.int64: "int", types.float64: "float", types.boolean: "bool", types.none: "nothing"}


def _annotated(function: Any, annotation: Any) -> Any:
    try:
        return native_type(annotation)
    except GameError as error:
        raise GameError(f"{where(function)}: {error}") from None


# ---------------------------------------------------------------- helper functions
_DEFINED: set[Any] = {bits.without_lowest, *(entry[0] for entry in COMPILED)}


def define_helpers(function: FunctionType) -> None:
    """Make the plain functions that a rule calls callable from compiled code, and those that they call.

    An annotated result is converted like a method's, so that a U64 stays a word.
    """
    for _, helper in mentions(function):
        if not isinstance(helper, FunctionType) or helper in _DEFINED:
            continue
        if in_toolchain(helper.__module__) or hasattr(helper, "_numba_type_"):
            continue
        _DEFINED.add(helper)
        define_helpers(helper)
        _define_helper(helper)


def _define_helper(helper: FunctionType) -> None:
    hints = hints_of(helper)
    names = ", ".join(inspect.signature(helper).parameters)
    if "return" not in hints or not _has_native(hints["return"]):
        _register(helper, names)
        return
    scope = {
        "cast": _cast_to(native_type(hints["return"])),
        "helper": part_of_kernels(rewritten(helper), error_model="python"),
    }
    body = eval(f"lambda {names}: cast(helper({names}))", scope)
    overload(helper, jit_options=PART)(eval(f"lambda {names}: body", {"body": body}))


def _register(helper: FunctionType, names: str) -> None:
    """Make a function whose result is not annotated callable from compiled code."""
    loops = rewritten(helper)
    if loops is helper:
        register_jitable(helper)
    else:
        overload(helper, jit_options=PART)(eval(f"lambda {names}: body", {"body": loops}))


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
def explain(error: Exception, function: FunctionType | None = None) -> str:
    """Return the cause of an error and, on a second line, the source line where it lies.

    The cause is a construct of the function that has no compiled form, else the first that numba names.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = re.findall(r"line (\d+)|\.py \((\d+)\)", text)
    number = int(next(filter(None, lines[-1]))) if lines else 0
    if function is not None and (found := fault_of(function, number)):
        guilty, fault = found
        place = f"{Path(guilty.__code__.co_filename).name}, line {fault.line}"
        return f"it uses {fault.words}\n  {place}: {source_line(guilty, fault.line)}"
    if "re-entrant" in text:
        return "it calls itself by way of another rule; write a loop"
    if unknown := re.search(r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(\S+)'>", text):
        cause = f"{unknown[1]} is a {unknown[2]}; rules use numbers and tuples of numbers"
    elif unknown := re.search(r"NameError: global name '(\w+)' is not defined|Untyped global name '(\w+)'", text):
        cause = f"NameError: name {(unknown[1] or unknown[2])!r} is not defined"
    elif table := re.search(r"assigned to variable '(\w+)' in globals", text):
        cause = f"{table[1]} is a list; rules use tuples"
    elif unknown := re.search(r"Unknown attribute '(\w+)' of type Module\(<module '(\w+)'", text):
        cause = f"{unknown[2]}.{unknown[1]} has no compiled form; write it as a plain function"
    elif "OptionalType" in text or "none" in re.findall(r"Cannot unify (\w+)", text):
        cause = "a variable is None on some path; use a number for nothing, such as -1"
    elif unify := re.search(r"Cannot unify (.+?) and (.+?) for '(\w+?)(?:\.\d+)?'", text):
        cause = f"{unify[3]} is now {_kind(unify[1])}, now {_kind(unify[2])}; give each a name of its own"
    else:
        cause = _first_cause(text)
    return f"{cause}{_source_line(text)}"


def _kind(text: str) -> str:
    """Return a type of numba as the author of the rule knows it."""
    plain = re.sub(
        r"(?:Function|class|type)?\(?<(?:class|function|built-in function|module) '?([\w.]+)'?[^>]*>\)?",
        r"\1",
        text,
    )
    plain = re.sub(r"Literal\[(\w+)\]\(.*?\)", r"\1", plain)
    return re.sub(r"\b(int|float)(8|16|32|64)\b", r"\1", plain)


UNNAMED = "something here has no compiled form; rules use numbers, if, for and while"


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
        call = _kind(missing[1].strip())
        return UNNAMED if "0x" in call else f"no compiled form of {call}"
    cause = _kind(plain[0] if plain else lines[0])
    return UNNAMED if any(word in cause for word in ("$", "numba", "0x")) else cause


def _source_line(text: str) -> str:
    found = re.findall(r'File "(.*?)", line (\d+)', text)
    if not found:
        return ""
    file, number = found[-1]
    line = linecache.getline(str(Path(file)), int(number)).strip()
    return f"\n  {Path(file).name}, line {number}: {line}"


@emitted(pack)
def _pack(typingctx: Any, game: Any, s: Any) -> Any:
    target = types.UniTuple(types.uint64, len(s))

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, s), emit


@emitted(unpack)
def _unpack(typingctx: Any, game: Any, packed: Any) -> Any:
    target = compiled_method(game.identity, "initial")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, packed), emit


@overload(load, strict=False, jit_options=PART)
def _load(game: Any, table: Any, i: Any) -> Any:
    state = compiled_method(game.identity, "initial")[1].return_type
    element = "table[i, {}]" if table.ndim == 2 else "get(table, i + {})"
    row = ", ".join(element.format(j) for j in range(len(state)))
    return eval(f"lambda game, table, i: unpack(game, ({row},))", {"get": get, "unpack": unpack})


@overload(viewed, strict=False, jit_options=PART)
def _entered(proof_view: Any, s: Any) -> Any:
    return (
        (lambda proof_view, s: proof_view.convert(s))
        if isinstance(proof_view.instance, ProofView)
        else (lambda proof_view, s: s)
    )


def _number(game: Any, value: int) -> Any:
    """Return the signature and the instructions of a number that a game has."""
    return types.int64(game), lambda context, builder, sig, args: context.get_constant(types.int64, value)


@emitted(width)
def _width(typingctx: Any, game: Any) -> Any:
    return _number(game, len(compiled_method(game.identity, "initial")[1].return_type))


@emitted(as_mask)
def _as_mask(typingctx: Any, game: Any, moves: Any) -> Any:
    target = compiled_method(game.identity, "legal")[1].return_type

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return recast(context, builder, sig.args[1], target, args[1])

    return target(game, types.unliteral(moves)), emit


@emitted(first_word)
def _first_word(typingctx: Any, mask: Any) -> Any:
    several = isinstance(mask, types.BaseTuple)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_value(args[0], 0) if several else args[0]

    return (mask[0] if several else types.unliteral(mask))(mask), emit


@emitted(mask_size)
def _mask_size(typingctx: Any, game: Any) -> Any:
    return _number(game, mask_size(game.instance))
