"""The exact judge: the true values of the greedy policy and of the policy that is followed.

No game is played.  The equations of a policy are solved on the states that it reaches from the start, so a greedy
policy of a grid takes a microsecond or two.  A policy that may never end has no finite value at discount 1; this
is decided on the graph before anything is solved, and reported as ``NEVER``.

States are eliminated one after the other without subtractions (Grassmann, Taksar and Heyman 1985), so a policy
that ends after 10^9 steps on average keeps its digits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.compiling import inlined, kernel
from mdplay.learning.reinforcement.tasks import Task
from mdplay.runtime.threads import WorkSlice
from mdplay.searching.selectors import Arm, Crowd

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
GREEDY, FOLLOWED, COLUMNS = range(3)
NEVER = math.inf  # marks a policy that may never end
MAX_STATES = 1000  # of a task that is judged


class ExactModel(NamedTuple):
    """An MDP as the judge reads it."""

    first: Integers
    row: Integers
    target: Integers
    probability: Floats
    reward: Floats
    discount: float
    start: Integers
    weight: Floats


class Workspace(NamedTuple):
    """The working arrays of one thread."""

    matrix: Floats
    right: Floats
    leave: Floats
    number: Integers
    order: Integers
    share: Floats
    ends: npt.NDArray[np.uint8]


def exact_model(task: Task) -> ExactModel:
    """Return the model of a task."""
    mdp, starts = task.mdp, task.starts
    return ExactModel(
        np.ascontiguousarray(mdp.first_choice, np.int64),
        np.ascontiguousarray(mdp.first_transition, np.int64),
        np.ascontiguousarray(mdp.target, np.int64),
        mdp.probability,
        mdp.reward,
        float(mdp.discount),
        np.array(list(starts), np.int64),
        np.array(list(starts.values())) / sum(starts.values()),
    )


def new_workspace(task: Task) -> Workspace:
    """Return working arrays for a task."""
    states = task.mdp.num_states
    return Workspace(
        np.zeros((states, states)),
        np.zeros(states),
        np.zeros(states),
        np.zeros(states, np.int64),
        np.zeros(states + 1, np.int64),
        np.zeros(task.mdp.num_choices),
        np.zeros(states, np.uint8),
    )


@kernel
def judge_tables(
    selector: Any,
    greedy: Any,
    exact: ExactModel,
    tables: Any,
    worker: WorkSlice,
    work: Workspace,
    out: Any,
) -> None:
    """Write the values of two policies of each table: ``out[run, snapshot]``; epsilon is a table's last entry."""
    for run in range(worker.first, len(tables), worker.stride):
        for i in range(tables.shape[1]):
            q = tables[run, i]
            write_policy(greedy, exact, q, 0.0, work.share)
            out[run, i, GREEDY] = policy_value(exact, work)
            out[run, i, FOLLOWED] = math.nan
            if selector.has_chance:
                write_policy(selector, exact, q, q[len(q) - 1], work.share)
                out[run, i, FOLLOWED] = policy_value(exact, work)
        worker.progress[worker.first] += 1
        if worker.stop[0]:
            return


@inlined
def write_policy(selector: Any, exact: ExactModel, q: Any, epsilon: float, out_share: Any) -> None:
    """Write the probabilities of a selector's policy; a state whose values are not numbers acts at random."""
    for s in range(len(exact.first) - 1):
        first, last = exact.first[s], exact.first[s + 1]
        best, ties, total = -math.inf, 0, 0.0
        for k in range(first, last):
            if q[k] > best:
                best, ties = q[k], 1
            else:
                ties += q[k] == best
        if selector.exponential:
            for k in range(first, last):
                total += math.exp((q[k] - best) / epsilon)
        for k in range(first, last):
            out_share[k] = 1.0 / (last - first)
            if ties:
                out_share[k] = selector.chance(Arm(0, q[k], 0.0, epsilon), Crowd(last - first, best, ties, total))


@inlined
def policy_value(exact: ExactModel, work: Workspace) -> float:
    """Return the value of the policy in ``work.share`` from the start, or NEVER."""
    size = reach(exact, work)
    if exact.discount == 1.0 and not always_ends(exact, work, size):
        return NEVER
    write_equations(exact, work, size)
    return solve_start(exact, work, size)


@inlined
def reach(exact: ExactModel, work: Workspace) -> int:
    """Give a number to each state that the policy reaches, starts first; return how many there are."""
    first, number, order = exact.first, work.number, work.order
    for s in range(len(number)):
        number[s] = -1
    size = 0
    for i in range(len(exact.start)):
        s = exact.start[i]
        if number[s] < 0 and first[s] < first[s + 1]:
            number[s] = size
            order[size] = s
            size += 1
    at = 0
    while at < size:
        s = order[at]
        at += 1
        for k in range(first[s], first[s + 1]):
            if work.share[k] > 0.0:
                for j in range(exact.row[k], exact.row[k + 1]):
                    t = exact.target[j]
                    if number[t] < 0 and first[t] < first[t + 1]:
                        number[t] = size
                        order[size] = t
                        size += 1
    return size


@inlined
def always_ends(exact: ExactModel, work: Workspace, size: int) -> bool:
    """Return whether every state that is reached can reach a terminal state under the policy."""
    first, ends = exact.first, work.ends
    for s in range(len(ends)):
        ends[s] = first[s] == first[s + 1]
    left, changed = size, True
    while changed:
        changed = False
        for i in range(size - 1, -1, -1):
            s = work.order[i]
            if not ends[s]:
                for k in range(first[s], first[s + 1]):
                    if work.share[k] > 0.0 and not ends[s]:
                        for j in range(exact.row[k], exact.row[k + 1]):
                            if ends[exact.target[j]]:
                                ends[s] = 1
                if ends[s]:
                    left -= 1
                    changed = True
    return left == 0


@inlined
def write_equations(exact: ExactModel, work: Workspace, size: int) -> None:
    """Write the transition probabilities among the states reached, the expected rewards and the ways out."""
    for i in range(size):
        s = work.order[i]
        line = work.matrix[i]
        for j in range(size):
            line[j] = 0.0
        earned, out = 0.0, 1.0 - exact.discount
        for k in range(exact.first[s], exact.first[s + 1]):
            if work.share[k] > 0.0:
                earned += work.share[k] * exact.reward[k]
                for j in range(exact.row[k], exact.row[k + 1]):
                    p = exact.discount * work.share[k] * exact.probability[j]
                    if work.number[exact.target[j]] >= 0:
                        line[work.number[exact.target[j]]] += p
                    else:
                        out += p
        work.right[i], work.leave[i] = earned, out


@inlined
def solve_start(exact: ExactModel, work: Workspace, size: int) -> float:
    """Return the value of the start: states are eliminated from the last reached to the first."""
    matrix, right, leave = work.matrix, work.right, work.leave
    for i in range(size - 1, 0, -1):
        line = matrix[i]
        ways = leave[i]
        for j in range(i):
            ways += line[j]
        for h in range(i):
            if matrix[h, i] != 0.0:
                factor = matrix[h, i] / ways
                for j in range(i):
                    matrix[h, j] += factor * line[j]
                right[h] += factor * right[i]
                leave[h] += factor * leave[i]
    value = 0.0
    for i in range(min(size, len(exact.start))):
        total, ways = right[i], leave[i]
        for j in range(i):
            total += matrix[i, j] * right[j]
            ways += matrix[i, j]
        right[i] = total / ways
    for i in range(len(exact.start)):
        if work.number[exact.start[i]] >= 0:
            value += exact.weight[i] * right[work.number[exact.start[i]]]
    return value
