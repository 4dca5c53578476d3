import numpy as np
import pytest

from mdplay.errors import FormatError, LimitError, UnknownName
from mdplay.games.twenty48.files import NAMED, board_for, default_patterns, index, parse_patterns, patterns_text
from mdplay.learning.tuples import PackedTuples


def packed(patterns, rows=4, cols=4):
    return PackedTuples(patterns, board_for(rows, cols).symmetries)


def test_the_index_of_the_system_description():
    exponents = [0] * 16
    exponents[5], exponents[9] = 1, 3  # tiles 2 and 8
    assert index([1, 5, 9, 13], exponents) == 0x0310


def test_large_exponents_are_clamped():
    assert index([0, 1], [17, 15]) == 0xFF


@pytest.mark.parametrize("name", NAMED)
def test_tables_do_not_overlap(name):
    """Every entry of every table has a place of its own, and together they fill the array."""
    cells = [pattern[:4] for pattern in parse_patterns(name)]  # four cells of each, to keep it small
    patterns = packed(tuple(dict.fromkeys(cells)))
    seen = np.zeros(patterns.num_entries, int)
    for base, bits in patterns.tables:
        for entry in range(16**4):
            seen[base + sum((entry >> 4 * i & 15) << bit for i, bit in enumerate(bits))] += 1
    assert (seen == 1).all()


def test_patterns_that_differ_in_one_cell_lie_side_by_side():
    first, second, third, fourth = packed(parse_patterns("4x6")).base
    assert third == first + 16
    assert fourth == second + 16


def test_tables_of_different_sizes_follow_one_another():
    patterns = packed(parse_patterns("01,012,4567,0"))
    assert list(patterns.base) == [0, 256, 256 + 4096, 256 + 4096 + 65536]


@pytest.mark.parametrize(
    ("rows", "cols", "text"),
    [(4, 4, "012345,456789,012456,45689a"), (2, 2, "0123"), (2, 3, "012345"), (1, 4, "0123"), (3, 3, "012345")],
)
def test_default_patterns(rows, cols, text):
    assert patterns_text(default_patterns(rows, cols)) == text
    assert parse_patterns(text, rows, cols) == default_patterns(rows, cols)


@pytest.mark.parametrize("rows", range(1, 5))
@pytest.mark.parametrize("cols", range(1, 5))
def test_every_board_has_default_patterns_that_cover_it(rows, cols):
    if rows * cols < 2:
        return
    patterns = packed(default_patterns(rows, cols), rows, cols)
    covered = {origin // 4 for image in patterns.origin for origin in image}
    assert covered == set(range(rows * cols))


@pytest.mark.parametrize("text", ["", "01,,2", "0123g", "0x1,2", "00", "4X6 "])
def test_bad_texts_are_refused(text):
    with pytest.raises((FormatError, UnknownName)):
        parse_patterns(text)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(UnknownName, match="4x6"):
        parse_patterns("4x66")


def test_patterns_outside_the_board_are_refused():
    with pytest.raises(FormatError, match=r"cells 0 \.\. 3"):
        parse_patterns("0124", 2, 2)
    with pytest.raises(FormatError, match="4 x 4"):
        parse_patterns("4x6", 3, 3)


def test_tables_that_no_memory_holds_are_refused():
    with pytest.raises(LimitError):
        parse_patterns("0123456789")
