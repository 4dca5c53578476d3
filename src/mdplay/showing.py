"""How results show themselves in notebooks: static HTML with pictures drawn as SVG, no script, no dependency.

A result's ``_repr_html_`` hands plain figures to these parts:

    shown      all parts as one piece        table   rows of figures, the first ones of many
    sentence   words above or below          board   a position with what its moves are worth
    chart      curves, with bands            tree    the first levels of a search
    heat_map   figures laid out as on a board

Words and lines take the colour of the notebook (``currentColor``), so they are read on a light and on a dark
ground.  Every text is escaped, and of a game's picture only shapes and words pass: a game may be anybody's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from mdplay.drawing import STYLE, circle, element, label, line, polygon, rect
from mdplay.errors import MdplayError
from mdplay.pictures import SVG, printable, safe_picture
from mdplay.plots import CYCLE
from mdplay.position import Position

MAX_ROWS = 12  # of a table
MAX_CURVES = 8
MAX_POINTS = 200  # of a curve
MAX_TEXT = 60  # characters of a name
HEIGHT = 240.0  # of a picture, in pixels
ROOM, LEAST = 13.0, 5.0  # the wanted room for a value and the least size of its text, in pixels

INK = {"fill": "currentColor"}
STROKE = {"fill": "none", "stroke": "currentColor"}
CELL = "text-align: {}; padding: 2px 10px; white-space: nowrap"
RULE = "border-bottom: 1px solid rgba(128, 128, 128, 0.4)"


# ---------------------------------------------------------------- words
def shown(*parts: str) -> str:
    """Return the parts as one piece of HTML, side by side where there is room."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 8px 28px; align-items: flex-start">{inside}</div>'


def sentence(text: str) -> str:
    """Return a text as a paragraph."""
    return f'<p style="margin: 4px 0">{_safe(text)}</p>'


def number(value: float | None, digits: int = 4) -> str:
    """Return a figure with so many decimals, more where it is tiny; a whole one has none, no figure no text."""
    if value is None:
        return ""
    if not math.isfinite(value) or abs(value) >= 1e9:
        return f"{value:.{digits}g}"
    if abs(value - round(value)) < 1e-12:
        return f"{round(value):,}"
    return f"{value:.2g}" if abs(value) < 10**-digits else f"{value:,.{digits}f}"


def brief(value: float | None) -> str:
    """Return a figure as short as it is read on a board."""
    whole = value is None or abs(value) >= 100 or not math.isfinite(value) or abs(value - round(value)) < 1e-12
    return number(value, 0) if whole else f"{round(value or 0.0, 2) + 0.0:.2f}"


def _safe(text: str) -> str:
    """Return a text that is only words in HTML and in XML."""
    return escape(printable(text))


def _short(text: str, length: int = MAX_TEXT) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _cut(total: int, kept: int, things: str) -> str:
    """Return the sentence that says what was left out."""
    return sentence(f"The first {kept:,} of {total:,} {things} are shown.") if total > kept else ""


# ---------------------------------------------------------------- tables
def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    total: int = 0,
    things: str = "rows",
    strong: Collection[int] = (),
) -> str:
    """Return a table of texts, figures to the right; ``strong`` are the rows to stand out.

    ``rows`` may be the first ones of ``total``; what is beyond MAX_ROWS is left out, and a sentence says so.
    """
    found = list(rows)
    kept = found[:MAX_ROWS]
    body = "".join(_row("td", row, "font-weight: 700" if i in strong else "") for i, row in enumerate(kept))
    grid = f'<table style="border-collapse: collapse; margin: 4px 0">{_row("th", head, RULE)}{body}</table>'
    return grid + _cut(max(total, len(found)), len(kept), things)


def _row(tag: str, cells: Sequence[str], style: str) -> str:
    sides = ["left", *["right"] * (len(cells) - 1)]
    texts = [
        f'<{tag} style="{CELL.format(side)}; {style}">{_safe(_short(cell))}</{tag}>'
        for side, cell in zip(sides, cells, strict=True)
    ]
    return f"<tr>{''.join(texts)}</tr>"


# ---------------------------------------------------------------- a position
def board(position: Position[Any], values: Mapping[int, float | None], best: Collection[int] = ()) -> str:
    """Return a game's picture with the value of each move written where the picture has room for it.

    Where several moves lead to one place it tells the best of them.  The best moves have a ring.
    """
    root = ET.fromstring(safe_picture(position.svg, position.board))
    places = _places(root, values)
    scale = _scale(root, min((at[2] for at in places), default=math.inf))
    marks = {action: _mark(at, brief(values[action]), action in best, scale) for at, action in places.items()}
    _make_still(root, [str(action) for action, mark in marks.items() if mark])
    root.extend(ET.fromstring(shape) for mark in marks.values() for shape in mark)
    return ET.tostring(root, encoding="unicode")


def _places(root: ET.Element, values: Mapping[int, float | None]) -> dict[tuple[float, ...], int]:
    """Return the best action of known value for every place with room for a value."""
    found: dict[tuple[float, ...], int] = {}
    for shape in root.iter():
        action, at = shape.get("data-action", ""), _room(shape)
        if not action.isdecimal() or values.get(int(action)) is None or len(at) != 3:
            continue
        if at not in found or values[int(action)] > values[found[at]]:  # type: ignore[operator]
            found[at] = int(action)
    return found


def _room(shape: ET.Element) -> tuple[float, ...]:
    """Return centre and radius of the room for a move's value: as it says, else its first circle or rectangle."""
    if "data-at" in shape.attrib:
        return tuple(map(float, shape.get("data-at", "").split()))
    if (found := shape.find(f".//{{{SVG}}}circle")) is not None:
        return tuple(float(found.get(name, 0)) for name in ("cx", "cy", "r"))
    if (found := shape.find(f".//{{{SVG}}}rect")) is not None:
        x, y, width, height = (float(found.get(name, 0)) for name in ("x", "y", "width", "height"))
        return x + width / 2, y + height / 2, min(width, height) / 2
    return ()


def _scale(root: ET.Element, room: float) -> float:
    """Set the size of a picture, larger where there is little room for values; return how it is scaled."""
    *_, width, height = map(float, root.get("viewBox", "0 0 240 240").replace(",", " ").split())
    scale = min(1.0, max(min(HEIGHT / height, 2 * HEIGHT / width), ROOM / room), 2 * HEIGHT / height)
    root.set("width", f"{scale * width:.0f}")
    root.set("height", f"{scale * height:.0f}")
    return scale


def _mark(at: tuple[float, ...], text: str, is_best: bool, scale: float) -> list[str]:
    """Return the value of a move; nothing where it would be too small to read."""
    x, y, r = at
    size = min(0.8 * r, 2.7 * r / max(1, len(text)))
    if size * scale < LEAST:
        return []
    ring = [circle(x, y, 0.92 * r, "ink")] if is_best else []
    ground = element("circle", "hole", cx=x, cy=y, r=0.84 * r, fill_opacity="1" if is_best else "0.8")
    return [*ring, ground, label(x, y, text, "ink", size, font_weight="700" if is_best else "400")]


def _make_still(root: ET.Element, valued: Collection[str]) -> None:
    """Give a cleaned picture its colours, and nothing that looks like a button or lies below a value."""
    for shape in root.iter():
        if shape.get("class") == "move":
            shape.set("class", "still")
        if shape.get("data-action") in valued:
            for words in shape.findall(f"{{{SVG}}}text[@class='faint']"):
                shape.remove(words)
    style = ET.Element(f"{{{SVG}}}style")
    style.text = STYLE
    root.insert(0, style)


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
    return _svg(420, bottom, [*_axes(frame, x, y), *curves, *names], words) + _cut(
        len(series), len(kept), "curves"
    )


def _heights(one: Series) -> list[float]:
    return [n for n in (*one.y, *one.low, *one.high) if math.isfinite(n)]


def _span(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the least and the largest of finite numbers, apart from each other."""
    low, high = float(min(numbers, default=0.0)), float(max(numbers, default=0.0))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


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
    return _short(printable(text), length)


def _curve(frame: _Frame, one: Series, colour: str) -> str:
    points = [frame.place(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(y)]
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    drawn = element("polyline", "curve", points=way, fill="none", stroke=colour, stroke_width=2)
    dots = [element("circle", "dot", cx=x, cy=y, r=3, fill=colour) for x, y in points if len(points) <= 20]
    if not len(one.low):
        return drawn + "".join(dots)
    edge = [*zip(one.x, one.high, strict=True), *list(zip(one.x, one.low, strict=True))[::-1]]
    band = polygon([frame.place(x, y) for x, y in edge if math.isfinite(y)], "band")
    return element("g", "band", band, fill=colour, fill_opacity="0.2") + drawn + "".join(dots)


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
    return drawn + _cut(total, len(figures), "points")


def _heat(x: float, y: float, value: float, warmth: float) -> str:
    ground = {"fill": CYCLE[0], "fill_opacity": f"{0.05 + 0.55 * warmth:.2f}"}
    size = CELL_SIZE - 3
    words = label(x + size / 2, y + size / 2, f"{value:.3f}", "value", 12, text_anchor="middle", **INK)
    return rect(x, y, size, size, "cell", 4, **ground) + words


def _svg(width: float, height: float, shapes: Iterable[str], description: str) -> str:
    """Return a picture in the colours of the notebook."""
    return (
        f'<svg xmlns="{SVG}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'font-family="system-ui, sans-serif" aria-label="{_safe(description)}">{"".join(shapes)}</svg>'
    )


# ---------------------------------------------------------------- a position with its moves
class Move(NamedTuple):
    """A move as it is listed: its action, its words, its value if known, and the texts of the other columns."""

    action: int
    text: str
    value: float | None
    columns: tuple[str, ...]


def moves(
    position: Position[Any] | None, listed: Iterable[Move], best: Collection[int], head: Sequence[str]
) -> str:
    """Return the board, if any, with the values of the moves, and the moves as a table, best ones first."""
    order = sorted(listed, key=lambda move: move.action not in best)
    rows = [(move.text, number(move.value), *move.columns) for move in order]
    strong = [i for i, move in enumerate(order) if move.action in best]
    titles = ("move", "value", *head)
    told = [i for i in range(len(titles)) if i < 2 or any(row[i] for row in rows)]  # no empty columns
    kept = [[row[i] for i in told] for row in rows]
    listing = table([titles[i] for i in told], kept, things="moves", strong=strong) if rows else ""
    values = {move.action: move.value for move in order}
    return shown("" if position is None else board(position, values, best), listing)


def refused(error: MdplayError) -> str:
    """Return why there is nothing to show, as a sentence."""
    return sentence(f"Not shown: {error}")
