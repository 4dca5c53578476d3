"""Plan: the best values and actions of a finite MDP, with bounds that prove how good they are.

    plan(mdp)                 the optimum
    evaluate(mdp, policy)     what a given policy is worth
    verify(mdp, value)        bounds around the optimum from any value vector

Whatever method found the values, the bounds are proven afterwards: by MacQueen's inequality below discount 1
(`mdplay.mdp.bounds`), by an inductive pair of vectors at discount 1 (`mdplay.mdp.undiscounted`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError, unknown
from mdplay.mdp.bounds import Bounds, discounted_bounds
from mdplay.mdp.methods import METHODS, Goal, Show, SingularPolicy
from mdplay.mdp.model import MDP, Floats, Integers, lengths
from mdplay.mdp.plain import DENSE_STATES
from mdplay.mdp.rows import PLAIN_TRANSITIONS, Decision, Rows, Sweeps, sweeps_over
from mdplay.mdp.undiscounted import Reduction, certify, finite_part

ROUNDS = 12  # of a method, before its bounds are given as they are


@dataclass(frozen=True, eq=False)
class Plan:
    """Values and actions of all states, and what is proven about them.

    ``lower <= optimum <= upper`` holds for every state.  ``action`` is -1 in terminal states; ``undecided``
    lists the states where the bounds do not settle which actions are tied with the best one.
    """

    value: Floats
    action: Integers
    lower: Floats
    upper: Floats
    undecided: Integers
    method: str
    reason: str
    iterations: int
    history: tuple[tuple[int, float], ...]
    seconds: float
    tolerance: float

    @property
    def gap(self) -> float:
        """The largest distance between the bounds of a state of finite value."""
        finite = np.isfinite(self.value)
        return float((self.upper[finite] - self.lower[finite]).max()) if finite.any() else 0.0

    @property
    def closed(self) -> bool:
        """Whether every value is proven to be within the tolerance."""
        return self.gap <= 2.0 * self.tolerance

    @property
    def infinite(self) -> Integers:
        """The states of infinite value."""
        return np.flatnonzero(np.isinf(self.value))


def plan(
    mdp: MDP,
    method: str = "auto",
    *,
    tolerance: float = 1e-6,
    threads: int | None = None,
    show: Show | None = None,
) -> Plan:
    """Return the best values, within the tolerance, and the best actions.

    The methods are those of `mdplay.mdp.methods`; ``auto`` chooses one and says why.  Among actions that are
    worth the same to 1e-9, relative beyond 1, the smallest wins.  ``show`` is told, now and then, how many
    sweeps there were and how far the last one is from the goal.
    """
    if method != "auto" and method not in METHODS:
        raise unknown("method", method, ["auto", *METHODS])
    if not tolerance > 0.0:
        raise FormatError(f"the tolerance is {tolerance}; it must be positive")
    begin = time.perf_counter()
    rows = Rows.of(mdp)
    reduction = finite_part(rows) if mdp.discount == 1.0 else None
    sweeps = sweeps_over(rows if reduction is None else reduction.rows, threads)
    chosen, reason = _auto(sweeps.rows) if method == "auto" else (method, "as asked")
    goal = Goal(sweeps.rows, 0.9 * tolerance, None if reduction is None else reduction.proper, show)
    bounds, decision = _solved(sweeps, chosen, goal, tolerance)
    if reduction is not None:
        decision = decision._replace(choice=reduction.ending(sweeps, decision.choice, bounds.value))
        bounds, decision = _whole(reduction, bounds, decision)
    return _answer(mdp, bounds, decision, chosen, reason, goal, tolerance, time.perf_counter() - begin)


def _auto(rows: Rows) -> tuple[str, str]:
    """Return the method for a model, and why."""
    if rows.acyclic:
        return "topological", "no state can be visited twice: one backward sweep is exact"
    if len(rows.target) <= PLAIN_TRANSITIONS and rows.num_states <= DENSE_STATES:
        return "hpi", "small enough to solve every policy exactly"
    if rows.discount == 1.0:
        return "ipi", "no discount and cycles: policies solved by a Krylov method"
    return "mixed", "large and discounted: sweeps of the greedy policy, solving it when it mixes slowly"


def _solved(sweeps: Sweeps, method: str, goal: Goal, tolerance: float) -> tuple[Bounds, Decision]:
    """Return bounds that are closed, or as close as the method and the doubles allow, and the choices."""
    if sweeps.rows.discount == 1.0:
        bounds = _solved_undiscounted(sweeps, method, goal, tolerance)
        return bounds, sweeps.decide(sweeps.worths(bounds.value), bounds.width)
    value = np.zeros(sweeps.rows.num_states)
    for _ in range(ROUNDS):
        value = METHODS[method](sweeps, value, goal)
        worth = sweeps.worths(value)
        bounds = discounted_bounds(sweeps, value, worth)
        if bounds.gap <= max(2.0 * tolerance, 8.0 * goal.noise(value)):
            break
    return bounds, sweeps.decide(worth, bounds.width)


def _solved_undiscounted(sweeps: Sweeps, method: str, goal: Goal, tolerance: float) -> Bounds:
    """Return bounds that are closed, or as close as the method and the doubles allow, at discount 1."""
    value = np.zeros(sweeps.rows.num_states)
    for _ in range(ROUNDS):
        try:
            value = METHODS[method](sweeps, value, goal)
        except SingularPolicy:
            value = METHODS["vi"](sweeps, value, goal)
        bounds = certify(sweeps, value)
        if bounds.gap <= 2.0 * tolerance or goal.limit < sweeps.rows.backup_error(value):
            break
        goal.limit /= 30.0
    return bounds


def _whole(reduction: Reduction, bounds: Bounds, decision: Decision) -> tuple[Bounds, Decision]:
    """Return bounds and decisions of all states from those of the finite part."""
    known = reduction.place >= 0
    undecided = known & decision.undecided[np.where(known, reduction.place, 0)]
    return _everywhere(reduction, bounds), Decision(reduction.choices(decision.choice), undecided)


def _everywhere(reduction: Reduction, bounds: Bounds) -> Bounds:
    """Return bounds of all states from those of the finite part."""
    values = reduction.values
    return Bounds(values(bounds.value), values(bounds.lower), values(bounds.upper), bounds.width)


def _answer(
    mdp: MDP,
    bounds: Bounds,
    decision: Decision,
    method: str,
    reason: str,
    goal: Goal,
    tolerance: float,
    seconds: float,
) -> Plan:
    """Return the plan in the MDP's own terms: action numbers, and costs as costs."""
    action = np.full(mdp.num_states, -1, dtype=np.int64)
    live = ~mdp.terminal
    action[live] = mdp.action[decision.choice[live]]
    value, lower, upper = bounds.value, bounds.lower, bounds.upper
    if mdp.minimise:
        value, lower, upper = 0.0 - value, 0.0 - upper, 0.0 - lower
    return Plan(
        value=value,
        action=action,
        lower=lower,
        upper=upper,
        undecided=np.flatnonzero(decision.undecided),
        method=method,
        reason=reason,
        iterations=goal.sweeps,
        history=tuple(goal.history),
        seconds=seconds,
        tolerance=tolerance,
    )


def verify(mdp: MDP, value: npt.ArrayLike) -> Bounds:
    """Return proven bounds around the optimal values, from values that anyone computed.

    Below discount 1 this takes one sweep over the MDP, whatever the values are.  At discount 1 the bounds are
    infinite if the values are too far off to prove anything.
    """
    values = np.asarray(value, dtype=np.float64)
    if values.shape != (mdp.num_states,):
        raise FormatError(f"{mdp.num_states} states need as many values, not an array of shape {values.shape}")
    rows = Rows.of(mdp)
    signed = -values if mdp.minimise else values
    if mdp.discount < 1.0:
        if not np.isfinite(values).all():
            raise FormatError("values to verify must be finite")
        sweeps, start = sweeps_over(rows), np.where(rows.live, signed, 0.0)
        bounds = discounted_bounds(sweeps, start, sweeps.worths(start))
    else:
        reduction = finite_part(rows)
        part = np.zeros(reduction.rows.num_states)
        known = (reduction.place >= 0) & np.isfinite(signed)
        part[reduction.place[known]] = signed[known]
        part[~reduction.rows.live] = 0.0
        bounds = _everywhere(reduction, certify(sweeps_over(reduction.rows), part))
    if mdp.minimise:
        return replace(bounds, value=0.0 - bounds.value, lower=0.0 - bounds.upper, upper=0.0 - bounds.lower)
    return bounds


def evaluate(
    mdp: MDP,
    policy: npt.ArrayLike,
    *,
    tolerance: float = 1e-6,
    threads: int | None = None,
    show: Show | None = None,
) -> Plan:
    """Return what a policy is worth, with bounds.

    The policy is one action a state, or the probabilities ``[state, action]``; what it says of terminal
    states is ignored.  The plan's actions are the policy's most probable ones.
    """
    weights = _choice_weights(mdp, np.asarray(policy))
    chain, likely = _induced(mdp, weights)
    found = plan(chain, tolerance=tolerance, threads=threads, show=show)
    return replace(found, action=likely, reason=f"a fixed policy; {found.reason}")


def _choice_weights(mdp: MDP, policy: npt.NDArray[Any]) -> Floats:
    """Return the probability that the policy gives to each choice of the MDP."""
    owner, action = mdp.owners(), mdp.action.astype(np.int64)
    live = ~mdp.terminal
    if policy.shape == (mdp.num_states,):
        if policy.dtype.kind not in "iu":
            raise FormatError("a policy of one action a state needs whole numbers")
        weights = (policy[owner] == action).astype(np.float64)
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
    return np.asarray(weights / total[owner])


def _check_elsewhere(mdp: MDP, policy: npt.NDArray[Any], owner: Integers, action: Integers) -> None:
    """Refuse a policy that takes an action where there is none."""
    rest = policy.copy()
    rest[owner, action] = 0
    rest[mdp.terminal] = 0
    state, wrong = np.nonzero(rest)
    if state.size:
        raise FormatError(f"the policy takes action {wrong[0]} in state {state[0]}, where it is not available")


def _induced(mdp: MDP, weights: Floats) -> tuple[MDP, Integers]:
    """Return the MDP whose only choice in each state is the policy, and the policy's likeliest actions."""
    owner, counts = mdp.owners(), lengths(mdp.first_transition)
    likely = np.full(mdp.num_states, -1, dtype=np.int64)
    ascending = np.lexsort((-mdp.action.astype(np.int64), weights))
    likely[owner[ascending]] = mdp.action[ascending]  # the last one written is the likeliest
    state = np.repeat(owner, counts)
    columns = (state, np.zeros_like(state), mdp.target, np.repeat(mdp.reward, counts))
    chain = MDP.from_transitions(
        *columns,
        mdp.probability * np.repeat(weights, counts),
        num_states=mdp.num_states,
        discount=mdp.discount,
        minimise=mdp.minimise,
    )
    return chain, likely
