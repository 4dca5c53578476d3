"""System 1: Dots and Boxes, solved by policy iteration.

The first part is the report's method in plain Python: 4096 integers and policy iteration by sweeps.

A move that completes boxes earns them, and the mover moves again.  After any other move the opponent draws one
random line, which earns nothing.  The full board has value 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mdplay.evaluating.evaluation import tie_margin
from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.lab.reproduction.steps import (
    Claim,
    Drawing,
    Facts,
    Figure,
    ResultTable,
    Step,
    both,
    differs,
    equal,
    small,
    valued,
)
from mdplay.runtime.threads import Show

if TYPE_CHECKING:
    from mdplay import Solution
    from mdplay.solving.policies import OpponentTable


LINES = 12
FULL = (1 << LINES) - 1
BOXES = (325, 1290, 660, 2600)
DOWNWARDS = tuple(range(FULL - 1, -1, -1))
UPWARDS = tuple(range(FULL))


def number_of(entries: Sequence[int]) -> int:
    """Return the state of twelve entries 0 or 1: the sum of line(i) << i."""
    return sum(entry << i for i, entry in enumerate(entries))


def entries_of(state: int) -> list[int]:
    """Return the twelve entries of a state."""
    return [state >> i & 1 for i in range(LINES)]


@cache
def outcomes(state: int, line: int) -> tuple[int, tuple[int, ...]]:
    """Return the boxes that a line earns, and the states of which I then have one, each as likely."""
    after = state | 1 << line
    earned = sum(after & box == box != state & box for box in BOXES)
    if earned or after == FULL:
        return earned, (after,)
    return 0, tuple(after | 1 << reply for reply in range(LINES) if not after >> reply & 1)


def action_value(values: Sequence[float], state: int, line: int) -> float:
    """Return what a line is worth: its boxes, and the mean of what follows."""
    earned, following = outcomes(state, line)
    return earned + sum(values[s] for s in following) / len(following)


@dataclass
class PolicyIteration:
    """Values and a policy to start from, both arbitrary; ``sweeps`` are those of each round."""

    values: list[float]
    policy: list[int]
    order: Sequence[int] = DOWNWARDS
    sweeps: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Evaluate and improve until no action changes."""
        self.values[FULL] = 0.0
        while True:
            self.sweeps.append(self.evaluate())
            if not self.improve():
                return

    def evaluate(self) -> int:
        """Sweep over the states until no value changes; return the number of sweeps."""
        sweeps, changed = 0, True
        while changed:
            changed = False
            for state in self.order:
                value = action_value(self.values, state, self.policy[state])
                changed |= value != self.values[state]
                self.values[state] = value
            sweeps += 1
        return sweeps

    def improve(self) -> bool:
        """Give every state the smallest of its best actions; tell whether one changed."""
        before = list(self.policy)
        for state in UPWARDS:
            self.policy[state] = self.best(state)
        return self.policy != before

    def best(self, state: int) -> int:
        """Return the smallest of the best lines."""
        found = {a: action_value(self.values, state, a) for a in range(LINES) if not state >> a & 1}
        most = max(found.values())
        return min(a for a, value in found.items() if value >= most - tie_margin(most))


TITLE = "Dots and Boxes, solved by policy iteration"
RULES = (("uniform-once", "own"), ("uniform", "own"), ("uniform", "difference"))
SHOWN = 12
RANDOM_STARTS = 2
WORKED = 1 | 1 << 2 | 1 << 6 | 1 << 10 | 1 << 11  # three lines of the upper left box, two on the right
LARGEST_DENOMINATOR = 20_000


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the steps: the random opponents side by side, their values by lines drawn, perfect play."""
    boards = (
        [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)] if quick else [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]
    )
    return [
        Step("report-boxes", lambda show: _report(seed), {"seed": seed}),
        Step("random-opponents", lambda show: _opponents()),
        Step("values-by-lines", lambda show: _by_lines()),
        Step("perfect-play", lambda show: _perfect(boards, show), {"boards": boards}),
    ]


def headline(facts: Facts) -> str:
    """Return the exact values of the empty 2 x 2 board."""
    values = facts["random-opponents"]["values"]
    told = ", ".join(f"{value['fraction']} = {value['value']:.9f} ({name})" for name, value in values.items())
    return f"The empty board of 2 x 2 boxes, against a random opponent: {told}."


def claims(facts: Facts) -> list[Claim]:
    """Return the report's claims beside what came out."""
    found = facts["report-boxes"]
    states, wrong, right = (found[name] for name in ("states", "slip_matches", "mask_matches"))
    down, up = found["downwards"], found["upwards"]
    return [
        equal(
            "Twelve lines, each there or not: 4096 states, one integer each, the sum of line(i) << i.",
            f"{found['lines']} lines, {states} states; the sum is the game's number in {found['numbered']} of "
            "them.",
            "Every state written as twelve entries and read back.",
            (found["lines"], states, found["numbered"]) == (12, 4096, 4096),
        ),
        equal(
            "The boxes are the masks 325 (1 + 4 + 64 + 256), 1290, 660 and 2600.",
            ", ".join(map(str, found["masks"])),
            "The rules' masks, made from the numbering of the lines; drawn below.",
            found["masks"] == [325, 1290, 660, 2600],
        ),
        differs(
            "The text once tests (state & 323) == 325.",
            f"True in {wrong} of {states} states; (state & 325) == 325 in {right}.",
            "Counted over all states.",
            "a slip of the pen: 323 lacks line 2, so the test can never be true; 325 is meant",
        ),
        equal(
            "Value and policy may start anywhere.",
            f"{found['starts']} random starts and the smallest actions all end in the same {states} actions; the "
            f"values differ by {small(found['start_difference'])}.",
            "The report's algorithm in plain Python, run from each start.",
            found["same_policy"] and found["start_difference"] < 1e-12,
        ),
        equal(
            "Evaluation sweeps from 4094 down to 0 until no value changes; few sweeps are needed.",
            f"At most {max(down)} a round downwards ({sum(down)} in {len(down)} rounds), up to {max(up)} upwards "
            f"({sum(up)} in {len(up)}).",
            "Counted; the last sweep of a round finds no change.",
            max(down) == 2 and max(up) > 2,
        ),
        equal(
            "A move that completes a box: its reward plus the value of the state after it. Otherwise the mean "
            "over every line that the random opponent may draw, reward 0.",
            f"{found['action_values']} action values differ by at most {small(found['action_difference'])}.",
            "mdplay's values of every action in every state against this sentence in plain Python.",
            found["action_difference"] < 1e-12,
        ),
        equal(
            "Improvement over all states; stop when no action changes.",
            f"{len(found['package_rounds'])} rounds, the last one with {found['package_rounds'][-1][1]} changes; "
            f"{found['same_actions']} of {states} actions as in plain Python.",
            "mdplay's policy iteration beside the report's in plain Python.",
            found["package_rounds"][-1][1] == 0 and found["same_actions"] == states,
        ),
        equal(
            "Any state, given as twelve 0/1 entries, is answered with its optimal value and action.",
            f"{found['answered']} of {states} answered; the empty board is worth {found['empty']:.9f}, "
            f"line {found['first_line']} is played.",
            "Every state asked as the text of its twelve entries.",
            found["answered"] == states,
        ),
    ]


def _solved(opponent: str, objective: str) -> tuple[Solution, OpponentTable]:
    from mdplay import solve

    solution: Any = solve(DotsAndBoxes(2, 2), opponent=opponent, objective=objective, method="policy-iteration")
    return solution, solution.table


def _fraction(value: float) -> str:
    """Return the simplest fraction within rounding of a value: the random opponent's chances are fractions."""
    found = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    return str(found) if abs(float(found) - value) < 1e-12 else f"{value:.9f}"


# ---------------------------------------------------------------- the report's own way
def _starts(seed: int) -> list[PolicyIteration]:
    """Return the report's iteration from the smallest actions, downwards and upwards, and from random starts."""
    legal = [[a for a in range(LINES) if not s >> a & 1] or [0] for s in range(FULL + 1)]
    rng = random.Random(seed)
    orders = (DOWNWARDS, UPWARDS)
    first = [PolicyIteration([0.0] * len(legal), [a[0] for a in legal], order) for order in orders]
    return first + [
        PolicyIteration([rng.uniform(-9, 9) for _ in legal], [rng.choice(a) for a in legal])
        for _ in range(RANDOM_STARTS)
    ]


def _report(seed: int) -> Figure:
    game, (solution, table) = DotsAndBoxes(2, 2), _solved("uniform-once", "own")
    runs = _starts(seed)
    for run in runs:
        run.run()
    down, up, *others = runs
    texts = ["".join(map(str, entries_of(s))) for s in range(FULL + 1)]
    facts = {
        "lines": game.num_lines,
        "states": game.size(),
        "numbered": sum(game.parse(text).lines == s == _number(text) for s, text in enumerate(texts)),
        "masks": list(game.boxes),
        "slip_matches": sum(s & 323 == 325 for s in range(game.size())),
        "mask_matches": sum(s & 325 == 325 for s in range(game.size())),
        "starts": len(others),
        "same_policy": all(run.policy == down.policy for run in runs),
        "start_difference": max(_distance(run.values, down.values) for run in runs),
        "downwards": down.sweeps,
        "upwards": up.sweeps,
        **_answers(game, solution, down, texts),
        "package_rounds": [[r.sweeps, r.changed] for r in table.rounds],
        "same_actions": int((table.actions == np.array(down.policy)).sum()),
        "empty": solution.value(),
        "first_line": solution.action(),
    }
    return Figure(
        title="The report's board, numbers and sweeps",
        command="mdplay solve dots-and-boxes --opponent uniform-once --objective own --position 325",
        text="The four boxes as masks of their lines, and a position with the value of every line, best ones in "
        "green. The report's algorithm is run again in plain Python, down and up the states and from random "
        "starts.",
        facts=facts,
        drawings=_boards(game, solution),
    )


def _number(text: str) -> int:
    return number_of([int(entry) for entry in text])


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.abs(np.array(one) - np.array(other)).max())


def _answers(game: DotsAndBoxes, solution: Solution, run: PolicyIteration, texts: list[str]) -> dict[str, Any]:
    """Ask every state by its entries; compare all action values with the report's sentence in plain Python."""
    answered, count, difference = 0, 0, 0.0
    for number, text in enumerate(texts[:-1]):
        choices = solution.choices(game.parse(text))
        values = {c.action: c.low for c in choices}
        answered += min(solution.best(game.parse(text))) == run.policy[number]
        count += len(values)
        told = (abs(value - action_value(run.values, number, a)) for a, value in values.items())
        difference = max(difference, *told)
    answered += solution.value(game.parse(texts[-1])) == 0.0  # the full board: nothing left to draw
    return {"answered": answered, "action_values": count, "action_difference": difference}


def _boards(game: DotsAndBoxes, solution: Solution) -> list[Drawing]:
    names = ("upper left", "upper right", "lower left", "lower right")
    boxes = [
        Drawing(game.svg(game.state(mask)), f"{name}: {mask}")
        for name, mask in zip(names, game.boxes, strict=True)
    ]
    state = game.state(WORKED)
    texts = {c.action: f"{c.low:.2f}" for c in solution.choices(state)}
    values = valued(game.svg(state), texts, solution.best(state))
    return [*boxes, Drawing(values, f"state {WORKED}: what each line is worth against the report's opponent")]


# ---------------------------------------------------------------- beyond the report
def _opponents() -> Figure:
    solutions = {f"{opponent}, {objective}": _solved(opponent, objective) for opponent, objective in RULES}
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
    )


def _by_lines() -> Figure:
    lines = np.array([number.bit_count() for number in range(4096)])
    curves = {f"{o}, {objective}": _solved(o, objective)[1].mine for o, objective in RULES}
    means = {name: [float(v[lines == n].mean()) for n in range(13)] for name, v in curves.items()}
    rows = [[str(n), *(f"{means[name][n]:.4f}" for name in means)] for n in range(13)]
    return Figure(
        title="Value by number of lines drawn",
        command="mdplay solve dots-and-boxes --opponent uniform --objective own --all states.csv",
        text="The mean, least and greatest value for the player to move, by the number of lines drawn.",
        facts={"mean": means},
        table=ResultTable(["lines", *means], rows),
        picture=both(lambda figure: _paint(figure, curves, lines)),
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
    from mdplay import solve

    rows, values = [], {}
    for r, c in boards:
        game = DotsAndBoxes(r, c)
        found = solve(game, progress=show)
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
