"""Memory in words."""

import pytest

from mdplay import LimitError
from mdplay.runtime.memory import available, budget, format_bytes, new_floats, require


def test_what_is_free():
    assert available() > 1 << 20
    assert budget(None) < available()
    assert budget(5) == 5


@pytest.mark.parametrize("size, words", [(2_300_000_000, "2.3 GB"), (5_000_000, "5.0 MB"), (700, "1 kB")])
def test_in_words(size, words):
    assert format_bytes(size) == words


def test_what_does_not_fit_is_a_sentence():
    require(10, 10, "a table")
    with pytest.raises(
        LimitError,
        match=r"^a table would need 2\.0 MB of memory; 1\.0 MB may be used, and mdplay search needs no table$",
    ):
        require(2e6, 1_000_000, "a table")


def test_weights_begin_at_a_cache_line():
    for _ in range(5):
        assert new_floats(100, 2).ctypes.data % 128 == 0
    assert new_floats(3, 2).shape == (3, 2) and not new_floats(3, 2).any()


def test_too_large_tables_are_refused():
    with pytest.raises(LimitError, match="GiB"):
        new_floats(1 << 50)
