"""Count what the rules allow: the paths and the distinct positions after each number of plies.

A ply is a player's action or an outcome of chance.  The positions of one ply are numbered, each with the number of
paths that lead to it, so both counts come from one pass.  Counting is how rules are compared: with published
figures, with other programs, and with themselves after a change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import State, kernel, native
from mdplay.compiling.contract import mask_size
from mdplay.errors import LimitError
from mdplay.game import Game
from mdplay.position import takes_state
from mdplay.runtime.threads import Show, TaskGroup
from mdplay.states.enumeration import DEGREE, STOPPED, TROUBLE, chunk_of, expand
from mdplay.states.keys import (
    Keys,
    Layout,
    images_of,
    key_at,
    key_of,
    keys_of,
    layout_of,
    num_words,
    packed_of,
    state_of,
    states_seen,
    widths_among,
    widths_needed,
)
from mdplay.states.numbering import BLOCK_ROOM, Numbering, reserve

MAX_POSITIONS = 1 << 26
MAX_PATHS = 2.0**62


@kernel(plain_first=True)
def add_paths(node: Any, paths: Any, target: Any, out_paths: Any) -> None:
    """Add the paths to states to those of their successors."""
    edge = 0
    for i in range(len(node)):
        for _ in range(node[i] & DEGREE):
            out_paths[target[edge]] += paths[i]
            edge += 1


@dataclass(frozen=True)
class Layer:
    """The positions of one ply as keys, the paths to each, and the paths that were over before."""

    layout: Layout
    keys: NDArray[np.int64]
    paths: NDArray[np.int64]
    ended: int = 0

    def __len__(self) -> int:
        return len(self.paths)

    def relaid(self, layout: Layout) -> Layer:
        """Return the layer in another layout."""
        keys = keys_of(packed_of(self.keys, self.layout), layout)
        return Layer(layout, keys, self.paths, self.ended)


class Plies:
    """Ply after ply of a game from a state; images are one position if ``fold`` says so."""

    def __init__(self, game: Game[Any], state: State, *, fold: bool, max_positions: int = MAX_POSITIONS) -> None:
        self.game, self.fold, self.max_positions = game, fold and game.has_symmetries, max_positions
        layout = layout_of(widths_among([*images_of(game, state, self.fold), *states_seen(game, state)]))
        key = key_of(game, state, layout, fold=self.fold)
        assert key is not None
        self.layer, self.depth = Layer(layout, key, np.ones(1, np.int64)), 0

    def advance(self, watch: TaskGroup) -> None:
        """Go on to the next ply; raise LimitError if it has too many positions or paths."""
        self.depth += 1
        found = None
        while found is None:  # laid out anew
            found = watch.run([partial(self._following, watch)])[0]
        self.layer = found

    def _following(self, watch: TaskGroup) -> Layer | None:
        """Return the next layer; None if the layer at hand is laid out anew, or Ctrl-C came."""
        layer, words = self.layer, num_words(self.layer.layout)
        numbering = Numbering(words, self.max_positions + 2 * BLOCK_ROOM)
        node, target = np.zeros(len(layer), np.uint16), np.zeros(BLOCK_ROOM, np.uint32)
        paths, total = reserve(numbering.room, np.int64), 0.0
        chunk = chunk_of(self.game)
        for begin in range(0, len(layer), chunk):
            end = min(len(layer), begin + chunk)
            keys = Keys(layer.keys[begin * words : end * words], layer.layout.ravel(), words)
            out = numbering.block(0, (end - begin) * mask_size(self.game))
            count = int(expand(native(self.game), self.fold, keys, watch.stop, node[begin:end], *out))
            if count < 0:
                if count != STOPPED:
                    self._widen(begin + TROUBLE - count)
                return None
            total += float((node[begin:end] & DEGREE).astype(np.float64) @ layer.paths[begin:end])
            self._refuse(numbering.known, total)
            known = numbering.known
            numbering.take_in(count, target)
            paths[known : numbering.known] = 0
            add_paths(node[begin:end], layer.paths[begin:end], target[:count], paths[: numbering.known])
            watch.progress[0] += end - begin
        self._refuse(numbering.known, total)
        ended = int(layer.paths[node & DEGREE == 0].sum())
        return Layer(layer.layout, numbering.keys[: numbering.known * words], paths[: numbering.known], ended)

    def _widen(self, number: int) -> None:
        layer = self.layer
        s = state_of(self.game, key_at(layer.keys, number, num_words(layer.layout)), layer.layout)
        self.layer = layer.relaid(layout_of(widths_needed(self.game, s, layer.layout, self.fold)))

    def _refuse(self, positions: int, paths: float) -> None:
        what = f"ply {self.depth} has more"
        if positions > self.max_positions:
            raise LimitError(f"{what} than {self.max_positions:,} positions; ask for a smaller depth")
        if paths > MAX_PATHS:
            raise LimitError(f"{what} paths than 64 bits can count; ask for a smaller depth")


@dataclass(frozen=True)
class Ply:
    """The counts after one number of plies; ``ended`` are the paths that were over before this ply."""

    depth: int
    paths: int
    positions: int
    ended: int
    seconds: float


@takes_state
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
    start = state
    spot_check(game, start)
    plies, found = Plies(game, start, fold=by_symmetry, max_positions=max_positions), [Ply(0, 1, 1, 0, 0.0)]
    watch, began = TaskGroup(1, show), time.perf_counter()
    for number in range(1, depth + 1):
        plies.advance(watch)
        layer = plies.layer
        if not len(layer):
            break
        seconds = time.perf_counter() - began
        found.append(Ply(number, int(layer.paths.sum()), len(layer), layer.ended, seconds))
    return found
