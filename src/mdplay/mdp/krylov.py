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

import numpy as np

from mdplay.bridge import kernel, part
from mdplay.mdp.model import Floats, Integers


@kernel
def arrange(
    order: Integers,
    rank: Integers,
    choice: Integers,
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    discount: float,
    out_first: Integers,
    out_middle: Integers,
    out_target: Integers,
    out_weight: Floats,
    out_own: Floats,
) -> None:
    """Copy the rows of a policy in the given order, split at the diagonal; the discount is multiplied in."""
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


@part
def precondition(
    first: Integers, middle: Integers, target: Integers, weight: Floats, own: Floats, y: Floats, out_z: Floats
) -> None:
    """Solve L z = y by one pass in order."""
    for i in range(np.uint64(len(own))):
        total = y[i]
        for j in range(first[i], middle[i]):
            total += weight[j] * out_z[target[j]]
        out_z[i] = total / own[i]


@part
def subtract_upper(
    first: Integers, middle: Integers, target: Integers, weight: Floats, y: Floats, z: Floats, out: Floats
) -> None:
    """Find y - U z."""
    for i in range(np.uint64(len(y))):
        total = y[i]
        for j in range(middle[i], first[i + np.uint64(1)]):
            total -= weight[j] * z[target[j]]
        out[i] = total


@part
def subtract_product(
    first: Integers, target: Integers, weight: Floats, own: Floats, b: Floats, x: Floats, out: Floats
) -> float:
    """Find the residual b - A x; return its largest entry."""
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
    first: Integers,
    middle: Integers,
    target: Integers,
    weight: Floats,
    own: Floats,
    b: Floats,
    error: float,
    limit: int,
    out_x: Floats,
) -> float:
    """Improve x until every entry of b - A x is at most the error; return the largest entry left.

    After ``limit`` iterations, or when the recurrence breaks down, the best x so far is returned.
    """
    size = len(own)
    r, p, v, t = np.empty(size), np.zeros(size), np.zeros(size), np.empty(size)
    p_hat, s_hat = np.empty(size), np.empty(size)
    largest = subtract_product(first, target, weight, own, b, out_x, r)
    shadow = r.copy()
    rho, alpha, omega = 1.0, 1.0, 1.0
    for _ in range(limit):
        if largest <= error:
            break
        new_rho = 0.0
        for i in range(size):
            new_rho += shadow[i] * r[i]
        beta = (new_rho / rho) * (alpha / omega)
        rho = new_rho
        for i in range(size):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        precondition(first, middle, target, weight, own, p, p_hat)
        subtract_upper(first, middle, target, weight, p, p_hat, v)
        along = 0.0
        for i in range(size):
            along += shadow[i] * v[i]
        if along == 0.0:
            break
        alpha = rho / along
        for i in range(size):
            r[i] -= alpha * v[i]
        precondition(first, middle, target, weight, own, r, s_hat)
        subtract_upper(first, middle, target, weight, r, s_hat, t)
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
        if omega == 0.0 or rho == 0.0:
            break
    return subtract_product(first, target, weight, own, b, out_x, r)
