"""Chapter 4, dynamic programming: the gambler's problem and Jack's car rental."""

from __future__ import annotations

from math import exp, factorial

import numpy as np

import mdplay
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, differs, equal
from mdplay.lab.reproduction.textbook.drawing import Axes, Floats, Line, picture, rows_table

TITLE = "Dynamic programming"
CAPITALS = (25, 50, 75)
LABEL = 612  # the largest label of the value axis of Figure 4.2
TERMS = 60  # of the Poisson distributions
FEW_TERMS = 11  # of published programs


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    return [Step("gambler", lambda show: _gambler()), Step("car-rental", lambda show: _car_rental())]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    return (
        f"Exact values: the gambler wins from 50 with probability {facts['gambler']['values'][1]:.6g}; a full car "
        f"rental is worth {facts['car-rental']['full']:.2f}."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    gambler, cars = facts["gambler"], facts["car-rental"]
    near = all(abs(a - b) < 1e-9 for a, b in zip(gambler["values"], (0.16, 0.4, 0.64), strict=True))
    return [
        equal(
            "Figure 4.3: with heads 0.4, the value at capital 50 is 0.4, at 25 and 75 it is 0.16 and 0.64 "
            "(bold play).",
            ", ".join(f"{value:.9g}" for value in gambler["values"]),
            "Value iteration with bounds; bold play: 0.4 x 0.4, 0.4, 0.4 + 0.6 x 0.4.",
            near,
        ),
        equal(
            "Figure 4.2: the optimal policy moves from 5 cars to the second place to 4 cars to the first.",
            f"moves from {cars['least']} to {cars['most']}",
            "Policy iteration on 441 states with all outcomes.",
            (cars["least"], cars["most"]) == (-4, 5),
        ),
        differs(
            f"Figure 4.2: the value axis reaches from 420 to {LABEL}.",
            f"V(0, 0) = {cars['empty']:.2f}, V(20, 20) = {cars['full']:.2f}",
            f"Two independent programs agree within {cars['difference']:.0e}.",
            f"{LABEL} cannot be the largest value: {cars['above']} of the 441 states are worth more. Sums over "
            f"{FEW_TERMS} terms of the Poisson distributions, as in published programs, give "
            f"{cars['truncated'][0]:.1f} to {cars['truncated'][1]:.1f}; with fixed numbers of returned cars, "
            f"{cars['constant'][0]:.1f} to {cars['constant'][1]:.1f}; none of these readings gives 420 and "
            f"{LABEL}. The number may be a tick of the axis instead of a value",
        ),
    ]


def _gambler() -> Figure:
    task = mdplay.make_task("gambler")
    plan = mdplay.plan(task.mdp)
    values = [float(v) for v in plan.value]
    stakes = [int(a) + 1 for a in plan.action[1:100]]
    return Figure(
        "Figure 4.3: the gambler's problem",
        "mdplay learn gambler --method q --runs 10",
        "The probability of reaching 100, for each capital. Many stakes are optimal; the smallest is listed.",
        {"values": [values[capital] for capital in CAPITALS], "stakes": stakes},
        rows_table(
            ("capital", "value", "smallest optimal stake"),
            [(str(c), f"{values[c]:.9f}", str(stakes[c - 1])) for c in (1, 12, 25, 40, 50, 60, 75, 88, 99)],
        ),
        picture({"heads 0.4": Line(range(1, 100), values[1:100])}, Axes("capital", "probability of winning")),
    )


def _car_rental() -> Figure:
    plan = mdplay.plan(mdplay.make_task("car-rental").mdp)
    value = np.asarray(plan.value).reshape(21, 21)
    moves = plan.action.reshape(21, 21) - 5
    second = rental_values(TERMS)
    truncated, constant = rental_values(FEW_TERMS), rental_values(TERMS, constant_returns=True)
    facts = {
        "empty": float(value[0, 0]),
        "full": float(value[20, 20]),
        "above": int((value > LABEL).sum()),
        "least": int(moves.min()),
        "most": int(moves.max()),
        "difference": float(np.abs(second - value).max()),
        "truncated": [float(truncated.min()), float(truncated.max())],
        "constant": [float(constant.min()), float(constant.max())],
    }
    rows = [(str(n), " ".join(f"{int(move):+d}" if move else "0" for move in moves[n])) for n in range(20, -1, -2)]
    return Figure(
        "Figure 4.2: Jack's car rental",
        "python -c \"import mdplay; print(mdplay.plan(mdplay.make_task('car-rental').mdp).value.max())\"",
        "Optimal moves by the cars at the first place (rows) and at the second place (0 to 20).",
        facts,
        rows_table(("cars", "cars moved from the first place to the second"), rows),
        picture(
            {f"{n} cars at the first place": Line(range(21), value[n].tolist()) for n in (0, 10, 20)},
            Axes("cars at the second place", "value"),
        ),
    )


def rental_values(terms: int, *, constant_returns: bool = False) -> Floats:
    """Return the values of the car rental by value iteration on outer products, a second program."""
    (earned_1, to_1), (earned_2, to_2) = (
        _place(3, 3, terms, constant_returns),
        _place(4, 2, terms, constant_returns),
    )
    value, change = np.zeros((21, 21)), np.inf
    while change > 1e-10:
        kept = earned_1[:, None] + earned_2 + 0.9 * to_1 @ value @ to_2.T
        new = np.array([[_best_move(kept, i, j) for j in range(21)] for i in range(21)])
        change, value = float(np.abs(new - value).max()), new
    return value


def _best_move(kept: Floats, i: int, j: int) -> float:
    moves = range(-min(5, j), min(5, i) + 1)
    return max(float(kept[min(i - a, 20), min(j + a, 20)]) - 2.0 * abs(a) for a in moves)


def _place(requests: int, returns: int, terms: int, constant_returns: bool) -> tuple[Floats, Floats]:
    """Return the expected earnings of a place, and the probabilities of its cars in the evening."""
    earned, to = np.zeros(21), np.zeros((21, 21))
    arrivals = [(returns, 1.0)] if constant_returns else [(m, _poisson(returns, m)) for m in range(terms)]
    for cars in range(21):
        for n in range(terms):
            rented = min(n, cars)
            earned[cars] += 10.0 * _poisson(requests, n) * rented
            for m, p in arrivals:
                to[cars, min(20, cars - rented + m)] += _poisson(requests, n) * p
    return earned, to


def _poisson(mean: int, n: int) -> float:
    return float(exp(-mean) * mean**n / factorial(n))
