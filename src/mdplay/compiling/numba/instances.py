"""The numba types of mdplay: words, games and selectors, and the types that annotations mean.

``U64`` is a word type of our own.  numba's uint64 turns into int64 beside a literal and into a *float* where it
meets an int on another path.  Here every operation with a word gives a word, an int and a word unify to a word,
right shifts are logical, shifts by 64 or more give 0, and comparisons with negative ints are true to arithmetic.

A game value is a zero-size argument whose *type* is its identity: ``InstanceType("nim.Nim#<fingerprint>")``.
numba specialises every kernel per argument type, so a changed game is a different type and is compiled again,
and an unchanged one is found in the cache by the next process.

`emitted` gives a plain function its instructions in compiled code.  numba's ``overload`` compiles a function of
its own around an ``intrinsic``, which takes 25 ms for each type of arguments.
"""

from __future__ import annotations

import inspect
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from mdplay.bits import U64, Mask, Wide
from mdplay.compiling.cache import LIVE, identity
from mdplay.compiling.contract import MASKS, hints_of, mask_class
from mdplay.errors import GameError
from mdplay.game import Bounds, Compiled, Game

Choose = Callable[..., Any]  # (typing context, types of the arguments) -> signature and emitter, or None


def emitted(function: Callable[..., Any]) -> Callable[[Choose], Choose]:
    """Give a plain function its instructions; it is called without keywords.

    What is decorated gets the types of the arguments, and returns the signature and
    ``emit(context, builder, sig, args)``, or None if the function does not take these types.
    """

    def register(choose: Choose) -> Choose:
        @infer_global(function)
        class Template(AbstractTemplate):
            def generic(self, args: Any, kws: Any) -> Any:
                found = None if kws else choose(self.context, *args)
                return None if found is None else found[0]

        @lower_builtin(function, types.VarArg(types.Any))
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return choose(context.typing_context, *sig.args)[1](context, builder, sig, args)

        return choose

    return register


class WordType(types.Type):
    """The type of a 64-bit word."""

    bitwidth = 64

    def __init__(self) -> None:
        super().__init__(name="U64")

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return the common type with an int or a bool: the word."""
        return self if isinstance(other, (types.Integer, types.Boolean)) else None


word_type = WordType()
register_model(WordType)(models.IntegerModel)
WHOLE = (types.Integer, types.Boolean, WordType)


def convert(context: Any, builder: Any, value: Any, source: Any, target: Any) -> Any:
    """Convert between words, ints, bools and floats; a word and an int share their 64 bits."""
    if source == target:
        return value
    if isinstance(source, WordType):
        return context.cast(builder, value, types.uint64, target)
    if isinstance(target, WordType):
        if isinstance(source, types.Float):
            return context.cast(builder, value, source, types.uint64)
        return context.cast(builder, value, types.unliteral(source), types.uint64)
    return context.cast(builder, value, source, target)


@lower_cast(types.IntegerLiteral, WordType)
def _literal_to_word(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return ir.Constant(ir.IntType(64), source.literal_value & (1 << 64) - 1)


@lower_cast(types.Integer, WordType)
@lower_cast(types.Boolean, WordType)
@lower_cast(WordType, types.Boolean)
def _cast(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return convert(context, builder, value, source, target)


DIVISIONS = {operator.floordiv, operator.ifloordiv, operator.mod, operator.imod, operator.truediv}


def _refuse_zero(context: Any, builder: Any, divisor: Any) -> None:
    """Raise ZeroDivisionError, as Python does; the processor would end the program."""
    zero = builder.icmp_unsigned("==", divisor, divisor.type(0))
    with builder.if_then(zero, likely=False):
        context.call_conv.return_user_exc(builder, ZeroDivisionError, ("integer division by zero",))


def define(
    function: Callable[..., Any], result: Any, emit: Callable[..., Any], arity: int, needs_word: bool = True
) -> None:
    """Give a function or operator its meaning on words.

    It applies where all arguments are whole numbers and (``needs_word``) one of them is a word;
    ``emit(builder, *values)`` gets them as 64-bit values and returns a value of the result's type.
    """

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            whole = len(args) == arity and all(isinstance(arg, WHOLE) for arg in args)
            if kws or not whole or (needs_word and word_type not in args):
                return None
            return signature(result, *map(types.unliteral, args))

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [convert(context, builder, v, t, types.uint64) for v, t in zip(args, sig.args, strict=True)]
        if function in DIVISIONS:
            _refuse_zero(context, builder, values[1])
        return emit(builder, *values)

    for kinds in product(WHOLE, repeat=arity):
        if WordType in kinds or not needs_word:
            lower_builtin(function, *kinds)(lower)


def _shift(move: str) -> Callable[..., Any]:
    def emit(builder: Any, bits: Any, by: Any) -> Any:
        moved = getattr(builder, move)(bits, builder.and_(by, by.type(63)))
        return builder.select(builder.icmp_unsigned("<", by, by.type(64)), moved, bits.type(0))

    return emit


def _quotient(builder: Any, x: Any, y: Any) -> Any:
    double = ir.DoubleType()
    return builder.fdiv(builder.uitofp(x, double), builder.uitofp(y, double))


BINARY = {
    operator.and_: lambda b, x, y: b.and_(x, y),
    operator.or_: lambda b, x, y: b.or_(x, y),
    operator.xor: lambda b, x, y: b.xor(x, y),
    operator.add: lambda b, x, y: b.add(x, y),
    operator.sub: lambda b, x, y: b.sub(x, y),
    operator.mul: lambda b, x, y: b.mul(x, y),
    operator.floordiv: lambda b, x, y: b.udiv(x, y),
    operator.mod: lambda b, x, y: b.urem(x, y),
    operator.lshift: _shift("shl"),
    operator.rshift: _shift("lshr"),
}
for _operator, _emit in BINARY.items():
    define(_operator, word_type, _emit, arity=2)
    define(getattr(operator, "i" + _operator.__name__.rstrip("_")), word_type, _emit, arity=2)
define(operator.truediv, types.float64, _quotient, arity=2)
define(operator.invert, word_type, lambda b, x: b.not_(x), arity=1)
define(operator.neg, word_type, lambda b, x: b.neg(x), arity=1)
define(U64, word_type, lambda b, x: x, arity=1, needs_word=False)
define(int, types.int64, lambda b, x: x, arity=1)
define(float, types.float64, lambda b, x: b.uitofp(x, ir.DoubleType()), arity=1)
define(bool, types.boolean, lambda b, x: b.icmp_unsigned("!=", x, x.type(0)), arity=1)
define(operator.truth, types.boolean, lambda b, x: b.icmp_unsigned("!=", x, x.type(0)), arity=1)
define(operator.not_, types.boolean, lambda b, x: b.icmp_unsigned("==", x, x.type(0)), arity=1)


# ---------------------------------------------------------------- comparisons, true to arithmetic
SYMBOLS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Compare(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        whole = len(args) == 2 and all(isinstance(arg, WHOLE) for arg in args)
        if not whole or word_type not in args:
            return None
        return signature(types.boolean, *map(types.unliteral, args))


def _lower_compare(symbol: str) -> Callable[..., Any]:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """Compare the bits without sign, except where one side is a negative int: it is less than any word."""
        x, y = (convert(context, builder, v, t, types.uint64) for v, t in zip(args, sig.args, strict=True))
        answer = builder.icmp_unsigned(symbol, x, y)
        for value, kind, instead in (
            (x, sig.args[0], SYMBOLS[symbol](-1, 0)),
            (y, sig.args[1], SYMBOLS[symbol](0, -1)),
        ):
            if isinstance(kind, types.Integer) and kind.signed:
                negative = builder.icmp_signed("<", value, value.type(0))
                answer = builder.select(negative, answer.type(int(instead)), answer)
        return answer

    return lower


for _symbol, _operator in SYMBOLS.items():
    infer_global(_operator)(type("Template", (_Compare,), {}))
    for _kinds in product(WHOLE, repeat=2):
        if WordType in _kinds:
            lower_builtin(_operator, *_kinds)(_lower_compare(_symbol))


# ---------------------------------------------------------------- a word as an index
@infer_global(operator.getitem)
class _Index(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        table, i = args
        fits = isinstance(table, types.Array) and table.ndim == 1 and i == word_type
        return signature(table.dtype, table, i) if fits else None


@lower_builtin(operator.getitem, types.Array, WordType)
def _index(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    unsigned = signature(sig.return_type, sig.args[0], types.uint64)
    return context.get_function(operator.getitem, unsigned)(builder, args)


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
    """Return whether a value of one type may stand where an annotation asks for another."""
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
