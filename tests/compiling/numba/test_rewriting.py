"""Generator expressions as loops: the rewritten function answers as Python does, plain and compiled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from mdplay import GameError
from mdplay.bits import U64
from mdplay.compiling.numba.rewriting import rewritten
from mdplay.naming.specs import load_module
from tests.helpers import write

LIMIT = 5
NUMBERS = (3, -1, 4, 1, -5, 9, 2, 6)


def many(n, start):
    twice = n * 2
    low = min((v * n for v in NUMBERS if v > start), default=-7)
    high = max(v - n for v in NUMBERS)
    total = sum(v << 1 for v in NUMBERS if v > 0 if v < n) + sum((i for i in range(3)), start)
    some = start > 100 or any(v == n + i for v in NUMBERS for i in range(2))
    every = all(v + LIMIT + twice > 0 for v in NUMBERS)
    nested = sum(i * any(i + j == n for j in range(i)) for i in range(8))
    return low, high, total, some, every, nested


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_the_rewritten_function_answers_as_before(n, start):
    assert rewritten(many)(n, start) == many(n, start)


def careful(n):
    return all(n < 3 and NUMBERS[n] > 0 for _ in range(2)) or any(NUMBERS[i] == 4 for i in range(100))


def test_it_stops_where_python_stops():
    assert rewritten(careful)(0) is careful(0) is True  # at the third number: there is no hundredth


def test_outer_variables_and_defaults_are_kept():
    outer = 3

    def rule(n, step=2):
        return sum(i * outer for i in range(0, n, step))

    new = rewritten(rule)
    assert new is not rule
    assert new(7) == rule(7) and new(7, 3) == rule(7, 3)
    assert new.__name__ == "rule"


def test_a_file_that_was_edited_after_its_import_is_not_taken_for_the_rule(tmp_path):
    text = "def edited(n):\n    return sum(i + n for i in range(3))\n"
    file = write(tmp_path, "edited_later.py", text)
    rule = load_module(file).edited
    assert rewritten(rule)(1) == rule(1) == 6
    file.write_text(text.replace("range(3)", "range(4)"))
    with pytest.raises(GameError, match="the file has changed since it was imported; start Python anew"):
        rewritten(rule)
    file.write_text(f"{text}\nMORE = 1\n")
    assert rewritten(rule)(1) == 6, "it says the same"


def test_what_has_no_such_call_stays_as_it_is():
    def plain(n):
        return max(n, 3) + sum([1, 2])

    def other(n):
        return tuple(i for i in range(n))

    assert rewritten(plain) is plain and rewritten(other) is other
    assert rewritten(eval("lambda n: any(i == n for i in range(3))")).__name__ == "<lambda>"  # no source


def test_names_that_are_not_pythons_own_are_left_alone():
    def any(values):
        return 17

    def rule(n):
        return any(i for i in range(n))

    assert rewritten(rule)(3) == 17


def test_lines_are_those_of_the_file():
    def rule(n):
        best = 0
        if n > 2:
            best = max(1 // i for i in range(n))
        return best

    new, first = rewritten(rule).__code__, rule.__code__.co_firstlineno
    assert new.co_firstlineno == first
    assert {line for *_, line in new.co_lines()} >= {first + 1, first + 2, first + 3, first + 4}


@njit
def counts(n):
    return n.bit_count(), n.bit_length(), U64(n).bit_count(), U64(n).bit_length()


def test_compiled_it_answers_the_same(needs_compiler):
    compiled = njit(rewritten(many))
    for n, start in ((0, 0), (3, 1), (-4, 8), (2, -6), (6, 101)):
        assert compiled(n, start) == many(n, start)


@pytest.mark.usefixtures("needs_compiler")
@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_whole_numbers_have_the_methods_of_pythons(n):
    word = n % (1 << 64)
    assert counts(n) == (n.bit_count(), n.bit_length(), word.bit_count(), word.bit_length())


def test_whole_roots_and_choices(needs_compiler):
    import math

    @njit
    def found(n, k):
        return math.isqrt(n), math.comb(n, k), math.factorial(k), math.gcd(n, k)

    for n, k in ((0, 0), (1, 2), (10, 3), (60, 7), (15, 15), (52, 5)):
        assert found(n, k) == (math.isqrt(n), math.comb(n, k), math.factorial(k), math.gcd(n, k))
