"""Fixed policies: their probabilities, checked, and the MDP in which they are the only choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.arrays import ARRAYS_TINIEST as TINIEST
from mdplay.planning.arrays import UNIT, Transitions, assemble, expected_rewards
from mdplay.planning.model import Model
from mdplay.states.graph_search import Floats, Integers, lengths


def induced(mdp: Model, policy: npt.ArrayLike) -> tuple[Model, Integers]:
    """Return the MDP whose only choice in each state is the policy, and the policy's likeliest actions."""
    return _induced(mdp, _choice_weights(mdp, np.asarray(policy)))


def _choice_weights(mdp: Model, policy: npt.NDArray[Any]) -> Floats:
    """Return the weight that the policy gives to each choice of the MDP; those of a state sum to about 1."""
    owner, action = mdp.owners(), mdp.action.astype(np.int64)
    live = ~mdp.terminal
    if policy.shape == (mdp.num_states,):
        if policy.dtype.kind not in "iu":
            raise FormatError("a policy of one action a state needs whole numbers")
        weights = np.asarray(policy[owner] == action, dtype=np.float64)
    elif policy.ndim == 2 and policy.shape[0] == mdp.num_states and policy.shape[1] >= mdp.num_actions:
        weights = np.asarray(policy[owner, action], dtype=np.float64)
        if not np.isfinite(policy[live]).all() or (policy[live] < 0).any():
            raise FormatError("the probabilities of a policy must be finite and not negative")
        _check_elsewhere(mdp, policy, owner, action)
    else:
        raise FormatError(
            f"the policy has the shape {policy.shape}; it must be ({mdp.num_states},) or "
            f"({mdp.num_states}, {mdp.num_actions})"
        )
    total = np.bincount(owner, weights=weights, minlength=mdp.num_states)
    wrong = np.flatnonzero(live & (np.abs(total - 1.0) > 1e-6))
    if wrong.size:
        state = int(wrong[0])
        what = policy[state] if policy.ndim == 1 else f"probabilities that sum to {total[state]:g}"
        raise FormatError(f"the policy gives state {state} {what}; its actions are {mdp.actions(state)}")
    return weights


def _check_elsewhere(mdp: Model, policy: npt.NDArray[Any], owner: Integers, action: Integers) -> None:
    """Refuse a policy that takes an action where there is none."""
    rest = policy.copy()
    rest[owner, action] = 0
    rest[mdp.terminal] = 0
    state, wrong = np.nonzero(rest)
    if state.size:
        raise FormatError(f"the policy takes action {wrong[0]} in state {state[0]}, where it is not available")


def _induced(mdp: Model, weights: Floats) -> tuple[Model, Integers]:
    """Return the MDP whose only choice in each state is the policy, and the policy's likeliest actions."""
    owner, counts = mdp.owners(), lengths(mdp.first_transition)
    likely = np.full(mdp.num_states, -1, dtype=np.int64)
    ascending = np.lexsort((-mdp.action.astype(np.int64), weights))
    likely[owner[ascending]] = mdp.action[ascending]  # the last one written is the likeliest
    state = np.repeat(owner, counts)
    earned = expected_rewards(mdp.first_choice, mdp.reward, weights)
    probability = _products(mdp.probability, np.repeat(weights, counts))
    transitions = Transitions(state, np.zeros_like(state), mdp.target, earned[state], probability)
    chain = assemble(transitions, num_states=mdp.num_states, discount=mdp.discount, minimise=mdp.minimise)
    return replace(chain, reward_error=_mixed_error(mdp, weights)), likely


def _products(probability: Floats, weight: Floats) -> Floats:
    """Return the probabilities of taking a choice and a transition; what can happen does not become 0."""
    return np.asarray(np.where(weight > 0.0, np.maximum(probability * weight, TINIEST), 0.0))


def _mixed_error(mdp: Model, weights: Floats) -> float:
    """Return by how much a policy's expected reward may be off because those that it mixes were rounded."""
    owner = mdp.owners()
    taken = np.bincount(owner, weights=weights > 0.0, minlength=mdp.num_states)
    size = np.bincount(owner, weights=weights * np.abs(mdp.reward), minlength=mdp.num_states)
    return mdp.reward_error + 8.0 * UNIT * float(size[taken > 1].max(initial=0.0))
