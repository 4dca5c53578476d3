"""MDPs in and out of the forms that other programs keep them in.

nested        nested[state][action] = [[target, reward, probability], ...]
dense         probability[action, state, target], reward[state, action]
matrices      one sparse matrix [state, target] an action (pymdptoolbox)
pairs         one row a pair of state and action (quantecon)
gymnasium     table[state][action] = [(probability, target, reward, terminated), ...]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.arrays import Transitions, assemble
from mdplay.planning.model import Model
from mdplay.states.graph_search import Floats, Integers, lengths

Row = tuple[int, int, int, float, float]  # state, action, target, reward, probability


def from_nested(nested: Sequence[Sequence[Any]], *, discount: float, minimise: bool = False) -> Model:
    """Return the MDP of ``nested[state][action] = [[target, reward, probability], ...]``."""
    rows: list[Row] = []
    for state, actions in enumerate(nested):
        for action, entries in enumerate(actions):
            for entry in entries:
                if len(entry) != 3:
                    place = f"state {state}, action {action}"
                    raise FormatError(f"{place} has {list(entry)!r}; write [target, reward, probability]")
                rows.append((state, action, *entry))
    return _from_rows(rows, len(nested), discount, minimise)


def to_nested(mdp: Model) -> list[list[list[list[float]]]]:
    """Return ``nested[state][action] = [[target, reward, probability], ...]``."""
    nested: list[list[list[list[float]]]] = []
    for state in range(mdp.num_states):
        actions: list[list[list[float]]] = [[] for _ in range(mdp.num_actions)]
        for choice in range(int(mdp.first_choice[state]), int(mdp.first_choice[state + 1])):
            actions[int(mdp.action[choice])] = _entries(mdp, choice)
        nested.append(actions)
    return nested


def transition_rewards(mdp: Model) -> Floats:
    """Return the reward of every transition: the kept ones, or each choice's expectation."""
    if mdp.transition_reward is not None:
        return mdp.transition_reward
    return np.repeat(mdp.reward, lengths(mdp.first_transition))


def _entries(mdp: Model, choice: int) -> list[list[float]]:
    row = range(int(mdp.first_transition[choice]), int(mdp.first_transition[choice + 1]))
    kept = mdp.transition_reward
    reward = mdp.reward[choice]
    return [
        [int(mdp.target[j]), float(reward if kept is None else kept[j]), float(mdp.probability[j])] for j in row
    ]


def _from_rows(rows: list[Row], num_states: int, discount: float, minimise: bool) -> Model:
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    whole = [_whole(column) for column in columns[:3]]
    transitions = Transitions(*whole, *columns[3:])
    return assemble(transitions, num_states=num_states, discount=discount, minimise=minimise, keep_rewards=True)


def _whole(column: Sequence[Any]) -> Integers:
    """Return whole numbers as integers; what is not whole stays as it is and is refused later."""
    numbers = np.array(column, dtype=None if column else np.int64)
    if numbers.dtype.kind == "f" and (numbers == np.floor(numbers)).all():
        return numbers.astype(np.int64)
    return numbers


def from_dense(
    probability: npt.ArrayLike, reward: npt.ArrayLike, *, discount: float, minimise: bool = False
) -> Model:
    """Return the MDP of ``probability[action, state, target]``; rewards may have any of three shapes."""
    table, rewards = np.asarray(probability, dtype=np.float64), np.asarray(reward, dtype=np.float64)
    if table.ndim != 3 or table.shape[1] != table.shape[2]:
        raise FormatError(f"the probabilities have the shape {table.shape}; it must be (actions, states, states)")
    state, action, target = (index.astype(np.int64) for index in np.nonzero(table.transpose(1, 0, 2)))
    earned = _earned(rewards, table.shape[0], table.shape[1], state, action, target)
    weights = table[action, state, target]
    transitions = Transitions(state, action, target, earned, weights)
    return assemble(transitions, num_states=table.shape[1], discount=discount, minimise=minimise)


def to_dense(mdp: Model) -> tuple[Floats, Floats]:
    """Return ``probability[action, state, target]`` and ``reward[state, action]``."""
    probability = np.zeros((mdp.num_actions, mdp.num_states, mdp.num_states))
    reward = np.zeros((mdp.num_states, mdp.num_actions))
    owner, action = mdp.owners(), mdp.action.astype(np.int64)
    counts = lengths(mdp.first_transition)
    probability[np.repeat(action, counts), np.repeat(owner, counts), mdp.target] = mdp.probability
    reward[owner, action] = mdp.reward
    return probability, reward


def from_matrices(
    matrices: Sequence[Any], reward: npt.ArrayLike, *, discount: float, minimise: bool = False
) -> Model:
    """Return the MDP of one scipy sparse matrix ``[state, target]`` an action."""
    parts = [matrix.tocoo() for matrix in matrices]
    num_states = parts[0].shape[0]
    if any(part.shape != (num_states, num_states) for part in parts):
        raise FormatError(f"every matrix must be {num_states} x {num_states}")
    state = np.concatenate([part.row for part in parts]).astype(np.int64)
    target = np.concatenate([part.col for part in parts]).astype(np.int64)
    action = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
    weights = np.concatenate([part.data for part in parts])
    earned = _earned(np.asarray(reward, dtype=np.float64), len(parts), num_states, state, action, target)
    transitions = Transitions(state, action, target, earned, weights)
    return assemble(transitions, num_states=num_states, discount=discount, minimise=minimise)


def _earned(
    reward: Floats, num_actions: int, num_states: int, state: Integers, action: Integers, target: Integers
) -> Floats:
    """Return the reward of each transition out of an array of one of the three shapes."""
    if reward.shape == (num_states,):
        return reward[state]
    if reward.shape == (num_states, num_actions):
        return reward[state, action]
    if reward.shape == (num_actions, num_states, num_states):
        return reward[action, state, target]
    raise FormatError(
        f"the rewards have the shape {reward.shape}; for {num_states} states and {num_actions} actions "
        "it must be (states,), (states, actions) or (actions, states, states)"
    )


def from_pairs(
    state: npt.ArrayLike,
    action: npt.ArrayLike,
    probability: Any,
    reward: npt.ArrayLike,
    *,
    discount: float,
    minimise: bool = False,
) -> Model:
    """Return the MDP whose pair i of state and action has row i of the matrix and ``reward[i]``."""
    matrix = probability if hasattr(probability, "tocsr") else _csr(probability)
    states, actions, rewards = np.asarray(state), np.asarray(action), np.asarray(reward, dtype=np.float64)
    if not len(states) == len(actions) == len(rewards) == matrix.shape[0]:
        raise FormatError(f"{matrix.shape[0]} rows need as many states, actions and rewards")
    rows = matrix.tocsr()
    keys = states.astype(np.int64) * (int(actions.max()) + 1) + actions
    if rows.has_canonical_format and (keys[1:] > keys[:-1]).all():
        first = np.searchsorted(states, np.arange(matrix.shape[1] + 1))
        arrays = (first, actions, rows.indptr, _reinterpreted(rows.indices), rows.data, rewards)
        return Model(*arrays, discount=discount, minimise=minimise)
    parts = rows.tocoo()
    transitions = Transitions(states[parts.row], actions[parts.row], parts.col, rewards[parts.row], parts.data)
    return assemble(transitions, num_states=matrix.shape[1], discount=discount, minimise=minimise)


def _csr(matrix: npt.ArrayLike) -> Any:
    from scipy.sparse import csr_array

    return csr_array(np.asarray(matrix, dtype=np.float64))


def _reinterpreted(indices: Integers) -> Integers:
    """Return scipy's signed column numbers as unsigned ones without a copy."""
    return indices.view(np.uint32) if indices.dtype == np.int32 else indices


def from_gymnasium(table: Mapping[int, Mapping[int, Sequence[Any]]], *, discount: float) -> Model:
    """Return the MDP of ``env.unwrapped.P``; what is terminated leads to one more state, the last."""
    num_states = len(table)
    rows: list[Row] = [
        (state, action, num_states if terminated else target, reward, probability)
        for state, actions in table.items()
        for action, entries in actions.items()
        for probability, target, reward, terminated in entries
    ]
    return _from_rows(rows, num_states + 1, discount, minimise=False)
