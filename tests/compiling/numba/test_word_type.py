"""Compiled words against Python's integers cut to 64 bits."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import mdplay.compiling  # noqa: F401  (defines the words)
from mdplay.bits import U64, WORD

pytestmark = pytest.mark.usefixtures("needs_compiler")
WORDS = st.integers(0, WORD)
INTS = st.integers(-(1 << 63), (1 << 63) - 1)
ARITHMETIC = [operator.and_, operator.or_, operator.xor, operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def compiled(text):
    """Compile a function of two ints whose body sees them as words x and y and as ints a and b."""
    scope = {"U64": U64}
    exec(f"def f(a, b):\n    x, y = U64(a), U64(b)\n    return {text}", scope)
    return njit(scope["f"])


def signed(word):
    return word - (1 << 64) if word >> 63 else word


SYMBOLS = {"and_": "&", "or_": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"}
SYMBOLS |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda op: op.__name__)
def test_arithmetic_is_python_modulo_2_to_the_64(op):
    symbol = SYMBOLS[op.__name__]
    forms = [compiled(f"int({left} {symbol} {right})") for left, right in (("x", "y"), ("x", "b"), ("a", "y"))]

    @given(INTS, INTS)
    def check(a, b):
        assert [f(a, b) & WORD for f in forms] == [op(a & WORD, b & WORD) & WORD] * 3

    check()


@pytest.mark.parametrize("op", COMPARISONS, ids=lambda op: op.__name__)
def test_comparisons_are_true_to_arithmetic(op):
    symbol = SYMBOLS[op.__name__]
    both, left, right = (compiled(f"{a} {symbol} {b}") for a, b in (("x", "y"), ("x", "b"), ("a", "y")))

    @given(INTS, INTS)
    def check(a, b):
        assert both(a, b) == op(a & WORD, b & WORD)
        assert left(a, b) == op(a & WORD, b)
        assert right(a, b) == op(a, b & WORD)

    check()


def test_shifts_are_logical_and_defined():
    left, right = compiled("int(x << b)"), compiled("int(x >> b)")

    @given(INTS, st.integers(0, 100))
    def check(a, b):
        assert left(a, b) & WORD == (a & WORD) << b & WORD
        assert right(a, b) & WORD == (a & WORD) >> b

    check()


def test_division_and_remainder_are_unsigned():
    quotient, remainder = compiled("int(x // y)"), compiled("int(x % y)")

    @given(INTS, INTS.filter(bool))
    def check(a, b):
        assert quotient(a, b) & WORD == (a & WORD) // (b & WORD)
        assert remainder(a, b) & WORD == (a & WORD) % (b & WORD)

    check()


@pytest.mark.parametrize(
    "text, expected", [("int(~x)", lambda a: ~a), ("int(-x)", lambda a: -a), ("int(x)", lambda a: a)]
)
def test_unary(text, expected):
    f = compiled(text)

    @given(INTS)
    def check(a):
        assert f(a, 0) & WORD == expected(a) & WORD

    check()


def test_truth_float_and_augmented_assignment():
    assert compiled("bool(x)")(0, 0) is False
    assert compiled("not x")(0, 0) is True
    assert compiled("1 if x else 2")(1 << 62, 0) == 1
    assert compiled("float(x)")(-1, 0) == float(WORD)
    assert compiled("x / y")(6, 4) == 1.5


@njit
def one_path_int_the_other_a_word(n):
    out, x = 0, U64(1) << 63
    for i in range(n):
        if i == 2:
            out = x
        x |= 1
    last = out if n > 1 else 0
    last += 1
    return int(last)


def test_an_int_and_a_word_meet_as_a_word_not_as_a_float():
    assert one_path_int_the_other_a_word(5) & WORD == (1 << 63) + 2  # a float would lose the low bits
    assert one_path_int_the_other_a_word(1) == 1


@pytest.mark.parametrize("symbol", ["//", "%", "/"])
def test_division_is_pythons_and_by_zero_an_error(symbol):
    divided = compiled(f"float(x {symbol} y)")
    assert divided(-1, 10) == float(eval(f"{WORD} {symbol} 10"))
    with pytest.raises(ZeroDivisionError):
        divided(7, 0)
