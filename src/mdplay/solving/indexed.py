"""Backward induction on an array: one sweep from the last number down to 0, for games that number their states.

Every step and every outcome increases the number, so the successors of a state are solved before it.  The values
are those of ``hashed``.  They take one byte each if that is enough; a sweep that meets a value or a distance which
does not fit starts again with wider types.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, nonempty, without_lowest
from mdplay.checking.contract_checks import SLACK, diagnose_position, number_of
from mdplay.compiling import State, inlined, kernel, native
from mdplay.errors import FormatError, GameError
from mdplay.game import Game
from mdplay.runtime.memory import require
from mdplay.runtime.threads import Counters, Show, StopFlag, TaskGroup
from mdplay.solving.hashed import INTEGER_LIMIT, REAL_LIMIT
from mdplay.solving.hashed_kernel import endless_to_mover, final_value, is_better, signed
from mdplay.solving.values import (
    Arrays,
    Question,
    StateValue,
    Table,
    has_integer_values,
)
from mdplay.states.keys import no_chance, no_player

FINISHED, STOPPED, NARROW, BROKEN = 0, 1, 2, 3
INTEGER = ((np.int8, np.uint8), (np.int16, np.uint16), (np.int32, np.uint32), (np.int64, np.uint32))
REAL = ((np.float64, np.uint16), (np.float64, np.uint32))
BLOCK = 1 << 16  # numbers between two reports of progress


@inlined
def chance_value(game: Game[Any], s: State, i: int, values: Any) -> float:
    """Return the mean over the outcomes, or NaN if a rule is wrong, such as an outcome with a smaller number."""
    mask = game.outcomes(s)
    mean, total = 0.0, 0.0
    while nonempty(mask):
        t, chance = game.outcome(s, lowest(mask)), float(game.probability(s, lowest(mask)))
        j = game.index(t)
        if j <= i or j >= len(values) or no_chance(chance) or no_player(game, t):
            return np.nan
        mean += chance * signed(game, s, t, float(values[j]))
        total += chance
        mask = without_lowest(mask)
    return mean if abs(total - 1.0) <= SLACK else np.nan


@inlined
def best_value(game: Game[Any], s: State, i: int, values: Any, distances: Any) -> Any:
    """Return the best value over the actions and its distance, or NaN if a rule is wrong."""
    mask = game.legal(s)
    if not nonempty(mask):
        return final_value(game, s), 0
    best, distance = -np.inf, -1
    while nonempty(mask):
        action = lowest(mask)
        mask = without_lowest(mask)
        t = game.step(s, action)
        j = game.index(t)
        if j <= i or j >= len(values) or no_player(game, t):
            return np.nan, 0
        value = signed(game, s, t, float(values[j]))
        if game.has_reward:
            value += game.reward(s, action)
            if np.isnan(value):
                return np.nan, 0
        far = int(distances[j]) if len(distances) else 0
        if is_better(value, far, best, distance, endless_to_mover(game, s)):
            distance = far
        best = max(value, best)
    return best, distance + 1


@kernel(plain_first=True)
def sweep(
    game: Game[Any],
    most: float,
    farthest: int,
    stop: StopFlag,
    progress: Counters,
    out_values: Any,
    out_distances: Any,
) -> Any:
    """Fill all numbers, the last first; return the status and the number reached.

    ``most`` is the largest absolute value that may be written, ``farthest`` the largest distance; no distances are
    written if ``out_distances`` is empty.  Numbers from the game are compared with i and the length before they
    are used, so every access is within bounds.
    """
    for i in range(len(out_values) - 1, -1, -1):
        s = game.state(i)
        value, distance = 0.0, 0
        if game.has_outcomes and nonempty(game.outcomes(s)):
            value = chance_value(game, s, i, out_values)
        else:
            value, distance = best_value(game, s, i, out_values, out_distances)
        if not abs(value) <= most or distance > farthest or no_player(game, s):
            return (BROKEN if np.isnan(value) or no_player(game, s) else NARROW), i
        out_values[i] = value
        if len(out_distances):
            out_distances[i] = distance
        if i % BLOCK == 0:
            progress[0] += BLOCK
            if stop[0]:
                return STOPPED, i
    return FINISHED, 0


class IndexedTable(Table):
    """Values and distances of all states, by number."""

    method = kind = "indexed"
    array_types: ClassVar = {"values": "int8 int16 int32 int64 float64", "distances": "uint8 uint16 uint32"}

    def __init__(self, game: Game[Any], values: NDArray[Any], distances: NDArray[Any]) -> None:
        self.game, self.values, self.plies = game, values, distances

    def __len__(self) -> int:
        return len(self.values)

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player, and the plies to the end; None with chance."""
        i = number_of(self.game, state)
        value = float(self.values[i])
        distance = int(self.plies[i]) if len(self.plies) else None
        return StateValue(value if player == self.game.player(state) else -value, distance)

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the values and the distances, by number."""
        return {"values": self.values, "distances": self.plies}, {}

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> IndexedTable:
        """Return the table of a file."""
        check_size(game, arrays["values"])
        if len(arrays["distances"]):
            check_size(game, arrays["distances"])
        return cls(game, arrays["values"], arrays["distances"])


def check_size(game: Game[Any], numbered: NDArray[Any]) -> None:
    """Raise FormatError unless an array of a file has an element for each state."""
    if not game.has_size or len(numbered) != game.size():
        raise FormatError(f"the table has {len(numbered):,} values; {game!r} has other numbers")


def fill(question: Question) -> Table:
    """Return the value of every number; raise GameError if a rule is wrong, LimitError if they do not fit."""
    game, status, at = question.game, NARROW, 0
    for kinds in INTEGER if has_integer_values(game) else REAL:
        bytes_per_state = sum(np.dtype(kind).itemsize for kind in kinds)
        require(game.size() * bytes_per_state, question.run.bytes, f"a table of {game.size():,} states")
        values = np.zeros(game.size(), kinds[0])
        distances = np.zeros(0 if game.has_outcomes else game.size(), kinds[1])
        status, at = _sweep(game, values, distances, question.run.progress)
        if status != NARROW:
            break
    if status in (NARROW, BROKEN):
        diagnose_position(game, game.state(at))
        raise GameError(f"the value of state number {at} is too large to be stored exactly")
    return IndexedTable(game, values, distances)


def _sweep(game: Game[Any], values: NDArray[Any], distances: NDArray[Any], show: Show | None) -> tuple[int, int]:
    watch = TaskGroup(1, show)
    most = REAL_LIMIT if values.dtype.kind == "f" else min(INTEGER_LIMIT, float(np.iinfo(values.dtype).max))
    farthest = int(np.iinfo(distances.dtype).max)
    task = partial(sweep, native(game), most, farthest, watch.stop, watch.progress, values, distances)
    status, at = watch.run([task])[0]
    return int(status), int(at)
