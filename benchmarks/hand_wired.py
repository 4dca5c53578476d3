"""Connect Four playouts written by hand for numba: no contract, constants written in.  The yardstick of speed.py."""

from typing import Any

from mdplay.bits import nonempty
from mdplay.compiling import inlined, kernel
from mdplay.rng import advance, pick, scramble, stream


@inlined
def won(b: Any) -> bool:
    y = b & (b >> 7)
    if y & (y >> 14):
        return True
    y = b & (b >> 6)
    if y & (y >> 12):
        return True
    y = b & (b >> 8)
    if y & (y >> 16):
        return True
    y = b & (b >> 1)
    return y & (y >> 2) != 0


@inlined
def legal(taken: Any) -> Any:
    mask = 0
    for c in range(7):
        mask |= (~taken >> (c * 7 + 5) & 1) << c
    return mask


@kernel
def play_connect_four(games: int, seed: Any) -> Any:
    """Return the sum of the first player's results of random games."""
    total = 0
    for number in range(games):
        x = stream(seed, number)
        mine, theirs, sign = 0, 0, 1
        while True:
            if won(theirs):
                total -= sign
                break
            mask = legal(mine | theirs)
            if not nonempty(mask):
                break
            x = advance(x)
            foot = pick(mask, scramble(x)) * 7
            disc = ((mine | theirs) + (1 << foot)) & (63 << foot)
            mine, theirs = theirs, mine | disc
            sign = -sign
    return total
