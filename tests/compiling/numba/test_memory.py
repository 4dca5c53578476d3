import numpy as np

from mdplay.compiling import get, kernel, prefetch, put, unchecked_view
from tests.helpers import python, write


@kernel
def reverse(numbers, words):
    a, b = unchecked_view(numbers), unchecked_view(words)
    for i in range(len(a) // 2):
        j = len(a) - 1 - i
        prefetch(b, j)
        x, y = get(a, i), get(b, i)
        put(a, i, get(a, j))
        put(a, j, x)
        put(b, i, get(b, j))
        put(b, j, y)
    return int(get(b, 0) >> 63)


def test_borrowed_arrays_are_read_and_written_in_place():
    numbers, words = np.arange(-3, 4), np.arange(7, dtype=np.uint64)
    words[6] = np.uint64((1 << 64) - 1)
    assert reverse(numbers, words) == 1, "an element of a uint64 array is a word: its shift is logical"
    assert numbers.tolist() == [3, 2, 1, 0, -1, -2, -3]
    assert words.tolist() == [(1 << 64) - 1, 5, 4, 3, 2, 1, 0]


OUTSIDE = """
import numpy as np
from mdplay.compiling import get, inlined, kernel, put, unchecked_view
from mdplay.compiling.cache import entries


@inlined
def read(array, i):
    return get(array, i)


@kernel
def spoil(array, i, how):
    lent = unchecked_view(array)
    if how == 0:
        return read(lent, i)
    if how == 1:
        put(lent, i, 7)
        return 7
    return array[i]


for how in range(3):
    print(spoil(np.arange(4), 3, how))
    try:
        print(spoil(np.arange(4), 4, how))
    except IndexError as error:
        print(error)
print({path.parent.name for path in entries()})
"""


def test_every_access_can_be_checked_and_such_kernels_are_kept_apart(tmp_path, needs_compiler):
    script = write(tmp_path, "outside.py", OUTSIDE)
    for _ in range(2):  # the second run loads the kernel from the cache
        lines = python(script, cache=tmp_path, MDPLAY_BOUNDS="1").splitlines()
        assert lines == [
            "3",
            "an index outside of its array, in read (kernel spoil)",
            "7",
            "an index outside of its array, in spoil (kernel spoil)",
            "3",
            "index is out of bounds (kernel spoil)",
            "{'checked-kernels'}",
        ]
