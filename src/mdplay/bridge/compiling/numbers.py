"""What Python's whole numbers have and numba's have not: ``n.bit_count()``, ``n.bit_length()``, ``math.isqrt``.

And what is an instruction or two here and a function of its own there, compiled for every type that it meets:
``int`` of a number, ``min`` and ``max`` of two.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import make_intrinsic_template, signature
from numba.cpython.builtins import cast_int, do_minmax
from numba.extending import overload, overload_method

from mdplay.bits import bit_length, popcount
from mdplay.bridge.compiling import masks  # noqa: F401  what popcount and bit_length are in compiled code
from mdplay.bridge.compiling.linking import PART
from mdplay.bridge.compiling.word_type import WordType

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
