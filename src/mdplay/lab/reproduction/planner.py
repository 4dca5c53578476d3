"""System 2, first part: the MDP planner.

The first part is value iteration (in place and synchronous) and Howard's policy iteration in plain Python, over
the nested form of an MDP:

mdp[s][a] = [[s', reward, probability], ...]       an action without entries is not available
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mdplay.evaluating.evaluation import tie_margin
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, ResultTable, Step, both, equal, small

if TYPE_CHECKING:
    from mdplay import MDP


Nested = Sequence[Sequence[Sequence[Sequence[float]]]]
Row = tuple[NDArray[Any], NDArray[Any], float]  # the successors of a choice, their probabilities, the mean reward


def _rows(mdp: Nested) -> list[dict[int, Row]]:
    return [{a: _row(entries) for a, entries in enumerate(actions) if entries} for actions in mdp]


def _row(entries: Sequence[Sequence[float]]) -> Row:
    target, reward, probability = np.array(entries, np.float64).T
    return target.astype(np.int64), probability, float(probability @ reward)


def _q_value(row: Row, values: NDArray[Any], discount: float) -> float:
    target, probability, reward = row
    return reward + discount * float(probability @ values[target])


def value_iteration(mdp: Nested, discount: float, *, in_place: bool, threshold: float) -> tuple[NDArray[Any], int]:
    """Sweep until no state changes by more than the threshold; return the values and the number of sweeps."""
    rows, values, sweeps, change = _rows(mdp), np.zeros(len(mdp)), 0, np.inf
    while change > threshold:
        known = values if in_place else values.copy()
        change = 0.0
        for state, actions in enumerate(rows):
            value = max((_q_value(row, known, discount) for row in actions.values()), default=0.0)
            change = max(change, abs(value - values[state]))
            values[state] = value
        sweeps += 1
    return values, sweeps


def howard(mdp: Nested, discount: float) -> tuple[NDArray[Any], list[int], int]:
    """Start from the smallest action everywhere; return the values, the policy and the number of policies."""
    rows = _rows(mdp)
    policy, rounds = [min(actions, default=0) for actions in rows], 0
    while True:
        values, rounds = _solved(rows, policy, discount), rounds + 1
        better = [_best(actions, values, discount, a) for actions, a in zip(rows, policy, strict=True)]
        if better == policy:
            return values, policy, rounds
        policy = better


def _solved(rows: list[dict[int, Row]], policy: list[int], discount: float) -> NDArray[Any]:
    """Return the values of a policy, from its linear equations."""
    matrix, rewards = np.eye(len(rows)), np.zeros(len(rows))
    for state, actions in enumerate(rows):
        if actions:
            target, probability, rewards[state] = actions[policy[state]]
            np.subtract.at(matrix[state], target, discount * probability)
    return np.linalg.solve(matrix, rewards)


def _best(actions: dict[int, Row], values: NDArray[Any], discount: float, kept: int) -> int:
    """Return the smallest of the best actions; a terminal state keeps what it has."""
    found = {a: _q_value(row, values, discount) for a, row in actions.items()}
    most = max(found.values(), default=0.0)
    return min((a for a, value in found.items() if value >= most - tie_margin(most)), default=kept)


METHODS = ("vi", "hpi", "lp", "auto")
THRESHOLD = 1e-9  # of a sweep's change, where sweeps are counted
DISCOUNTS = (0.5, 0.9, 0.99)  # the report does not give one for its example
EXAMPLE: Nested = [
    [
        [[0, -0.9190312436384449, 0.34606241071376004], [1, 0.9309297727238344, 0.65393758928624]],
        [[0, -0.28390125061002336, 0.6106589110952346], [1, 0.7833213196413649, 0.3893410889047654]],
    ],
    [[[1, 0.23673799335066326, 1.0]], [[0, -0.8024733106817046, 1.0]]],
]


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the report's example, the methods on random models, sweeps counted."""
    sizes = [(50, 5), (200, 5)] if quick else [(50, 5), (200, 10), (1000, 10)]
    return [
        Step("example-mdp", lambda show: _example()),
        Step("planners", lambda show: _planners(sizes, seed), {"sizes": sizes, "seed": seed}),
        Step("sweeps", lambda show: _sweeps(seed), {"seed": seed}),
    ]


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims about the planner beside what came out."""
    example, planners, sweeps = facts["example-mdp"], facts["planners"], facts["sweeps"]
    values = " and ".join(f"{value:.6f}" for value in example["values"])
    return [
        equal(
            "Sparse nested form mdp[s][a] = list of [s', reward, probability]; an example of 2 states and 2 "
            "actions.",
            f"Read, written back the same: {example['same_nested']}. With discount {example['discount']} its "
            f"values are {values}, its actions {example['actions']}.",
            "The best of all four policies, each solved as a linear equation; the report gives no discount.",
            example["same_nested"] and example["difference"] < 1e-9,
        ),
        equal(
            "Value iteration in place, Howard's policy iteration and linear programming agree.",
            f"Within {small(planners['largest_difference'])} in all values, "
            f"{'in every action' if planners['same_actions'] else 'not in every action'}.",
            f"Random models of {' and '.join(f'{n} x {a}' for n, a in planners['sizes'])} states x actions.",
            planners["same_actions"] and planners["largest_difference"] < 1e-6,
        ),
        equal(
            "In-place value iteration converges faster than updating all states at once.",
            ", ".join(f"{name}: {found[0]} sweeps against {found[1]}" for name, found in sweeps["counts"].items()),
            f"Both in plain Python until no state changes by more than {THRESHOLD:g}.",
            sweeps["never_more"] and sweeps["fewer"] > 0,
            f"fewer in {sweeps['fewer']} models of {len(sweeps['counts'])}; as many where one state's own loop "
            "is the slowest",
        ),
        equal(
            "Howard's iteration starts from action 0 everywhere and switches every improvable state.",
            f"{planners['howard']} policies by mdplay, {planners['plain_howard']} in plain Python; actions "
            f"{'equal' if planners['howard_same'] else 'not equal'}.",
            "The same models, policy by policy.",
            planners["howard"] == planners["plain_howard"] and planners["howard_same"],
        ),
        equal(
            "Ties go to the smallest action in all methods.",
            "; ".join(f"{method}: {action}" for method, action in example["tied"].items()),
            "A model whose three actions are all alike.",
            set(example["tied"].values()) == {0},
        ),
        Claim(
            "The linear programme minimises the sum of values, with constraints only for transitions that exist.",
            f"Objective {planners['objective']['lp']:.6f} by HiGHS, {planners['objective']['hpi']:.6f} by policy "
            f"iteration; {planners['constraints']} constraints, {planners['transitions']} transitions.",
            "The sum of all values of the largest model above.",
            *_solver(planners["objective"]),
        ),
    ]


def _solver(objective: dict[str, float]) -> tuple[str, str]:
    """Return the mark of the linear programme, and that another solver was used."""
    found = equal("", "", "", abs(objective["lp"] - objective["hpi"]) <= 1e-6 * abs(objective["hpi"]))
    return found.mark, "the report used CBC, here it is HiGHS"


# ---------------------------------------------------------------- the example
def _example() -> Figure:
    from mdplay import MDP, plan

    rows, shown = [], {}
    for discount in DISCOUNTS:
        mdp, exact = MDP.from_nested(EXAMPLE, discount=discount), _best_policy(discount)
        plans = {method: plan(mdp, method) for method in METHODS}
        difference = max(float(np.abs(found.value - exact).max()) for found in plans.values())
        shown[discount] = plans["hpi"], difference
        actions = " ".join(map(str, plans["hpi"].action))
        rows.append([f"{discount:g}", *(f"{v:.9f}" for v in plans["hpi"].value), actions, small(difference)])
    found, difference = shown[0.9]
    alike = MDP.from_nested([[[[0, 1.0, 1.0]]] * 3], discount=0.9)
    return Figure(
        title="The report's example: two states, two actions",
        command="mdplay plan FILE --method hpi",
        text="The example of the nested form. The report gives no discount, so three are shown; the difference is "
        "the largest one of four methods to the best of all four policies, each solved as a linear equation.",
        facts={
            "same_nested": _same(mdp.to_nested(), EXAMPLE),
            "discount": 0.9,
            "values": found.value.tolist(),
            "actions": found.action.tolist(),
            "difference": max(difference for _, difference in shown.values()),
            "tied": {method: int(plan(alike, method).action[0]) for method in METHODS},
        },
        table=ResultTable(["discount", "value of state 0", "value of state 1", "actions", "difference"], rows),
    )


def _same(one: Any, other: Any) -> bool:
    """Tell whether two nested lists hold the same numbers, but for rounding of those that sum to 1."""
    if isinstance(one, (int, float)):
        return bool(abs(one - other) < 1e-15)
    return bool(len(one) == len(other) and all(map(_same, one, other)))


def _best_policy(discount: float) -> Any:
    """Return the values of the example's best policy: each of the four is solved, the best one dominates."""
    found = []
    for policy in product(range(2), repeat=2):
        matrix, rewards = np.eye(2), np.zeros(2)
        for state, action in enumerate(policy):
            for target, reward, probability in EXAMPLE[state][action]:
                matrix[state, int(target)] -= discount * probability
                rewards[state] += probability * reward
        found.append(np.linalg.solve(matrix, rewards))
    return np.max(found, axis=0)


# ---------------------------------------------------------------- random models
def random_mdp(num_states: int, num_actions: int, seed: int, *, branches: int = 5, discount: float = 0.95) -> MDP:
    """Return a random MDP: every choice leads to a few random states, with a random reward."""
    from mdplay import MDP

    rng = np.random.default_rng(seed)
    count = num_states * num_actions
    state = np.repeat(np.arange(num_states), num_actions * branches)
    action = np.tile(np.repeat(np.arange(num_actions), branches), num_states)
    target = rng.integers(num_states, size=count * branches)
    probability = rng.dirichlet(np.ones(branches), size=count).ravel()
    reward = np.repeat(rng.uniform(size=count), branches)
    return MDP.from_transitions(
        state, action, target, reward, probability, num_states=num_states, discount=discount
    )


def _planners(sizes: list[tuple[int, int]], seed: int) -> Figure:
    from mdplay import plan

    rows, differences, same, policies = [], [0.0], True, dict[str, Any](plain=[], package=[], same=True)
    histories: dict[str, Any] = {}
    for num_states, num_actions in sizes:
        mdp = random_mdp(num_states, num_actions, seed)
        plans = {method: plan(mdp, method) for method in METHODS}
        for method, found in plans.items():
            difference = float(np.abs(found.value - plans["hpi"].value).max())
            differences.append(difference)
            same = same and bool((found.action == plans["hpi"].action).all())
            size = f"{num_states} x {num_actions}"
            rows.append([size, method, str(found.iterations), f"{found.gap:.1e}", small(difference)])
            histories[method] = found.history
        _, policy, rounds = howard(mdp.to_nested(), mdp.discount)
        policies["plain"].append(rounds)
        policies["package"].append(plans["hpi"].iterations)
        policies["same"] &= policy == plans["hpi"].action.tolist()
    # Value iteration sweep by sweep: vi reports its last sweep only.
    histories["jacobi"] = plan(mdp, "jacobi").history
    return Figure(
        title="Three planners, one answer",
        command="mdplay plan FILE --method vi|hpi|lp|auto --bounds",
        text="Random models (five successors a choice, discount 0.95). The gap is the proven distance between "
        "lower and upper bound of the worst state; the difference is that to policy iteration.",
        facts={
            "largest_difference": max(differences),
            "same_actions": same,
            "sizes": sizes,
            "howard": policies["package"],
            "plain_howard": policies["plain"],
            "howard_same": policies["same"],
            "objective": {method: float(plans[method].value.sum()) for method in ("lp", "hpi")},
            "constraints": mdp.num_choices,
            "transitions": mdp.num_transitions,
        },
        table=ResultTable(["states x actions", "method", "iterations", "gap", "difference"], rows),
        picture=both(lambda figure: paint_history(figure, histories)),
    )


def curves_of(histories: dict[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """Return the residuals of each method that reports some; methods with equal ones share a curve."""
    found: dict[str, list[tuple[int, float]]] = {}
    for method, history in histories.items():
        points = [(i, r) for i, r in history if r > 0]
        same = next((name for name, known in found.items() if known == points), None)
        if same is not None:
            found[f"{same}, {method}"] = found.pop(same)
        elif points:
            found[method] = points
    return found


def paint_history(figure: Any, histories: dict[str, Any]) -> None:
    """Paint how the residual of each method falls."""
    axes = figure.add_subplot(
        xlabel="iteration",
        ylabel="residual",
        xscale="log",
        yscale="log",
        title="How the residual falls (the largest model)",
    )
    for number, (method, points) in enumerate(curves_of(histories).items()):
        axes.plot(*zip(*points, strict=True), label=method, marker="os^Dv"[number % 5])
    axes.grid(True)
    axes.legend()


# ---------------------------------------------------------------- sweeps
def _sweeps(seed: int) -> Figure:
    models = {
        "the report's example": (EXAMPLE, 0.9),
        "50 x 5, random": (random_mdp(50, 5, seed).to_nested(), 0.95),
        "50 x 5, slow": (random_mdp(50, 5, seed + 1, branches=2).to_nested(), 0.99),
        "a walk of 30": (_walk(30), 0.99),
    }
    rows, counts = [], {}
    for name, (nested, discount) in models.items():
        runs = [value_iteration(nested, discount, in_place=way, threshold=THRESHOLD) for way in (True, False)]
        counts[name] = [sweeps for _, sweeps in runs]
        apart = float(np.abs(runs[0][0] - runs[1][0]).max())
        rows.append(
            [
                name,
                f"{discount:g}",
                *map(str, counts[name]),
                f"{counts[name][1] / counts[name][0]:.2f}",
                small(apart),
            ]
        )
    return Figure(
        title="In place against all at once",
        command="mdplay plan FILE --method vi; mdplay plan FILE --method jacobi",
        text=f"Sweeps of value iteration until no state changes by more than {THRESHOLD:g}, in plain Python.",
        facts={
            "counts": counts,
            "never_more": all(in_place <= at_once for in_place, at_once in counts.values()),
            "fewer": sum(in_place < at_once for in_place, at_once in counts.values()),
        },
        table=ResultTable(["model", "discount", "in place", "all at once", "ratio", "values apart"], rows),
    )


def _walk(length: int) -> Nested:
    """Return a walk back and forth on a line; the first place pays."""
    last = length - 1
    return [
        [[[max(s - 1, 0), float(s == 0), 0.9], [s, 0.0, 0.1]], [[min(s + 1, last), 0.0, 1.0]]]
        for s in range(length)
    ]
