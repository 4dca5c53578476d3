"""Games and selectors as numba types, and the types that annotations mean.

A game value is a zero-size argument whose *type* is its identity: ``InstanceType("nim.Nim#<fingerprint>")``.
numba specialises every kernel per argument type, so a changed game is a different type, hence compiled anew,
and an unchanged one is found in the cache by the next process.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from numba import typeof
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
from mdplay.compiling.cache import LIVE, identity
from mdplay.compiling.contract import MASKS, hints_of, mask_class
from mdplay.compiling.numba.word_type import WHOLE, convert, word_type
from mdplay.errors import GameError
from mdplay.game import Bounds, Compiled, Game

ASKED: dict[str, set[str]] = defaultdict(set)  # identity -> the attributes that compiled code asked for


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


def instance_types(kinds: Any) -> Iterator[InstanceType]:
    """Yield the games and selectors among the types of a kernel's arguments."""
    for kind in kinds:
        if isinstance(kind, InstanceType):
            yield kind
        elif isinstance(kind, types.BaseTuple):
            yield from instance_types(kind)


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


for _cls in (Wide, Bounds):
    define_constructor(_cls)


# ---------------------------------------------------------------- values to their annotated type
MASK_CLASSES: set[type] = {Wide}  # the classes of masks of several words that games use


def castable(source: Any, target: Any) -> bool:
    """Tell whether a value of one type may stand where an annotation asks for another."""
    if isinstance(source, types.Omitted):
        return castable(typeof(source.value), target)
    if isinstance(target, types.BaseTuple):
        if getattr(target, "instance_class", None) in MASK_CLASSES and _is_smaller_mask(source, target):
            return True  # a small mask among wide ones
        same = getattr(source, "instance_class", None) in (None, getattr(target, "instance_class", None))
        return (
            isinstance(source, types.BaseTuple)
            and same
            and len(source) == len(target)
            and all(map(castable, source, target))
        )
    return isinstance(source, (*WHOLE, types.Float) if isinstance(target, types.Float) else WHOLE)


def _is_smaller_mask(source: Any, target: Any) -> bool:
    if isinstance(source, WHOLE):
        return True
    return isinstance(source, types.NamedUniTuple) and source.dtype is word_type and len(source) <= len(target)


def recast(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    """Convert a value to the annotated type; tuples element by element."""
    if isinstance(source, types.Omitted):
        kind = typeof(source.value)
        return recast(context, builder, kind, target, context.get_constant_generic(builder, kind, source.value))
    if not isinstance(target, types.BaseTuple):
        return convert(context, builder, value, source, target)
    kinds, values = [source], [value]
    if isinstance(source, types.BaseTuple):
        kinds, values = list(source), cgutils.unpack_tuple(builder, value)
    cast = [recast(context, builder, f, t, v) for f, t, v in zip(kinds, target, values, strict=False)]
    empty = [cast[0].type(0)] * (len(target) - len(cast))  # the words that a smaller mask has not
    return context.make_tuple(builder, target, cast + empty)


def result_type(cls: type, name: str, annotation: Any) -> Any:
    """Return the type that kernels see as a method's result; all masks of a game have one type."""
    if name not in MASKS or not issubclass(cls, Game):
        return native_type(annotation)
    widest = mask_class(cls)
    if widest is None:
        return word_type
    MASK_CLASSES.add(widest)
    return native_type(widest)
