"""TD(0) of 2048's after-states, 4x6 network, written by hand in plain scalar numba: the yardstick of ours.

No vectors, no paired tables, no packed rows; otherwise the same algorithm as ``mdplay learn 2048``: 32 look-ups a
board, four boards a move, one update.
"""

from typing import Any

import numpy as np
from numba import njit, uint64

NO_MOVE = np.float32(-1e30)


@njit(inline="always")
def _transpose(x: Any) -> Any:
    a = x & uint64(0xF0F00F0FF0F00F0F)
    a |= (x & uint64(0x0000F0F00000F0F0)) << uint64(12) | (x & uint64(0x0F0F00000F0F0000)) >> uint64(12)
    b = a & uint64(0xFF00FF0000FF00FF)
    return b | (a & uint64(0x00FF00FF00000000)) >> uint64(24) | (a & uint64(0x00000000FF00FF00)) << uint64(24)


@njit(inline="always")
def _flip(x: Any) -> Any:
    m = uint64(0x0000FFFF0000FFFF)
    x = (x & m) << uint64(16) | (x >> uint64(16)) & m
    return x << uint64(32) | x >> uint64(32)


@njit(inline="always")
def _pushed(table: Any, b: Any) -> Any:
    m = uint64(0xFFFF)
    low = uint64(table[b & m]) | uint64(table[b >> uint64(16) & m]) << uint64(16)
    return low | uint64(table[b >> uint64(32) & m]) << uint64(32) | uint64(table[b >> uint64(48)]) << uint64(48)


@njit(inline="always")
def _points(table: Any, b: Any) -> Any:
    m = uint64(0xFFFF)
    return table[b & m] + table[b >> uint64(16) & m] + table[b >> uint64(32) & m] + table[b >> uint64(48)]


@njit
def _places(b: Any, out: Any) -> None:
    m, low, high = uint64(0xFFFFFF), uint64(0xFFF), uint64(0xFFF000)
    for i in range(8):
        c = b >> uint64(16)
        out[4 * i] = b & m
        out[4 * i + 1] = (c & m) + uint64(1 << 24)
        out[4 * i + 2] = (b & low | b >> uint64(4) & high) + uint64(2 << 24)
        out[4 * i + 3] = (c & low | c >> uint64(4) & high) + uint64(3 << 24)
        b = _transpose(b) if i & 1 else _flip(b)


@njit
def _value(weights: Any, b: Any, places: Any) -> Any:
    _places(b, places)
    total = np.float32(0)
    for i in range(32):
        total += weights[places[i]]
    return total


@njit(inline="always")
def _pop_up(b: Any, x: Any) -> Any:
    e = b | b >> uint64(1)
    e |= e >> uint64(2)
    e = ~e & uint64(0x1111111111111111)
    count = 0
    left = e
    while left:
        left &= left - uint64(1)
        count += 1
    y = x * uint64(0x2545F4914F6CDD1D)
    for _ in range((y >> uint64(32)) * uint64(count) >> uint64(32)):
        e &= e - uint64(1)
    e &= ~e + uint64(1)
    return b | (e << uint64(1) if y & uint64(0xFFFF) < uint64(6554) else e)


@njit(inline="always")
def _next(x: Any) -> Any:
    x ^= x >> uint64(12)
    x ^= x << uint64(25)
    return x ^ x >> uint64(27)


@njit(nogil=True)
def train(weights: Any, left: Any, right: Any, points: Any, episodes: int, step: Any, seed: Any) -> int:
    """Learn some episodes in place; return the moves made."""
    x, moves = uint64(seed), 0
    places, last = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    for _ in range(episodes):
        x = _next(x)
        b = _pop_up(uint64(0), x)
        x = _next(x)
        b = _pop_up(b, x)
        value, first = np.float32(0), True
        while True:
            best, after, gain = NO_MOVE, b, np.float32(0)
            for action in range(4):
                c = b if action < 2 else _transpose(b)
                pushed = _pushed(right if action & 1 else left, c)
                earned = np.float32(_points(points, c))
                pushed = pushed if action < 2 else _transpose(pushed)
                if pushed != b:
                    total = _value(weights, pushed, places) + earned
                    if total > best:
                        best, after, gain = total, pushed, earned
            error = (best if best > NO_MOVE else np.float32(0)) - value
            if not first:
                for i in range(32):
                    weights[last[i]] += step * error
            if best == NO_MOVE:
                break
            _places(after, last)
            value, first = best - gain, False
            moves += 1
            x = _next(x)
            b = _pop_up(after, x)
    return moves
