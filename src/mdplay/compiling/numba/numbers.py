"""What Python's whole numbers have and numba's have not: ``n.bit_count()``, ``n.bit_length()``, ``math.isqrt``.

And what is an instruction or two here and a function of its own there, compiled for every type that it meets:
``int`` of a number, ``min`` and ``max`` of two.

The functions of ``mdplay.bits`` and ``mdplay.rng`` as machine instructions.

Each plain function there is the specification; here it gets a compiled body.  Masks of one word are handled by
a few instructions each; masks of more words (``Wide``, or a user's own NamedTuple of words) by compiling a Python
expression of the former, written for their number of words.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding, ir
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, infer_global, make_intrinsic_template, signature
from numba.cpython.builtins import cast_int, do_minmax
from numba.extending import lower_builtin, overload, overload_method

from mdplay import bits, rng
from mdplay.bits import bit_length, popcount
from mdplay.compiling.numba.instances import WHOLE, WordType, convert, define, word_type
from mdplay.compiling.numba.linking import PART

DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)


def _xor_shift_multiply(b: Any, z: Any, shift: int, factor: int) -> Any:
    return b.mul(b.xor(z, b.lshr(z, WORD(shift))), WORD(factor))


def _mix(b: Any, x: Any, y: Any) -> Any:
    z = b.mul(b.xor(x, y), WORD(0x9E37_79B9_7F4A_7C15))
    z = _xor_shift_multiply(b, z, 32, 0xD6E8_FEB8_6659_FD93)
    return b.xor(z, b.lshr(z, WORD(32)))


def _scramble(b: Any, x: Any) -> Any:
    z = _xor_shift_multiply(b, x, 30, 0xBF58_476D_1CE4_E5B9)
    z = _xor_shift_multiply(b, z, 27, 0x94D0_49BB_1331_11EB)
    return b.xor(z, b.lshr(z, WORD(31)))


def _stream(b: Any, seed: Any, number: Any) -> Any:
    return _scramble(b, b.xor(_scramble(b, seed), b.mul(number, WORD(rng.GOLDEN))))


def _lowest(b: Any, mask: Any) -> Any:
    return b.cttz(mask, ir.Constant(ir.IntType(1), 0))


def _bit_length(b: Any, mask: Any) -> Any:
    return b.sub(WORD(64), b.ctlz(mask, ir.Constant(ir.IntType(1), 0)))


def _below(b: Any, word: Any, n: Any) -> Any:
    return b.lshr(b.mul(b.lshr(word, WORD(32)), n), WORD(32))


def _nth(b: Any, mask: Any, k: Any) -> Any:
    """Deposit one bit at rank k where the processor can (BMI2); else clear the lowest bit k times."""
    if binding.get_host_cpu_features().get("bmi2"):
        deposit = b.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), ir.FunctionType(WORD, (WORD, WORD)))
        return _lowest(b, b.call(deposit, (b.shl(WORD(1), k), mask)))
    before, loop, after = b.block, b.append_basic_block("nth"), b.append_basic_block("nth.end")
    b.cbranch(b.icmp_unsigned("==", k, WORD(0)), after, loop)
    b.position_at_end(loop)
    left, count = b.phi(WORD), b.phi(WORD)
    cleared, counted = b.and_(left, b.sub(left, WORD(1))), b.sub(count, WORD(1))
    for phi, first, following in ((left, mask, cleared), (count, k, counted)):
        phi.add_incoming(first, before)
        phi.add_incoming(following, loop)
    b.cbranch(b.icmp_unsigned("==", counted, WORD(0)), after, loop)
    b.position_at_end(after)
    found = b.phi(WORD)
    found.add_incoming(mask, before)
    found.add_incoming(cleared, loop)
    return _lowest(b, found)


def _pick(b: Any, mask: Any, word: Any) -> Any:
    return _nth(b, mask, _below(b, word, b.ctpop(mask)))


def _has(b: Any, mask: Any, action: Any) -> Any:
    bit = b.trunc(b.lshr(mask, b.and_(action, WORD(63))), ir.IntType(1))
    return b.and_(bit, b.icmp_unsigned("<", action, WORD(64)))


def _covers(b: Any, mask: Any, other: Any) -> Any:
    return b.icmp_unsigned("==", b.and_(other, b.not_(mask)), WORD(0))


def _unit(b: Any, word: Any) -> Any:
    return b.fmul(b.uitofp(b.lshr(word, WORD(11)), DOUBLE), DOUBLE(2.0**-53))


# ---------------------------------------------------------------- four in a row: the directions are lanes
LANES = ir.VectorType(WORD, 4)


def _all_lanes(b: Any, x: Any) -> Any:
    first = b.insert_element(ir.Constant(LANES, ir.Undefined), x, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0, 0, 0, 0])
    return b.shuffle_vector(first, ir.Constant(LANES, ir.Undefined), zeros)


def _steps(b: Any, height: Any) -> Any:
    steps = b.add(_all_lanes(b, height), ir.Constant(LANES, [0, -1, 0, 1]))
    return b.insert_element(steps, WORD(1), ir.IntType(32)(0))


def _any_lane(b: Any, lanes: Any) -> Any:
    reduce = b.module.declare_intrinsic("llvm.vector.reduce.or.v4i64", (), ir.FunctionType(WORD, (LANES,)))
    return b.call(reduce, (lanes,))


def _completing_four(b: Any, cells: Any, height: Any) -> Any:
    x, step = _all_lanes(b, cells), _steps(b, height)
    two = b.add(step, step)
    three = b.add(two, step)
    up1, up2, up3 = (b.shl(x, k) for k in (step, two, three))
    down1, down2, down3 = (b.lshr(x, k) for k in (step, two, three))
    after = b.and_(b.and_(up1, up2), b.or_(up3, down1))
    before = b.and_(b.and_(down1, down2), b.or_(up1, down3))
    return b.and_(_any_lane(b, b.or_(after, before)), WORD((1 << 63) - 1))


def _has_four(b: Any, cells: Any, height: Any) -> Any:
    x, step = _all_lanes(b, cells), _steps(b, height)
    pairs = b.and_(x, b.lshr(x, step))
    fours = b.and_(pairs, b.lshr(pairs, b.add(step, step)))
    return b.icmp_unsigned("!=", _any_lane(b, fours), WORD(0))


COMPILED: list[tuple[Callable[..., Any], Any, Callable[..., Any], int]] = [
    (bits.nonempty, types.boolean, lambda b, m: b.icmp_unsigned("!=", m, WORD(0)), 1),
    (bits.popcount, types.int64, lambda b, m: b.ctpop(m), 1),
    (bits.lowest, types.int64, _lowest, 1),
    (bits.bit_length, types.int64, _bit_length, 1),
    (bits.nth, types.int64, _nth, 2),
    (bits.has, types.boolean, _has, 2),
    (bits.covers, types.boolean, _covers, 2),
    (bits.mix, word_type, _mix, 2),
    (bits.completing_four, types.int64, _completing_four, 2),
    (bits.has_four, types.boolean, _has_four, 2),
    (bits.unit, types.float64, _unit, 1),
    (bits.below, types.int64, _below, 2),
    (rng.advance, word_type, lambda b, x: b.add(x, WORD(rng.GOLDEN)), 1),
    (rng.scramble, word_type, _scramble, 1),
    (rng.stream, word_type, _stream, 2),
    (rng.pick, types.int64, _pick, 2),
]
for _function, _result, _emit, _arity in COMPILED:
    define(_function, _result, _emit, _arity, needs_word=False)


@infer_global(bits.without_lowest)
class _Rest(AbstractTemplate):
    """The rest of a mask has the mask's own type."""

    def generic(self, args: Any, kws: Any) -> Any:
        kind = types.unliteral(args[0])
        return signature(kind, kind) if isinstance(kind, WHOLE) else None


def _rest(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    mask = convert(context, builder, args[0], sig.args[0], word_type)
    cleared = builder.and_(mask, builder.sub(mask, WORD(1)))
    return convert(context, builder, cleared, word_type, sig.return_type)


for _kind in WHOLE:
    lower_builtin(bits.without_lowest, _kind)(_rest)


# ---------------------------------------------------------------- masks of several words
def _first_of(n: int, found: str) -> str:
    """Write an expression of the first word that is not empty, or of the last one."""
    tests = [f"{found.format(i=i, at=64 * i)} if nonempty(m[{i}]) else " for i in range(n - 1)]
    return "".join(tests) + found.format(i=n - 1, at=64 * (n - 1))


def _mask_of(n: int, word: str) -> str:
    """Write a mask of n words, each by an expression."""
    return f"T({', '.join(word.format(i=i, at=64 * i) for i in range(n))})"


def _without_lowest(n: int) -> str:
    cleared = [_mask_of(n, "m[{i}]").replace(f"m[{i}]", f"without_lowest(m[{i}])") for i in range(n)]
    return "".join(f"{cleared[i]} if nonempty(m[{i}]) else " for i in range(n - 1)) + cleared[-1]


def _nth_of(n: int) -> str:
    text, rank = "", "k"
    for i in range(n - 1):
        text += f"{64 * i} + nth(m[{i}], {rank}) if {rank} < popcount(m[{i}]) else "
        rank += f" - popcount(m[{i}])"
    return f"{text}{64 * (n - 1)} + nth(m[{n - 1}], {rank})"


def _has_of(n: int) -> str:
    tests = [f"has(m[{i}], a - {64 * i}) if a < {64 * (i + 1)} else " for i in range(n - 1)]
    return f"{''.join(tests)}has(m[{n - 1}], a - {64 * (n - 1)})"


WIDE: dict[Callable[..., Any], tuple[str, Callable[[int], str]]] = {
    bits.nonempty: ("m", lambda n: f"nonempty({' | '.join(f'm[{i}]' for i in range(n))})"),
    bits.popcount: ("m", lambda n: " + ".join(f"popcount(m[{i}])" for i in range(n))),
    bits.lowest: ("m", lambda n: _first_of(n, "{at} + lowest(m[{i}])")),
    bits.without_lowest: ("m", _without_lowest),
    bits.nth: ("m, k", _nth_of),
    bits.has: ("m, a", _has_of),
    bits.covers: ("m, o", lambda n: "covers(m[0], o)"),
    rng.pick: ("m, w", lambda n: "nth(m, below(w, popcount(m)))"),
}
SETS: dict[Callable[..., Any], tuple[str, str]] = {  # of one word or more
    bits.add: ("m, a", "m[{i}] | U64(1) << a - {at}"),
    bits.discard: ("m, a", "m[{i}] & ~(U64(1) << a - {at})"),
    bits.union: ("m, o", "m[{i}] | o[{i}]"),
    bits.intersection: ("m, o", "m[{i}] & o[{i}]"),
    bits.difference: ("m, o", "m[{i}] & ~o[{i}]"),
}


def is_wide(kind: Any) -> bool:
    """Return whether a type is a mask of several words."""
    return isinstance(kind, types.NamedUniTuple) and kind.dtype is word_type


def _body(names: str, text: str, cls: Any) -> Any:
    return eval(f"lambda {names}: {text}", {**vars(bits), "T": cls})


def _define_wide(function: Callable[..., Any], names: str, write: Callable[[int], str]) -> None:
    def choose(m: Any) -> Any:
        return _body(names, write(len(m)), m.instance_class) if is_wide(m) else None

    overload(function, jit_options=PART)(eval(f"lambda {names}: choose(m)", {"choose": choose}))


def _define_set(function: Callable[..., Any], names: str, word: str) -> None:
    """Give a function of sets its compiled form; a set of one word is computed as a word."""
    single = word.replace("[{i}]", "").format(at=0)

    def choose(m: Any) -> Any:
        if is_wide(m):
            return _body(names, _mask_of(len(m), word), m.instance_class)
        return _body(names, single.replace("m ", "U64(m) ", 1), None) if isinstance(m, WHOLE) else None

    overload(function, jit_options=PART)(eval(f"lambda {names}: choose(m)", {"choose": choose}))


for _function, (_names, _write) in WIDE.items():
    _define_wide(_function, _names, _write)
for _function, (_names, _word) in SETS.items():
    _define_set(_function, _names, _word)


METHODS: dict[str, Callable[..., Any]] = {"bit_count": popcount, "bit_length": bit_length}


def _define_method(kind: Any, name: str, function: Callable[..., Any]) -> None:
    """Give a type of whole numbers a method of Python's int, which looks at the size and not at the sign."""

    def chooser(n: Any) -> Callable[..., Any]:
        if isinstance(n, WordType):
            return lambda n: function(n)
        return lambda n: function(-n if n < 0 else n)

    overload_method(kind, name, strict=False, jit_options=PART)(chooser)


for _kind in (types.Integer, WordType):
    for _name, _function in METHODS.items():
        _define_method(_kind, _name, _function)


@overload(math.isqrt, jit_options=PART)
def _isqrt(n: Any) -> Callable[..., Any] | None:
    def root(n: Any) -> Any:
        r = int(math.sqrt(n))
        while r * r > n:
            r -= 1
        while (r + 1) * (r + 1) <= n:
            r += 1
        return r

    return root if isinstance(n, types.Integer) else None


@overload(math.comb, jit_options=PART)
def _comb(n: Any, k: Any) -> Callable[..., Any] | None:
    def choose(n: Any, k: Any) -> Any:
        if k < 0 or k > n:
            return 0
        found = 1
        for i in range(1, min(k, n - k) + 1):
            found = found * (n - min(k, n - k) + i) // i
        return found

    return choose if isinstance(n, types.Integer) and isinstance(k, types.Integer) else None


@overload(math.factorial, jit_options=PART)
def _factorial(n: Any) -> Callable[..., Any] | None:
    def product(n: Any) -> Any:
        found = 1
        for i in range(2, n + 1):
            found *= i
        return found

    return product if isinstance(n, types.Integer) else None


# ---------------------------------------------------------------- instructions
def _int(context: Any, x: Any) -> Any:
    return cast_int._defn(context, x) if isinstance(x, (types.Integer, types.Boolean, types.Float)) else None


def _extreme(comparison: Any) -> Callable[..., Any]:
    """Return the definition of ``max`` or ``min`` of two numbers: the second one where it compares so."""

    def definition(context: Any, x: Any, y: Any) -> Any:
        kind = context.unify_types(x, y)
        if kind is None or not all(isinstance(one, (types.Integer, types.Float)) for one in (x, y)):
            return None

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return do_minmax(context, builder, sig.args, args, comparison)

        return signature(kind, x, y), emit

    return definition


INSTRUCTIONS = {int: (1, _int), max: (2, _extreme(operator.gt)), min: (2, _extreme(operator.lt))}


def _template(function: Any, arity: int, definition: Callable[..., Any]) -> Any:
    """Return what numba asks for the type of a call."""
    made: Any = make_intrinsic_template(function, definition, function.__name__)

    class Template(made):
        def generic(self, args: Any, kws: Any) -> Any:
            """Return the signature; None is left to numba."""
            return super().generic(args, kws) if len(args) == arity and not kws else None

    return Template


@cache
def prefer_instructions() -> None:
    """Let numba try the instructions before its functions; whatever else they are called with is still theirs."""
    context = cpu_target.typing_context
    context.refresh()
    for function, (arity, definition) in INSTRUCTIONS.items():
        known = context._lookup_global(function)
        context._remove_global(function)
        context._insert_global(
            function, types.Function((_template(function, arity, definition), *known.templates))
        )
