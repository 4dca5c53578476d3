"""The index of listed states: found by their words even where their tags are the same."""

import numpy as np

from mdplay.bridge import kernel
from mdplay.solving.hashing import HALF, doubled_index, find_listed


@kernel
def number_all(rows, tags, listed):
    """Number the states of the rows as they come, in an index that begins too small; return the numbers."""
    index = np.zeros(2, np.int64)
    numbers = np.zeros(len(rows), np.int64)
    found = 0
    for i in range(len(rows)):
        if 2 * (found + 1) > len(index):
            index = doubled_index(index)
        slot = find_listed(index, listed, rows, i, tags[i])
        if index[slot] == 0:
            listed[found] = rows[i]
            found += 1
            index[slot] = (tags[i] << 32) + found
        numbers[i] = (index[slot] & HALF) - 1
    return numbers


def test_states_are_told_apart_by_their_words_whatever_their_tags_are():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 8, (500, 2)).astype(np.uint64)
    places: dict[tuple[int, ...], int] = {}
    wanted = [places.setdefault(tuple(row), len(places)) for row in rows.tolist()]
    for tags in (
        np.zeros(500, np.int64),
        (rows[:, 0] % 3).astype(np.int64),
        (rows @ [8, 1]).astype(np.int64) << 20,
    ):
        listed = np.zeros_like(rows)
        assert number_all(rows, tags, listed).tolist() == wanted
        assert listed[: len(places)].tolist() == [list(state) for state in places]
