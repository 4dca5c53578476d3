import pytest

from mdplay.errors import LimitError
from mdplay.learning.memory import new_floats


def test_weights_begin_at_a_cache_line():
    for _ in range(5):
        assert new_floats(100, 2).ctypes.data % 128 == 0
    assert new_floats(3, 2).shape == (3, 2) and not new_floats(3, 2).any()


def test_too_large_tables_are_refused():
    with pytest.raises(LimitError, match="GiB"):
        new_floats(1 << 50)
