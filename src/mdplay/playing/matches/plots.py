"""The picture of a tournament: ratings with their intervals, and the cross table as colours and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mdplay.playing.matches.tournament import TournamentResult
from mdplay.plots import save_plot


def plot_tournament(found: TournamentResult, path: str | Path) -> None:
    """Write the picture to a file; its ending (png, svg, pdf) tells the format."""
    save_plot(lambda figure: paint_tournament(figure, found), path, (11, 1.6 + 0.5 * len(found.agents)))


def paint_tournament(figure: Any, found: TournamentResult) -> None:
    """Paint the ratings beside the cross table."""
    left, right = figure.subplots(1, 2)
    _draw_ratings(left, found)
    _draw_table(right, found)


def _draw_ratings(axes: Any, found: TournamentResult) -> None:
    ratings = found.ratings
    rows = range(len(ratings))
    axes.errorbar([r.elo for r in ratings], rows, xerr=[r.reach for r in ratings], fmt="o", capsize=4)
    axes.set_yticks(rows, [f"{r.agent}  {i}" for i, r in enumerate(ratings, start=1)])
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("Elo, with 95 % intervals")


def _draw_table(axes: Any, found: TournamentResult) -> None:
    names = [r.agent for r in found.ratings]
    scores = [[found.tallies[a, b].score if a != b else float("nan") for b in names] for a in names]
    axes.imshow(scores, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
    numbers = [str(i + 1) for i in range(len(names))]
    axes.set_xticks(range(len(names)), numbers)
    axes.set_yticks(range(len(names)), numbers)
    size = min(10.0, 100.0 / len(names))  # that the numbers of neighbours do not touch
    for i, row in enumerate(scores):
        for j, score in enumerate(row):
            axes.text(
                j, i, "" if i == j else f"{100 * score:.0f}", ha="center", va="center", size=size, color="black"
            )
    axes.set_xlabel("score of the row against the column, in %")
