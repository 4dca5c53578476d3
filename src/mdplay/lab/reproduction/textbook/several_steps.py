"""Chapters 7 and 12: returns of several steps and eligibility traces on the walk of 19 states."""

from __future__ import annotations

import math

import numpy as np

import mdplay
from mdplay.lab.reproduction.steps import Claim, Facts, Figure, Step, equal
from mdplay.lab.reproduction.textbook.drawing import STANDARD_ERRORS, Axes, Line, Show, picture, rows_table

TITLE = "Several steps and eligibility traces"
STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # of Figure 7.2
DECAYS = (0.0, 0.4, 0.8, 0.9, 0.95, 0.975, 0.99)
KINDS = ("accumulating", "replacing", "true-online")
ALPHAS = [round(0.05 * i, 2) for i in range(1, 21)]


def steps(quick: bool, seed: int) -> list[Step]:
    """Return the figures of the chapters."""
    runs = 100 if quick else 1000
    settings = {"runs": runs, "seed": seed}
    return [
        Step("n-step", lambda show: _n_step(runs, seed, show), settings),
        Step("traces", lambda show: _traces(runs, seed, show), settings),
    ]


def headline(facts: Facts) -> str:
    """Return the chapters in a sentence."""
    best = facts["n-step"]["least"]
    return f"Intermediate methods are best: n = 4 has the RMS error {best['4']:.3f}, n = 1 {best['1']:.3f}."


def claims(facts: Facts) -> list[Claim]:
    """Return the book's statements beside what came out."""
    n_step, traces = facts["n-step"], facts["traces"]
    least = {int(n): error for n, error in n_step["least"].items()}
    best = min(least, key=lambda n: least[n])
    at_one = {kind: error if error is not None else math.inf for kind, error in traces["at_one"].items()}
    lowest = {kind: min(errors.values()) for kind, errors in traces["least"].items()}
    return [
        equal(
            "Figure 7.2: an intermediate n is best; n = 4 has the lowest error, a little above 0.25.",
            f"n = {best} with {least[best]:.4f}; " + ", ".join(f"{n}: {error:.3f}" for n, error in least.items()),
            f"Best of {len(ALPHAS)} step sizes; {n_step['runs']:,} runs (the book: 100) of 10 episodes; exact "
            f"truth.",
            best == 4 and 0.25 < least[4] < 0.27,
        ),
        equal(
            "Figure 12.6: with TD(lambda) too, intermediate values are best.",
            ", ".join(f"{decay}: {error:.3f}" for decay, error in traces["least"]["accumulating"].items()),
            "Best of the step sizes, accumulating traces.",
            float(min(traces["least"]["accumulating"], key=traces["least"]["accumulating"].__getitem__))
            in (0.4, 0.8, 0.9),
        ),
        equal(
            "Figure 12.8: true online TD(lambda) has a lower error than TD(lambda) and never becomes unstable at "
            "large step sizes.",
            f"least error {lowest['true-online']:.4f} against {lowest['accumulating']:.4f}; at alpha 1, lambda "
            f"0.95: {at_one['true-online']:.2f} against {at_one['accumulating']:.1e}",
            "All step sizes up to 1; inf: diverged.",
            lowest["true-online"] < lowest["accumulating"]
            and at_one["true-online"] < 1.0 < at_one["accumulating"],
        ),
    ]


def _sweep(method: str, runs: int, seed: int, show: Show) -> Line:
    """Return the RMS error over the first ten episodes by step size."""
    curves = mdplay.learn(
        mdplay.make_task("walk:size=19,left=-1"), method=method, policy="uniform", alpha=ALPHAS, episodes=10,
        runs=runs, seed=seed, points=1, progress=show,
    )  # fmt: skip
    errors = [float(c.error[-1]) for c in curves]
    return Line(ALPHAS, errors, [float(STANDARD_ERRORS * c.error_error[-1]) for c in curves])


def _least(line: Line) -> float:
    return float(np.nanmin(line.y))


def _finite(error: float) -> float | None:
    return float(error) if math.isfinite(error) else None


def _n_step(runs: int, seed: int, show: Show) -> Figure:
    lines = {n: _sweep(f"td(n={n})", runs, seed, show) for n in STEPS}
    least = {str(n): _least(line) for n, line in lines.items()}
    rows = [(str(n), f"{_least(line):.4f}", f"{ALPHAS[int(np.nanargmin(line.y))]:g}") for n, line in lines.items()]
    return Figure(
        "Figure 7.2: n-step TD on the walk of 19 states",
        f"mdplay learn walk:size=19,left=-1 --method 'td(n=4)' --policy uniform --alpha 0.05:1:0.05 --episodes 10 "
        f"--runs {runs} --points 1",
        "RMS error over the states, mean of the first ten episodes.",
        {"least": least, "runs": runs},
        rows_table(("n", "least RMS error", "at alpha"), rows),
        picture({f"n = {n}": line for n, line in lines.items()}, Axes("alpha", "RMS error", 0.22, 0.56)),
    )


def _traces(runs: int, seed: int, show: Show) -> Figure:
    lines = {
        (kind, decay): _sweep(f"td(lambda={decay:g},traces={kind})" if decay else "td", runs // 5, seed, show)
        for kind in KINDS
        for decay in DECAYS
    }
    least = {kind: {f"{d:g}": _least(lines[kind, d]) for d in DECAYS} for kind in KINDS}
    rows = [(f"{d:g}", *(f"{least[kind][f'{d:g}']:.4f}" for kind in KINDS)) for d in DECAYS]
    shown = {
        f"{kind}, {d:g}": lines[kind, d] for kind in ("accumulating", "true-online") for d in (0.4, 0.8, 0.95)
    }
    return Figure(
        "Figures 12.6 and 12.8: TD(lambda) and true online TD(lambda)",
        f"mdplay learn walk:size=19,left=-1 --method 'td(lambda=0.8,traces=true-online)' --policy uniform --alpha "
        f"0.05:1:0.05 --episodes 10 --runs {runs // 5} --points 1",
        "Least RMS error over the step sizes, by lambda.",
        {"least": least, "at_one": {kind: _finite(lines[kind, 0.95].y[-1]) for kind in KINDS}, "runs": runs // 5},
        rows_table(("lambda", *KINDS), rows),
        picture(shown, Axes("alpha", "RMS error", 0.22, 0.56)),
    )
