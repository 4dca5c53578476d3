"""A model in pieces on disk: each shard has the choices of a range of states, read through mapped memory.

    FOLDER/NUMBER.mdp      (mdplay.storage.arrays) the rows of states cuts[NUMBER] .. cuts[NUMBER + 1] - 1

Pointers of a shard begin at 0; targets are numbers of all states.  Rewards are to be maximised: costs have changed
their sign.  A shard may be larger than memory: its pages belong to the system, which takes them back at will.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mdplay.errors import FormatError, check_integer
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.model import Model
from mdplay.states.graph_search import Integers
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
    """Tell whether rows are those of so many states of a model: kernels follow their pointers unchecked."""
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
    """Tell whether pointers go up from 0 to an end."""
    return bool(pointers[0] == 0 and pointers[-1] == end and (pointers[1:] >= pointers[:-1]).all())


def even_cuts(num_states: int, shards: int) -> tuple[int, ...]:
    """Return where each shard begins if all have as many states, give or take one."""
    check_integer("shards", shards)
    return tuple(num_states * k // shards for k in range(shards + 1))


def write_shards(mdp: Model, folder: str | Path, shards: int) -> Shards:
    """Write a model to a folder, so many shards of it."""
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
