"""Estimates of a game before it is solved: how wide its fields are and how many states it has at least.

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

from mdplay.bits import Mask, lowest, mix, nonempty, without_lowest
from mdplay.compiling import State, get, inlined, kernel, native, pack, put, unpack, width, word, words
from mdplay.compiling.digest import per_game
from mdplay.game import Game
from mdplay.rng import Random, advance, pick, scramble, stream
from mdplay.runtime.threads import StopFlag, TaskGroup
from mdplay.states.keys import canonical, choices_of

FIRST_GAMES, FEW_GAMES = 1 << 6, 1 << 8
STEPS = ((1 << 10, 5e3), (1 << 13, 5e4), (1 << 17, 2e6))  # more games, and the bounds that need no closer look
MANY_PLIES = 1 << 25
COLUMNS = 16  # plies that are looked at, spread over the length of a game
LONGEST = 1 << 11  # plies after which a random game is left alone
MOST_CUT = 8
DOUBT = 3.0


@inlined
def among(mask: Mask, i: int) -> bool:
    """Return whether any number at all is an element of a set."""
    while nonempty(mask) and lowest(mask) < i:
        mask = without_lowest(mask)
    return nonempty(mask) and lowest(mask) == i


@kernel(plain_first=True)
def sample(
    game: Game[Any],
    start: Any,
    seed: Any,
    by_symmetry: bool,
    stride: int,
    stop: StopFlag,
    out_hash: Any,
    out_fields: Any,
) -> int:
    """Play a random game for each row of ``out_hash`` and return the length of the longest.

    Column c gets the hash of the state at ply c * stride; ``out_fields`` all bits seen in each field.  A game is
    left alone after ``LONGEST`` plies, and where ``draw`` gives what is no outcome; after ``MOST_CUT`` of such
    length no more are played: these games may have no end.
    """
    longest, cut = 0, 0
    for number in range(len(out_hash)):
        s, x, ply = unpack(game, start), stream(seed, number), 0
        going = True
        while going:
            packed = pack(game, s)
            for j in range(len(packed)):
                put(out_fields, j, get(out_fields, j) | packed[j])
            if ply % stride == 0 and ply // stride < out_hash.shape[1]:
                packed = pack(game, canonical(game, s)) if by_symmetry else packed
                h = mix(packed[0], ply)
                for j in range(1, len(packed)):
                    h = mix(h, packed[j])
                out_hash[number, ply // stride] = int(h >> 1) | 1
            ply += 1
            x = advance(x)
            mask, by_chance = choices_of(game, s)
            going = nonempty(mask) and ply < LONGEST
            if going and by_chance:
                i = game.draw(s, scramble(x))
                going = among(mask, i)
                if going:
                    s = game.outcome(s, i)
            elif going:
                s = game.step(s, pick(mask, scramble(x)))
        longest = max(longest, ply)
        cut += ply >= LONGEST
        if stop[0] or cut == MOST_CUT:
            break
    return longest


@dataclass(frozen=True)
class Sample:
    """What random games show: the bits of each field and a lower bound of the number of states."""

    widths: tuple[int, ...]
    least_states: float


def sample_widths(game: Game[Any], state: State, *, seed: int = 0) -> tuple[int, ...]:
    """Return how wide the fields of a state are at least, by a few random games."""
    return _first_look(game, state, seed)[0].widths


@per_game(maxsize=4)
def _first_look(game: Game[Any], state: State, seed: int) -> tuple[Sample, int]:
    """Return how wide the fields are and how long the longest game is, by a few random games."""
    return _sampled(game, state, False, FIRST_GAMES, LONGEST, seed)


def sample_games(game: Game[Any], state: State, *, by_symmetry: bool, seed: int = 0) -> Sample:
    """Play random games from a state and return what they show."""
    _, longest = _first_look(game, state, seed)
    stride = -(-longest // COLUMNS)
    sampled, _ = _sampled(game, state, by_symmetry, FEW_GAMES, stride, seed)
    for games, enough in STEPS:
        if sampled.least_states <= enough:
            break
        sampled, _ = _sampled(game, state, by_symmetry, min(games, MANY_PLIES // longest), stride, seed)
    return sampled


def most_seen(game: Game[Any], state: State, *, games: int = 20, seed: int = 0) -> float:
    """Return the largest value, by its size, of a few random games without chance that end within ``LONGEST``."""
    return max(abs(_total(game, state, Random(seed, number))) for number in range(games))


def _total(game: Game[Any], s: State, rng: Random) -> float:
    """Return what a random game brings to player 0."""
    total = 0.0
    for _ in range(LONGEST):
        if not nonempty(mask := game.legal(s)):
            return total + game.result(s)
        action = rng.pick(mask)
        total += game.reward(s, action) * (-1 if game.player(s) else 1)
        s = game.step(s, action)
    return total


def _sampled(
    game: Game[Any], state: State, by_symmetry: bool, games: int, stride: int, seed: int
) -> tuple[Sample, int]:
    hashes, fields = np.zeros((games, COLUMNS), np.int64), np.zeros(width(game), np.uint64)
    watch = TaskGroup()
    arguments = (native(game), words(state), word(seed), by_symmetry, stride, watch.stop, hashes, fields)
    longest = watch.run([partial(sample, *arguments)])[0]
    widths = tuple(max(1, int(field).bit_length()) for field in fields)
    return Sample(widths, max(_least_states(column[column != 0]) for column in hashes.T)), int(longest)


def _least_states(drawn: NDArray[np.int64]) -> float:
    """Return the lower bound of one ply from the hashes of the states drawn there."""
    if len(drawn) < 2:
        return 1.0
    _, repeats = np.unique(drawn, return_counts=True)
    equal_pairs = float((repeats * (repeats - 1) / 2).sum())
    return max(float(len(repeats)), len(drawn) * (len(drawn) - 1) / 2 / (equal_pairs + DOUBT))
