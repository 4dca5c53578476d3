"""Tests of ``mdplay.learning.reinforcement.judge`` against Gaussian elimination in fractions."""

from fractions import Fraction
from math import inf, isnan, nan

import numpy as np
import pytest

from mdplay.compiling import native
from mdplay.learning.reinforcement import Task
from mdplay.learning.reinforcement.judge import FOLLOWED, GREEDY, exact_model, judge_tables, new_workspace
from mdplay.learning.reinforcement.rules import Scheduled
from mdplay.planning import MDP
from mdplay.runtime.threads import TaskGroup
from mdplay.searching.selectors import UCB1, Greedy

CLIFF = [".".ljust(12, "."), ".".ljust(12, "."), ".".ljust(12, "."), "S**********G"]


def judged(task, table, epsilon=0.1, selector=None):
    """Return the values of the greedy policy and of the policy that is followed."""
    out = np.zeros((1, 1, 2))
    worker = TaskGroup(1).worker(0, 1)
    tables = np.append(np.array(table, float), epsilon).reshape(1, 1, -1)
    judge_tables(
        native(selector or Scheduled()), native(Greedy()), exact_model(task), tables, worker,
        new_workspace(task), out,
    )  # fmt: skip
    return out[0, 0, GREEDY], out[0, 0, FOLLOWED]


def random_rows(rng, states, ends):
    """Return rows[state][action] = [(probability, target, reward)]; from every state an action may end."""
    rows = []
    for _ in range(states - 1):
        actions = []
        for _ in range(int(rng.integers(1, 4))):
            targets = rng.choice(states - 1, min(states - 1, int(rng.integers(1, 4))), replace=False).tolist()
            if ends:
                targets.append(states - 1)
            shares = rng.integers(1, 6, len(targets))
            row = [(Fraction(int(p), int(shares.sum())), t) for p, t in zip(shares, targets, strict=True)]
            actions.append([(p, t, Fraction(int(rng.integers(-8, 9)), 4)) for p, t in row])
        rows.append(actions)
    return [*rows, []]


def task_of_rows(rows, starts, discount):
    lines = [
        (s, a, t, float(r), float(p))
        for s, acts in enumerate(rows)
        for a, row in enumerate(acts)
        for p, t, r in row
    ]
    columns = [np.array(column) for column in zip(*lines, strict=True)]
    return Task(MDP.from_transitions(*columns, num_states=len(rows), discount=discount, keep_rewards=True), starts)


def shares_of(values, epsilon):
    best = [v == max(values) for v in values]
    return [Fraction(epsilon) / len(values) + (1 - Fraction(epsilon)) * Fraction(int(b), sum(best)) for b in best]


def exact_value(rows, table, epsilon, starts, discount):
    """Return the value of an epsilon-greedy policy from the start, by Gauss and Jordan."""
    live = [s for s, actions in enumerate(rows) if actions]
    lines = []
    for s in live:
        line = [Fraction(int(s == t)) for t in live] + [Fraction(0)]
        for share, row in zip(shares_of(table[s], epsilon), rows[s], strict=True):
            for p, t, r in row:
                line[-1] += share * p * r
                if rows[t]:
                    line[live.index(t)] -= discount * share * p
        lines.append(line)
    for i in range(len(live)):
        pivot = next(k for k in range(i, len(live)) if lines[k][i])
        lines[i], lines[pivot] = lines[pivot], lines[i]
        lines[i] = [x / lines[i][i] for x in lines[i]]
        for k in range(len(live)):
            if k != i:
                factor = lines[k][i]
                lines[k] = [x - factor * y for x, y in zip(lines[k], lines[i], strict=True)]
    value = {s: lines[i][-1] for i, s in enumerate(live)}
    return sum(Fraction(share) * value.get(s, 0) for s, share in starts.items()) / Fraction(sum(starts.values()))


@pytest.mark.parametrize("discount", [Fraction(1), Fraction(9, 10)])
def test_values_are_those_of_gauss(discount):
    rng = np.random.default_rng(1)
    for number in range(40):
        rows = random_rows(rng, int(rng.integers(2, 8)), ends=discount == 1)
        starts = [{0: 1.0}, {0: 0.25, len(rows) - 2: 0.75} if len(rows) > 2 else {0: 1.0}][number % 2]
        if number % 4 == 3:
            starts = {**starts, len(rows) - 1: 0.5}  # a terminal start is worth 0; shares are divided by their sum
        table = [[float(rng.integers(-2, 3)) for _ in actions] for actions in rows]  # with ties
        task = task_of_rows(rows, starts, float(discount))
        greedy, followed = judged(task, [v for row in table for v in row], 0.125)
        for found, epsilon in ((greedy, 0), (followed, Fraction(1, 8))):
            assert found == pytest.approx(float(exact_value(rows, table, epsilon, starts, discount)), abs=1e-12)


def two_state_loop(discount):
    """State 0: go on to 1 or end; state 1: return to 0."""
    rows = [[[(Fraction(1), 1, Fraction(-1))], [(Fraction(1), 2, Fraction(-5))]]]
    rows += [[[(Fraction(1), 0, Fraction(-1))]], []]
    return task_of_rows(rows, {0: 1.0}, discount)


def test_a_policy_that_never_ends_has_no_value():
    greedy, followed = judged(two_state_loop(1.0), [0.0, -1.0, 0.0])
    assert greedy == inf
    # From 0: ends with probability 1/20, otherwise two steps and again: -5 - 2 * 19.
    assert followed == pytest.approx(-43.0)
    assert judged(two_state_loop(1.0), [-1.0, 0.0, 0.0])[0] == -5.0
    assert judged(two_state_loop(0.5), [0.0, -1.0, 0.0])[0] == pytest.approx(-2.0)


def test_a_policy_that_ends_only_sometimes_never_ends():
    rows = [
        [[(Fraction(1, 2), 1, Fraction(0)), (Fraction(1, 2), 2, Fraction(1))]],
        [[(Fraction(1), 1, Fraction(0))]],
        [],
    ]
    assert judged(task_of_rows(rows, {0: 1.0}, 1.0), [0.0, 0.0])[0] == inf


def test_long_policies_keep_their_digits():
    rows = [[[(Fraction(2**30 - 1, 2**30), 0, Fraction(-1)), (Fraction(1, 2**30), 1, Fraction(-1))]], []]
    assert judged(task_of_rows(rows, {0: 1.0}, 1.0), [0.0])[0] == pytest.approx(-(2.0**30), rel=1e-15)


def test_the_followed_value_of_ucb_is_unknown():
    assert isnan(judged(two_state_loop(1.0), [-1.0, 0.0, 0.0], selector=UCB1())[1])


def test_values_that_are_no_numbers_act_at_random():
    assert judged(two_state_loop(1.0), [nan, nan, 0.0])[0] == pytest.approx(-7.0)  # -5 - 2 * (1/2) / (1/2)


def cliff_task():
    from mdplay.planning.grids import read_grid

    grid = read_grid("\n".join(CLIFF))
    return Task(grid.mdp, grid.starts[0]), grid


def path_table(grid, path):
    """Return a table that prefers the moves of a path."""
    actions, number = "URDL", {cell: s for s, cell in enumerate(grid.cells)}
    table, cell = np.zeros(grid.mdp.num_choices), (3, 0)
    for move in path:
        table[int(grid.mdp.first_choice[number[cell]]) + actions.index(move)] = 1.0
        dy, dx = {"U": (-1, 0), "R": (0, 1), "D": (1, 0), "L": (0, -1)}[move]
        cell = (cell[0] + dy, cell[1] + dx)
    assert cell == (3, 11)
    return table


def test_paths_along_the_cliff():
    task, grid = cliff_task()
    short_greedy, short_followed = judged(task, path_table(grid, "U" + "R" * 11 + "D"))
    safe_greedy, safe_followed = judged(task, path_table(grid, "UUU" + "R" * 11 + "DDD"))
    assert (short_greedy, safe_greedy) == (-13.0, -17.0)
    assert safe_followed > short_followed  # what SARSA learns and Q-learning does not (Example 6.6)
    assert judged(task, np.zeros(task.mdp.num_choices))[0] < -1000.0  # ties everywhere: the walk is random
