"""Kernels called without a look at the types."""

import numpy as np

from mdplay.compiling import direct, kernel


@kernel
def add_up(values: np.ndarray, start: int) -> int:
    """Return start plus the sum of the values."""
    total = start
    for i in range(len(values)):
        total += values[i]
    return total


def test_a_direct_kernel_gives_what_the_kernel_gives():
    values = np.arange(5)
    quick = direct(add_up, values, 1)
    assert quick(values, 7) == add_up(values, 7) == 17
    assert quick(np.arange(3), 0) == 3
