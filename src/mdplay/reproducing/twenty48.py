"""System 3: 2048, learned by an n-tuple network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mdplay.games.twenty48.rules import Twenty48
from mdplay.reproducing.steps import Figure, Made, ResultTable, Step, both
from mdplay.running import Show

TITLE = "2048, learned by an n-tuple network"
METHODS = {"td-before": "before-states (the report's)", "td": "after-states", "tc": "temporal coherence"}


def steps(quick: bool, seed: int) -> list[Step]:
    """Return a step for each method, and one that compares them."""
    episodes = {"td-before": 1_000, "td": 3_000, "tc": 3_000} if quick else dict.fromkeys(METHODS, 100_000)
    return [
        Step(f"2048-{method}", partial(_learned, method, count, seed), {"episodes": count, "seed": seed})
        for method, count in episodes.items()
    ]


def headline(figures: Sequence[Made]) -> str:
    """Return the means that the methods reached."""
    parts = [f"{f.figure.facts['mean']:,.0f} by {METHODS[f.figure.facts['method']]}" for f in figures]
    return f"Mean score of the last thousand episodes: {', '.join(parts)}."


def _learned(method: str, episodes: int, seed: int, show: Show) -> Figure:
    from mdplay.games.twenty48.curves import paint
    from mdplay.learning.learners import learn

    training = learn(Twenty48(), method=method, episodes=episodes, seed=seed, show=show)
    found: dict[str, Any] = training.document()
    points = training.curve
    last = points[-1]
    return Figure(
        title=f"Learning by {METHODS[method]}, {episodes:,} episodes",
        command=f"mdplay learn 2048 --method {method} --episodes {episodes} --seed {seed} --plot curve.png",
        text=f"{found['moves_per_second']:,.0f} moves a second on one thread. The table shows the share of the "
        "last thousand games that reached each tile.",
        facts={"method": method, "mean": found["mean"], "max": found["max"], "curve": found["curve"]},
        table=ResultTable(
            ["mean", "max", *(str(tile) for tile, share in last.tiles.items() if share < 1)],
            [
                [
                    f"{last.mean:,.0f}",
                    f"{last.max:,}",
                    *(f"{share:.1%}" for share in last.tiles.values() if share < 1),
                ]
            ],
        ),
        picture=both(lambda figure: paint(figure, {METHODS[method]: points})),
    )
