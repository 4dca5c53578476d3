"""The pictures of the bandit laboratory: regret, share of best pulls and reward over the steps, with bands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.bandits.laboratory import BAND, Comparison, Curve
from mdplay.views.charts import save_plot


def plot_curves(found: Comparison, path: str | Path) -> None:
    """Draw three panels into a file; its ending (png, svg, pdf) tells the format."""
    save_plot(lambda figure: paint_curves(figure, found), path, (12, 4.8))


def paint_curves(figure: Any, found: Comparison, *, stacked: bool = False) -> None:
    """Paint regret, share of best pulls and reward side by side; stacked: the first two, one above the other."""
    panels = figure.subplots(2, 1, sharex=True) if stacked else figure.subplots(1, 3)
    for curve in found:
        _draw(panels[0], curve, curve.regret, curve.regret_error)
        _draw(panels[1], curve, *_smooth(curve.optimal, curve.optimal_error))
        if not stacked:
            _draw(panels[2], curve, *_smooth(curve.reward, curve.reward_error))
    for panel, label in zip(panels, ("regret", "share of best pulls", "reward"), strict=False):
        panel.set_ylabel(label)
        panel.grid(True)
    for panel in panels[-1:] if stacked else panels:
        panel.set_xlabel("step")
    _draw_lower_bound(panels[0], found)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2 if stacked else 4)


def plot_study(studies: Mapping[str, Mapping[float, float]], path: str | Path) -> None:
    """Draw the mean reward of selectors over their parameter, on a logarithmic axis."""
    save_plot(lambda figure: _paint_study(figure, studies), path)


def _paint_study(figure: Any, studies: Mapping[str, Mapping[float, float]]) -> None:
    axes = figure.subplots()
    for name, found in studies.items():
        axes.plot(list(found), list(found.values()), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("parameter")
    axes.set_ylabel("mean reward over all steps")
    axes.grid(True)
    axes.legend(fontsize="small")


def _draw(axes: Any, curve: Curve, mean: Any, error: Any) -> None:
    axes.plot(curve.steps, mean, label=curve.name, linewidth=1.8)
    axes.fill_between(curve.steps, mean - BAND * error, mean + BAND * error, alpha=0.2)


def _smooth(mean: Any, error: Any) -> tuple[Any, Any]:
    """Return both averaged over a hundredth of the points on either side, so that lines do not hide each other."""
    reach = len(mean) // 100
    window = np.ones(2 * reach + 1)
    weight = np.convolve(np.ones(len(mean)), window, "same")
    return tuple(np.convolve(values, window, "same") / weight for values in (mean, error))  # type: ignore[return-value]


def _draw_lower_bound(axes: Any, found: Comparison) -> None:
    constant = found.bandit.lower_bound()
    if constant is not None:
        steps = found[0].steps
        axes.plot(
            steps,
            constant * np.log(np.maximum(steps, 1)),
            linestyle="--",
            color="gray",
            linewidth=1,
            label="Lai-Robbins",
        )
