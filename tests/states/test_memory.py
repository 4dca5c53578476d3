"""Memory in words."""

import pytest

from mdplay import LimitError
from mdplay.states.memory import available, budget, in_words, require


def test_what_is_free():
    assert available() > 1 << 20
    assert budget(None) < available()
    assert budget(5) == 5


@pytest.mark.parametrize("size, words", [(2_300_000_000, "2.3 GB"), (5_000_000, "5.0 MB"), (700, "1 kB")])
def test_in_words(size, words):
    assert in_words(size) == words


def test_what_does_not_fit_is_a_sentence():
    require(10, 10, "a table")
    with pytest.raises(
        LimitError,
        match=r"^a table would need 2\.0 MB of memory; 1\.0 MB may be used, and mdplay search needs no table$",
    ):
        require(2e6, 1_000_000, "a table")
