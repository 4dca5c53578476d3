"""One shard at work: it sweeps its own states from the values of all.

It lives in a worker.  What it is comes from its file alone, so a worker that was killed makes it again; what it
has left out by action elimination is then in again, which changes the time and not the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import kernel
from mdplay.distributed.planning_files import Shards
from mdplay.planning import kernels
from mdplay.planning.arrays import ChoiceArrays, largest
from mdplay.planning.compiled_backend import DECIDED, FEW, put_together
from mdplay.planning.kernels import BLOCK_STATES
from mdplay.states.graph_search import Floats, Integers

Slices = Sequence[Floats]  # the values of each shard's states, one after the other


class Facts(NamedTuple):
    """What the driver must know of a shard before it begins."""

    endless: bool
    longest: int
    largest_reward: float


class Swept(NamedTuple):
    """What a sweep did to a shard's values."""

    low: float
    high: float
    largest: float  # of the new values
    width: float  # choices a state that were swept


class Answer(NamedTuple):
    """The answers for a shard's states."""

    action: NDArray[np.int64]  # -1 in terminal states
    undecided: NDArray[np.int64]


@kernel
def sweep_rows(
    first_choice: Integers,
    choices: ChoiceArrays,
    vector: Floats,
    own: Floats,
    out_q_value: Floats,
    out_value: Floats,
    out_choice: Integers,
) -> tuple[float, float]:
    """Do one Bellman sweep of some states from the values of all; return the extremes of the change.

    ``own`` are the values of these states before.
    """
    low, high = np.inf, -np.inf
    for first in range(0, len(own), BLOCK_STATES):
        last = min(first + BLOCK_STATES, len(own))
        kernels.q_values(first_choice, choices, vector, first, last, out_q_value)
        found = kernels.best(first_choice, out_q_value, own, first, last, out_value, out_choice)
        low, high = min(low, found[0]), max(high, found[1])
    return low, high


class Shard:
    """The rows of a range of states."""

    def __init__(self, number: int, shards: Shards) -> None:
        self._all, self._action = shards.load(number)
        self._rows = self._all  # those that are swept
        self._span, self._num_states = shards.span(number), shards.num_states
        self._vector = np.empty(0)
        self._q_value = np.empty(len(self._all.reward))
        self._choice = np.empty(self._all.num_states, np.uint32)
        self._value: Floats | None = None  # of the last sweep

    def facts(self) -> Facts:
        """Return what the driver must know."""
        return Facts(self._all.endless, self._all.longest, self._all.largest_reward)

    def sweep(self, slices: Slices | None, coarse: bool, everything: bool) -> tuple[Floats, Swept]:
        """Sweep once, from zeros if there are no values; ``everything``: choices that were left out too."""
        if everything:
            self._rows = self._all
        kind: np.dtype[Any] = np.dtype(np.float32 if coarse else np.float64)
        vector = self._gathered(slices, kind)
        own, value = vector[slice(*self._span)], np.empty(self._all.num_states, kind)
        given = (self._rows.first_choice, self._rows.choices, vector, own)
        low, high = sweep_rows(*given, self._q_value, value, self._choice)
        self._value = value
        return value, Swept(low, high, largest(value), self._rows.width)

    def _gathered(self, slices: Slices | None, kind: np.dtype[Any]) -> Floats:
        """Return the values of all states, in memory of the shard's own."""
        if len(self._vector) != self._num_states or self._vector.dtype != kind:
            self._vector = np.zeros(self._num_states, kind)
        if slices is None:
            self._vector[:] = 0.0
        else:
            np.concatenate(slices, out=self._vector)
        return self._vector

    def eliminate(self, slack: float) -> None:
        """Leave out the choices that lack more than the slack, if few are left; one made again knows of none."""
        if self._value is None:
            return
        rows = self._rows
        candidates = np.empty(len(rows.reward), np.uint32)
        count = np.empty(rows.num_states, rows.first_choice.dtype)
        given = (rows.first_choice, self._q_value, self._value, slack)
        size = kernels.list_candidates(*given, 0, rows.num_states, candidates, count)
        if size > max(FEW * len(candidates), DECIDED * len(count)):
            return
        first = np.zeros_like(rows.first_choice)
        np.cumsum(count, out=first[1:], dtype=first.dtype)
        self._rows = put_together(rows, first, candidates[:size], 1)

    def decide(self, slices: Slices, width: float, shift: float) -> Answer:
        """Return the actions for values of which the last sweep over everything was made."""
        if self._value is None or self._rows is not self._all:  # made again since
            self.sweep(slices, False, True)
        return self._chosen(width, shift)

    def _chosen(self, width: float, shift: float) -> Answer:
        """Return the actions by the q values of all choices."""
        first, count = self._all.first_choice, self._all.num_states
        choice, undecided = self._all.first_actions.copy(), np.zeros(count, np.bool_)
        kernels.decide(first, self._q_value, width, shift, 0, count, choice, undecided)
        action = np.full(count, -1, np.int64)
        live = self._all.live
        action[live] = self._action[choice[live]]
        return Answer(action, np.flatnonzero(undecided) + self._span[0])
