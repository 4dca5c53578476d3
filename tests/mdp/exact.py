"""Optimal values of small MDPs in rational arithmetic, by trying every policy; and random MDPs to try it on."""

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np

from mdplay.mdp import MDP


def random_mdp(rng, *, discount, ends=True, sizes=(1, 6), rewards=None):
    """Return a small MDP with self-loops, missing actions, unreachable parts, and maybe terminal states."""
    num_states = int(rng.integers(*sizes))
    nested = []
    for state in range(num_states):
        if ends and (state == num_states - 1 or rng.random() < 0.1):
            nested.append([[], []])
            continue
        actions = [_row(rng, num_states, rewards) for _ in range(int(rng.integers(1, 4)))]
        if len(actions) > 1 and rng.random() < 0.2:
            actions[0] = []
        nested.append(actions)
    return MDP.from_nested(nested, discount=discount, minimise=bool(rng.random() < 0.3))


def _row(rng, num_states, rewards):
    count = int(rng.integers(1, min(4, num_states + 1)))
    targets = rng.choice(num_states, size=count, replace=False)
    weights = rng.integers(1, 5, size=count)
    values = rng.integers(-4, 5, size=count) / 4 if rewards is None else rng.choice(rewards, size=count)
    return [[int(t), float(r), float(w / weights.sum())] for t, r, w in zip(targets, values, weights, strict=True)]


def rows(mdp, choice):
    """Return the transitions of a choice as fractions that sum to 1."""
    entries = range(int(mdp.first_transition[choice]), int(mdp.first_transition[choice + 1]))
    weights = [Fraction(float(mdp.probability[j])) for j in entries]
    return [(int(mdp.target[j]), w / sum(weights)) for j, w in zip(entries, weights, strict=True)]


def optimum(mdp):
    """Return the optimal values: fractions, or infinities at discount 1; None if a total is not defined."""
    sign = -1 if mdp.minimise else 1
    lists = [range(int(a), int(b)) or [None] for a, b in zip(mdp.first_choice, mdp.first_choice[1:], strict=False)]
    found = [policy_value(mdp, policy, sign) for policy in product(*lists)]
    if None in found:
        return None
    best = [max(values) for values in zip(*found, strict=True)]
    return [sign * value for value in best]


def policy_value(mdp, policy, sign):
    """Return the values of one choice a state, or None if a total is not defined."""
    chain = [[] if choice is None else rows(mdp, choice) for choice in policy]
    reward = [Fraction(0) if k is None else sign * Fraction(float(mdp.reward[k])) for k in policy]
    fixed = dict.fromkeys((s for s, row in enumerate(chain) if not row), Fraction(0))
    if mdp.discount == 1:
        reach = closure(chain)
        for members in recurrent(chain, reach):
            average = stationary_average(chain, reward, members)
            if average == 0 and any(reward[s] for s in members):
                return None
            worth = inf if average > 0 else -inf if average < 0 else Fraction(0)
            fixed |= dict.fromkeys(members, worth)
        for worth in (inf, -inf):  # a chance of minus infinity outweighs everything
            bad = [s for s, value in fixed.items() if value == worth]
            fixed |= {s: worth for s in range(len(chain)) if any(b in reach[s] for b in bad)}
    return solve(chain, reward, fixed, Fraction(mdp.discount))


def closure(chain):
    """Return the states that each state can reach, itself included."""
    reach = [{s} | {t for t, _ in row} for s, row in enumerate(chain)]
    for _ in chain:
        reach = [set().union(*(reach[t] for t in known)) for known in reach]
    return reach


def recurrent(chain, reach):
    """Return the classes of states that are never left, terminal states not counted."""
    classes = {frozenset(known) for s, known in enumerate(reach) if chain[s] and all(s in reach[t] for t in known)}
    return [sorted(members) for members in classes]


def stationary_average(chain, reward, members):
    """Return the average reward in a class that is never left."""
    size = len(members)
    number = {s: i for i, s in enumerate(members)}
    matrix = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    for s in members:
        for t, p in chain[s]:
            matrix[number[t]][number[s]] -= p
    matrix[0] = [Fraction(1)] * size
    share = eliminate(matrix, [Fraction(1)] + [Fraction(0)] * (size - 1))
    return sum(share[number[s]] * reward[s] for s in members)


def solve(chain, reward, fixed, discount):
    """Return the values of a chain some of whose values are known."""
    free = [s for s in range(len(chain)) if s not in fixed]
    number = {s: i for i, s in enumerate(free)}
    matrix = [[Fraction(int(i == j)) for j in range(len(free))] for i in range(len(free))]
    right = []
    for s in free:
        total = reward[s]
        for t, p in chain[s]:
            if t in number:
                matrix[number[s]][number[t]] -= discount * p
            else:
                total += discount * p * fixed[t]
        right.append(total)
    values = eliminate(matrix, right)
    return [fixed[s] if s in fixed else values[number[s]] for s in range(len(chain))]


def eliminate(matrix, right):
    """Solve linear equations by Gauss and Jordan, in fractions."""
    size = len(right)
    for i in range(size):
        pivot = next(k for k in range(i, size) if matrix[k][i] != 0)
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for k in range(size):
            if k != i and matrix[k][i] != 0:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
                right[k] -= factor * right[i]
    return [right[i] / matrix[i][i] for i in range(size)]


def encloses(lower, exact, upper):
    """Say whether exact values lie between floats, compared without rounding."""
    return all(
        low <= value <= high if abs(value) == inf else Fraction(float(low)) <= value <= Fraction(float(high))
        for low, value, high in zip(lower.tolist(), exact, upper.tolist(), strict=True)
    )


def as_floats(exact):
    return np.array([float(value) for value in exact])
