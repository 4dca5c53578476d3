"""Games and selectors as numba types, and the types that annotations mean.

A game value is a zero-size argument whose *type* is its identity: ``InstanceType("nim.Nim#<fingerprint>")``.
numba specialises every kernel per argument type, so a changed game is a different type, hence compiled anew,
and an unchanged one is found in the cache by the next process.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, TypeVar

from numba import config, typeof
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, signature
from numba.extending import (
    NativeValue,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from mdplay.bits import U64, Mask, Wide
from mdplay.bridge.fingerprint import instance_fingerprint
from mdplay.bridge.words import WHOLE, convert, word_type
from mdplay.contract import MASKS, checked, hints_of
from mdplay.errors import GameError
from mdplay.game import Compiled, Game, Look

C = TypeVar("C", bound=Compiled)
LIVE: dict[str, Compiled] = {}  # identity -> a game or selector with it


def native(instance: C) -> C:
    """Return what a kernel is to get: the game itself, or its checked double when the compiler is off."""
    return checked(instance) if config.DISABLE_JIT else instance


class InstanceType(types.Opaque):
    """The type of one game or selector: its class, its rules and its parameters."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        super().__init__(name=identity)

    @property
    def instance(self) -> Compiled:
        """A live instance; all with this identity are interchangeable."""
        return LIVE[self.identity]


register_model(InstanceType)(models.OpaqueModel)


def identity(instance: Compiled) -> str:
    """Return the name and fingerprint of a game or selector, and remember the instance under it."""
    memory = vars(instance)
    if "_identity" not in memory:
        cls = type(instance)
        memory["_identity"] = f"{cls.__module__}.{cls.__qualname__}#{instance_fingerprint(instance)}"
        LIVE.setdefault(memory["_identity"], instance)  # the first one: its state class is in compiled code
    return str(memory["_identity"])


@typeof_impl.register(Compiled)
def _typeof(instance: Any, context: Any) -> InstanceType:
    return InstanceType(identity(instance))


@unbox(InstanceType)
def _unbox(kind: Any, value: Any, context: Any) -> Any:
    return NativeValue(context.context.get_dummy_value())


# ---------------------------------------------------------------- annotations
SCALARS = {int: types.int64, float: types.float64, bool: types.boolean, U64: word_type, Mask: word_type}


@cache
def native_type(annotation: Any) -> Any:
    """Return the numba type that an annotation means, or raise GameError."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    if hasattr(annotation, "_fields"):
        define_constructor(annotation)
        return tuple_type(annotation)
    raise GameError(
        f"no compiled form for the annotation {annotation!r}; use int, float, bool, U64 or a NamedTuple"
    )


def tuple_type(cls: Any) -> Any:
    """Return the numba type of a NamedTuple class, field by field as annotated."""
    hints = hints_of(cls)
    fields = [native_type(hints[name]) for name in cls._fields]
    if len(set(fields)) == 1:
        return types.NamedUniTuple(fields[0], len(fields), cls)
    return types.NamedTuple(fields, cls)


CONSTRUCTORS: dict[type, Any] = {}
_typeof_class = typeof_impl.dispatch(type)


@typeof_impl.register(type)
def _typeof_constructor(cls: Any, context: Any) -> Any:
    """Type a class met in compiled code; numba's own way would take the fields' types from the arguments."""
    return CONSTRUCTORS.get(cls) or _typeof_class(cls, context)


@cache
def define_constructor(cls: Any) -> None:
    """Make ``State(...)`` in compiled code give the annotated types, whatever numbers it gets."""
    fields = inspect.signature(cls)

    class Template(AbstractTemplate):
        key = cls

        def generic(self, args: Any, kws: Any) -> Any:
            try:
                given = fields.bind(*args, **dict(kws)).arguments
            except TypeError:
                return None
            defaults = {name: types.Omitted(value) for name, value in cls._field_defaults.items()}
            kinds = [types.unliteral((defaults | given)[name]) for name in cls._fields]
            fits = all(map(castable, kinds, tuple_type(cls)))
            return signature(tuple_type(cls), *kinds).replace(pysig=fields) if fits else None

    CONSTRUCTORS[cls] = types.Function(Template)

    @lower_builtin(cls, types.VarArg(types.Any))
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        target = sig.return_type
        values = [recast(context, builder, f, t, v) for f, t, v in zip(sig.args, target, args, strict=True)]
        return context.make_tuple(builder, target, values)


for _cls in (Wide, Look):
    define_constructor(_cls)


# ---------------------------------------------------------------- values to their annotated type
def castable(source: Any, target: Any) -> bool:
    """Tell whether a value of one type may stand where an annotation asks for another."""
    if isinstance(source, types.Omitted):
        return castable(typeof(source.value), target)
    if isinstance(target, types.BaseTuple):
        if isinstance(source, WHOLE) and getattr(target, "instance_class", None) is Wide:
            return True  # a small mask among wide ones
        same = getattr(source, "instance_class", None) in (None, getattr(target, "instance_class", None))
        return (
            isinstance(source, types.BaseTuple)
            and same
            and len(source) == len(target)
            and all(map(castable, source, target))
        )
    return isinstance(source, (*WHOLE, types.Float) if isinstance(target, types.Float) else WHOLE)


def recast(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    """Convert a value to the annotated type; tuples element by element."""
    if isinstance(source, types.Omitted):
        kind = typeof(source.value)
        return recast(context, builder, kind, target, context.get_constant_generic(builder, kind, source.value))
    if not isinstance(target, types.BaseTuple):
        return convert(context, builder, value, source, target)
    if not isinstance(source, types.BaseTuple):
        low = convert(context, builder, value, source, target[0])
        return context.make_tuple(builder, target, [low, low.type(0)])
    values = cgutils.unpack_tuple(builder, value)
    cast = [recast(context, builder, f, t, v) for f, t, v in zip(source, target, values, strict=True)]
    return context.make_tuple(builder, target, cast)


def result_type(cls: type, name: str, annotation: Any) -> Any:
    """Return the type that kernels see as a method's result; all masks of a game have one type."""
    if name in MASKS and issubclass(cls, Game):
        wide = Wide in [hints_of(getattr(cls, mask)).get("return") for mask in MASKS]
        return native_type(Wide) if wide else word_type
    return native_type(annotation)
