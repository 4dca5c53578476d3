"""What Python's whole numbers have and numba's have not: ``n.bit_count()``, ``n.bit_length()``, ``math.isqrt``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba.core import types
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
