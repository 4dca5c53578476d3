"""The planning methods, each a loop over sweeps that ends when its values are as good as asked.

    vi           Gauss-Seidel: one state at a time, in place
    jacobi       all states at once, from the values of the sweep before
    topological  in place, one strongly connected component after the other, last ones first
    mpi          modified policy iteration (Puterman and Shin 1978): sweeps of the greedy policy in between
    hpi          policy iteration (Howard 1960), every policy solved exactly
    ipi          policy iteration, each policy solved by a Krylov method only as far as is useful
    mixed        mpi, and ipi when that turns out to be slow
    lp           linear programming

A method gets values to start from and a `Goal`; it returns values that should be good enough.  The method
does not prove this: `mdplay.planning.planner` proves bounds around the values, and asks again if they are wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from mdplay.errors import LimitError
from mdplay.planning.arrays import LARGEST, Change, ModelArrays, largest
from mdplay.planning.backends import PLAIN_TRANSITIONS, Backend, Discounted, enclosure, half_width, span
from mdplay.runtime.threads import call_library
from mdplay.states.graph_search import Floats, Integers

LP_TRANSITIONS = 1_000_000
LP_STATES = 5_000
MAX_SWEEPS = 300_000  # a method that needs more is unfit for the model
POLICY_SWEEPS = 1000  # of one policy in mpi
SHARPER = 0.25  # how much a policy's sweeps shall shrink the change
SINGLE = 1.3  # choices a state, up to which sweeping a policy alone saves nothing
PATIENCE = 40  # sweeps for that; a model that needs more mixes slowly
FORCING = 0.01  # the part of the Bellman residual that ipi leaves to a policy
ELIMINATION = 0.4  # what a candidate loses at most, in spans of the changes to come
SLOWEST, FASTEST = 0.99, 0.01  # rates at which these are expected to fall
COPY = 3.0  # sweeps of a policy that its copy costs
COARSE_STATES = 400_000  # from here on single precision is faster,
COARSE_LIMIT = 1e30  # what the values must stay below,
COARSE = 1e-5  # as long as a sweep's change spreads over more than this part of the values
SWEEPS_BETWEEN = 6  # in place, between two policies of ipi
STANDSTILL = 100  # policies of ipi without progress: doubles hide it
GROUP_STATES = 1 << 20  # of blocks that are swept together
BURST_TRANSITIONS = 50_000_000  # swept in place before Python hears Ctrl-C
STAGNATION = 64  # sweeps between two tests whether rounding hides all progress


def backend_for(arrays: ModelArrays, threads: int | None = None) -> Backend:
    """Return the backend that fits the size of the model."""
    if len(arrays.target) <= PLAIN_TRANSITIONS:
        return Backend(arrays)
    from mdplay.planning.compiled_backend import CompiledBackend  # for start-up: it needs numba

    return CompiledBackend(arrays, threads)


Show = Callable[[int, float], None]  # told the sweeps so far, and how far the last one was from the goal's zero


@dataclass
class Goal:
    """How good the values shall be, and what was done for it so far.

    Below discount 1 ``limit`` bounds the proven error; at discount 1 it bounds the last change, which proves
    nothing by itself.
    """

    arrays: ModelArrays
    limit: float
    proper: Integers | None = None
    show: Show | None = None
    sweeps: int = 0
    done: bool = False
    history: list[tuple[int, float]] = field(default_factory=list)

    def miss(self, change: Change) -> float:
        """Return how far a sweep with this change is from the goal's zero."""
        return half_width(self.arrays, change) if self.arrays.discount < 1.0 else change.step

    def count(self, sweeps: int) -> None:
        """Add sweeps; raise if they become too many."""
        self.sweeps += sweeps
        self.tell(0)

    def tell(self, sweeps: int) -> None:
        """Show how far it is, some sweeps after those counted; raise if they become too many."""
        total = self.sweeps + sweeps
        if total >= MAX_SWEEPS:
            raise LimitError(f"the bounds are not closed after {total} sweeps: use the method auto or hpi")
        if self.show is not None:
            self.show(total, self.history[-1][1] if self.history else float("inf"))

    def reached(self, change: Change, value: Floats) -> bool:
        """Record a sweep; say whether its result is good enough, or as good as rounding allows."""
        self.count(1)
        miss = self.miss(change)
        if not math.isfinite(miss):
            raise overflow()
        self.history.append((self.sweeps, miss))
        earlier = self.history[-1 - STAGNATION][1] if len(self.history) > STAGNATION else math.inf
        tested = len(self.history) % STAGNATION == 0
        self.done = miss <= self.limit or (tested and self.stagnates(miss, earlier, value))
        return self.done

    def stagnates(self, miss: float, earlier: float, value: Floats) -> bool:
        """Return whether rounding hides all progress since an earlier sweep.

        The rounding errors of sweeps add up where the policy's chain is periodic: a change that falls by the
        factor of the discount stops falling when what it loses in a sweep is rounded away.
        """
        noise = self.noise(value)
        return miss <= noise or (miss >= earlier and miss * (1.0 - self.arrays.discount) <= noise)

    def noise(self, value: Floats) -> float:
        """Return the miss that the rounding of one sweep causes."""
        error = self.arrays.backup_error(value)
        return self.miss(Change(-error, error, 0))


def overflow() -> LimitError:
    """Return the error for values that grew beyond doubles."""
    return LimitError(
        f"the values become larger than {LARGEST:.3g}, more than doubles can tell: "
        "divide all rewards by a common number"
    )


Method = Callable[[Backend, Floats, Goal], Floats]


def jacobi(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Sweep all states at once until the goal is reached."""
    other, choice = np.zeros_like(value), backend.arrays.first_actions.copy()
    while True:
        change = backend.bellman_backup(value, other, choice)
        value, other = other, value
        if goal.reached(change, value):
            return value


def gauss_seidel(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Sweep the states in place in their order."""
    order = np.arange(backend.arrays.num_states, dtype=np.uint32)
    return _swept_in_place(backend, value, goal, order, np.array([0, len(order)]))


def topological(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Sweep component after component; without cycles one sweep is exact."""
    order, blocks = backend.arrays.component_order
    return _swept_in_place(backend, value, goal, order, blocks)


def _swept_in_place(backend: Backend, value: Floats, goal: Goal, order: Integers, blocks: Integers) -> Floats:
    """Sweep in place until a Jacobi sweep confirms the goal, with a smaller threshold each time."""
    other, choice = np.zeros_like(value), backend.arrays.first_actions.copy()
    threshold = goal.limit if backend.arrays.discount == 1.0 else goal.limit * (1.0 - backend.arrays.discount)
    while True:
        done = [_sweep_group(backend, value, goal, order, group, threshold) for group in _groups(blocks)]
        goal.count(max(done))
        change = backend.bellman_backup(value, other, choice)
        if goal.reached(change, value) or goal.miss(change) <= goal.noise(value):
            return value
        threshold *= 0.1


def _groups(blocks: Integers) -> list[Integers]:
    """Return the blocks in groups: small ones together, a large one alone."""
    cuts = np.flatnonzero(np.diff(blocks // GROUP_STATES)) + 1
    edges = np.unique(np.concatenate([[0], cuts - 1, cuts, [len(blocks) - 1]]))
    return [blocks[first : last + 1] for first, last in pairwise(edges.tolist())]


def _sweep_group(
    backend: Backend, value: Floats, goal: Goal, order: Integers, group: Integers, threshold: float
) -> int:
    """Sweep some blocks in place, a burst at a time so that Ctrl-C is heard; return how many sweeps."""
    entries = max(1, int(group[-1] - group[0]) * len(backend.arrays.target) // backend.arrays.num_states)
    burst = min(MAX_SWEEPS, 1 + BURST_TRANSITIONS // entries)
    total = 0
    while True:
        done = backend.gauss_seidel(order, group, value, threshold, burst)
        total += done
        if done < burst:
            return total
        goal.tell(total)


def policy_iteration(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Improve every improvable state, solve the policy exactly, until no state is improvable."""
    arrays = backend.arrays
    choice = arrays.first_actions.copy() if goal.proper is None else goal.proper.copy()
    seen: set[bytes] = set()
    while True:
        value = _solved(backend, choice, value, 0.0)
        other, better = np.zeros_like(value), choice.copy()
        change = backend.bellman_backup(value, other, better)
        stays = other - value <= 4.0 * arrays.backup_error(value)
        better[stays] = choice[stays]
        goal.reached(change, value)
        seen.add(choice.tobytes())
        if better.tobytes() in seen:  # the same again; or in turns, where rounding hides which is better
            return value
        choice = better


class SingularPolicy(ArithmeticError):
    """A policy has no value that doubles can tell: at discount 1 it may never end.

    ``value`` is the vector from which it was made.
    """

    def __init__(self, value: Floats) -> None:
        super().__init__("a policy's equations have no solution")
        self.value = value


def modified_policy_iteration(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Sweep the greedy policy alone between Bellman sweeps until its own change has shrunk enough."""
    return _modified(backend, value, goal, patience=None)


def mixed_policy_iteration(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Begin as mpi does; go over to ipi when the policies' sweeps shrink the change too slowly."""
    value = _modified(backend, value, goal, patience=PATIENCE)
    return value if goal.done else inexact_policy_iteration(backend, value, goal)


def _modified(backend: Backend, value: Floats, goal: Goal, patience: int | None) -> Floats:
    """Iterate until the goal is reached, or until a policy used up its patience of sweeps."""
    if value.any():
        return _eliminate(backend, value, goal, patience, None)
    first = np.zeros_like(value)  # the first sweep needs no transitions
    change = backend.best(backend.arrays.reward, value, first)
    start: Any = first.astype(np.float32) if _coarse(backend.arrays) else first
    return _eliminate(backend, start, goal, patience, change).astype(np.float64, copy=False)


def _coarse(arrays: ModelArrays) -> bool:
    """Return whether the first sweeps shall run in single precision: it is faster, and holds the values."""
    return arrays.num_states >= COARSE_STATES and arrays.largest_reward < COARSE_LIMIT * (1.0 - arrays.discount)


def _eliminate(choices: Backend, value: Floats, goal: Goal, patience: int | None, change: Change | None) -> Floats:
    """Iterate with action elimination as soon as few candidates are left; ``change`` is the last sweep's."""
    arrays = choices.arrays
    if arrays.width <= SINGLE:
        return _following(choices, value, goal, patience)
    other, choice = np.zeros_like(value), arrays.first_actions.copy()
    while True:
        before, change = change, choices.bellman_backup(value, other, choice)
        value, other = _fine(arrays, change, other, value)
        if goal.reached(change, value):
            return value
        rate = rate_of(arrays, before, change)
        candidates = choices.candidates(value, slack_of(arrays, change, rate))
        if candidates is not None:
            return _eliminate(candidates, value, goal, patience, change)
        if (arrays.width - 1.0) * math.log(SHARPER) / math.log(rate) < COPY:  # a policy would save too little
            continue
        miss = goal.miss(change)
        wanted = max(SHARPER * miss, 0.5 * goal.limit)
        policy = choices.policy(choice)
        for _ in range(patience or POLICY_SWEEPS):
            change = policy.step(value, other)
            value, other = _fine(arrays, change, other, value)
            if goal.miss(change) <= wanted:
                break
        else:
            goal.done = goal.stagnates(goal.miss(change), miss, value)
            if patience is not None or goal.done:
                return value
        if arrays.endless and arrays.discount < 1.0:
            value += 0.5 * sum(enclosure(arrays, change))  # all values are off by about the same


def _following(choices: Backend, value: Floats, goal: Goal, patience: int | None) -> Floats:
    """Sweep where hardly a state has a second choice, until the goal is reached or patience is used up."""
    other, miss = np.zeros_like(value), math.inf
    while True:
        before = miss
        for _ in range(patience or POLICY_SWEEPS):
            change = choices.step(value, other)
            value, other = _fine(choices.arrays, change, other, value)
            if goal.reached(change, value):
                return value
        miss = goal.miss(change)
        if patience is not None and miss > SHARPER * before:
            return value


def _fine(arrays: ModelArrays, change: Change, value: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return both vectors, in double precision as soon as a sweep changes too little for single precision.

    Values of a million states are read in random order from more memory than the caches hold: half of it is
    faster.  In a periodic chain rounding keeps a change alive that is smaller than an ulp divided by 1 - discount.
    """
    if value.dtype == np.float64:
        return value, other
    alive = 2.0 * float(np.finfo(np.float32).eps) / (1.0 - arrays.discount)
    if span(arrays, change) > max(COARSE, alive) * largest(value):
        return value, other
    return value.astype(np.float64), other.astype(np.float64)


def rate_of(arrays: Discounted, before: Change | None, change: Change) -> float:
    """Return by what factor the changes of the sweeps fall, as far as two of them tell."""
    if before is None:
        return SLOWEST
    now, earlier = span(arrays, change), span(arrays, before)
    return min(max(now / earlier, FASTEST), SLOWEST) if earlier > 0.0 else FASTEST


def slack_of(arrays: Discounted, change: Change, rate: float) -> float:
    """Return what a choice may lack of the best in a sweep, and still become the best.

    If the changes fall at this rate and what they do to a choice is a matter of chance, the squares of those to
    come add up: a geometric series.  A choice that is left out by mistake is found by who checks the values.
    """
    if arrays.discount == 1.0:  # nothing makes the changes fall
        return math.inf
    return ELIMINATION * span(arrays, change) / math.sqrt(1.0 - rate * rate)


def inexact_policy_iteration(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Sweep in place, best states first, then solve the greedy policy to a part of what is left.

    In that order an improvement of one state reaches all that lead to it within the sweep, which saves most
    of the policies that plain policy iteration goes through.
    """
    blocks = np.array([0, len(value)])
    if goal.proper is not None:
        value = _solved(backend, goal.proper, value, 0.0)
    other, choice = np.zeros_like(value), backend.arrays.first_actions.copy()
    least, since = math.inf, 0
    while True:
        _sweep_in_place(backend, np.argsort(-value).astype(np.uint32), blocks, value)
        change = backend.bellman_backup(value, other, choice)
        value, other = other, value
        miss = goal.miss(change)
        least, since = (miss, 0) if miss < 0.9 * least else (least, since + 1)
        if goal.reached(change, value) or since > STANDSTILL:
            return value
        # Without a discount an inexact value may make a policy that never ends look best.
        value = _solved(backend, choice, value, FORCING * change.step if goal.proper is None else 0.0)


def _sweep_in_place(backend: Backend, order: Integers, blocks: Integers, value: Floats) -> None:
    """Do the sweeps between two policies, a burst at a time so that Ctrl-C is heard."""
    burst = 1 + BURST_TRANSITIONS // max(1, len(backend.arrays.target))
    left = SWEEPS_BETWEEN
    while left > 0:
        backend.gauss_seidel(order, blocks, value, 0.0, min(burst, left))
        left -= burst


def _solved(backend: Backend, choice: Integers, value: Floats, error: float) -> Floats:
    """Return the value of a policy; raise if it has none."""
    solution = backend.policy(choice).solve(value, error)
    if not np.isfinite(solution).all():
        raise SingularPolicy(value)
    return solution


def linear_program(backend: Backend, value: Floats, goal: Goal) -> Floats:
    """Minimise the sum of the values subject to v(s) >= reward + discount * E[v] for each choice (HiGHS)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    arrays = backend.arrays
    if len(arrays.target) > LP_TRANSITIONS or arrays.num_states > LP_STATES:
        raise LimitError(
            f"linear programming is for at most {LP_STATES} states and {LP_TRANSITIONS} transitions; "
            f"this MDP has {arrays.num_states} and {len(arrays.target)}: use the method auto"
        )
    num_choices = len(arrays.reward)
    data = np.concatenate([arrays.discount * arrays.probability, -np.ones(num_choices)])
    row = np.concatenate([arrays.source, np.arange(num_choices)])
    column = np.concatenate([arrays.target.astype(np.int64), arrays.owner])
    matrix = csr_array((data, (row, column)), shape=(num_choices, arrays.num_states))
    limits = [(None, None) if live else (0.0, 0.0) for live in arrays.live.tolist()]
    model = {"c": np.ones(arrays.num_states), "A_ub": matrix, "b_ub": -arrays.reward, "bounds": limits}
    found = call_library(lambda: linprog(**model, method="highs-ipm"))
    if found.x is None:
        raise LimitError(f"the linear program has no solution: {found.message}; use the method auto")
    goal.sweeps += int(found.nit)
    return _polished(backend, np.asarray(found.x, dtype=np.float64))


def _polished(backend: Backend, value: Floats) -> Floats:
    """Return the exact value of the policy that a solver's rounded values describe."""
    choice = backend.decide(backend.q_values(value), 0.0).choice
    exact = backend.policy(choice).solve(value, 0.0)
    return exact if np.isfinite(exact).all() else value


# Names that a user may give; "mixed" is what auto uses for large models.
METHODS: dict[str, Method] = {
    "vi": gauss_seidel,
    "jacobi": jacobi,
    "topological": topological,
    "mpi": modified_policy_iteration,
    "mixed": mixed_policy_iteration,
    "hpi": policy_iteration,
    "ipi": inexact_policy_iteration,
    "lp": linear_program,
}
