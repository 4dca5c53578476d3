"""Plan: the best values and actions of a finite MDP, with bounds that prove how good they are.

    plan(mdp)                 the optimum
    evaluate_policy(mdp, policy)   values of a given policy
    verify(mdp, value)        bounds around the optimum from any value vector

Whatever method found the values, the bounds are proven afterwards: by MacQueen's inequality below discount 1
(`mdplay.planning.backends`), by an inductive pair of vectors at discount 1 (`mdplay.planning.undiscounted`).

What planning brings back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError, LimitError, pluralize, unknown
from mdplay.planning.arrays import (
    LARGEST,
    Decision,
    ModelArrays,
    largest,
)
from mdplay.planning.backends import (
    DENSE_STATES,
    PLAIN_TRANSITIONS,
    Backend,
    ValueBounds,
    discounted_bounds,
)
from mdplay.planning.methods import METHODS, Goal, SingularPolicy, backend_for, overflow
from mdplay.planning.model import Model
from mdplay.planning.policies import induced
from mdplay.planning.undiscounted import Reduction, certify, finite_part
from mdplay.runtime.executors import driver
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.states.graph_search import Floats, Integers


@dataclass(frozen=True, eq=False)
class Plan:
    """Values and actions of all states, and what is proven about them.

    ``lower <= optimum <= upper`` holds for every state.  ``action`` is -1 in terminal states; ``undecided``
    lists the states where the bounds do not tell which actions are tied with the best one.

    ``criterion`` is discounted, total, average or horizon=N.  For average, ``value`` is the gain, the average
    reward from every state, and ``bias`` are the relative values of the policy.  For a horizon, ``value`` and
    ``action`` are those of the first step, and ``stages[t]`` has the actions of step t.
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
    criterion: str = "discounted"
    bias: Floats | None = None
    stages: Integers | None = None

    def __repr__(self) -> str:
        states = pluralize(len(self.value), "state")
        return f"<Plan of {states} by {self.method}: gap {self.gap:.3g} in {self.seconds:.2f} s>"

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

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON; infinite numbers as texts, which JSON has no number for."""
        return {
            "states": len(self.value),
            "method": self.method,
            "reason": self.reason,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "criterion": self.criterion,
            "gap": _plain(self.gap),
            "closed": self.closed,
            "undecided": self.undecided.tolist(),
            "value": [_plain(value) for value in self.value.tolist()],
            "action": self.action.tolist(),
            "lower": [_plain(value) for value in self.lower.tolist()],
            "upper": [_plain(value) for value in self.upper.tolist()],
            **({} if self.bias is None else {"bias": self.bias.tolist()}),
            **({} if self.stages is None else {"stages": self.stages.tolist()}),
        }

    def _repr_html_(self) -> str:
        """Show the first states: value, action and bounds."""
        from mdplay.views.html import MAX_ROWS, number, sentence, table

        columns = (self.value, self.lower, self.upper, self.action)
        rows = [
            (str(state), *(number(value, 6) for value in values), "" if action < 0 else str(action))
            for state, (*values, action) in enumerate(zip(*(c[:MAX_ROWS].tolist() for c in columns), strict=True))
        ]
        gap = f"gap {self.gap:.3g}{'' if self.closed else ', not closed'}"
        states, rounds = pluralize(len(self.value), "state"), pluralize(self.iterations, "iteration")
        about = f"{states} by {self.method}, {rounds}: {gap} in "
        head = ("state", "value", "lower", "upper", "action")
        return sentence(f"{about}{self.seconds:.2f} s.") + table(
            head, rows, total=len(self.value), things="states"
        )


def _plain(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)


TOLERANCE = 1e-6  # maximum proven error of a value, unless given
MAX_FACTORED = 64  # states of a discounted model whose policies are solved exactly; sweeps are faster beyond
ROUNDS = 12  # of a method, before its bounds are given as they are


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def plan(
    mdp: Model,
    method: str = "auto",
    *,
    criterion: str | None = None,
    tolerance: float = TOLERANCE,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Plan:
    """Return the best values, within the tolerance, and the best actions.

    The criterion is ``discounted``, ``total`` (the sum of all rewards), ``average`` (the reward per step in the
    long run) or ``horizon=N`` (the next N steps, discounted by the model's discount); by default discounted if the
    model has a discount below 1, else total.
    The settings of the run are ``threads``, ``executor`` and ``progress``.  With an ``executor``
    (mdplay.runtime.executors) its workers, ``threads`` of them, sweep shards of the states
    (`mdplay.distributed.planning`).  The methods are those of `mdplay.planning.methods`; ``auto``
    chooses one and says why.  Among actions whose q values agree to 1e-9, relative beyond 1, the smallest wins.
    ``progress(sweeps, distance)`` is called now and then with the number of sweeps and the distance of the last
    one from the goal.
    """
    _check_model(mdp, "plan")
    if method != "auto" and method not in METHODS:
        raise unknown("method", method, ["auto", *METHODS])
    run = run_of("plan", ("threads", "executor", "progress"), run, settings)
    if run.executor is not None:
        return _by_executor(mdp, method, tolerance, run)
    if not 0.0 < tolerance < np.inf:
        raise FormatError(f"the tolerance is {tolerance}; it must be positive and finite")
    begin = time.perf_counter()
    mdp, criterion, steps = _posed(mdp, criterion)
    arrays = _arrays(mdp)
    if criterion == "average" or steps is not None:
        if method != "auto":
            raise FormatError(f"the criterion {criterion} has a method of its own; leave out the method {method}")
        return _by_criterion(mdp, arrays, criterion, steps, tolerance, run, begin)
    reduction = finite_part(arrays) if mdp.discount == 1.0 else None
    backend = backend_for(arrays if reduction is None else reduction.arrays, run.threads)
    chosen, reason = _auto(backend.arrays) if method == "auto" else (method, "as asked")
    goal = Goal(backend.arrays, 0.9 * tolerance, None if reduction is None else reduction.proper, run.progress)
    bounds, decision = _solved(backend, chosen, goal, tolerance)
    if reduction is not None:
        choice = reduction.ending(backend, decision.choice, bounds.value, bounds.width)
        decision = decision._replace(choice=choice)
        bounds, decision = _whole(reduction, bounds, decision)
    found = _answer(mdp, bounds, decision, chosen, reason, goal, tolerance, time.perf_counter() - begin)
    return replace(found, criterion=criterion)


CRITERIA = ("discounted", "total", "average", "horizon=N")


def _posed(mdp: Model, criterion: str | None) -> tuple[Model, str, int | None]:
    """Return the model with the discount of a criterion, the name of the criterion, and the steps of a horizon."""
    if criterion is None:
        return mdp, "discounted" if mdp.discount < 1.0 else "total", None
    name, _, number = criterion.partition("=")
    if name == "horizon":
        if not number.isascii() or not number.isdigit() or int(number) < 1:
            raise FormatError(f"the criterion is {criterion!r}; write horizon=N with a number of steps from 1")
        return mdp, f"horizon={int(number)}", int(number)
    if criterion not in CRITERIA[:3]:
        raise unknown("criterion", criterion, CRITERIA)
    if criterion == "discounted":
        if mdp.discount == 1.0:
            raise FormatError("the criterion discounted needs a discount below 1; use total, average or horizon=N")
        return mdp, criterion, None
    if criterion == "average" and mdp.terminal.any():
        place = f"state {np.flatnonzero(mdp.terminal)[0]} is terminal"
        raise FormatError(
            f"the average reward needs a model that never ends, but {place}; use the criterion total"
        )
    return (mdp if mdp.discount == 1.0 else replace(mdp, discount=1.0)), criterion, None


def _by_criterion(
    mdp: Model, arrays: ModelArrays, criterion: str, steps: int | None, tolerance: float, run: Run, begin: float
) -> Plan:
    """Return the plan for the average reward or for a number of steps."""
    from mdplay.planning.criteria import average_reward, finite_horizon

    if steps is None:
        found, method = average_reward(arrays, tolerance, run, plan), "relative value iteration"
        reason = "bounds by the Bellman residual of each end component"
    else:
        found, method = finite_horizon(arrays, steps, run), "backward induction"
        reason = "exact but for rounding"
    sign = -1.0 if mdp.minimise else 1.0
    bounds = (found.lower, found.upper) if sign > 0 else (0.0 - found.upper, 0.0 - found.lower)
    return Plan(
        value=0.0 + sign * found.value,
        action=_actions(mdp, found.choice),
        lower=bounds[0],
        upper=bounds[1],
        undecided=found.undecided,
        method=method,
        reason=reason,
        iterations=found.sweeps,
        history=found.history,
        seconds=time.perf_counter() - begin,
        tolerance=tolerance,
        criterion=criterion,
        bias=None if found.bias is None else 0.0 + sign * found.bias,
        stages=None if found.stages is None else np.stack([_actions(mdp, stage) for stage in found.stages]),
    )


def _actions(mdp: Model, choice: Integers) -> Integers:
    """Return the action of each state, -1 in terminal states, from its choice."""
    action = np.full(mdp.num_states, -1, dtype=np.int64)
    live = ~mdp.terminal
    action[live] = mdp.action[choice[live]]
    return action


def _check_model(mdp: Any, verb: str) -> None:
    if not isinstance(mdp, Model):
        raise FormatError(
            f"{verb} needs an MDP, not {type(mdp).__name__}; that of a Task is task.mdp, and a task with real "
            "numbers as states has none"
        )


def _by_executor(mdp: Model, method: str, tolerance: float, run: Run) -> Plan:
    if method not in ("auto", "jacobi", "ipi"):
        raise FormatError(f"an executor plans by the method jacobi or ipi, not {method}; leave out one of them")
    _arrays(mdp)
    given = {"shards": run.threads, "method": method, "tolerance": tolerance, "show": run.progress}
    found: Plan = driver("plan")(mdp, run.executor, **given)
    return found


def _arrays(mdp: Model) -> ModelArrays:
    """Return the arrays of an MDP whose values surely fit into doubles."""
    arrays = ModelArrays.of(mdp)
    most = LARGEST * (1.0 - mdp.discount) if mdp.discount < 1.0 else LARGEST
    if arrays.largest_reward > most:
        raise LimitError(
            f"a choice earns {arrays.largest_reward:.3g}; with the discount {mdp.discount} more than {most:.3g} "
            "makes values that doubles cannot hold: divide all rewards by a common number"
        )
    return arrays


def _check_finite(value: Floats) -> None:
    """Refuse values that grew beyond doubles."""
    if not largest(value) <= LARGEST:
        raise overflow()


def _auto(arrays: ModelArrays) -> tuple[str, str]:
    """Return the method for a model, and why."""
    if arrays.acyclic:
        return "topological", "no state can be visited twice: one backward sweep is exact"
    most = DENSE_STATES if arrays.discount == 1.0 else MAX_FACTORED
    if len(arrays.target) <= PLAIN_TRANSITIONS and arrays.num_states <= most:
        return "hpi", "small enough to solve every policy exactly"
    if arrays.discount == 1.0:
        return "ipi", "no discount and cycles: policies solved by a Krylov method"
    return "mixed", "discounted: sweeps of the greedy policy, solving it when it mixes slowly"


def _solved(backend: Backend, method: str, goal: Goal, tolerance: float) -> tuple[ValueBounds, Decision]:
    """Return bounds that are closed, or as close as the method and the doubles allow, and the choices."""
    if backend.arrays.discount == 1.0:
        bounds = _solved_undiscounted(backend, method, goal, tolerance)
        return bounds, backend.decide(backend.q_values(bounds.value), bounds.width)
    value, gap = np.zeros(backend.arrays.num_states), np.inf
    for _ in range(ROUNDS):
        value = _sought(backend, method, value, goal)
        _check_finite(value)
        q_value = backend.q_values(value)
        bounds = discounted_bounds(backend, value, q_value)
        before, gap = gap, bounds.gap
        if gap <= max(2.0 * tolerance, 8.0 * goal.noise(value)) or not gap < 0.9 * before:
            break
    return bounds, backend.decide(q_value, bounds.width, bounds.shift)


def _sought(backend: Backend, method: str, value: Floats, goal: Goal) -> Floats:
    """Return what a method finds; where it fails, what it had found before."""
    try:
        return METHODS[method](backend, value, goal)
    except SingularPolicy as error:  # a discount so near 1 that equations are singular in doubles
        return error.value


def _solved_undiscounted(backend: Backend, method: str, goal: Goal, tolerance: float) -> ValueBounds:
    """Return bounds that are closed, or as close as the method and the doubles allow, at discount 1."""
    value = np.zeros(backend.arrays.num_states)
    for _ in range(ROUNDS):
        try:
            value, stuck = METHODS[method](backend, value, goal), False
        except SingularPolicy as error:
            value, stuck = _swept(backend, error.value.copy(), goal)
        _check_finite(value)
        bounds = certify(backend, value)
        if stuck or bounds.gap <= 2.0 * tolerance or goal.limit < backend.arrays.backup_error(value):
            break
        goal.limit /= 30.0
    return bounds


def _swept(backend: Backend, value: Floats, goal: Goal) -> tuple[Floats, bool]:
    """Return values by sweeps in place where policies cannot be solved, and whether even those take too long."""
    try:
        return METHODS["vi"](backend, value, goal), False
    except LimitError:
        return value, True


def _whole(reduction: Reduction, bounds: ValueBounds, decision: Decision) -> tuple[ValueBounds, Decision]:
    """Return bounds and decisions of all states from those of the finite part."""
    known = reduction.place >= 0
    undecided = known & decision.undecided[np.where(known, reduction.place, 0)]
    return _everywhere(reduction, bounds), Decision(reduction.choices(decision.choice), undecided)


def _everywhere(reduction: Reduction, bounds: ValueBounds) -> ValueBounds:
    """Return bounds of all states from those of the finite part."""
    values = reduction.values
    return ValueBounds(values(bounds.value), values(bounds.lower), values(bounds.upper), bounds.width)


def _answer(
    mdp: Model,
    bounds: ValueBounds,
    decision: Decision,
    method: str,
    reason: str,
    goal: Goal,
    tolerance: float,
    seconds: float,
) -> Plan:
    """Return the plan in the MDP's own terms: action numbers, and costs as costs."""
    action = _actions(mdp, decision.choice)
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


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def verify(mdp: Model, value: npt.ArrayLike, *, criterion: str | None = None) -> ValueBounds:
    """Return proven bounds around the optimal values, from values that anyone computed.

    Below discount 1 this takes one sweep over the MDP, whatever the values are.  At discount 1 the bounds are
    infinite if the values are too far off to prove anything.  For the criterion average, the values are relative
    values (a bias), and the bounds are those of the gain: they are wide if the gain depends on the state.
    """
    mdp, criterion, steps = _posed(mdp, criterion)
    if steps is not None:
        raise FormatError("a horizon has values for every step, which plan proves itself; call plan instead")
    values = np.asarray(value, dtype=np.float64)
    if values.shape != (mdp.num_states,):
        raise FormatError(f"{mdp.num_states} states need as many values, not an array of shape {values.shape}")
    arrays = _arrays(mdp)
    signed = -values if mdp.minimise else values
    if not largest(values[np.isfinite(values)]) <= LARGEST:
        raise FormatError(f"values to verify must not be larger than {LARGEST:.3g}")
    if (mdp.discount < 1.0 or criterion == "average") and not np.isfinite(values).all():
        raise FormatError("values to verify must be finite")
    if criterion == "average":
        bounds = _gain_bounds(arrays, signed)
    elif mdp.discount < 1.0:
        backend, start = backend_for(arrays), np.where(arrays.live, signed, 0.0)
        bounds = discounted_bounds(backend, start, backend.q_values(start))
    else:
        reduction = finite_part(arrays)
        part = np.zeros(reduction.arrays.num_states)
        known = (reduction.place >= 0) & np.isfinite(signed)
        part[reduction.place[known]] = signed[known]
        part[~reduction.arrays.live] = 0.0
        bounds = _everywhere(reduction, certify(backend_for(reduction.arrays), part))
    if mdp.minimise:
        return replace(bounds, value=0.0 - bounds.value, lower=0.0 - bounds.upper, upper=0.0 - bounds.lower)
    return bounds


def _gain_bounds(arrays: ModelArrays, bias: Floats) -> ValueBounds:
    """Return bounds of the gain of all states from relative values, by one sweep."""
    new = np.zeros_like(bias)
    change = backend_for(arrays).bellman_backup(bias, new, arrays.first_actions.copy())
    error = 2.0 * arrays.backup_error(bias)
    low, high = change.low - error, change.high + error
    lower, upper = np.full_like(bias, low), np.full_like(bias, high)
    return ValueBounds(0.5 * (lower + upper), lower, upper, high - low)


def evaluate_policy(
    mdp: Model,
    policy: npt.ArrayLike,
    *,
    criterion: str | None = None,
    tolerance: float = TOLERANCE,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Plan:
    """Return the values of a policy, with bounds.

    The policy is one action a state, or the probabilities ``[state, action]``; its entries of terminal states are
    ignored.  The plan's actions are the policy's most probable ones.  The criterion and the settings of the run
    (``threads`` and ``progress``) are those of ``plan``.
    """
    _check_model(mdp, "evaluate_policy")
    run = run_of("evaluate_policy", ("threads", "progress"), run, settings)
    chain, likely = induced(mdp, policy)
    found = plan(chain, criterion=criterion, tolerance=tolerance, run=run)
    stages = None if found.stages is None else np.tile(likely, (len(found.stages), 1))
    return replace(found, action=likely, stages=stages, reason=f"a fixed policy; {found.reason}")
