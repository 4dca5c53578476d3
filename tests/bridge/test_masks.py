"""The compiled functions of bits and rng against their plain specifications."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import mdplay.bridge  # noqa: F401  (gives the functions their compiled form)
from mdplay import bits, rng
from mdplay.bits import U64, WORD, Wide

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
        bits.some(mask),
        bits.popcount(mask),
        bits.lowest(mask),
        int(bits.rest(mask)),
        bits.nth(mask, k),
        bits.has(mask, k),
        rng.pick(mask, U64(word)),
    )


@given(st.integers(1, WORD), WORDS, st.data())
def test_masks_of_one_word(mask, word, data):
    k = data.draw(st.integers(0, bits.popcount(mask) - 1))
    some, count, low, rest, nth, has, pick = compiled_mask(_signed(mask), _signed(word), k)
    assert (some, count, low, rest & WORD) == (True, bits.popcount(mask), bits.lowest(mask), bits.rest(mask))
    assert (nth, has, pick) == (bits.nth(mask, k), bits.has(mask, k), rng.pick(mask, word))


@njit
def compiled_wide(low, high, word, k):
    mask = Wide(U64(low), U64(high))
    tail = bits.rest(mask)
    return (
        bits.some(mask),
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
    if not bits.some(mask):
        return
    k = data.draw(st.integers(0, bits.popcount(mask) - 1))
    got = compiled_wide(_signed(low), _signed(high), _signed(word), k)
    tail = bits.rest(mask)
    assert got[:3] == (True, bits.popcount(mask), bits.lowest(mask))
    assert (got[3] & WORD, got[4] & WORD) == tail
    assert got[5:] == (bits.nth(mask, k), bits.has(mask, 3 * k % 128), rng.pick(mask, word))


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
