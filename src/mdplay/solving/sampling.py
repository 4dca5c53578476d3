"""A look at a game before it is solved: how wide its fields are and how many states it has at least.

Random games are played and the state of each ply is noted.  If n draws at one ply meet c equal pairs, that ply
has about n^2 / 2c states if all were equally likely, and more if they are not: the share of equal pairs, the sum
of squared probabilities, is least for equal ones.  So n^2 / 2(c + 3) is a lower bound with more than 95 per cent
confidence (a Poisson count c is rarely above its mean by 3 when small), and a game that is far too large is
refused in a second instead of after an hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import mix, some
from mdplay.bridge import kernel, native, pack, unpack, width, word, words
from mdplay.game import Game
from mdplay.rng import advance, pick, scramble, stream
from mdplay.running import Watch
from mdplay.solving.hashing import canonical

FEW_GAMES, MORE_GAMES, MANY_GAMES = 1 << 8, 1 << 13, 1 << 17
MANY_PLIES = 1 << 25
COLUMNS = 16  # plies that are looked at, spread over the length of a game
FEW_STATES, MORE_STATES = 5e3, 2e6  # bounds below which no closer look is needed
LONGEST = 1 << 11  # plies after which a random game is left alone
DOUBT = 3.0


@kernel
def sample(
    game: Any, start: Any, seed: Any, by_symmetry: bool, stride: int, stop: Any, out_hash: Any, out_fields: Any
) -> int:
    """Play a random game for each row of ``out_hash`` and return the length of the longest.

    Column c gets the hash of the state at ply c * stride; ``out_fields`` all bits seen in each field.
    """
    longest = 0
    for number in range(len(out_hash)):
        s, x, ply = unpack(game, start), stream(seed, number), 0
        going = True
        while going:
            packed = pack(game, s)
            for j in range(len(packed)):
                out_fields[j] |= packed[j]
            if ply % stride == 0 and ply // stride < out_hash.shape[1]:
                packed = pack(game, canonical(game, s)) if by_symmetry else packed
                h = mix(packed[0], ply)
                for j in range(1, len(packed)):
                    h = mix(h, packed[j])
                out_hash[number, ply // stride] = int(h >> 1) | 1
            ply += 1
            x = advance(x)
            if game.has_outcomes and some(game.outcomes(s)):
                s = game.outcome(s, game.draw(s, scramble(x)))
                continue
            mask = game.legal(s)
            going = some(mask) and ply < LONGEST
            if going:
                s = game.step(s, pick(mask, scramble(x)))
        longest = max(longest, ply)
        if stop[0]:
            break
    return longest


@dataclass(frozen=True)
class Look:
    """What random games show: the bits of each field and a lower bound of the number of states."""

    widths: tuple[int, ...]
    least_states: float


def look_at(game: Game[Any], state: Any, *, by_symmetry: bool, seed: int = 0) -> Look:
    """Play random games from a state and return what they show."""
    _, longest = _look(game, state, by_symmetry, FEW_GAMES, LONGEST, seed)
    stride = -(-longest // COLUMNS)
    look, _ = _look(game, state, by_symmetry, FEW_GAMES, stride, seed)
    if look.least_states > FEW_STATES:
        look, _ = _look(game, state, by_symmetry, MORE_GAMES, stride, seed)
    if look.least_states > MORE_STATES:
        look, _ = _look(game, state, by_symmetry, min(MANY_GAMES, MANY_PLIES // longest), stride, seed)
    return look


def _look(game: Game[Any], state: Any, by_symmetry: bool, games: int, stride: int, seed: int) -> tuple[Look, int]:
    hashes, fields = np.zeros((games, COLUMNS), np.int64), np.zeros(width(game), np.uint64)
    watch = Watch()
    arguments = (native(game), words(state), word(seed), by_symmetry, stride, watch.stop, hashes, fields)
    longest = watch.run([partial(sample, *arguments)])[0]
    widths = tuple(max(1, int(field).bit_length()) for field in fields)
    return Look(widths, max(_least_states(column[column != 0]) for column in hashes.T)), int(longest)


def _least_states(drawn: NDArray[np.int64]) -> float:
    """Return the lower bound of one ply from the hashes of the states drawn there."""
    if len(drawn) < 2:
        return 1.0
    _, repeats = np.unique(drawn, return_counts=True)
    equal_pairs = float((repeats * (repeats - 1) / 2).sum())
    return max(float(len(repeats)), len(drawn) * (len(drawn) - 1) / 2 / (equal_pairs + DOUBT))
