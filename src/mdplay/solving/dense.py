"""Backward induction on a dense table: one sweep from the last number down to 0, for games that number states.

Every step and every outcome raises the number, so a state's followers are done before it.  The values are those
of ``hashed``; one or two bytes hold each where that is enough.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, rest, some
from mdplay.bridge import kernel, native, part
from mdplay.errors import GameError, UnknownName
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashed import final_value, has_whole_values, is_better, signed
from mdplay.solving.memory import require
from mdplay.solving.worth import Worth

FINISHED, STOPPED, NARROW, BACKWARDS = 0, 1, 2, 3
WHOLE = (np.int8, np.int16, np.int32)
BLOCK = 1 << 16


@part
def chance_value(game: Any, s: Any, i: int, values: Any) -> float:
    """Return the mean over the outcomes, or NaN if one of them does not raise the number."""
    mask = game.outcomes(s)
    mean = 0.0
    while some(mask):
        t = game.outcome(s, lowest(mask))
        j = game.index(t)
        if j <= i:
            return np.nan
        mean += game.probability(s, lowest(mask)) * signed(game, s, t, float(values[j]))
        mask = rest(mask)
    return mean


@part
def best_value(game: Any, s: Any, i: int, values: Any, distances: Any) -> Any:
    """Return the best value over the actions and its distance, or NaN if an action does not raise the number."""
    mask = game.legal(s)
    if not some(mask):
        return final_value(game, s), 0
    best, distance = -np.inf, -1
    while some(mask):
        action = lowest(mask)
        mask = rest(mask)
        t = game.step(s, action)
        j = game.index(t)
        if j <= i:
            return np.nan, 0
        value = signed(game, s, t, float(values[j]))
        if game.has_reward:
            value += game.reward(s, action)
        far = int(distances[j]) if len(distances) else 0
        if is_better(value, far, best, distance):
            distance = far
        best = max(value, best)
    return best, distance + 1


@kernel
def sweep(
    game: Any,
    first: int,
    last: int,
    low: float,
    high: float,
    farthest: int,
    stop: Any,
    progress: Any,
    out_values: Any,
    out_distances: Any,
) -> Any:
    """Fill the numbers last, last - 1, ... first; return how it went and the number reached.

    ``out_distances`` may be empty: then no distances are kept.
    """
    for i in range(last, first - 1, -1):
        s = game.state(i)
        value, distance = 0.0, 0
        if game.has_outcomes and some(game.outcomes(s)):
            value = chance_value(game, s, i, out_values)
        else:
            value, distance = best_value(game, s, i, out_values, out_distances)
        if not low <= value <= high or distance > farthest:
            return (BACKWARDS if np.isnan(value) else NARROW), i
        out_values[i] = value
        if len(out_distances):
            out_distances[i] = distance
        if i % BLOCK == 0:
            progress[0] += BLOCK
            if stop[0]:
                return STOPPED, i
    return FINISHED, first


class DenseTable:
    """Values and distances of all states, by number."""

    method = "dense"

    def __init__(self, game: Game[Any], values: NDArray[Any], distances: NDArray[Any]) -> None:
        self.game, self.values, self.distances = game, values, distances

    def __len__(self) -> int:
        return len(self.values)

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player, and the plies to the end; None with chance."""
        i = self.game.index(state)
        value = float(self.values[i])
        distance = int(self.distances[i]) if len(self.distances) else None
        return Worth(value if player == self.game.player(state) else -value, distance)


def needed_bytes(game: Game[Any]) -> int:
    """Return the memory that the table takes at least."""
    return game.size() * (2 if has_whole_values(game) else 8)


def fill(game: Game[Any], *, memory: int | None = None, show: Show | None = None) -> DenseTable:
    """Return the table of all states; raise LimitError if it does not fit."""
    if not game.has_size:
        raise UnknownName(f"{type(game).__name__} does not number its states; choose hashed or auto")
    require(needed_bytes(game), memory, f"a table of {game.size():,} states")
    status, at = NARROW, 0
    for kind in WHOLE if has_whole_values(game) else (np.float64,):
        values = np.zeros(game.size(), kind)
        distances = np.zeros(0 if game.has_outcomes else game.size(), np.uint8 if kind == np.int8 else np.uint16)
        status, at = _sweep(game, values, distances, show)
        if status != NARROW:
            break
    if status == NARROW:
        raise GameError(f"the value or the distance of state number {at} is too large for a table")
    if status == BACKWARDS:
        raise GameError(f"a step or outcome from state number {at} does not raise the number, as index promises")
    return DenseTable(game, values, distances)


def _sweep(game: Game[Any], values: NDArray[Any], distances: NDArray[Any], show: Show | None) -> tuple[int, int]:
    watch = Watch(1, show)
    whole = values.dtype.kind == "i"
    low, high = (
        (float(np.iinfo(values.dtype).min), float(np.iinfo(values.dtype).max)) if whole else (-np.inf, np.inf)
    )
    farthest = int(np.iinfo(distances.dtype).max)
    arguments = (
        native(game),
        0,
        len(values) - 1,
        low,
        high,
        farthest,
        watch.stop,
        watch.progress,
        values,
        distances,
    )
    status, at = watch.run([partial(sweep, *arguments)])[0]
    return int(status), int(at)
