"""The planning methods, each a loop over sweeps that ends when its values are as good as asked.

    vi           Gauss-Seidel: one state at a time, in place
    jacobi       all states at once, from the values of the sweep before
    topological  in place, one strongly connected component after the other, last ones first
    mpi          modified policy iteration (Puterman and Shin 1978): sweeps of the greedy policy in between
    hpi          policy iteration (Howard 1960), every policy solved exactly
    ipi          policy iteration, each policy solved by a Krylov method only as far as is useful
    mixed        mpi, and ipi when that turns out to be slow
    lp           linear programming

A method gets values to start from and a `Goal`; it returns values that should be good enough.  Whether they
are is not its word: `mdplay.mdp.planning` proves bounds around whatever comes back, and asks again for more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from mdplay.errors import LimitError
from mdplay.mdp.bounds import enclosure, half_width, spread
from mdplay.mdp.model import Floats, Integers
from mdplay.mdp.rows import Change, Choices, Rows, Sweeps, largest

LP_TRANSITIONS = 1_000_000
LP_STATES = 5_000
MAX_SWEEPS = 300_000  # a method that needs more is unfit for the model
POLICY_SWEEPS = 1000  # of one policy in mpi
SHARPER = 0.25  # how much a policy's sweeps shall shrink the change
SINGLE = 1.3  # choices a state, up to which sweeping a policy alone saves nothing
PATIENCE = 40  # sweeps for that; a model that needs more mixes slowly
FORCING = 0.01  # the part of the Bellman residual that ipi leaves to a policy
NEAR = 0.4  # what a choice near the best loses at most, in spreads of the changes to come
SLOWEST, FASTEST = 0.99, 0.01  # rates at which these are expected to fall
COPY = 3.0  # sweeps of a policy that its copy costs
COARSE_STATES = 400_000  # from here on single precision is faster,
COARSE_LIMIT = 1e30  # what the values must stay below,
COARSE = 1e-5  # as long as a sweep's change spreads over more than this part of the values
SWEEPS_BETWEEN = 6  # in place, between two policies of ipi
GROUP_STATES = 1 << 20  # of blocks that are settled together
BURST_TRANSITIONS = 200_000_000  # swept in place before Python looks up
STAGNATION = 64  # sweeps between two looks at whether rounding hides all progress


Show = Callable[[int, float], None]  # told the sweeps so far, and how far the last one was from the goal's zero


@dataclass
class Goal:
    """How good the values shall be, and what was done for it so far.

    Below discount 1 ``limit`` bounds the proven error; at discount 1 it bounds the last change, which proves
    nothing by itself.
    """

    rows: Rows
    limit: float
    proper: Integers | None = None
    show: Show | None = None
    sweeps: int = 0
    done: bool = False
    history: list[tuple[int, float]] = field(default_factory=list)

    def miss(self, change: Change) -> float:
        """Return how far a sweep with this change is from the goal's zero."""
        return half_width(self.rows, change) if self.rows.discount < 1.0 else change.step

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
        self.history.append((self.sweeps, miss))
        stagnant = len(self.history) % STAGNATION == 0 and miss <= self.noise(value)
        self.done = miss <= self.limit or stagnant
        return self.done

    def noise(self, value: Floats) -> float:
        """Return the miss that rounding alone makes."""
        error = self.rows.backup_error(value)
        return self.miss(Change(-error, error, 0))


Method = Callable[[Sweeps, Floats, Goal], Floats]


def jacobi(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Sweep all states at once until the goal is reached."""
    other, choice = np.zeros_like(value), sweeps.rows.first_actions.copy()
    while True:
        change = sweeps.improve(value, other, choice)
        value, other = other, value
        if goal.reached(change, value):
            return value


def gauss_seidel(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Sweep the states in place in their order."""
    order = np.arange(sweeps.rows.num_states, dtype=np.uint32)
    return _settled(sweeps, value, goal, order, np.array([0, len(order)]))


def topological(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Sweep component after component; without cycles one sweep is exact."""
    order, blocks = sweeps.rows.component_order
    return _settled(sweeps, value, goal, order, blocks)


def _settled(sweeps: Sweeps, value: Floats, goal: Goal, order: Integers, blocks: Integers) -> Floats:
    """Sweep in place until a Jacobi sweep confirms the goal, with a smaller threshold each time."""
    other, choice = np.zeros_like(value), sweeps.rows.first_actions.copy()
    threshold = goal.limit if sweeps.rows.discount == 1.0 else goal.limit * (1.0 - sweeps.rows.discount)
    while True:
        done = [_settle_group(sweeps, value, goal, order, group, threshold) for group in _groups(blocks)]
        goal.count(max(done))
        change = sweeps.improve(value, other, choice)
        if goal.reached(change, value) or goal.miss(change) <= goal.noise(value):
            return value
        threshold *= 0.1


def _groups(blocks: Integers) -> list[Integers]:
    """Return the blocks in groups: small ones together, a large one alone."""
    cuts = np.flatnonzero(np.diff(blocks // GROUP_STATES)) + 1
    edges = np.unique(np.concatenate([[0], cuts - 1, cuts, [len(blocks) - 1]]))
    return [blocks[first : last + 1] for first, last in pairwise(edges.tolist())]


def _settle_group(
    sweeps: Sweeps, value: Floats, goal: Goal, order: Integers, group: Integers, threshold: float
) -> int:
    """Settle some blocks, a burst of sweeps at a time so that Ctrl-C is heard; return how many sweeps."""
    entries = max(1, int(group[-1] - group[0]) * len(sweeps.rows.target) // sweeps.rows.num_states)
    burst = min(MAX_SWEEPS, 1 + BURST_TRANSITIONS // entries)
    total = 0
    while True:
        done = sweeps.settle(order, group, value, threshold, burst)
        total += done
        if done < burst:
            return total
        goal.tell(total)


def policy_iteration(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Improve every improvable state, solve the policy exactly, until no state is improvable."""
    rows = sweeps.rows
    choice = rows.first_actions.copy() if goal.proper is None else goal.proper.copy()
    while True:
        value = _solved(sweeps, choice, value, 0.0)
        other, better = np.zeros_like(value), choice.copy()
        change = sweeps.improve(value, other, better)
        stays = other - value <= 4.0 * rows.backup_error(value)
        better[stays] = choice[stays]
        goal.reached(change, value)
        if (better == choice).all():
            return value
        choice = better


class SingularPolicy(ArithmeticError):
    """A policy that never ends was solved at discount 1."""


def modified_policy_iteration(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Sweep the greedy policy alone between Bellman sweeps until its own change has shrunk enough."""
    return _modified(sweeps, value, goal, patience=None)


def mixed_policy_iteration(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Begin as mpi does; go over to ipi when the policies' sweeps shrink the change too slowly."""
    value = _modified(sweeps, value, goal, patience=PATIENCE)
    return value if goal.done else inexact_policy_iteration(sweeps, value, goal)


def _modified(sweeps: Sweeps, value: Floats, goal: Goal, patience: int | None) -> Floats:
    """Iterate until the goal is reached, or until a policy used up its patience of sweeps."""
    if value.any():
        return _narrowing(sweeps, value, goal, patience, None)
    first = np.zeros_like(value)  # the first sweep needs no transitions
    change = sweeps.best(sweeps.rows.reward, value, first)
    start: Any = first.astype(np.float32) if _coarse(sweeps.rows) else first
    return _narrowing(sweeps, start, goal, patience, change).astype(np.float64, copy=False)


def _coarse(rows: Rows) -> bool:
    """Return whether the first sweeps shall run in single precision: it is faster, and holds the values."""
    return rows.num_states >= COARSE_STATES and rows.largest_reward < COARSE_LIMIT * (1.0 - rows.discount)


def _narrowing(choices: Choices, value: Floats, goal: Goal, patience: int | None, change: Change | None) -> Floats:
    """Iterate, on the choices near the best alone as soon as they are few; ``change`` is the last sweep's."""
    rows = choices.rows
    if rows.width <= SINGLE:
        return _following(choices, value, goal, patience)
    other, choice = np.zeros_like(value), rows.first_actions.copy()
    while True:
        before, change = change, choices.improve(value, other, choice)
        value, other = _fine(rows, change, other, value)
        if goal.reached(change, value):
            return value
        rate = _rate(rows, before, change)
        near = choices.near(value, _slack(rows, change, rate))
        if near is not None:
            return _narrowing(near, value, goal, patience, change)
        if (rows.width - 1.0) * math.log(SHARPER) / math.log(rate) < COPY:  # a policy would save too little
            continue
        wanted = max(SHARPER * goal.miss(change), 0.5 * goal.limit)
        policy = choices.policy(choice)
        for _ in range(patience or POLICY_SWEEPS):
            change = policy.step(value, other)
            value, other = _fine(rows, change, other, value)
            if goal.miss(change) <= wanted:
                break
        else:
            if patience is not None:
                return value
        if rows.endless and rows.discount < 1.0:
            value += 0.5 * sum(enclosure(rows, change))  # all values are off by about the same


def _following(choices: Choices, value: Floats, goal: Goal, patience: int | None) -> Floats:
    """Sweep where hardly a state has a second choice, until the goal is reached or patience is used up."""
    other, miss = np.zeros_like(value), math.inf
    while True:
        before = miss
        for _ in range(patience or POLICY_SWEEPS):
            change = choices.step(value, other)
            value, other = _fine(choices.rows, change, other, value)
            if goal.reached(change, value):
                return value
        miss = goal.miss(change)
        if patience is not None and miss > SHARPER * before:
            return value


def _fine(rows: Rows, change: Change, value: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return both vectors, in double precision as soon as a sweep changes too little for single precision.

    Values of a million states are fetched here and there from more memory than the processor keeps close: half
    of it comes faster.
    """
    if value.dtype == np.float64 or spread(rows, change) > COARSE * largest(value):
        return value, other
    return value.astype(np.float64), other.astype(np.float64)


def _rate(rows: Rows, before: Change | None, change: Change) -> float:
    """Return by what factor the changes of the sweeps fall, as far as two of them tell."""
    if before is None:
        return SLOWEST
    now, earlier = spread(rows, change), spread(rows, before)
    return min(max(now / earlier, FASTEST), SLOWEST) if earlier > 0.0 else FASTEST


def _slack(rows: Rows, change: Change, rate: float) -> float:
    """Return what a choice may lack of the best in a sweep, and still become the best.

    If the changes fall at this rate and what they do to a choice is a matter of chance, the squares of those to
    come add up: a geometric series.  A choice that is left out by mistake is found by who checks the values.
    """
    if rows.discount == 1.0:  # nothing makes the changes fall
        return math.inf
    return NEAR * spread(rows, change) / math.sqrt(1.0 - rate * rate)


def inexact_policy_iteration(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Sweep in place, best states first, then solve the greedy policy to a part of what is left.

    In that order an improvement of one state reaches all that lead to it within the sweep, which saves most
    of the policies that plain policy iteration goes through.
    """
    blocks = np.array([0, len(value)])
    if goal.proper is not None:
        value = _solved(sweeps, goal.proper, value, 0.0)
    other, choice = np.zeros_like(value), sweeps.rows.first_actions.copy()
    while True:
        sweeps.settle(np.argsort(-value).astype(np.uint32), blocks, value, 0.0, SWEEPS_BETWEEN)
        change = sweeps.improve(value, other, choice)
        value, other = other, value
        if goal.reached(change, value):
            return value
        # Without a discount an inexact value may make a policy that never ends look best.
        value = _solved(sweeps, choice, value, FORCING * change.step if goal.proper is None else 0.0)


def _solved(sweeps: Sweeps, choice: Integers, value: Floats, error: float) -> Floats:
    """Return the value of a policy; raise if it has none."""
    solution = sweeps.policy(choice).solve(value, error)
    if not np.isfinite(solution).all():
        raise SingularPolicy
    return solution


def linear_program(sweeps: Sweeps, value: Floats, goal: Goal) -> Floats:
    """Minimise the sum of the values subject to v(s) >= reward + discount * E[v] for each choice (HiGHS)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows = sweeps.rows
    if len(rows.target) > LP_TRANSITIONS or rows.num_states > LP_STATES:
        raise LimitError(
            f"linear programming is for at most {LP_STATES} states and {LP_TRANSITIONS} transitions; "
            f"this MDP has {rows.num_states} and {len(rows.target)}: use the method auto"
        )
    num_choices = len(rows.reward)
    data = np.concatenate([rows.discount * rows.probability, -np.ones(num_choices)])
    row = np.concatenate([rows.source, np.arange(num_choices)])
    column = np.concatenate([rows.target.astype(np.int64), rows.owner])
    matrix = csr_array((data, (row, column)), shape=(num_choices, rows.num_states))
    limits = [(None, None) if live else (0.0, 0.0) for live in rows.live.tolist()]
    found = linprog(np.ones(rows.num_states), A_ub=matrix, b_ub=-rows.reward, bounds=limits, method="highs-ipm")
    if found.x is None:
        raise LimitError(f"the linear program has no solution: {found.message}")
    goal.sweeps += int(found.nit)
    return _polished(sweeps, np.asarray(found.x, dtype=np.float64))


def _polished(sweeps: Sweeps, value: Floats) -> Floats:
    """Return the exact value of the policy that a solver's rounded values describe."""
    choice = sweeps.decide(sweeps.worths(value), 0.0).choice
    exact = sweeps.policy(choice).solve(value, 0.0)
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
