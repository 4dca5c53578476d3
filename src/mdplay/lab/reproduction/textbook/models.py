"""Chapter 8, planning and learning: Dyna in mazes that change, and prioritised sweeping."""

from __future__ import annotations

import math

import numpy as np

import mdplay
from mdplay import Task
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, better, differs, equal
from mdplay.lab.reproduction.textbook.drawing import (
    Axes,
    Floats,
    Line,
    Show,
    interval,
    last,
    length_line,
    picture,
    reward_line,
    rows_table,
)
from mdplay.learning.reinforcement.library import MAZE, grid_task

TITLE = "Planning and learning"
PLANS = (0, 5, 50)
FIRST = 1700  # steps of the first episode, says the text of Example 8.1
CHANGES = (("blocking-maze", 3000), ("shortcut-maze", 6000))
EPISODES = 60  # of Example 8.4
SWEEPS = 5  # planning steps after each step, for both methods of Example 8.4


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    runs, sizes = (50, (1, 2)) if quick else (1000, (1, 2, 4))
    settings = {"runs": runs, "seed": seed}
    return [
        Step("dyna-maze", lambda show: _dyna(runs, seed, show), settings),
        Step("first-episode", lambda show: _first_episode()),
        Step("changing-mazes", lambda show: _changes(runs, seed, show), settings),
        Step(
            "sweeping",
            lambda show: _sweeping(sizes, max(30, runs // 10), seed, show),
            {"sizes": sizes, **settings},
        ),
    ]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    near = facts["dyna-maze"]["near"]
    return f"Dyna with 0, 5 and 50 planning steps needs {', '.join(map(str, near))} episodes for the maze."


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    dyna, first = facts["dyna-maze"], facts["first-episode"]
    deviation = first["deviation"] / math.sqrt(30)
    mazes = facts["changing-mazes"]["earned"]
    blocking, shortcut = mazes["blocking-maze"], mazes["shortcut-maze"]
    ratios = facts["sweeping"]["ratios"]
    return [
        equal(
            "Example 8.1: the optimum is 14 steps; it takes about 25 episodes for n = 0, 5 for n = 5 and 3 for "
            "n = 50.",
            f"{first['shortest']} steps exactly; below 20 steps from episode {', '.join(map(str, dyna['near']))}",
            f"{dyna['runs']:,} runs (the book: 30).",
            first["shortest"] == 14
            and all(abs(a - b) <= 4 for a, b in zip(dyna["near"], (25, 5, 3), strict=True)),
        ),
        differs(
            f"Example 8.1: the first episode takes about {FIRST:,} steps.",
            f"{first['mean']:.1f} steps exactly (standard deviation {first['deviation']:.1f})",
            "Before the first reward all values are 0 and ties are broken at random: a Markov chain.",
            f"a single episode is that long with probability {first['chance']:.1%}; the mean of 30 independent "
            f"runs would be {(FIRST - first['mean']) / deviation:.1f} standard deviations off. The book keeps "
            f"the random seed constant across algorithms; if its repetitions share it as well, {FIRST:,} is a "
            "single draw, which would explain the number but is not known. Ties to a fixed action would give "
            f"{first['ties'][1]:.0f} steps (right) or more than {min(first['ties'][0], *first['ties'][2:]):.0e}",
        ),
        equal(
            "Figure 8.4: when the path is blocked, Dyna-Q+ finds the other one sooner than Dyna-Q.",
            f"reward after 3,000 steps: {interval(*blocking['dyna-q-plus'])} against "
            f"{interval(*blocking['dyna-q'])}",
            f"{facts['changing-mazes']['runs']:,} runs, kappa 0.001, alpha 1.",
            blocking["dyna-q-plus"][0] > blocking["dyna-q"][0],
        ),
        equal(
            "Figure 8.5: only Dyna-Q+ finds the shortcut.",
            f"reward of the last 1,000 of 6,000 steps: {facts['changing-mazes']['rate']['dyna-q-plus']:.1f} "
            f"against {facts['changing-mazes']['rate']['dyna-q']:.1f}; in all "
            f"{interval(*shortcut['dyna-q-plus'])} against {interval(*shortcut['dyna-q'])}",
            "The short path of 10 steps allows 100, the long one of 16 steps 62.5.",
            facts["changing-mazes"]["rate"]["dyna-q"] < 62.5 < facts["changing-mazes"]["rate"]["dyna-q-plus"],
        ),
        better(
            "Example 8.4: prioritised sweeping needs 5 to 10 times fewer updates than Dyna-Q.",
            ", ".join(f"{states} states: {ratio:.1f} times" for states, ratio in ratios),
            "Updates until the exact value of the greedy policy is within 20 % of the shortest path; alpha 1 for "
            "both.",
            all(ratio > 5.0 for _, ratio in ratios),
            "deterministic mazes allow alpha 1, and updates of value 0 are never queued",
        ),
    ]


def _dyna(runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("maze")
    curves = [
        mdplay.learn(task, method=f"q(plans={n})", episodes=50, runs=runs, seed=seed, progress=show)[0]
        for n in PLANS
    ]
    rows = [
        (str(n), *(f"{c.length[i]:.1f}" for i in (0, 1, 4, 9, 29, 49))) for n, c in zip(PLANS, curves, strict=True)
    ]
    return Figure(
        "Figure 8.2: Dyna-Q in the maze",
        f"mdplay learn maze --method 'q,dyna-q(plans=5),dyna-q(plans=50)' --episodes 50 --runs {runs}",
        "Mean steps of an episode.",
        {"near": [int(np.argmax(c.length < 20.0)) + 1 for c in curves], "runs": runs},
        rows_table(("planning steps", "episode 1", "2", "5", "10", "30", "50"), rows),
        picture(
            {f"{n} planning steps": length_line(c) for n, c in zip(PLANS, curves, strict=True)},
            Axes("episode", "steps of an episode", 0.0, 800.0, {"shortest path": 14.0}),
        ),
    )


def _first_episode() -> Figure:
    task = mdplay.make_task("maze")
    value = float(mdplay.plan(task.mdp).value[next(iter(task.starts))])
    uniform = np.full(task.mdp.num_choices, 0.25)
    mean, deviation, chance = _hitting_time(task, uniform, FIRST)
    ties = []
    for action in range(4):
        share = np.where(task.mdp.action == action, 0.925, 0.025)
        ties.append(_hitting_time(task, share, FIRST)[0])
    return Figure(
        "Example 8.1: the first episode",
        "mdplay reproduce textbook",
        "All values are equal until the goal is found, so the first episode is a random walk.",
        {
            "mean": mean,
            "deviation": deviation,
            "chance": chance,
            "ties": ties,
            "shortest": round(math.log(value) / math.log(0.95)) + 1,
        },
        rows_table(
            ("ties go to", "mean steps"),
            [
                ("a random action", f"{mean:.1f}"),
                *zip(("up", "right", "down", "left"), map("{:.4g}".format, ties), strict=True),
            ],
        ),
    )


def _hitting_time(task: Task, share: Floats, limit: int) -> tuple[float, float, float]:
    """Return mean and standard deviation of the steps to the goal, and the chance that they reach ``limit``."""
    model, size = task.mdp, task.mdp.num_states
    owner = np.repeat(model.owners(), np.diff(model.first_transition.astype(int)))
    weight = np.repeat(share, np.diff(model.first_transition.astype(int))) * model.probability
    matrix = np.zeros((size, size))
    np.add.at(matrix, (owner, model.target.astype(int)), weight)
    live = np.flatnonzero(~model.terminal)
    inside = matrix[np.ix_(live, live)]
    at = int(np.flatnonzero(live == next(iter(task.starts)))[0])
    time = np.linalg.solve(np.eye(len(live)) - inside, np.ones(len(live)))
    square = np.linalg.solve(np.eye(len(live)) - inside, 1.0 + 2.0 * inside @ time)
    left = np.linalg.matrix_power(inside, limit - 1)[at].sum()
    return float(time[at]), float(math.sqrt(square[at] - time[at] ** 2)), float(left)


def _changes(runs: int, seed: int, show: Show) -> Figure:
    lines: dict[str, Line] = {}
    earned: dict[str, dict[str, tuple[float, float]]] = {}
    rate: dict[str, float] = {}
    for name, length in CHANGES:
        curves = mdplay.learn(
            mdplay.make_task(name), method="dyna-q,dyna-q-plus", alpha=1.0, steps=length, runs=runs, seed=seed,
            points=60, progress=show,
        )  # fmt: skip
        earned[name] = {c.name: last(c) for c in curves}
        rate = {c.name: float(c.reward[-1] - c.reward[-11]) for c in curves}  # the last sixth, of the second maze
        lines |= {f"{c.name}, {name}": reward_line(c) for c in curves}
    return Figure(
        "Figures 8.4 and 8.5: mazes that change",
        f"mdplay learn shortcut-maze --method dyna-q,dyna-q-plus --alpha 1 --steps 6000 --runs {runs} --points 60",
        "Reward so far; the first maze changes after 1,000 steps and the second after 3,000.",
        {"earned": earned, "rate": rate, "runs": runs},
        None,
        picture(lines, Axes("step", "reward so far", 0.0)),
    )


def _sweeping(sizes: tuple[int, ...], runs: int, seed: int, show: Show) -> Figure:
    ratios, rows, optimum = [], [], 0.0
    lines: dict[str, Line] = {}
    for factor in sizes:
        task = grid_task(_enlarged(factor), "maze")
        optimum = float(mdplay.plan(task.mdp).value[next(iter(task.starts))])
        enough = 0.95 ** (1.2 * (math.log(optimum) / math.log(0.95) + 1.0) - 1.0)
        updates = []
        for method in (f"sweeping(plans={SWEEPS})", f"dyna-q(plans={SWEEPS})"):
            how = {"alpha": 1.0, "runs": max(20, runs // factor), "seed": seed, "progress": show}
            curve = mdplay.learn(task, method=method, episodes=EPISODES, checkpoints=EPISODES, **how)[0]
            lines[method] = Line(curve.checkpoints.tolist(), curve.greedy.tolist())
            good = np.flatnonzero(curve.greedy >= enough)
            episodes = int(good[0]) + 1 if len(good) else EPISODES  # then the count is too small
            until = mdplay.learn(task, method=method, episodes=episodes, checkpoints=0, **how)[0]
            updates.append(until.updates or (SWEEPS + 1) * until.total_steps / until.runs)
        ratios.append((task.mdp.num_states, updates[1] / updates[0]))
        rows.append((str(task.mdp.num_states), *(f"{u:,.0f}" for u in updates), f"{updates[1] / updates[0]:.1f}"))
    return Figure(
        "Example 8.4: prioritised sweeping",
        "mdplay learn maze --method 'sweeping(plans=5),dyna-q(plans=5)' --alpha 1 --episodes 60",
        "Updates up to the end of the episode in which the greedy policy becomes nearly optimal; "
        f"{runs} runs, fewer in the larger mazes.",
        {"ratios": ratios},
        rows_table(("states", "prioritised sweeping", "Dyna-Q", "ratio"), rows),
        picture(
            lines,
            Axes("episode", "exact value of the greedy policy, largest maze", 0.0, exact={"optimum": optimum}),
        ),
    )


def _enlarged(factor: int) -> str:
    """Return the maze with squares of ``factor`` cells in place of each cell, and one start."""
    drawing, settings = MAZE.split("\nreward")
    rows = ["".join(c * factor for c in row) for row in drawing.splitlines() for _ in range(factor)]
    text = "\n".join(rows)
    text = text.replace("S", "s").replace("s", "S", 1).replace("s", ".")
    return f"{text}\nreward{settings}"
