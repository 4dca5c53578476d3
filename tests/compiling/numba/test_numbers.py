"""``int``, ``min`` and ``max`` of numbers: an instruction or two, and what plain Python gives."""

import math

import numpy as np
import pytest

from mdplay.bits import U64
from mdplay.compiling import kernel

pytestmark = pytest.mark.usefixtures("needs_compiler")
NUMBERS = [0, -3, 5, 2.5, -0.0, math.inf, math.nan, True, np.int8(-7), np.uint16(9), np.float32(1.5)]


@kernel
def extremes(a, b):
    """Return the extremes of two numbers."""
    return max(a, b), min(a, b)


@kernel
def whole(a):
    """Return a number as a whole one."""
    return int(a)


@kernel
def of_others(a, b, word):
    """Return what is still numba's own: of tuples, of three, of words and of booleans."""
    return max((a, b)), min(a, b, 3), int(word), max(a > b, b > a)


def bits(numbers):
    return [np.float64(x).tobytes() for x in numbers]


@pytest.mark.parametrize("a", NUMBERS, ids=repr)
@pytest.mark.parametrize("b", NUMBERS[:7], ids=repr)
def test_extremes_are_those_of_plain_python(a, b):
    """A NaN and the two zeros included: the second number counts only where it compares as more, or as less."""
    if isinstance(a, bool) or isinstance(b, bool):
        assert extremes(a, b) == (max(a, b), min(a, b)) or math.isnan(b)
    else:
        assert bits(extremes(a, b)) == bits([max(a, b), min(a, b)])


@pytest.mark.parametrize("a", [a for a in NUMBERS if math.isfinite(a)], ids=repr)
def test_a_whole_number_is_cut_towards_zero(a):
    assert whole(a) == int(a)


def test_what_numba_knows_besides_stays():
    assert of_others(4, 9, U64(12)) == (9, 3, 12, True)


def test_no_function_is_compiled_for_them():
    from numba.core import types
    from numba.core.registry import cpu_target

    from mdplay.compiling.numba.numbers import prefer_instructions

    prefer_instructions()
    context = cpu_target.typing_context
    for function, given in ((int, (types.int8,)), (max, (types.int64, types.float64))):
        kind = context.resolve_value_type(function)
        emitter = kind.get_impl_key(kind.get_call_type(context, given, {}))
        assert emitter.__qualname__.startswith(("cast_int", "_extreme"))
