"""Bandits: policies on the same arms, told as their curves become smoother."""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.bandits.laboratory import Bandit, Curve, run_bandit
from mdplay.web.numbers import plain
from mdplay.web.work.jobs import Job, notice_of
from mdplay.web.work.workshop import Workshop

BATCHES = 12  # in which the runs of a bandit are told
CURVE_POINTS = 200


def tell_bandits(
    job: Job, workshop: Workshop, bandit: Bandit, policies: list[str], steps: int, runs: int, seed: int
) -> None:
    """Play policies on a bandit, some runs at a time, and tell their curves as they become smoother."""

    def work() -> None:
        totals: dict[str, list[Curve]] = {policy: [] for policy in policies}
        sizes = [len(part) for part in np.array_split(np.arange(runs), min(BATCHES, runs))]
        for number, size in enumerate(sizes):
            for policy in policies:
                found = run_bandit(
                    bandit, policy, steps=steps, runs=size, seed=seed + number, threads=1, show=job.show
                )
                totals[policy].append(found)
            job.emit("curve", {"curves": [mean_curve(name, parts) for name, parts in totals.items()]})

    bound = bandit.lower_bound()
    job.emit(
        "bandit",
        {"arms": bandit.size, "means": list(bandit.means), "bound": None if bound is None else plain(bound)},
    )
    task = {"kind": "bandits", "policies": policies}
    workshop.done("the bandits", task, work, check=job.check, notice=notice_of(job))


def mean_curve(policy: str, parts: list[Curve]) -> dict[str, Any]:
    """Return the mean of curves over all their runs, at so many points as a picture has."""
    weights = np.array([part.runs for part in parts], np.float64)
    every = np.linspace(0, len(parts[0].steps) - 1, min(CURVE_POINTS, len(parts[0].steps))).astype(int)

    def mean(name: str) -> list[float]:
        rows = np.array([getattr(part, name)[every] for part in parts])
        return [round(float(x), 6) for x in np.average(rows, axis=0, weights=weights)]

    return {
        "policy": policy,
        "runs": int(weights.sum()),
        "steps": parts[0].steps[every].tolist(),
        "regret": mean("regret"),
        "optimal": mean("optimal"),
        "reward": mean("reward"),
    }
