"""Count what the rules allow: the paths and the distinct positions after each number of plies.

A ply is a player's action or an outcome of chance.  The positions of one ply are kept in a hash set, each with
the number of paths that lead to it, so both counts come from one pass.  Counting is how rules are compared: with
published figures, with other programs, and with themselves after a change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mdplay.bits import lowest, rest, some
from mdplay.bridge import kernel, load, native, pack, width, words
from mdplay.errors import LimitError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashing import canonical, doubled, find_slot, write_key

MAX_POSITIONS = 1 << 26
MAX_PATHS = 2.0**62
FIRST_SLOTS = 1024


@kernel
def following(
    game: Any, layer: Any, paths: Any, by_symmetry: bool, max_positions: int, stop: Any, progress: Any
) -> Any:
    """Return the states one ply after ``layer``, the paths to each, those that ended, and whether all fitted."""
    keys = np.zeros((FIRST_SLOTS, layer.shape[1]), np.uint64)
    counts = np.zeros(FIRST_SLOTS, np.int64)
    found, ended = 0, 0
    for i in range(len(layer)):
        s = load(game, layer, i)
        by_chance = False
        mask = game.legal(s)
        if game.has_outcomes:
            outcomes = game.outcomes(s)
            by_chance = some(outcomes)
            if by_chance:
                mask = outcomes
        if not some(mask):
            ended += paths[i]
        while some(mask):
            choice = lowest(mask)
            mask = rest(mask)
            t = game.outcome(s, choice) if by_chance else game.step(s, choice)
            if by_symmetry:
                t = canonical(game, t)
            packed = pack(game, t)
            slot = find_slot(keys, counts, packed)
            if counts[slot] == 0:
                write_key(keys, slot, packed)
                found += 1
            counts[slot] += paths[i]
            if 2 * found > len(counts):
                keys, counts = doubled(keys, counts)
        progress[0] += 1
        if stop[0] or found > max_positions:
            return keys[:0], counts[:0], ended, False
    full = np.nonzero(counts)[0]
    return keys[full], counts[full], ended, True


@dataclass(frozen=True)
class Ply:
    """The counts after one number of plies; ``ended`` are the paths that were over before this ply."""

    depth: int
    paths: int
    positions: int
    ended: int
    seconds: float


def perft(
    game: Game[Any],
    state: Any = None,
    *,
    depth: int,
    by_symmetry: bool = False,
    max_positions: int = MAX_POSITIONS,
    show: Show | None = None,
) -> list[Ply]:
    """Return the counts for 0, 1, ... depth plies; fewer when every game has ended before.

    ``by_symmetry`` counts positions that are images of each other once.
    """
    start = words(game.initial() if state is None else state)
    layer = np.array([start], np.uint64).reshape(1, width(game))
    paths = np.ones(1, np.int64)
    plies = [Ply(0, 1, 1, 0, 0.0)]
    watch = Watch(1, show)
    began = time.perf_counter()
    for number in range(1, depth + 1):
        task = partial(
            following, native(game), layer, paths, by_symmetry, max_positions, watch.stop, watch.progress
        )
        layer, paths, ended, complete = watch.run([task])[0]
        if not complete:
            raise LimitError(f"ply {number} has more than {max_positions:,} positions; ask for a smaller depth")
        if paths.sum(dtype=np.float64) > MAX_PATHS:
            raise LimitError(f"ply {number} has more paths than 64 bits can count; ask for a smaller depth")
        if not len(layer):
            break
        plies.append(Ply(number, int(paths.sum()), len(layer), int(ended), time.perf_counter() - began))
    return plies
