import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import bits
from mdplay.bits import U64, WORD, Wide

WORDS = st.integers(0, WORD)


@given(st.sets(st.integers(0, 63)))
def test_masks_are_sets(elements):
    mask = sum(1 << e for e in elements)
    assert bits.elements(mask) == sorted(elements)
    assert bits.popcount(mask) == len(elements)
    assert bits.nonempty(mask) == bool(elements)
    if elements:
        assert bits.lowest(mask) == min(elements)
        assert bits.elements(bits.without_lowest(mask)) == sorted(elements)[1:]
        assert [bits.nth(mask, k) for k in range(len(elements))] == sorted(elements)


@given(st.sets(st.integers(0, 127), min_size=1))
def test_wide_masks_are_sets_of_up_to_128(elements):
    whole = sum(1 << e for e in elements)
    mask = Wide(whole & WORD, whole >> 64)
    assert bits.elements(mask) == sorted(elements)
    assert bits.lowest(mask) == min(elements)
    assert isinstance(bits.without_lowest(mask), Wide)
    assert bits.elements(bits.without_lowest(mask)) == sorted(elements)[1:]
    assert all(bits.has(mask, e) == (e in elements) for e in range(128))


def test_a_complement_is_a_mask_of_64_bits():
    assert bits.popcount(~0b101) == 62
    assert bits.elements(~0b101)[:3] == [1, 3, 4]


@pytest.mark.parametrize("value, word", [(0, 0), (-1, WORD), (1 << 64, 0), (5, 5)])
def test_u64_is_modulo_2_to_the_64(value, word):
    assert U64(value) == word


@given(WORDS, st.integers(1, 1 << 32))
def test_below_and_unit_stay_in_range(word, n):
    assert 0 <= bits.below(word, n) < n
    assert 0.0 <= bits.unit(word) < 1.0


@given(WORDS, WORDS, WORDS)
def test_mix_is_one_to_one_in_its_first_word(a, b, c):
    assert (bits.mix(a, c) == bits.mix(b, c)) == (a == b)


@given(st.sets(st.integers(0, 41)), st.integers(0, 41))
def test_fours_on_a_board_of_columns(cells, cell):
    # Cells of 7 x 6 by column and row; bit 7 * column + row, the seventh bit of a column stays empty.
    def discs(cells):
        return sum(1 << 7 * (c // 6) + c % 6 for c in cells)

    def lines():
        for c, r in ((c // 6, c % 6) for c in range(42)):
            for dc, dr in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(c + i * dc, r + i * dr) for i in range(4)]
                if all(0 <= x < 7 and 0 <= y < 6 for x, y in line):
                    yield {6 * x + y for x, y in line}

    assert bits.has_four(discs(cells), 7) == any(line <= cells for line in lines())
    completes = any(cell in line and line - {cell} <= cells for line in lines())
    assert bool(bits.completing_four(discs(cells - {cell}), 7) & discs({cell})) == completes
    assert bits.bit_length(discs(cells)) == discs(cells).bit_length()
