"""From transitions in any order to the sorted arrays of an MDP.

Two transitions of one state and action to the same target become one, with the sum of the probabilities:
solvers that sweep in place go wrong without a word when a row names a target twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.arrays import expected_rewards
from mdplay.planning.loops import merge
from mdplay.planning.model import MAX_STATES, Model
from mdplay.states.graph_search import Floats, Integers, run


class Transitions(NamedTuple):
    """Transitions in any order, one an entry."""

    state: npt.ArrayLike
    action: npt.ArrayLike
    target: npt.ArrayLike
    reward: npt.ArrayLike
    probability: npt.ArrayLike


class Columns(NamedTuple):
    """Transitions, one an entry; ``row`` numbers the pairs of state and action, ascending with both."""

    row: Integers
    target: Integers
    reward: Floats
    probability: Floats

    def take(self, chosen: Integers) -> Columns:
        """Return the chosen transitions."""
        return Columns(*(column[chosen] for column in self))


def assemble(
    transitions: Transitions,
    *,
    num_states: int,
    discount: float,
    minimise: bool = False,
    keep_rewards: bool = False,
) -> Model:
    """Return the model of the transitions; those of probability 0 are left out.

    ``keep_rewards`` keeps the reward of every transition beside the expectation of each choice.
    """
    states, actions, targets = (np.asarray(column) for column in transitions[:3])
    rewards, weights = (np.asarray(column, dtype=np.float64) for column in transitions[3:])
    if len({len(states), len(actions), len(targets), len(rewards), len(weights)}) > 1:
        raise FormatError("states, actions, targets, rewards and probabilities must be equally many")
    _check_whole("state", states, num_states)
    _check_whole("target", targets, num_states)
    _check_whole("action", actions, MAX_STATES)
    _check_finite(rewards, weights)
    width = int(actions.max()) + 1 if actions.size else 1
    columns = grouped(Columns(states.astype(np.int64) * width + actions, targets, rewards, weights))
    expected = expected_rewards(_starts(columns.row), columns.reward, columns.probability)
    return _model(merged(columns), expected, width, num_states, discount, minimise, keep_rewards)


def _check_whole(name: str, numbers: Integers, end: int) -> None:
    """Refuse numbers that are not whole or not in 0 .. end - 1."""
    if not 1 <= end <= MAX_STATES:
        raise FormatError(f"the number of states is {end}; it must be between 1 and {MAX_STATES}")
    if not numbers.size:
        return
    if numbers.dtype.kind not in "iu":
        raise FormatError(f"every {name} must be a whole number, not {numbers.dtype}")
    smallest, largest = int(numbers.min()), int(numbers.max())
    if smallest < 0 or largest >= end:
        wrong = smallest if smallest < 0 else largest
        raise FormatError(f"a {name} is {wrong}; it must be between 0 and {end - 1}")


def _check_finite(rewards: Floats, weights: Floats) -> None:
    """Refuse rewards that are not finite and probabilities that are negative or none."""
    if not np.isfinite(rewards).all():
        raise FormatError(f"a reward is {rewards[~np.isfinite(rewards)][0]}; it must be finite")
    fits = (weights >= 0.0) & (weights < np.inf)
    if not fits.all():
        raise FormatError(f"a probability is {weights[~fits][0]}; it must be between 0 and 1")


def grouped(columns: Columns) -> Columns:
    """Return the transitions grouped by row, zeros left out."""
    if (columns.probability == 0.0).any():
        columns = columns.take(np.flatnonzero(columns.probability))
    if (columns.row[1:] < columns.row[:-1]).any():
        columns = columns.take(np.argsort(columns.row, kind="stable"))
    return columns


def merged(columns: Columns) -> Columns:
    """Return grouped transitions, repeated ones added up."""
    if not len(columns.row):
        return columns
    distinct = Columns(*(np.array(column) for column in columns))
    mark = np.full(int(columns.target.max()) + 1, -1, dtype=np.int64)
    count = run(merge, len(columns.row), columns, mark, np.zeros(len(columns.row)), distinct)
    return Columns(*(column[:count] for column in distinct)) if count < len(columns.row) else distinct


def _starts(row: Integers) -> Integers:
    """Return where each row begins, and where the last one ends."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1], [True]])) if len(row) else np.zeros(1, int)


def _model(
    columns: Columns,
    expected: Floats,
    width: int,
    num_states: int,
    discount: float,
    minimise: bool,
    keep_rewards: bool,
) -> Model:
    """Return the model of transitions that are grouped and distinct; a row is state * width + action."""
    starts = _starts(columns.row)
    state, action = np.divmod(columns.row[starts[:-1]], width)
    return Model(
        first_choice=np.searchsorted(state, np.arange(num_states + 1)),
        action=action,
        first_transition=starts,
        target=columns.target,
        probability=columns.probability,
        reward=expected,
        discount=discount,
        minimise=minimise,
        transition_reward=columns.reward if keep_rewards else None,
    )
