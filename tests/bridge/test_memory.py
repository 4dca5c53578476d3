import numpy as np

from mdplay.bridge import borrow, get, kernel, prefetch, put


@kernel
def reverse(numbers, words):
    a, b = borrow(numbers), borrow(words)
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
