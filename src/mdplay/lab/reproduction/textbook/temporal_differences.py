"""Chapter 6, temporal-difference learning: random walk, windy grid, cliff walking, maximisation bias."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import mdplay
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, equal
from mdplay.lab.reproduction.textbook.drawing import (
    STANDARD_ERRORS,
    Axes,
    Floats,
    Line,
    Show,
    error_line,
    interval,
    last,
    picture,
    reward_line,
    rows_table,
)

TITLE = "Temporal-difference learning"
TRUTH = np.arange(1, 6) / 6.0  # of the random walk
TD_ALPHAS, MC_ALPHAS = (0.05, 0.1, 0.15), (0.01, 0.02, 0.03, 0.04)
CLIFF_METHODS = ("q", "sarsa", "expected-sarsa")
ALPHAS = tuple(round(0.1 * i, 1) for i in range(1, 11))  # of Figure 6.3


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapter."""
    walks, batches = (500, 20) if quick else (10_000, 100)
    runs = 100 if quick else 1000
    interim, asymptotic = ((1000, 100), (2, 2000)) if quick else ((50_000, 100), (10, 100_000))
    return [
        Step("random-walk", lambda show: _walk(walks, seed, show), {"runs": walks, "seed": seed}),
        Step("batch", lambda show: _batch(batches, seed), {"runs": batches, "seed": seed}),
        Step("windy", lambda show: _windy(runs, seed, show), {"runs": runs, "seed": seed}),
        Step("cliff", lambda show: _cliff(runs, seed, show), {"runs": runs, "seed": seed}),
        Step(
            "cliff-step-sizes",
            lambda show: _step_sizes(interim, asymptotic, seed, show),
            {"interim": interim, "asymptotic": asymptotic, "seed": seed},
        ),
        Step("bias", lambda show: _bias(10 * runs, seed, show), {"runs": 10 * runs, "seed": seed}),
    ]


def headline(facts: Facts) -> str:
    """Return the chapter in a sentence."""
    return (
        f"On the cliff, Q-learning earns {facts['cliff']['late']['q'][0]:.1f} while it learns and its greedy "
        "policy is optimal; the greedy policy of SARSA in the windy grid never ends in "
        f"{facts['windy']['never']:.0%} of the runs."
    )


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    return [*_walk_claims(facts), *_grid_claims(facts), *_step_size_claims(facts), *_bias_claims(facts)]


def _walk_claims(facts: Facts) -> list[Claim]:
    walk, batch = facts["random-walk"], facts["batch"]
    td, mc = walk["errors"]["td"], walk["errors"]["mc"]
    return [
        equal(
            "Example 6.2: TD(0) was consistently better than constant-alpha Monte Carlo on this walk.",
            f"least RMS error of the mean over 100 episodes: TD {min(walk['mean']['td']):.4f}, MC "
            f"{min(walk['mean']['mc']):.4f}; after 100 episodes TD {', '.join(f'{e:.3f}' for e in td)}, MC "
            f"{', '.join(f'{e:.3f}' for e in mc)}",
            f"{walk['runs']:,} runs (the book: 100); the exact values are i/6.",
            max(min(walk["mean"]["td"]), min(td)) < min(walk["mean"]["mc"]),
        ),
        equal(
            "Figure 6.2: batch TD is better than batch Monte Carlo.",
            f"RMS error after 100 episodes: TD {batch['td'][-1]:.4f}, MC {batch['mc'][-1]:.4f}",
            f"The limits of batch training are solved exactly (certainty equivalence, mean return); "
            f"{batch['runs']} "
            "runs.",
            batch["td"][-1] < batch["mc"][-1],
        ),
    ]


def _grid_claims(facts: Facts) -> list[Claim]:
    windy, cliff = facts["windy"], facts["cliff"]
    q, sarsa = cliff["late"]["q"], cliff["late"]["sarsa"]
    return [
        equal(
            "Example 6.5: the minimum is 15 steps; SARSA's curve passes about 170 episodes in 8,000 steps.",
            f"{-windy['optimum']:.0f} steps exactly; episode 170 ends at step {windy['step_170']:,.0f}",
            f"{windy['runs']:,} runs; the book shows one.",
            windy["optimum"] == -15.0 and abs(windy["step_170"] - 8000) < 800,
        ),
        equal(
            "Example 6.5: the greedy policy was long since optimal when training continued.",
            f"after {windy['episodes']} episodes the greedy policy takes {-windy['greedy']:.2f} steps on average "
            f"where it ends, and never ends in {windy['never']:.0%} of the runs",
            "The exact judge, which the book did not have.",
            windy["never"] < 0.01,
            "with alpha 0.5 SARSA keeps fluctuating; a curve of episode lengths cannot show it, because "
            "exploration ends every episode",
        ),
        equal(
            "Exercises 6.9 and 6.10: king's moves need 7 steps.",
            f"{-windy['king']:.0f} steps; with stochastic wind {-windy['gusts']:.4f} on average",
            "The planner.",
            windy["king"] == -7.0,
        ),
        equal(
            "Example 6.6: Q-learning learns the optimal path (-13) and earns about -50 while it learns; SARSA "
            "takes the longer, safe path (-17) and earns about -25.",
            f"Q-learning {interval(*q)}, SARSA {interval(*sarsa)} in episodes 400 to 500; exact values of the "
            f"greedy policies {cliff['greedy']['q']:.2f} and {cliff['greedy']['sarsa']:.2f}",
            f"{cliff['runs']:,} runs, alpha 0.5, epsilon 0.1; exact optimum {cliff['optimum']:g}.",
            abs(q[0] + 50.0) < 3.0 and abs(sarsa[0] + 25.0) < 3.0 and cliff["greedy"]["q"] == -13.0,
        ),
    ]


def _step_size_claims(facts: Facts) -> list[Claim]:
    found = facts["cliff-step-sizes"]
    late_q, late_sarsa, late_mean = (found["asymptotic"][name] for name in CLIFF_METHODS)
    interim_q, interim_sarsa, interim_mean = (found["interim"][name] for name in CLIFF_METHODS)
    budget = f"{found['sizes'][0][0]:,} runs of {found['sizes'][0][1]:,} episodes; {found['sizes'][1][0]:,} of "
    budget += f"{found['sizes'][1][1]:,}."
    return [
        equal(
            "Figure 6.3: the asymptotic performance of Q-learning and expected SARSA does not depend on alpha; "
            "that of SARSA falls.",
            f"Q-learning {min(late_q):.1f} to {max(late_q):.1f}, expected SARSA {min(late_mean):.1f} to "
            f"{max(late_mean):.1f}, SARSA {late_sarsa[0]:.1f} at alpha 0.1 and {late_sarsa[-1]:.1f} at alpha 1",
            budget,
            max(late_q) - min(late_q) < 8.0 and max(late_mean) - min(late_mean) < 8.0 and late_sarsa[-1] < -100,
        ),
        equal(
            "Figure 6.3: expected SARSA is best at every alpha, in the first 100 episodes and in the limit.",
            f"at alpha 0.9 the first 100 episodes earn {interim_mean[8]:.1f} (expected SARSA), "
            f"{interim_sarsa[8]:.1f} "
            f"(SARSA), {interim_q[8]:.1f} (Q-learning)",
            budget,
            all(
                mean > max(q, sarsa) for mean, q, sarsa in zip(interim_mean, interim_q, interim_sarsa, strict=True)
            )
            and all(m > q for m, q in zip(late_mean, late_q, strict=True)),
        ),
    ]


def _bias_claims(facts: Facts) -> list[Claim]:
    bias = facts["bias"]
    return [
        equal(
            "Figure 6.5: Q-learning takes the left action far more often than the 5 % that are right; double "
            "Q-learning is nearly unaffected.",
            f"left in episode 300: Q {bias['last']['q']:.1f} %, double Q {bias['last']['double-q']:.1f} %; at "
            f"most {bias['most']['q']:.0f} % and {bias['most']['double-q']:.0f} %",
            f"{bias['runs']:,} runs (the book: 10,000); 10 actions in B (the book: many).",
            bias["last"]["double-q"] < bias["last"]["q"] and bias["most"]["q"] > 1.3 * bias["most"]["double-q"],
        )
    ]


def _walk(runs: int, seed: int, show: Show) -> Figure:
    task = mdplay.make_task("walk")
    lines, rows = {}, []
    errors: dict[str, list[float]] = {"td": [], "mc": []}
    mean: dict[str, list[float]] = {"td": [], "mc": []}
    for name, method, alphas in (("td", "td", TD_ALPHAS), ("mc", "mc-prediction(every_visit=true)", MC_ALPHAS)):
        for curve, alpha in zip(
            mdplay.learn(
                task, method=method, policy="uniform", alpha=alphas, initial=0.5, episodes=100, runs=runs,
                seed=seed, progress=show, max_steps=10_000,
            ),
            alphas,
            strict=True,
        ):  # fmt: skip
            lines[f"{name.upper()}, alpha {alpha:g}"] = error_line(curve)
            errors[name].append(float(curve.error[-1]))
            mean[name].append(float(curve.error.mean()))
            rows.append((f"{name.upper()} {alpha:g}", *(f"{curve.error[i]:.4f}" for i in (0, 9, 24, 49, 99))))
    return Figure(
        "Example 6.2: the random walk of five states",
        f"mdplay learn walk --method td --policy uniform --alpha 0.05,0.1,0.15 --initial 0.5 --episodes 100 "
        f"--runs {runs}",
        "RMS error over the five states.",
        {"errors": errors, "mean": mean, "runs": runs},
        rows_table(("method", "1", "10", "25", "50", "100"), rows),
        picture(lines, Axes("episode", "RMS error", 0.0)),
    )


def _batch(runs: int, seed: int) -> Figure:
    rng = np.random.default_rng(seed)
    total = np.zeros((2, 100))
    for _ in range(runs):
        counts, earned, visits = np.zeros((7, 7)), np.zeros(5), np.zeros(5)
        for episode in range(100):
            path = _random_path(rng)
            for s, t in pairwise(path):
                counts[s, t] += 1
                visits[s - 1] += 1
                earned[s - 1] += path[-1] == 6
            monte_carlo = np.where(visits > 0, earned / np.maximum(visits, 1), 0.5)
            for kind, values in enumerate((_certainty_equivalent(counts), monte_carlo)):
                total[kind, episode] += float(np.sqrt(((values - TRUTH) ** 2).mean()))
    td, mc = (total / runs).tolist()
    return Figure(
        "Figure 6.2: batch training on the random walk",
        "mdplay reproduce textbook",
        "Batch TD converges to the values of the maximum-likelihood chain, batch Monte Carlo to the mean returns.",
        {"td": td, "mc": mc, "runs": runs},
        None,
        picture({"TD": Line(range(1, 101), td), "MC": Line(range(1, 101), mc)}, Axes("episode", "RMS error", 0.0)),
    )


def _random_path(rng: Any) -> list[int]:
    path = [3]
    while 0 < path[-1] < 6:
        path.append(path[-1] + (1 if rng.random() < 0.5 else -1))
    return path


def _certainty_equivalent(counts: Floats) -> Floats:
    """Return the values of the chain with the observed frequencies; states without a visit keep 0.5."""
    seen = [s for s in range(1, 6) if counts[s].sum() > 0]
    values = np.array([0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0])
    shares = counts[seen] / counts[seen].sum(axis=1, keepdims=True)
    others = [s for s in range(7) if s not in seen]
    values[seen] = np.linalg.solve(np.eye(len(seen)) - shares[:, seen], shares[:, others] @ values[others])
    return values[1:6]


def _start_value(name: str) -> float:
    task = mdplay.make_task(name)
    values = mdplay.plan(task.mdp).value
    return float(sum(share * values[s] for s, share in task.starts.items()))


def _windy(runs: int, seed: int, show: Show) -> Figure:
    curve = mdplay.learn(
        mdplay.make_task("windy"), method="sarsa", alpha=0.5, episodes=200, runs=runs, seed=seed, progress=show
    )[0]
    return Figure(
        "Example 6.5: SARSA in the windy grid",
        f"mdplay learn windy --method sarsa --alpha 0.5 --episodes 200 --runs {runs}",
        "Steps until the end of each episode; the exact values belong to the last table of each run.",
        {
            "optimum": curve.optimum,
            "step_170": float(curve.time[169]),
            "greedy": float(curve.greedy[-1]),
            "never": float(curve.never[-1]),
            "king": _start_value("windy:moves=king"),
            "gusts": _start_value("windy:moves=king,gusts=true"),
            "runs": runs,
            "episodes": 200,
        },
        None,
        picture({"SARSA": Line(curve.time.tolist(), curve.at.tolist())}, Axes("step", "episode", 0.0)),
    )


def _cliff(runs: int, seed: int, show: Show) -> Figure:
    fine, curves = (
        mdplay.learn(
            mdplay.make_task("cliff"), method=",".join(CLIFF_METHODS), alpha=0.5, episodes=500, runs=runs,
            seed=seed, points=points, progress=show,
        )
        for points in (500, 5)
    )  # fmt: skip
    rows = [
        (c.name, interval(*last(c)), f"{c.greedy[-1]:.2f}", f"{c.followed[-1]:.2f}", f"{c.never[-1]:.1%}")
        for c in curves
    ]
    return Figure(
        "Example 6.6: cliff walking",
        f"mdplay learn cliff --method {','.join(CLIFF_METHODS)} --alpha 0.5 --runs {runs}",
        "Greedy and followed are exact values of the policies after 500 episodes.",
        {
            "late": {c.name: last(c) for c in curves},
            "greedy": {c.name: float(c.greedy[-1]) for c in curves},
            "optimum": curves.optimum,
            "runs": runs,
        },
        rows_table(("method", "reward, episodes 400 to 500", "greedy", "followed", "never ends"), rows),
        picture(
            {c.name: reward_line(c) for c in fine},
            Axes("episode", "reward", -100.0, 0.0, {"exact optimum": -13.0}),
        ),
    )


def _step_sizes(interim: tuple[int, int], asymptotic: tuple[int, int], seed: int, show: Show) -> Figure:
    task = mdplay.make_task("cliff")
    lines: dict[str, Line] = {}
    facts: dict[str, dict[str, list[float]]] = {}
    for number, (name, (runs, episodes)) in enumerate((("interim", interim), ("asymptotic", asymptotic))):
        curves = mdplay.learn(
            task, method=",".join(CLIFF_METHODS), alpha=list(ALPHAS), episodes=episodes, runs=runs,
            seed=seed + number, points=1, checkpoints=0, progress=show,
        )  # fmt: skip
        facts[name] = {}
        for i, method in enumerate(CLIFF_METHODS):
            own = curves[10 * i : 10 * i + 10]
            facts[name][method] = [float(c.reward[-1]) for c in own]
            half = [float(STANDARD_ERRORS * c.reward_error[-1]) for c in own]
            lines[f"{method}, {name}"] = Line(ALPHAS, facts[name][method], half)
    rows = [
        (f"{alpha:g}", *(f"{facts[name][method][i]:.1f}" for name in facts for method in CLIFF_METHODS))
        for i, alpha in enumerate(ALPHAS)
    ]
    return Figure(
        "Figure 6.3: interim and asymptotic performance on the cliff, by step size",
        f"mdplay learn cliff --method {','.join(CLIFF_METHODS)} --alpha 0.1:1:0.1 --episodes {interim[1]} --runs "
        f"{interim[0]} --points 1",
        f"Interim: mean reward of the first {interim[1]:,} episodes, {interim[0]:,} runs. Asymptotic: of "
        f"{asymptotic[1]:,} episodes, {asymptotic[0]:,} runs.",
        {**facts, "sizes": [interim, asymptotic]},
        rows_table(("alpha", *(f"{m}, {n}" for n in ("interim", "asymptotic") for m in CLIFF_METHODS)), rows),
        picture(lines, Axes("alpha", "reward of an episode", -160.0, 0.0, {"exact optimum": -13.0})),
    )


def _bias(runs: int, seed: int, show: Show) -> Figure:
    curves = mdplay.learn(
        mdplay.make_task("bias"), method="q,double-q", episodes=300, runs=runs, seed=seed, checkpoints=0,
        points=300, progress=show,
    )  # fmt: skip
    left = {c.name: 100.0 * (c.length - 1.0) for c in curves}
    return Figure(
        "Figure 6.5: maximisation bias",
        f"mdplay learn bias --method q,double-q --episodes 300 --runs {runs}",
        "Share of runs that go left from A, which is wrong: an episode to the left has two steps.",
        {
            "last": {name: float(share[-1]) for name, share in left.items()},
            "most": {name: float(share.max()) for name, share in left.items()},
            "runs": runs,
        },
        None,
        picture(
            {name: Line(range(1, 301), share.tolist()) for name, share in left.items()},
            Axes("episode", "left actions, %", 0.0, 100.0, {"optimal with epsilon 0.1": 5.0}),
        ),
    )
