"""Solve a policy's equations v = r + g P v by BiCGSTAB (van der Vorst 1992), preconditioned by Gauss-Seidel.

Sweeps reduce the error by the discount a time; a Krylov method also removes the few slow directions that a
slowly mixing model has.  The states are put in the order of their values, best first: a good policy moves
towards better states, so most of its transitions then point backwards and one sweep in place carries values
all the way.  With rows split at the diagonal, A = I - g P = L - U:

    row i:   entries to states before i  |  own[i]  |  entries to states after i
             first[i] .. middle[i] - 1      (to i)     middle[i] .. first[i + 1] - 1

the preconditioned matrix is A L^-1 y = y - U z with L z = y: one pass forwards and one more, together as much
work as a multiplication by P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mdplay.compiling import inlined, kernel
from mdplay.planning.arrays import ChoiceArrays
from mdplay.states.graph_search import Floats, Integers

ITERATIONS = 300  # before the recurrence begins anew
BURST_ENTRIES = 20_000_000  # gone through before Python hears Ctrl-C


class SplitRows(NamedTuple):
    """The rows of a policy's equations, split at the diagonal; see the module's text."""

    first: Integers
    middle: Integers
    target: Integers
    weight: Floats
    own: Floats


@kernel
def arrange(
    order: Integers,
    rank: Integers,
    choice: Integers,
    first_choice: Integers,
    choices: ChoiceArrays,
    out_rows: SplitRows,
) -> None:
    """Copy the rows of a policy in the given order, split at the diagonal; the discount is multiplied in."""
    first_transition, target, probability, _, discount = choices
    out_first, out_middle, out_target, out_weight, out_own = out_rows
    at = np.uint64(0)
    for i in range(len(order)):
        state = order[i]
        out_first[i] = at
        out_own[i] = 1.0
        begin, end = np.uint64(0), np.uint64(0)
        if first_choice[state] < first_choice[state + 1]:
            begin, end = first_transition[choice[state]], first_transition[choice[state] + 1]
        for before in (True, False):
            for j in range(begin, end):
                other = rank[target[j]]
                if other != i and (other < i) == before:
                    out_target[at] = other
                    out_weight[at] = discount * probability[j]
                    at += np.uint64(1)
                elif other == i and before:
                    out_own[i] -= discount * probability[j]
            if before:
                out_middle[i] = at
    out_first[len(order)] = at


@inlined
def precondition(rows: SplitRows, y: Floats, out_z: Floats) -> None:
    """Solve L z = y by one pass in order."""
    first, middle, target, weight, own = rows
    for i in range(np.uint64(len(own))):
        total = y[i]
        for j in range(first[i], middle[i]):
            total += weight[j] * out_z[target[j]]
        out_z[i] = total / own[i]


@inlined
def subtract_upper(rows: SplitRows, y: Floats, z: Floats, out: Floats) -> None:
    """Find y - U z."""
    first, middle, target, weight, _ = rows
    for i in range(np.uint64(len(y))):
        total = y[i]
        for j in range(middle[i], first[i + np.uint64(1)]):
            total -= weight[j] * z[target[j]]
        out[i] = total


@kernel
def subtract_product(rows: SplitRows, b: Floats, x: Floats, out: Floats) -> float:
    """Find the residual b - A x; return its largest entry."""
    first, _, target, weight, own = rows
    largest = 0.0
    for i in range(np.uint64(len(own))):
        total = b[i] - own[i] * x[i]
        for j in range(first[i], first[i + np.uint64(1)]):
            total += weight[j] * x[target[j]]
        out[i] = total
        largest = max(largest, abs(total))
    return largest


@kernel
def bicgstab(
    rows: SplitRows,
    error: float,
    limit: int,
    shadow: Floats,
    out_x: Floats,
    out_space: Floats,
    out_numbers: Floats,
) -> float:
    """Improve x until every entry of b - A x seems to be at most the error; return the largest entry left.

    A call goes on where the last one ended, after ``limit`` iterations: whoever calls may look up in between.
    ``out_space`` has three rows, of which the first is b - A x, the ``shadow`` at first, and the others are 0 at
    first; ``out_numbers`` are 1 at first, and the first of them is 0 when the recurrence has broken down.
    """
    size = len(rows.own)
    r, p, v = out_space[0].copy(), out_space[1].copy(), out_space[2].copy()  # known not to overlap: faster
    t, p_hat, s_hat = np.empty(size), np.empty(size), np.empty(size)
    rho, alpha, omega = out_numbers[0], out_numbers[1], out_numbers[2]
    largest = np.inf
    for _ in range(limit):
        new_rho = 0.0
        for i in range(size):
            new_rho += shadow[i] * r[i]
        beta = (new_rho / rho) * (alpha / omega)
        rho = new_rho
        for i in range(size):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        precondition(rows, p, p_hat)
        subtract_upper(rows, p, p_hat, v)
        along = 0.0
        for i in range(size):
            along += shadow[i] * v[i]
        if along == 0.0:
            rho = 0.0
            break
        alpha = rho / along
        for i in range(size):
            r[i] -= alpha * v[i]
        precondition(rows, r, s_hat)
        subtract_upper(rows, r, s_hat, t)
        ts, tt = 0.0, 0.0
        for i in range(size):
            ts += t[i] * r[i]
            tt += t[i] * t[i]
        omega = ts / tt if tt > 0.0 else 0.0
        largest = 0.0
        for i in range(size):
            out_x[i] += alpha * p_hat[i] + omega * s_hat[i]
            r[i] -= omega * t[i]
            largest = max(largest, abs(r[i]))
        if omega == 0.0 or rho == 0.0 or largest <= error:
            rho = rho if omega != 0.0 else 0.0
            break
    for i in range(size):
        out_space[0, i], out_space[1, i], out_space[2, i] = r[i], p[i], v[i]
    out_numbers[0], out_numbers[1], out_numbers[2] = rho, alpha, omega
    return largest


class System:
    """The arranged equations of a policy, to be solved a burst of iterations at a time."""

    def __init__(self, rows: SplitRows, b: Floats) -> None:
        self._rows = rows
        self._b = b
        self._space = np.empty((3, len(b)))
        self._burst = max(1, BURST_ENTRIES // (int(rows.first[-1]) + len(b)))

    def solve(self, x: Floats, error: float) -> float:
        """Improve x in place until every entry of b - A x is at most the error; return the largest one left.

        After ``ITERATIONS``, or when the recurrence breaks down, the answer may be larger.
        """
        space, numbers = self._space, np.ones(3)
        left = subtract_product(self._rows, self._b, x, space[0])
        space[1:] = 0.0
        shadow = space[0].copy()
        done = 0
        while left > error and done < ITERATIONS and numbers[0] != 0.0:
            count = min(self._burst, ITERATIONS - done)
            left = bicgstab(self._rows, error, count, shadow, x, space, numbers)
            done += count
        return subtract_product(self._rows, self._b, x, space[0]) if done else left
