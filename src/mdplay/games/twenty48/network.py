"""The n-tuple network: the value of a board is a sum of table look-ups (Szubert and Jaskowski 2014).

    V(board) = sum over the images i and the patterns p of  weights[index(p, image i of the board)]

All weights are float32 in one array; ``Patterns`` says where each table lies.  The look-ups exist twice, in
vector instructions for 4 x 4 boards (``mdplay.compiling.numba.vectors``) and one by one for every board; both add
in the same order and agree to the last bit.  Functions marked ``part`` are for kernels; ``turned`` is the
transposed board, which their callers know anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64
from mdplay.compiling import inlined, kernel, native, word
from mdplay.compiling.numba.vectors import gather_total, store_indices
from mdplay.errors import FormatError
from mdplay.games.twenty48.patterns import Patterns
from mdplay.runtime.memory import new_floats

Weights = NDArray[np.float32]


@inlined
def look_up(net: Any, p: int, image: int, board: Any) -> Any:
    """Return the place of pattern p's weight for one image of the board."""
    place = net.base[p] + 0
    for j in range(net.first[p], net.first[p + 1]):
        place += int(board >> net.origin[image][j] & 15) << net.bit[j]
    return U64(place)


@inlined
def scalar_total(net: Any, weights: Any, board: Any) -> Any:
    """Return the value of a board, look-up by look-up, added as the lanes of a vector are."""
    half = net.num_images // 2
    total = np.float32(0)
    for odd in range(2):
        part_of_it = np.float32(0)
        for i in range(odd, half, 2):
            low, high = weights[look_up(net, 0, i, board)], weights[look_up(net, 0, i + half, board)]
            for p in range(1, net.num_patterns):
                low += weights[look_up(net, p, i, board)]
                high += weights[look_up(net, p, i + half, board)]
            part_of_it += low + high
        total += part_of_it
    return total


@inlined
def estimate(net: Any, weights: Any, board: Any, turned: Any) -> Any:
    """Return the value of a board."""
    if net.uses_vectors:
        return gather_total(net, weights, board, turned)
    return scalar_total(net, weights, board)


@inlined
def places_of(net: Any, board: Any, turned: Any, out: Any) -> None:
    """Write where the look-ups of a board are: the images of the first pattern, then those of the next."""
    if net.uses_vectors:
        store_indices(net, board, turned, out)
        return
    for p in range(net.num_patterns):
        for image in range(net.num_images):
            out[p * net.num_images + image] = int(look_up(net, p, image, board))


@inlined
def add_to(weights: Any, places: Any, amount: Any) -> None:
    """Add an amount to every weight looked up; a place that occurs twice gets it twice."""
    for i in range(len(places)):
        weights[places[i]] += amount


@inlined
def total_of(net: Any, weights: Any, places: Any) -> Any:
    """Return the value of the board whose look-ups are given, added in the same order as ever."""
    n, half = net.num_images, net.num_images // 2
    total = np.float32(0)
    for odd in range(2):
        part_of_it = np.float32(0)
        for i in range(odd, half, 2):
            low, high = weights[places[i]], weights[places[i + half]]
            for p in range(1, net.num_patterns):
                low += weights[places[p * n + i]]
                high += weights[places[p * n + i + half]]
            part_of_it += low + high
        total += part_of_it
    return total


@kernel
def estimate_all(net: Any, weights: Any, boards: Any, turned: Any, out: Any) -> None:
    """Fill ``out`` with the values of boards."""
    for i in range(len(boards)):
        out[i] = estimate(net, weights, U64(boards[i]), U64(turned[i]))


@kernel
def places_of_one(net: Any, board: Any, turned: Any, out: Any) -> None:
    """Fill ``out`` with the places of one board's look-ups."""
    places_of(net, U64(board), U64(turned), out)


@dataclass(frozen=True, eq=False)
class Network:
    """Patterns and their weights; the weights are changed in place by learning.

    The values are those of after-states, or of before-states where ``before`` is set.
    """

    patterns: Patterns
    weights: Weights
    before: bool = False

    @classmethod
    def create(cls, patterns: Patterns, value: float = 0.0, *, before: bool = False) -> Network:
        """Return a network that gives every board the same value (0; more for an optimistic start)."""
        weights = new_floats(patterns.num_entries)
        if value:  # else nothing is written: memory that no board asks for is never had
            weights.fill(np.float32(value / patterns.num_lookups))
        return cls(patterns, weights, before)

    def places(self, board: int) -> NDArray[np.uint32]:
        """Return where the look-ups of a board are in the weights."""
        out = np.empty(self.patterns.num_lookups, np.uint32)
        places_of_one(native(self.patterns), word(board), word(self._turned(board)), out)
        return out

    def estimate(self, board: int) -> float:
        """Return the value of a board."""
        out = np.empty(1, np.float32)
        boards, turned = (np.array([b], np.uint64) for b in (board, self._turned(board)))
        estimate_all(native(self.patterns), self.weights, boards, turned, out)
        return float(out[0])

    def update(self, board: int, change: float) -> None:
        """Change the value of a board by spreading the change evenly over its look-ups, in place."""
        np.add.at(self.weights, self.places(board), np.float32(change / self.patterns.num_lookups))

    def _turned(self, board: int) -> int:
        from mdplay.games.twenty48.rules import transpose

        return transpose(board) if self.patterns.uses_vectors else board

    # ---------------------------------------------------------------- tables in canonical order
    def table(self, p: int) -> Weights:
        """Return a copy of pattern p's table, its first cell in the lowest nibble of the index."""
        return self.weights[_canonical(self.patterns, p)]

    def set_table(self, p: int, table: Weights) -> None:
        """Replace pattern p's table, given in canonical order."""
        places = _canonical(self.patterns, p)
        if table.shape != places.shape:
            raise FormatError(f"a table of {table.size} entries does not fit the pattern, which has {places.size}")
        self.weights[places] = table


def _canonical(patterns: Patterns, p: int) -> NDArray[np.uint32]:
    """Return the places of a table's entries in canonical order."""
    place = patterns.places[p]
    found = np.full(1, place.base, np.uint32)
    for bit in place.bits:  # each cell becomes the new highest nibble
        found = ((np.arange(16, dtype=np.uint32) << np.uint32(bit))[:, None] + found).reshape(-1)
    return found
