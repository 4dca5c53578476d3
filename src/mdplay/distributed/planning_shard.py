"""A shard of a model: its file, and the worker's object that sweeps its states from the values of all.

    FOLDER/NUMBER.mdp      (mdplay.storage.arrays) the rows of states cuts[NUMBER] .. cuts[NUMBER + 1] - 1

Pointers of a shard begin at 0; targets are numbers of all states.  Rewards are to be maximised: costs have changed
their sign.  A shard may be larger than memory: it is mapped, and the system takes its pages back at will.

A shard is made from its file alone, so it can be made again when its worker was killed.  Choices that action
elimination had removed are then swept again, which changes the time and not the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay import FormatError
from mdplay.compiling import kernel
from mdplay.errors import check_integer
from mdplay.planning import kernels
from mdplay.planning.arrays import ChoiceArrays, ModelArrays, largest
from mdplay.planning.compiled_backend import DECIDED, FEW, put_together
from mdplay.planning.kernels import BLOCK_STATES
from mdplay.planning.model import Model
from mdplay.states.graph_search import Floats, Integers
from mdplay.storage import arrays as store
from mdplay.storage.files import make_folder

KIND = "MDP shard"
ARRAYS = ("first_choice", "first_transition", "target", "probability", "reward")
WHOLE = "uint32 uint64"
TYPES = {
    **dict.fromkeys(("first_choice", "first_transition", "target"), WHOLE),
    "probability": "float64",
    "reward": "float64",
    "action": f"uint8 uint16 {WHOLE}",
}


class Rows(NamedTuple):
    """The rows of a range of states, and the action of each choice."""

    arrays: ModelArrays
    action: Integers


class Shards(NamedTuple):
    """A model in a folder."""

    folder: Path
    cuts: tuple[int, ...]  # where the states of each shard begin; the last one is the number of all
    discount: float
    minimise: bool = False
    reward_error: float = 0.0

    @property
    def num_states(self) -> int:
        """The number of states of all shards."""
        return self.cuts[-1]

    def span(self, number: int) -> tuple[int, int]:
        """Return the first state of a shard, and the one after its last."""
        return self.cuts[number], self.cuts[number + 1]

    def save(self, number: int, rows: Rows) -> None:
        """Write a shard, atomically."""
        arrays = {name: getattr(rows.arrays, name) for name in ARRAYS} | {"action": rows.action}
        store.save(self._path(number), arrays, kind=KIND, meta=self._words(number))

    def load(self, number: int) -> Rows:
        """Map a shard into memory; raise FormatError if it is damaged or of another model."""
        path = self._path(number)
        stored = store.load(path, kind=KIND, types=TYPES, needs=(*ARRAYS, "action"))
        if stored.meta != self._words(number):
            raise FormatError(f"{path} is a shard of another model; write the shards again")
        found = {name: stored.arrays[name] for name in ARRAYS}
        arrays = ModelArrays(**found, discount=self.discount, reward_error=self.reward_error)
        rows = Rows(arrays, stored.arrays["action"])
        begin, end = self.span(number)
        if not _fits(rows, end - begin, self.num_states):
            raise FormatError(f"{path} is damaged: its rows do not fit the model")
        return rows

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.mdp"

    def _words(self, number: int) -> dict[str, object]:
        return {"number": number, "cuts": list(self.cuts), "discount": self.discount, "minimise": self.minimise}


def _fits(rows: Rows, states: int, num_states: int) -> bool:
    """Return whether rows are those of ``states`` states of a model: kernels follow their pointers unchecked."""
    arrays, choices = rows.arrays, len(rows.action)
    return (
        all(array.ndim == 1 for array in (*(getattr(arrays, name) for name in ARRAYS), rows.action))
        and len(arrays.first_choice) == states + 1
        and len(arrays.first_transition) == choices + 1
        and len(arrays.reward) == choices
        and len(arrays.probability) == len(arrays.target)
        and _ascends(arrays.first_choice, choices)
        and _ascends(arrays.first_transition, len(arrays.target))
        and int(arrays.target.max(initial=0)) < num_states
    )


def _ascends(pointers: Integers, end: int) -> bool:
    """Return whether pointers go up from 0 to an end."""
    return bool(pointers[0] == 0 and pointers[-1] == end and (pointers[1:] >= pointers[:-1]).all())


def even_cuts(num_states: int, shards: int) -> tuple[int, ...]:
    """Return where each shard begins if all have as many states, give or take one."""
    check_integer("shards", shards)
    return tuple(num_states * k // shards for k in range(shards + 1))


def write_shards(mdp: Model, folder: str | Path, shards: int) -> Shards:
    """Write a model to a folder as ``shards`` shards, or one for each state if there are fewer states."""
    found = Shards(
        make_folder(folder),
        even_cuts(mdp.num_states, min(shards, max(1, mdp.num_states))),
        mdp.discount,
        mdp.minimise,
        mdp.reward_error,
    )
    for number, (begin, end) in enumerate(pairwise(found.cuts)):
        found.save(number, _rows(mdp, begin, end))
    return found


def _rows(mdp: Model, begin: int, end: int) -> Rows:
    """Return the rows of a range of states."""
    first, last = int(mdp.first_choice[begin]), int(mdp.first_choice[end])
    edge, stop = int(mdp.first_transition[first]), int(mdp.first_transition[last])
    reward = mdp.reward[first:last]
    arrays = ModelArrays(
        mdp.first_choice[begin : end + 1] - mdp.first_choice[begin],
        mdp.first_transition[first : last + 1] - mdp.first_transition[first],
        mdp.target[edge:stop],
        mdp.probability[edge:stop],
        -reward if mdp.minimise else reward,
        mdp.discount,
    )
    return Rows(arrays, np.ascontiguousarray(mdp.action[first:last]))


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
