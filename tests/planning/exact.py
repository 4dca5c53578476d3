"""Optimal values of small MDPs in rational arithmetic, by trying every policy; and random MDPs to try it on."""

from fractions import Fraction
from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np

from mdplay.planning import MDP


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


class Choice(NamedTuple):
    """An action of a state: where it leads, as fractions that sum to 1, and what it earns on average."""

    action: int
    row: list[tuple[int, Fraction]]
    reward: Fraction


class Model(NamedTuple):
    """An MDP in fractions: the choices of every state."""

    choices: list[list[Choice]]
    discount: Fraction
    minimise: bool


def model_of(num_states, transitions, discount, *, minimise=False, ends=()):
    """Return what lines ``(state, action, target, reward, probability)`` mean: each row divided by its sum."""
    lines = {}
    for state, action, target, reward, probability in transitions:
        if probability and state not in ends:
            lines.setdefault((state, action), []).append((target, Fraction(reward), Fraction(probability)))
    choices = [[] for _ in range(num_states)]
    for (state, action), row in sorted(lines.items()):
        total = sum(p for _, _, p in row)
        targets = sorted({t for t, _, _ in row})
        shares = [(t, sum(p for u, _, p in row if u == t) / total) for t in targets]
        choices[state].append(Choice(action, shares, sum(r * p for _, r, p in row) / total))
    return Model(choices, Fraction(discount), minimise)


def exact_model(mdp):
    """Return what the arrays of an MDP mean."""
    choices = [[] for _ in range(mdp.num_states)]
    for state in range(mdp.num_states):
        for k in range(int(mdp.first_choice[state]), int(mdp.first_choice[state + 1])):
            entries = range(int(mdp.first_transition[k]), int(mdp.first_transition[k + 1]))
            weights = [Fraction(float(mdp.probability[j])) for j in entries]
            row = [(int(mdp.target[j]), w / sum(weights)) for j, w in zip(entries, weights, strict=True)]
            choices[state].append(Choice(int(mdp.action[k]), row, Fraction(float(mdp.reward[k]))))
    return Model(choices, Fraction(mdp.discount), mdp.minimise)


def optimum(mdp):
    """Return the optimal values: fractions, or infinities at discount 1; None if a total is not defined."""
    model = mdp if isinstance(mdp, Model) else exact_model(mdp)
    sign = -1 if model.minimise else 1
    best = _by_iteration(model, sign) if model.discount < 1 else _by_trying(model, sign)
    return best and [sign * value for value in best]


def _by_trying(model, sign):
    """Return the best value of each state over all policies."""
    found = [policy_value(model, policy, sign) for policy in product(*(some or [None] for some in model.choices))]
    return None if None in found else [max(values) for values in zip(*found, strict=True)]


def _by_iteration(model, sign):
    """Return the best values by Howard's policy iteration, which in fractions ends at the optimum."""
    policy = [some[0] if some else None for some in model.choices]
    while True:
        values = policy_value(model, policy, sign)
        better = list(policy)
        for state, some in enumerate(model.choices):
            for choice in some:
                if q_value(model, choice, values, sign) > q_value(model, better[state], values, sign):
                    better[state] = choice
        if better == policy:
            return values
        policy = better


def q_value(model, choice, values, sign=1):
    """Return what a choice is worth when the states are, sign turned, worth ``values``; -inf outweighs inf."""
    later = [values[t] for t, _ in choice.row]
    for endless in (-inf, inf):
        if endless in later and model.discount:
            return endless
    return sign * choice.reward + model.discount * sum(p * values[t] for t, p in choice.row)


def mixture(model, weights):
    """Return the model whose only choice in each state mixes the choices: ``weights[state][action]``."""
    choices = []
    for some, given in zip(model.choices, weights, strict=True):
        shares = [Fraction(float(given[choice.action])) for choice in some]
        lines = [(t, p * w) for choice, w in zip(some, shares, strict=True) if w for t, p in choice.row]
        row = [(t, sum(p for u, p in lines if u == t) / sum(shares)) for t in sorted({t for t, _ in lines})]
        earned = sum(w * choice.reward for choice, w in zip(some, shares, strict=True))
        choices.append([Choice(0, row, earned / sum(shares))] if some else [])
    return Model(choices, model.discount, model.minimise)


def policy_value(model, policy, sign):
    """Return the values of one choice a state, or None if a total is not defined."""
    chain = [[] if choice is None else choice.row for choice in policy]
    reward = [Fraction(0) if choice is None else sign * choice.reward for choice in policy]
    fixed = dict.fromkeys((s for s, row in enumerate(chain) if not row), Fraction(0))
    if model.discount == 1:
        reach = closure(chain)
        for members in recurrent(chain, reach):
            average = stationary_average(chain, reward, members)
            if average == 0 and any(reward[s] for s in members):
                return None
            endless = inf if average > 0 else -inf if average < 0 else Fraction(0)
            fixed |= dict.fromkeys(members, endless)
        for endless in (inf, -inf):  # a chance of minus infinity outweighs everything
            bad = [s for s, value in fixed.items() if value == endless]
            fixed |= {s: endless for s in range(len(chain)) if any(b in reach[s] for b in bad)}
    return solve(chain, reward, fixed, model.discount)


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
        _fraction(low) <= value <= _fraction(high)
        for low, value, high in zip(lower.tolist(), exact, upper.tolist(), strict=True)
    )


def _fraction(number):
    """Return a double as a fraction, or as it is if it is infinite."""
    return number if abs(number) == inf else Fraction(number)


def as_floats(exact):
    return np.array([float(value) for value in exact])
