"""Pictures: one look for all plots, in light and in dark, to a file or for a page.

A plot is a function that paints on a matplotlib figure; ``save_plot`` and ``png`` give it the figure, the size and
the colours.  matplotlib is an extra and imported on first use; pyplot, with its global state, never is.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from mdplay.errors import LimitError, MdplayError
from mdplay.storage.files import write

Paint = Callable[[Any], None]
Size = tuple[float, float]

CYCLE = ("#d9482b", "#2468b4", "#3a9a5b", "#a35bb8", "#c98a1b", "#1b9aaa", "#7a6f63", "#b8336a")
DARK_CYCLE = ("#f2694a", "#4f9be8", "#5cc47e", "#c58ad6", "#e5ab45", "#4fc3d1", "#a79f93", "#e06a9a")
FORMATS = ("png", "svg", "pdf")


def save_plot(paint: Paint, path: str | Path, size: Size = (8, 5)) -> None:
    """Paint a plot into a file, atomically; its ending (png, svg or pdf) tells the format."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise MdplayError(f"cannot draw {path}: the name must end in .png, .svg or .pdf")
    picture = _painted(paint, size, kind, dark=False)
    write(path, picture)


def png(paint: Paint, size: Size = (8, 5), *, dark: bool = False) -> bytes:
    """Return a plot as a PNG picture with a transparent ground."""
    return _painted(paint, size, "png", dark=dark)


def data_url(picture: bytes) -> str:
    """Return a PNG picture as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _painted(paint: Paint, size: Size, kind: str, *, dark: bool) -> bytes:
    with theme(dark) as figure_class:
        figure = figure_class(figsize=size, layout="constrained")
        paint(figure)
        file = BytesIO()
        figure.savefig(file, format=kind, dpi=150, transparent=kind == "png" and dark)
    return file.getvalue()


@contextmanager
def theme(dark: bool) -> Iterator[Any]:
    """Set the colours and give matplotlib's Figure; a missing matplotlib is a sentence."""
    try:
        from cycler import cycler
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise LimitError("plots need matplotlib: pip install 'mdplay[plot]'") from None
    ink, faint, ground = ("#e9e6e0", "#59616c", "#20242a") if dark else ("#3b342b", "#c4bbac", "#ffffff")
    rules = {
        "axes.prop_cycle": cycler(color=DARK_CYCLE if dark else CYCLE),
        "axes.edgecolor": faint,
        "axes.labelcolor": ink,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.facecolor": ground,
        "axes.titlesize": "medium",
        "figure.facecolor": ground,
        "grid.color": faint,
        "grid.alpha": 0.5,
        "legend.frameon": False,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "svg.hashsalt": "mdplay",  # equal pictures are equal files
    }
    with rc_context(rules):
        yield Figure
