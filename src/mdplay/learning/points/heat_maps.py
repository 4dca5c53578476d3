"""Utilities of points as pictures: a row of layers for every run, warm where whoever took the point won."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from mdplay.plots import save_plot
from mdplay.words import counted

Shape = tuple[int, int, int]


class Run(Protocol):
    """What is drawn: the utility of every point after a number of games."""

    @property
    def utilities(self) -> NDArray[Any]:
        """In point order."""

    @property
    def num_games(self) -> int:
        """The games behind them."""


def draw(path: str | Path, runs: Sequence[Run], shape: Shape, title: str = "") -> None:
    """Draw the layers of each run as heat maps into a picture (.png, .svg or .pdf)."""
    layers, rows, cols = shape
    size = (0.75 * cols * layers + 2.0, (0.7 * rows + 0.7) * len(runs) + 0.8)
    save_plot(lambda figure: paint(figure, runs, shape, title), path, size)


def paint(figure: Any, runs: Sequence[Run], shape: Shape, title: str = "") -> None:
    """Paint a row of layers for each run; each run has its own scale."""
    figure.suptitle(title)
    grid = figure.subplots(len(runs), shape[0], squeeze=False)
    for axes, run in zip(grid, runs, strict=True):
        _draw_run(figure, axes, run, shape)


def _draw_run(figure: Any, axes: Any, run: Run, shape: Shape) -> None:
    values = run.utilities.reshape(shape)
    low, high = float(values.min()), float(values.max())
    for z, plot in enumerate(axes):
        image = plot.imshow(values[z], cmap="YlOrRd", vmin=low, vmax=high)
        plot.set_title(f"z = {z}" if shape[0] > 1 else "", fontsize=11)
        plot.set_xticks(range(shape[2]))
        plot.set_yticks(range(shape[1]))
        plot.tick_params(labelsize=9, length=0)
        _write_values(plot, values[z], (low + 2 * high) / 3)
    axes[0].set_ylabel(counted(run.num_games, "game"), fontsize=11)
    figure.colorbar(image, ax=list(axes), shrink=0.9, label="utility")


def _write_values(plot: Any, layer: Any, dark: float) -> None:
    """Write each utility into its cell, white on dark ones."""
    for (y, x), value in _cells(layer):
        plot.text(x, y, f"{value:.3f}", ha="center", va="center", fontsize=10, color="w" if value > dark else "k")


def _cells(layer: Any) -> list[tuple[tuple[int, int], float]]:
    rows, cols = layer.shape
    return [((y, x), float(layer[y, x])) for y in range(rows) for x in range(cols)]
