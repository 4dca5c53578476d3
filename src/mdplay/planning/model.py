"""A finite Markov decision process, stored as sparse arrays.

A state has choices, a choice has transitions; both lists are stored one after the other:

    state s   ->  choices      first_choice[s] .. first_choice[s + 1] - 1
    choice k  ->  transitions  first_transition[k] .. first_transition[k + 1] - 1
    choice k  is the action ``action[k]`` and earns ``reward[k]``, the expectation over its transitions
    transition j goes to ``target[j]`` with ``probability[j]``

    state      0         1    2          state 2 has no choice: it is terminal, of value 0
    choice     0    1    2
    transition 0 1  2    3 4

12 bytes a transition, 13 to 16 a choice, 4 a state.  The actions of a state ascend; an action that is not
listed is not available there.

The probabilities of a choice, its row, mean those given divided by their sum: a sum may miss 1 by
``SUM_TOLERANCE``, which is what six printed decimals do.  Transitions with rewards of their own mean the expected
reward sum(p * r) / sum(p), rounded to a few last digits of itself (`mdplay.planning.arrays`).  Rewards of choices
mean what they say; where they were computed and may be off by more, ``reward_error`` says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.states.graph_search import Floats, Integers, lengths

SUM_TOLERANCE = 1e-5
MAX_STATES = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Model:
    """A finite MDP as arrays, checked when it is made; see the module's text.  They must not be changed."""

    first_choice: Integers
    action: Integers
    first_transition: Integers
    target: Integers
    probability: Floats
    reward: Floats
    discount: float = 1.0
    minimise: bool = False
    transition_reward: Floats | None = None
    reward_error: float = 0.0

    def __post_init__(self) -> None:
        for name in ("first_choice", "first_transition", "target"):
            object.__setattr__(self, name, _unsigned(getattr(self, name), name))
        for name in ("probability", "reward"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "action", _smallest(np.asarray(self.action)))
        _check_shape(self)
        _check_numbers(self)
        _drop_zeros(self)
        object.__setattr__(self, "probability", _normalised(self))

    @property
    def num_states(self) -> int:
        """The number of states, terminal ones included."""
        return len(self.first_choice) - 1

    @property
    def num_choices(self) -> int:
        """The number of pairs of a state and an action that is available there."""
        return len(self.reward)

    @property
    def num_transitions(self) -> int:
        """The number of stored transitions."""
        return len(self.target)

    @property
    def num_actions(self) -> int:
        """One more than the largest action number."""
        return int(self.action.max()) + 1 if self.num_choices else 0

    @property
    def num_bytes(self) -> int:
        """The memory that the arrays take."""
        arrays = (self.first_choice, self.action, self.first_transition, self.target, self.probability)
        kept = 0 if self.transition_reward is None else self.transition_reward.nbytes
        return sum(array.nbytes for array in arrays) + self.reward.nbytes + kept

    @property
    def terminal(self) -> npt.NDArray[np.bool_]:
        """True where a state has no choice."""
        return np.asarray(lengths(self.first_choice) == 0)

    def actions(self, state: int) -> list[int]:
        """Return the actions that are available in the state, ascending."""
        return [int(a) for a in self.action[self.first_choice[state] : self.first_choice[state + 1]]]

    def owners(self) -> Integers:
        """Return the state of every choice."""
        counts = lengths(self.first_choice)
        return np.repeat(np.arange(self.num_states, dtype=np.int64), counts)

    def action_values(self, state: int, value: npt.ArrayLike) -> dict[int, float]:
        """Return the q value of each action of a state, given the values of all states."""
        values = np.asarray(value, dtype=np.float64)
        found = {}
        for choice in range(int(self.first_choice[state]), int(self.first_choice[state + 1])):
            row = slice(int(self.first_transition[choice]), int(self.first_transition[choice + 1]))
            later = float(self.probability[row] @ values[self.target[row]])
            found[int(self.action[choice])] = float(self.reward[choice]) + self.discount * later
        return found


def _unsigned(array: Any, name: str) -> Integers:
    """Return an array of unsigned 32-bit numbers, or of 64-bit ones where pointers need them."""
    given = np.ascontiguousarray(array)
    if given.dtype in (np.dtype(np.uint32), np.dtype(np.uint64)):
        return given
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0):
        raise FormatError(f"{name} must hold whole numbers from 0, not {given.dtype} down to {given.min()}")
    if given.dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        wide = given.dtype.itemsize == 8 and given.size and given.max() > MAX_STATES
        return given.astype(np.uint64) if wide else given.astype(np.uint32)
    return given.astype(np.uint32)


def _smallest(array: Integers) -> Integers:
    """Return the action numbers in the smallest unsigned type that holds them."""
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0):
        raise FormatError("the actions must be whole numbers from 0")
    kind = np.min_scalar_type(int(array.max()) if array.size else 0)
    return np.ascontiguousarray(array, dtype=kind)


def _check_shape(mdp: Model) -> None:
    """Refuse arrays that do not fit together."""
    for name, pointers, total in (
        ("first_choice", mdp.first_choice, mdp.num_choices),
        ("first_transition", mdp.first_transition, mdp.num_transitions),
    ):
        if not len(pointers) or pointers[0] != 0 or pointers[-1] != total or (pointers[1:] < pointers[:-1]).any():
            raise FormatError(f"{name} must ascend from 0 to {total}")
    if len(mdp.first_choice) < 2:
        raise FormatError("an MDP needs at least one state")
    if len(mdp.first_transition) != mdp.num_choices + 1 or len(mdp.action) != mdp.num_choices:
        raise FormatError(f"{mdp.num_choices} rewards need as many actions and one pointer more")
    if len(mdp.probability) != mdp.num_transitions:
        raise FormatError(f"{mdp.num_transitions} targets need as many probabilities, not {len(mdp.probability)}")
    empty = np.flatnonzero(mdp.first_transition[1:] == mdp.first_transition[:-1])
    if empty.size:
        raise FormatError(f"{_place(mdp, int(empty[0]))} has no transitions; leave the choice out")
    if mdp.num_transitions and int(mdp.target.max()) >= mdp.num_states:
        raise FormatError(f"a transition leads to state {mdp.target.max()} of {mdp.num_states} states")


def _check_numbers(mdp: Model) -> None:
    """Refuse numbers that are none, negative probabilities and a discount outside 0..1."""
    if not 0.0 <= mdp.discount <= 1.0:
        raise FormatError(f"the discount is {mdp.discount}; it must be between 0 and 1")
    bad = np.flatnonzero(~np.isfinite(mdp.reward))
    if bad.size:
        raise FormatError(f"{_place(mdp, int(bad[0]))} earns {mdp.reward[bad[0]]}; a reward must be finite")
    if mdp.num_transitions and not mdp.probability.min() >= 0.0:
        bad = np.flatnonzero(~(mdp.probability >= 0.0))
        choice = int(np.searchsorted(mdp.first_transition, bad[0], side="right")) - 1
        raise FormatError(f"{_place(mdp, choice)} has a probability of {mdp.probability[bad[0]]}")
    owner = mdp.owners()
    unsorted = np.flatnonzero((owner[1:] == owner[:-1]) & (mdp.action[1:] <= mdp.action[:-1]))
    if unsorted.size:
        raise FormatError(f"the actions of state {owner[unsorted[0]]} do not ascend")


def _drop_zeros(mdp: Model) -> None:
    """Leave out transitions of probability 0: the graph must not show what cannot happen."""
    kept = mdp.probability > 0.0
    if kept.all():
        return
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    object.__setattr__(mdp, "first_transition", _unsigned(before[mdp.first_transition], "first_transition"))
    for name in ("target", "probability", "transition_reward"):
        if (array := getattr(mdp, name)) is not None:
            object.__setattr__(mdp, name, array[kept])
    if (lengths(mdp.first_transition) == 0).any():
        empty = int(np.flatnonzero(lengths(mdp.first_transition) == 0)[0])
        raise FormatError(f"{_place(mdp, empty)} has no transition of positive probability")


def _normalised(mdp: Model) -> Floats:
    """Return the probabilities with rows that sum to 1 to the last digits; refuse rows that are far off."""
    if not mdp.num_transitions:
        return mdp.probability
    sums = np.add.reduceat(mdp.probability, mdp.first_transition[:-1].astype(np.intp))
    miss = np.abs(sums - 1.0)
    if not miss.max() <= SUM_TOLERANCE:
        worst = int(np.argmax(np.where(np.isnan(miss), np.inf, miss)))
        raise RowSumError(mdp, worst, float(sums[worst]))
    counts = lengths(mdp.first_transition)
    if (miss <= counts * 2.0**-52).all():
        return mdp.probability
    return np.asarray(mdp.probability / np.repeat(sums, counts))


class RowSumError(FormatError):
    """The probabilities of a choice do not sum to 1; readers add the line where the choice stands."""

    def __init__(self, mdp: Model, choice: int, total: float) -> None:
        self.state, self.action = _pair(mdp, choice)
        super().__init__(f"the probabilities of {_place(mdp, choice)} sum to {total:.9g}, not to 1")


def _pair(mdp: Model, choice: int) -> tuple[int, int]:
    state = int(np.searchsorted(mdp.first_choice, choice, side="right")) - 1
    return state, int(mdp.action[choice])


def _place(mdp: Model, choice: int) -> str:
    state, action = _pair(mdp, choice)
    return f"state {state}, action {action}"
