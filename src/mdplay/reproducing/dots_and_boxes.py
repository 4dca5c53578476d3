"""System 1: Dots and Boxes, solved by policy iteration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.reproducing.steps import Figure, Made, ResultTable, Step, both
from mdplay.running import Show

if TYPE_CHECKING:
    from mdplay.solving.policies import OpponentTable
    from mdplay.solving.solution import Solution

TITLE = "Dots and Boxes, solved by policy iteration"
RULES = (("uniform-once", "own"), ("uniform", "own"), ("uniform", "difference"))
SHOWN = 12
LARGEST_DENOMINATOR = 20_000


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the random opponents side by side, their values by lines drawn, perfect play."""
    boards = (
        [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)] if quick else [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]
    )
    return [
        Step("random-opponents", lambda show: _opponents()),
        Step("values-by-lines", lambda show: _by_lines()),
        Step("perfect-play", lambda show: _perfect(boards, show), {"boards": boards}),
    ]


def headline(figures: Sequence[Made]) -> str:
    """Return the exact values of the empty 2 x 2 board."""
    values = figures[0].figure.facts["values"]
    told = ", ".join(f"{value['fraction']} = {value['value']:.9f} ({name})" for name, value in values.items())
    return f"The empty board of 2 x 2 boxes, against a random opponent: {told}."


def _solved(opponent: str, objective: str) -> tuple[Solution, OpponentTable]:
    from mdplay.solving.solvers import solve

    solution: Any = solve(DotsAndBoxes(2, 2), opponent=opponent, objective=objective, method="policy-iteration")
    return solution, solution.table


def _fraction(value: float) -> str:
    """Return the simplest fraction within rounding of a value: the random opponent's chances are fractions."""
    found = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    return str(found) if abs(float(found) - value) < 1e-12 else f"{value:.9f}"


def _opponents() -> Figure:
    solutions = {f"{opponent}, {objective}": _solved(opponent, objective) for opponent, objective in RULES}
    game = DotsAndBoxes(2, 2)
    rows = [
        [
            name,
            _fraction(s.value()),
            f"{s.value():.9f}",
            str(s.action()),
            ", ".join(str(r.changed) for r in t.rounds),
        ]
        for name, (s, t) in solutions.items()
    ]
    first, second = (solutions[f"{opponent}, {objective}"] for opponent, objective in RULES[:2])
    differing = np.flatnonzero(first[1].actions != second[1].actions)
    return Figure(
        title="All 4096 states against a random opponent",
        command="mdplay solve dots-and-boxes --opponent uniform-once --objective own --all states.csv",
        text="Policy iteration from the smallest action everywhere: sweeps from the full board down until nothing "
        f"changes, then an improvement of every state. The two rules for the opponent differ in {len(differing)} "
        "of the 4096 best actions, so the rule must be said.",
        facts={
            "values": {
                name: {"fraction": _fraction(s.value()), "value": s.value()} for name, (s, _) in solutions.items()
            },
            "rounds": {name: [[r.sweeps, r.changed] for r in t.rounds] for name, (_, t) in solutions.items()},
            "differing_actions": len(differing),
            "states": {
                name: {"value": t.mine.tolist(), "action": t.actions.tolist()}
                for name, (_, t) in solutions.items()
            },
        },
        table=ResultTable(
            ["opponent, objective", "value", "as a number", "first line", "actions changed, round by round"], rows
        ),
        drawing=game.svg(game.initial()),
    )


def _by_lines() -> Figure:
    lines = np.array([number.bit_count() for number in range(4096)])
    curves = {f"{o}, {objective}": _solved(o, objective)[1].mine for o, objective in RULES}
    means = {name: [float(v[lines == n].mean()) for n in range(13)] for name, v in curves.items()}
    rows = [[str(n), *(f"{means[name][n]:.4f}" for name in means)] for n in range(13)]
    return Figure(
        title="Value by number of lines drawn",
        command="mdplay solve dots-and-boxes --opponent uniform --objective own --all states.csv",
        text="The mean, least and greatest value to the player to move over all states with so many lines.",
        facts={"mean": means},
        table=ResultTable(["lines", *means], rows),
        picture=both(lambda figure: _paint(figure, curves, lines), (9, 4.5)),
    )


def _paint(figure: Any, curves: dict[str, Any], lines: Any) -> None:
    axes = figure.add_subplot(xlabel="lines drawn", ylabel="value to the player to move")
    for name, values in curves.items():
        groups = [values[lines == n] for n in range(13)]
        (mean,) = axes.plot(range(13), [g.mean() for g in groups], marker="o", label=name)
        band = [g.min() for g in groups], [g.max() for g in groups]
        axes.fill_between(range(13), *band, alpha=0.12, color=mean.get_color())
    axes.grid(True)
    axes.legend()


def _perfect(boards: list[tuple[int, int]], show: Show) -> Figure:
    from mdplay.solving.solvers import solve

    rows, values = [], {}
    for r, c in boards:
        game = DotsAndBoxes(r, c)
        found = solve(game, show=show)
        best = ", ".join(game.move_text(game.initial(), a) for a in found.best()[:SHOWN])
        more = ", ..." if len(found.best()) > SHOWN else ""
        values[f"{r}x{c}"] = found.value()
        rows.append([f"{r} x {c}", f"{found.states:,}", f"{found.value():+g}", f"{best}{more}"])
    return Figure(
        title="Perfect play on both sides",
        command="mdplay solve dots-and-boxes:rows=3,cols=3",
        text="Boxes of the first player less those of the second when both play perfectly, by backward induction.",
        facts={"value": values},
        table=ResultTable(["board", "states", "value", "best first lines"], rows),
    )
