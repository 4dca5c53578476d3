"""Solve a policy's equations v = r + g P v by BiCGSTAB (van der Vorst 1992), preconditioned by Gauss-Seidel.

Sweeps reduce the error by the discount a time; a Krylov method also removes the few slow directions that a
slowly mixing model has.  The states are put in the order of their values, best first: a good policy moves
towards better states, so most of its transitions then point backwards and one sweep in place carries values
all the way.  With rows split at the diagonal, A = I - g P = L - U:

    row i:   entries to states before i  |  own[i]  |  entries to states after i
             first[i] .. middle[i] - 1      (to i)     middle[i] .. first[i + 1] - 1

the preconditioned matrix is A L^-1 y = y - U z with L z = y: one pass forwards and one more, together as much
work as a multiplication by P.  On a grid of 90,000 states with discount 0.9999 a policy is solved in 0.26 s;
``scipy.sparse.linalg.bicgstab`` takes 8.4 s, with this preconditioner 0.38 s; ``gmres`` does not converge in 20 s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mdplay.compiling import inlined, kernel
from mdplay.planning.arrays import ChoiceArrays
from mdplay.states.graph_search import Floats, Integers

ITERATIONS = 300  # before the recurrence is restarted


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


def arranged(
    order: Integers, rank: Integers, choice: Integers, first_choice: Integers, choices: ChoiceArrays, size: int
) -> SplitRows:
    """Return the rows of a policy, which have ``size`` entries, in the given order."""
    pointers = choices.first_transition.dtype
    rows = SplitRows(
        first=np.empty(len(order) + 1, pointers),
        middle=np.empty(len(order), pointers),
        target=np.empty(size, np.uint32),
        weight=np.empty(size),
        own=np.empty(len(order)),
    )
    arrange(order, rank, choice, first_choice, choices, rows)
    return rows


@inlined
def precondition(rows: SplitRows, y: Floats, out_z: Floats) -> None:
    """Solve L z = y by one pass in order."""
    first, middle, target, weight, own = rows
    z = np.empty(len(own))  # known not to overlap the other arrays: 1.6 times as fast
    for i in range(np.uint64(len(own))):
        total = y[i]
        for j in range(first[i], middle[i]):
            total += weight[j] * z[target[j]]
        z[i] = total / own[i]
    out_z[: len(own)] = z


@inlined
def subtract_upper(rows: SplitRows, y: Floats, z: Floats, out: Floats) -> None:
    """Find y - U z."""
    first, middle, target, weight, _ = rows
    found = np.empty(len(y))
    for i in range(np.uint64(len(y))):
        total = y[i]
        for j in range(middle[i], first[i + np.uint64(1)]):
            total -= weight[j] * z[target[j]]
        found[i] = total
    out[:] = found


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


class Space(NamedTuple):
    """The vectors of BiCGSTAB in the order of the equations; p_hat and s_hat end with the ghosts, if any."""

    x: Floats
    r: Floats
    p: Floats
    v: Floats
    t: Floats
    shadow: Floats
    p_hat: Floats
    s_hat: Floats


@kernel
def advance(rows: SplitRows, alpha: float, omega: float, beta: float, out_space: Space) -> float:
    """End an iteration and begin the next one; return the largest entry of the residual."""
    x, r, p, v, t, _, p_hat, s_hat = out_space
    most = 0.0
    for i in range(len(r)):
        x[i] += alpha * p_hat[i] + omega * s_hat[i]
        r[i] -= omega * t[i]
        p[i] = r[i] + beta * (p[i] - omega * v[i])
        most = abs(r[i]) if not abs(r[i]) <= most else most  # a NaN counts as large
    precondition(rows, p, p_hat)
    return most


@kernel
def multiply_search(rows: SplitRows, out_space: Space) -> float:
    """Compute v = A p_hat; return its product with the shadow."""
    _, _, p, v, _, shadow, p_hat, _ = out_space
    subtract_upper(rows, p, p_hat, v)
    total = 0.0
    for i in range(len(v)):
        total += shadow[i] * v[i]
    return total


@kernel
def shorten_residual(rows: SplitRows, alpha: float, out_space: Space) -> None:
    """Subtract a step along the search direction from the residual, and precondition the rest."""
    _, r, _, v, _, _, _, s_hat = out_space
    for i in range(len(r)):
        r[i] -= alpha * v[i]
    precondition(rows, r, s_hat)


@kernel
def multiply_residual(rows: SplitRows, out_space: Space) -> tuple[float, float, float, float]:
    """Compute t = A s_hat; return the products t r, t t, shadow r and shadow t."""
    _, r, _, _, t, shadow, _, s_hat = out_space
    subtract_upper(rows, r, s_hat, t)
    tr, tt, sr, st = 0.0, 0.0, 0.0, 0.0
    for i in range(len(r)):
        tr += t[i] * r[i]
        tt += t[i] * t[i]
        sr += shadow[i] * r[i]
        st += shadow[i] * t[i]
    return tr, tt, sr, st


class System:
    """The equations of a policy, or of a shard of its states, and the iteration under way."""

    def __init__(self, rows: SplitRows, b: Floats) -> None:
        self._rows, self._b = rows, b

    def begin(self, x: Floats) -> tuple[float, float]:
        """Start from x, which ends with the values of ghosts, if any.

        Return the largest entry of the residual b - A x, and the sum of the squares.
        """
        count = len(self._b)
        r = np.empty(count)
        most = subtract_product(self._rows, self._b, x, r)
        p, v, t = np.zeros((3, count))
        p_hat, s_hat = np.zeros((2, len(x)))
        self.space = Space(x[:count].copy(), r, p, v, t, r.copy(), p_hat, s_hat)
        return float(most), float(r @ r)

    def search(self, alpha: float, omega: float, beta: float) -> float:
        """End an iteration and begin the next one; return the largest entry of the residual."""
        return float(advance(self._rows, alpha, omega, beta, self.space))

    def along(self) -> float:
        """Return the product of the shadow with A p_hat."""
        return float(multiply_search(self._rows, self.space))

    def shorten(self, alpha: float) -> None:
        """Subtract a step along the search direction from the residual."""
        shorten_residual(self._rows, alpha, self.space)

    def across(self) -> tuple[float, float, float, float]:
        """Return the products t r, t t, shadow r and shadow t."""
        return multiply_residual(self._rows, self.space)

    def solve(self, out_x: Floats, error: float) -> float:
        """Improve x in place by at most ``ITERATIONS`` iterations; return the largest entry left of b - A x."""
        left, rho = self.begin(out_x)
        if not left > error:
            return left
        iterate(self, rho, error)
        out_x[:] = self.space.x
        return float(subtract_product(self._rows, self._b, out_x, self.space.r))


def iterate(system: System, rho: float, error: float) -> tuple[float, int]:
    """Iterate until every entry of the residual seems to be at most the error.

    ``rho`` is the square of the first residual.  Return the largest entry that is left and the number of
    iterations.  The entry may exceed the error after ``ITERATIONS``, or when the recurrence breaks down.
    """
    alpha, omega, beta = 0.0, 0.0, 0.0
    for count in range(ITERATIONS):
        left = system.search(alpha, omega, beta)
        if not left > error or not np.isfinite(left):
            return left, count
        alpha, omega, before = 0.0, 0.0, rho
        if before == 0.0 or (along := system.along()) == 0.0:
            break
        alpha = rho / along
        system.shorten(alpha)
        tr, tt, sr, st = system.across()
        omega = tr / tt if tt > 0.0 else 0.0
        rho = sr - omega * st
        if omega == 0.0:
            break
        beta = (rho / before) * (alpha / omega)
    return system.search(alpha, omega, 0.0), count + 1
