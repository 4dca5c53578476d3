"""Charts: SVG for notebooks in the notebook's colour, and matplotlib plots for files and reports.

A plot is a function that paints on a matplotlib figure; ``save_plot`` and ``png`` give it the figure, the size and
the colours, light or dark.  matplotlib is an extra and imported on first use; pyplot, with its global state, is
never imported.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from mdplay.errors import LimitError, MdplayError
from mdplay.storage.files import write
from mdplay.svg import element, label, line, polygon, rect
from mdplay.views.html import MAX_ROWS, MAX_TEXT, SVG, cut, printable, safe, sentence, shortened

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


MAX_CURVES = 8
MAX_POINTS = 200  # of a curve
FAR = 1e300  # beyond, differences overflow

INK = {"fill": "currentColor"}
STROKE = {"fill": "none", "stroke": "currentColor"}


# ---------------------------------------------------------------- curves
class Series(NamedTuple):
    """A curve with a name, and a band around it where ``low`` and ``high`` are given."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()

    def thinned(self) -> Series:
        """Return the curve with at most MAX_POINTS points, the last one among them."""
        step = -(-len(self.x) // MAX_POINTS) or 1
        return Series(self.name, *(list(figures)[::-1][::step][::-1] for figures in self[1:]))


class _Frame(NamedTuple):
    """The plane of a chart: what is seen of both axes, and where it lies in the picture."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 58
    top: float = 32
    width: float = 330
    height: float = 170

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the plane in the picture."""
        across, up = (x - self.x[0]) / (self.x[1] - self.x[0]), (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(self.left + across * self.width, 1), round(self.top + (1 - up) * self.height, 1)


def chart(series: Sequence[Series], x: str, y: str) -> str:
    """Return curves as a picture with axes, names and bands; at most MAX_CURVES of them."""
    kept = [one.thinned() for one in series[:MAX_CURVES] if len(one.x)]
    if not kept:
        return sentence("There is no point of a curve yet.")
    frame = _Frame(_span([n for one in kept for n in one.x]), _span([n for one in kept for n in _heights(one)]))
    curves = [_curve(frame, one, CYCLE[i]) for i, one in enumerate(kept)]
    names = [_name(frame, i, one.name) for i, one in enumerate(kept)] if len(series) > 1 else []
    bottom = frame.top + frame.height + 48 + 18 * len(names)
    words = f"{y} over {x}: {', '.join(one.name for one in kept)}"
    return _svg(420, bottom, [*_axes(frame, x, y), *curves, *names], words) + cut(len(series), len(kept), "curves")


def _heights(one: Series) -> list[float]:
    return [n for n in (*one.y, *one.low, *one.high) if math.isfinite(n)]


def _span(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the least and the largest of finite numbers, as far as they are drawn, apart from each other."""
    low, high = (max(-FAR, min(FAR, float(n))) for n in (min(numbers, default=0.0), max(numbers, default=0.0)))
    room = 0.5 * max(1.0, abs(low))
    return (low, high) if high - low > 1e-12 * abs(low) + 1 / FAR else (low - room, high + room)


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return about ``count`` round numbers between two.

    >>> ticks(0, 10)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step * (count + 1) >= high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _axes(frame: _Frame, x: str, y: str) -> list[str]:
    left, top, right, bottom = frame.left, frame.top, frame.left + frame.width, frame.top + frame.height
    shapes = [element("path", "axis", d=f"M{left} {top}V{bottom}H{right}", stroke_opacity="0.5", **STROKE)]
    for tick, text in _labelled(ticks(*frame.y)):
        height = frame.place(frame.x[0], tick)[1]
        shapes.append(line(left, height, right, height, "grid", stroke_opacity="0.15", **STROKE))
        shapes.append(label(left - 6, height, text, "tick", 11, text_anchor="end", **INK))
    for tick, text in _labelled(ticks(*frame.x)):
        across = frame.place(tick, frame.y[0])[0]
        shapes.append(label(across, bottom + 14, text, "tick", 11, text_anchor="middle", **INK))
    shapes.append(label((left + right) / 2, bottom + 32, _clean(x), "axis", 12, text_anchor="middle", **INK))
    return [*shapes, label(8, 12, _clean(y), "axis", 12, text_anchor="start", **INK)]


def _labelled(marks: Sequence[float]) -> list[tuple[float, str]]:
    """Return the ticks of an axis with their texts, all in one unit: 0k, 20k, 40k."""
    largest = max(map(abs, marks), default=0.0)
    unit, sign = (1e6, "M") if largest >= 1e7 else (1e3, "k") if largest >= 1e4 else (1.0, "")
    return [(mark, f"{mark / unit:g}{sign}") for mark in marks]


def _clean(text: str, length: int = MAX_TEXT) -> str:
    return shortened(printable(text), length)


def _curve(frame: _Frame, one: Series, colour: str) -> str:
    points = [frame.place(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(y)]
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    drawn = element("polyline", "curve", points=way, fill="none", stroke=colour, stroke_width=2)
    dots = [element("circle", "dot", cx=x, cy=y, r=3, fill=colour) for x, y in points if len(points) <= 20]
    if not len(one.low):
        return drawn + "".join(dots)
    edge = [*zip(one.x, one.high, strict=True), *list(zip(one.x, one.low, strict=True))[::-1]]
    band = polygon([frame.place(x, y) for x, y in edge if math.isfinite(y)], "band", fill=colour)
    return element("g", "band", band, fill_opacity="0.2") + drawn + "".join(dots)


def _name(frame: _Frame, place: int, name: str) -> str:
    y = frame.top + frame.height + 52 + 18 * place
    stroke = line(frame.left, y, frame.left + 22, y, "curve", stroke=CYCLE[place], stroke_width="3")
    return stroke + label(frame.left + 30, y, _clean(name), "name", 12, text_anchor="start", **INK)


# ---------------------------------------------------------------- trees
class Branch(NamedTuple):
    """A node of a tree as it is drawn: its words, its share of its parent's visits, what is below, what is not."""

    text: str
    share: float
    children: tuple[Branch, ...] = ()
    hidden: int = 0

    @property
    def leaves(self) -> int:
        """How many lines of the picture it takes."""
        return sum(child.leaves for child in self.children) + (self.hidden > 0) or 1


FIRST, LEVEL, LEAF = 84, 190, 20  # the widths of the root and of a level, the height of a line, in pixels


def tree(root: Branch, levels: int) -> str:
    """Return a tree from left to right; the stroke into a node is as thick as it was visited often."""
    shapes = _branch(root, 0, 0.0)
    return _svg(_left(levels + 1), LEAF * root.leaves + 8, shapes, "the first levels of the search tree")


def _branch(branch: Branch, depth: int, top: float) -> list[str]:
    x, y, bend = _left(depth) + 6, _middle(branch, top), _left(depth + 1)
    shapes = [label(x, y, _clean(branch.text, 26), "node", 12, text_anchor="start", **INK)]
    for child in branch.children:
        end = _middle(child, top)
        way = f"M{bend - 46} {y:g}C{bend - 22} {y:g} {bend - 26} {end:g} {bend} {end:g}"
        width = round(0.8 + 5 * child.share, 2)
        shapes.append(element("path", "branch", d=way, stroke_opacity="0.45", stroke_width=width, **STROKE))
        shapes += _branch(child, depth + 1, top)
        top += LEAF * child.leaves
    if branch.hidden:
        words = f"… and {branch.hidden:,} more"
        more = {"text_anchor": "start", "fill_opacity": "0.6"}
        shapes.append(label(bend + 6, top + LEAF / 2 + 4, words, "more", 12, **more, **INK))
    return shapes


def _left(depth: int) -> int:
    return FIRST + LEVEL * (depth - 1) if depth else 0


def _middle(branch: Branch, top: float) -> float:
    return top + LEAF * branch.leaves / 2 + 4


# ---------------------------------------------------------------- heat maps
CELL_SIZE = 46


def heat_map(layers: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return figures laid out as layers of rows, the higher the stronger their ground."""
    kept = [[row[:MAX_ROWS] for row in layer[:MAX_ROWS]] for layer in layers[:4]]
    figures = [value for layer in kept for row in layer for value in row]
    low, high = _span(figures)
    shapes, left = [], 4.0
    for layer in kept:
        for y, row in enumerate(layer):
            for x, value in enumerate(row):
                shapes.append(_heat(left + CELL_SIZE * x, 4 + CELL_SIZE * y, value, (value - low) / (high - low)))
        left += CELL_SIZE * len(layer[0]) + 14
    total = sum(len(row) for layer in layers for row in layer)
    drawn = _svg(left, CELL_SIZE * len(kept[0]) + 8, shapes, "utilities of points")
    return drawn + cut(total, len(figures), "points")


def _heat(x: float, y: float, value: float, warmth: float) -> str:
    ground = {"fill": CYCLE[0], "fill_opacity": f"{0.05 + 0.55 * warmth:.2f}"}
    size = CELL_SIZE - 3
    words = label(x + size / 2, y + size / 2, f"{value:.3f}", "value", 12, text_anchor="middle", **INK)
    return rect(x, y, size, size, "cell", 4, **ground) + words


def _svg(width: float, height: float, shapes: Iterable[str], description: str) -> str:
    """Return a picture in the colours of the notebook."""
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'font-family="system-ui, sans-serif" aria-label="{safe(description)}">{"".join(shapes)}</svg>'
    )
