"""The compiled functions of bits and rng against their plain specifications."""

from inspect import signature
from types import FunctionType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import mdplay.compiling  # noqa: F401  (gives the functions their compiled form)
from mdplay import bits, rng
from mdplay.bits import U64, WORD, Wide
from mdplay.compiling.numba.numbers import COMPILED, SETS, WIDE

pytestmark = pytest.mark.usefixtures("needs_compiler")
WORDS = st.integers(0, WORD)


@njit
def compiled_words(a, b):
    x, y = U64(a), U64(b)
    return (
        int(bits.mix(x, y)),
        int(rng.advance(x)),
        int(rng.scramble(x)),
        int(rng.stream(x, y)),
        bits.below(x, 1000),
        bits.unit(x),
    )


@given(WORDS, WORDS)
def test_words(a, b):
    plain = (bits.mix(a, b), rng.advance(a), rng.scramble(a), rng.stream(a, b), bits.below(a, 1000), bits.unit(a))
    compiled = compiled_words(a - (a >> 63 << 64), b - (b >> 63 << 64))
    assert [v & WORD if isinstance(v, int) else v for v in compiled] == list(plain)


@njit
def compiled_mask(a, word, k):
    mask = U64(a)
    return (
        bits.nonempty(mask),
        bits.popcount(mask),
        bits.lowest(mask),
        int(bits.without_lowest(mask)),
        bits.nth(mask, k),
        bits.has(mask, k),
        rng.pick(mask, U64(word)),
    )


@njit
def compiled_questions(a, b, k):
    mask, wide = U64(a), Wide(U64(a), U64(b))
    return bits.has(mask, k), bits.has(wide, k), bits.covers(mask, U64(b)), bits.covers(wide, U64(b) & mask)


@given(WORDS, WORDS, st.integers(-130, 200))
def test_numbers_that_are_no_actions_are_in_no_set(a, b, k):
    plain = bits.has(a, k), bits.has(Wide(a, b), k), bits.covers(a, b), bits.covers(Wide(a, b), a & b)
    assert compiled_questions(_signed(a), _signed(b), k) == plain
    assert plain == (k in bits.elements(a), k in bits.elements(Wide(a, b)), a & b == b, True)


@given(st.integers(1, WORD), WORDS, st.data())
def test_masks_of_one_word(mask, word, data):
    k = data.draw(st.integers(0, bits.popcount(mask) - 1))
    nonempty, count, low, without_lowest, nth, has, pick = compiled_mask(_signed(mask), _signed(word), k)
    assert (nonempty, count, low, without_lowest & WORD) == (
        True,
        bits.popcount(mask),
        bits.lowest(mask),
        bits.without_lowest(mask),
    )
    assert (nth, has, pick) == (bits.nth(mask, k), bits.has(mask, k), rng.pick(mask, word))


@njit
def compiled_wide(low, high, word, k):
    mask = Wide(U64(low), U64(high))
    tail = bits.without_lowest(mask)
    return (
        bits.nonempty(mask),
        bits.popcount(mask),
        bits.lowest(mask),
        int(tail.low),
        int(tail.high),
        bits.nth(mask, k),
        bits.has(mask, 3 * k % 128),
        rng.pick(mask, U64(word)),
    )


@given(WORDS, WORDS, WORDS, st.data())
def test_masks_of_two_words(low, high, word, data):
    mask = Wide(low, high)
    if not bits.nonempty(mask):
        return
    k = data.draw(st.integers(0, bits.popcount(mask) - 1))
    got = compiled_wide(_signed(low), _signed(high), _signed(word), k)
    tail = bits.without_lowest(mask)
    assert got[:3] == (True, bits.popcount(mask), bits.lowest(mask))
    assert (got[3] & WORD, got[4] & WORD) == tail
    assert got[5:] == (bits.nth(mask, k), bits.has(mask, 3 * k % 128), rng.pick(mask, word))


PLAIN_ONLY = {bits.as_int, bits.elements}  # they make Python's own integers and lists
ONE_WORD = {bits.bit_length}  # says so
FUNCTIONS = {
    thing
    for module in (bits, rng)
    for name, thing in vars(module).items()
    if isinstance(thing, FunctionType) and thing.__module__ == module.__name__ and not name.startswith("_")
} - PLAIN_ONLY


def test_every_function_of_bits_and_rng_has_a_compiled_twin_for_masks_of_two_words_too():
    assert {entry[0] for entry in COMPILED} | {bits.without_lowest, *SETS} == FUNCTIONS
    assert {f for f in FUNCTIONS if "mask" in signature(f).parameters} - ONE_WORD == {*WIDE, *SETS}


@njit
def compiled_draw(low, high, seed, number):
    x = rng.advance(rng.stream(U64(seed), number))
    return rng.pick(Wide(U64(low), U64(high)), rng.scramble(x))


@given(WORDS, st.integers(1, WORD), WORDS, st.integers(0, 1000))
def test_agents_and_kernels_draw_the_same_action_from_a_mask_of_two_words(low, high, seed, number):
    drawn = rng.Random(seed, number).pick(Wide(low, high))
    assert drawn == compiled_draw(_signed(low), _signed(high), _signed(seed), number)
    assert bits.has(Wide(low, high), drawn)


def _signed(word):
    return word - (word >> 63 << 64)


@njit
def compiled_fours(cells, height):
    return bits.completing_four(cells, height), bits.has_four(cells, height), bits.bit_length(cells)


@given(st.integers(0, (1 << 62) - 1), st.integers(3, 9))
def test_fours(cells, height):
    assert compiled_fours(cells, height) == (
        bits.completing_four(cells, height),
        bits.has_four(cells, height),
        bits.bit_length(cells),
    )
