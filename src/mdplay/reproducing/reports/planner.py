"""Value iteration in place and all at once, and Howard's policy iteration, over the nested form of an MDP.

mdp[s][a] = [[s', reward, probability], ...]       an action without entries is not available
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.solving.values import TIE

Nested = Sequence[Sequence[Sequence[Sequence[float]]]]
Row = tuple[NDArray[Any], NDArray[Any], float]  # the followers of a choice, their probabilities, the mean reward


def _rows(mdp: Nested) -> list[dict[int, Row]]:
    return [{a: _row(entries) for a, entries in enumerate(actions) if entries} for actions in mdp]


def _row(entries: Sequence[Sequence[float]]) -> Row:
    target, reward, probability = np.array(entries, np.float64).T
    return target.astype(np.int64), probability, float(probability @ reward)


def _q_value(row: Row, values: NDArray[Any], discount: float) -> float:
    target, probability, reward = row
    return reward + discount * float(probability @ values[target])


def value_iteration(mdp: Nested, discount: float, *, in_place: bool, threshold: float) -> tuple[NDArray[Any], int]:
    """Sweep until no state changes by more than the threshold; return the values and the number of sweeps."""
    rows, values, sweeps, change = _rows(mdp), np.zeros(len(mdp)), 0, np.inf
    while change > threshold:
        known = values if in_place else values.copy()
        change = 0.0
        for state, actions in enumerate(rows):
            value = max((_q_value(row, known, discount) for row in actions.values()), default=0.0)
            change = max(change, abs(value - values[state]))
            values[state] = value
        sweeps += 1
    return values, sweeps


def howard(mdp: Nested, discount: float) -> tuple[NDArray[Any], list[int], int]:
    """Start from the smallest action everywhere; return the values, the policy and the number of policies."""
    rows = _rows(mdp)
    policy, rounds = [min(actions, default=0) for actions in rows], 0
    while True:
        values, rounds = _solved(rows, policy, discount), rounds + 1
        better = [_best(actions, values, discount, a) for actions, a in zip(rows, policy, strict=True)]
        if better == policy:
            return values, policy, rounds
        policy = better


def _solved(rows: list[dict[int, Row]], policy: list[int], discount: float) -> NDArray[Any]:
    """Return the values of a policy, from its linear equations."""
    matrix, rewards = np.eye(len(rows)), np.zeros(len(rows))
    for state, actions in enumerate(rows):
        if actions:
            target, probability, rewards[state] = actions[policy[state]]
            np.subtract.at(matrix[state], target, discount * probability)
    return np.linalg.solve(matrix, rewards)


def _best(actions: dict[int, Row], values: NDArray[Any], discount: float, kept: int) -> int:
    """Return the smallest of the best actions; a terminal state keeps what it has."""
    found = {a: _q_value(row, values, discount) for a, row in actions.items()}
    most = max(found.values(), default=0.0)
    return min((a for a, value in found.items() if value >= most - TIE * max(1.0, abs(most))), default=kept)
