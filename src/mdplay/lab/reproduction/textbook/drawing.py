"""What the chapters share: numbers with their intervals, tables, and pictures of curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay import Curve
from mdplay.lab.reproduction.steps import ResultTable, both

Floats = npt.NDArray[np.float64]
Show = Callable[[int], None]
STANDARD_ERRORS = 1.96  # half the width of a 95 % interval


class Line(NamedTuple):
    """A curve of a picture, with the half width of its 95 % interval."""

    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] = ()


class Axes(NamedTuple):
    """The names and limits of the axes of a picture, and horizontal lines at exact values."""

    x: str
    y: str
    low: float | None = None
    high: float | None = None
    exact: Mapping[str, float] = {}
    log_x: bool = False


def interval(mean: float, half: float, digits: int = 1) -> str:
    """Return a number with the half width of its interval.

    >>> interval(-50.123, 0.26)
    '-50.1 ± 0.3'
    """
    return f"{mean:.{digits}f} ± {half:.{digits}f}" if math.isfinite(half) else f"{mean:.{digits}f}"


def reward_line(curve: Curve) -> Line:
    """Return the rewards of a curve."""
    return Line(curve.at.tolist(), curve.reward.tolist(), (STANDARD_ERRORS * curve.reward_error).tolist())


def error_line(curve: Curve) -> Line:
    """Return the errors of the values of a curve."""
    return Line(curve.at.tolist(), curve.error.tolist(), (STANDARD_ERRORS * curve.error_error).tolist())


def length_line(curve: Curve) -> Line:
    """Return the lengths of the episodes of a curve."""
    return Line(curve.at.tolist(), curve.length.tolist(), (STANDARD_ERRORS * curve.length_error).tolist())


def last(curve: Curve) -> tuple[float, float]:
    """Return the reward of the last point of a curve and the half width of its interval."""
    return float(curve.reward[-1]), float(STANDARD_ERRORS * curve.reward_error[-1])


def picture(lines: Mapping[str, Line], axes: Axes) -> tuple[bytes, bytes]:
    """Return a picture of curves for light and for dark surroundings."""

    def paint(figure: Any) -> None:
        panel = figure.subplots()
        for name, line in lines.items():
            x, y = np.asarray(line.x, float), np.asarray(line.y, float)
            (drawn,) = panel.plot(x, y, label=name, linewidth=1.6, marker="." if len(x) <= 25 else None)
            if len(line.half):
                half = np.asarray(line.half, float)
                panel.fill_between(x, y - half, y + half, alpha=0.2, color=drawn.get_color())
        for name, value in axes.exact.items():
            panel.axhline(value, linestyle="--", color="gray", linewidth=1, label=name)
        panel.set_xlabel(axes.x)
        panel.set_ylabel(axes.y)
        panel.set_ylim(axes.low, axes.high)
        if axes.log_x:
            panel.set_xscale("log")
        panel.grid(True)
        panel.legend(fontsize="small")

    return both(paint, (7.0, 4.0))


def rows_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> ResultTable:
    """Return a table of texts."""
    return ResultTable(tuple(header), [tuple(row) for row in rows])
