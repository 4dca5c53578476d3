"""HTML of results for notebooks, static and without scripts, and pictures of games made safe for a page.

A result's ``_repr_html_`` combines these parts:

    shown      all parts as one piece        table   rows of figures, the first ones of many
    sentence   words above or below          board   a position with the values of its moves
    moves      board and table of a position's moves

Curves, trees and heat maps are in ``mdplay.views.charts``.

Words and lines have the colour of the notebook (``currentColor``), light or dark.  Every text is escaped.  The
picture of a game is not trusted: only known shapes, attributes and text are copied from it (``safe_picture``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

from mdplay.errors import MdplayError
from mdplay.position import Position
from mdplay.svg import STYLE, circle, element, label, typed

SVG = "http://www.w3.org/2000/svg"
TAGS = {
    *("svg", "g", "title", "desc", "text", "tspan", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
    *("path", "defs", "linearGradient", "radialGradient", "stop"),
}
ATTRIBUTES = {
    *("class", "id", "viewBox", "width", "height", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry"),
    *("fx", "fy", "dx", "dy", "d", "points", "transform", "offset", "opacity", "gradientUnits"),
    *("fill", "fill-opacity", "fill-rule", "stroke", "stroke-opacity", "stroke-width", "stroke-linecap"),
    *("stroke-linejoin", "stroke-dasharray", "stop-color", "stop-opacity", "font-size", "font-weight"),
    *("font-style", "text-anchor", "dominant-baseline", "role", "aria-label", "aria-hidden"),
    *("data-action", "data-at", "data-fall"),
}
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
ACTS = re.compile(r"url\s*\(\s*(?!['\"]?#)|javascript:|expression\s*\(", re.IGNORECASE)  # url(#own) is harmless
MAX_CHARACTERS = 400_000

ET.register_namespace("", SVG)


def safe_picture(svg: str, board: str) -> str:
    """Return a picture with all that acts left out; of one that cannot be read, the characters of the board."""
    try:
        return _cleaned(svg)
    except (ET.ParseError, ValueError, RecursionError):
        return _cleaned(typed(printable(board[:20_000])))


def printable(text: str) -> str:
    """Return a text with only such characters as XML has a place for."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def _cleaned(svg: str) -> str:
    if len(svg) > MAX_CHARACTERS or "<!" in svg:
        raise ValueError("no picture of ours is so large, or defines entities")
    root = ET.fromstring(svg)
    if _name(root) != "svg":
        raise ValueError("this is no picture")
    _clean(root)
    return ET.tostring(root, encoding="unicode")


def _clean(shape: ET.Element) -> None:
    shape.tag = f"{{{SVG}}}{_name(shape)}"
    shape.attrib = {name: value for name, value in shape.attrib.items() if _passes(name, value)}
    for child in list(shape):
        if isinstance(child.tag, str) and _name(child) in TAGS:
            _clean(child)
        else:
            shape.remove(child)


def _passes(name: str, value: str) -> bool:
    return (name in ATTRIBUTES or name == SPACE) and not ACTS.search(value)


def _name(shape: ET.Element) -> str:
    space, _, name = shape.tag.rpartition("}")
    return name if space in ("", f"{{{SVG}") else ""


MAX_ROWS = 12  # of a table
MAX_TEXT = 60  # characters of a name
HEIGHT = 240.0  # of a picture, in pixels
ROOM, LEAST = 13.0, 5.0  # the wanted room for a value and the least size of its text, in pixels

CELL = "text-align: {}; padding: 2px 10px; white-space: nowrap"
RULE = "border-bottom: 1px solid rgba(128, 128, 128, 0.4)"


# ---------------------------------------------------------------- words
def shown(*parts: str) -> str:
    """Return the parts as one piece of HTML, side by side where there is room."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 8px 28px; align-items: flex-start">{inside}</div>'


def sentence(text: str) -> str:
    """Return a text as a paragraph."""
    return f'<p style="margin: 4px 0">{safe(text)}</p>'


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with ``digits`` decimals, more if it is tiny and none if it is an integer; None is empty."""
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


def safe(text: str) -> str:
    """Return a text that is only words in HTML and in XML."""
    return escape(printable(text))


def shortened(text: str, length: int = MAX_TEXT) -> str:
    """Return a text of at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def cut(total: int, kept: int, things: str) -> str:
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
    return grid + cut(max(total, len(found)), len(kept), things)


def _row(tag: str, cells: Sequence[str], style: str) -> str:
    sides = ["left", *["right"] * (len(cells) - 1)]
    texts = [
        f'<{tag} style="{CELL.format(side)}; {style}">{safe(shortened(cell))}</{tag}>'
        for side, cell in zip(sides, cells, strict=True)
    ]
    return f"<tr>{''.join(texts)}</tr>"


# ---------------------------------------------------------------- a position
def board(position: Position[Any], values: Mapping[int, float | None], best: Collection[int] = ()) -> str:
    """Return a game's picture with the value of each move written where the picture has room for it.

    Where several moves lead to one place, the value is that of the best one.  The best moves have a ring.
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
        if not at or not action.isdecimal() or len(action) > 3 or values.get(int(action)) is None:
            continue
        if at not in found or values[int(action)] > values[found[at]]:  # type: ignore[operator]
            found[at] = int(action)
    return found


def _room(shape: ET.Element) -> tuple[float, ...]:
    """Return centre and radius of the room for a move's value: as it says, else its first circle or rectangle."""
    if "data-at" in shape.attrib:
        at = _numbers(shape.get("data-at", ""))
    elif (found := shape.find(f".//{{{SVG}}}circle")) is not None:
        at = _numbers(" ".join(found.get(name, "0") for name in ("cx", "cy", "r")))
    elif (found := shape.find(f".//{{{SVG}}}rect")) is not None:
        box = _numbers(" ".join(found.get(name, "0") for name in ("x", "y", "width", "height")))
        at = _middle(*box) if len(box) == 4 else ()
    else:
        at = ()
    return at if len(at) == 3 and at[2] > 0 else ()


def _middle(x: float, y: float, width: float, height: float) -> tuple[float, ...]:
    """Return the centre of a rectangle, and how far its nearer sides are."""
    return x + width / 2, y + height / 2, min(width, height) / 2


def _numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of an attribute; none if it holds anything else, such as 50%: the picture is a game's."""
    try:
        numbers = tuple(map(float, text.replace(",", " ").split()))
    except ValueError:
        return ()
    return numbers if all(map(math.isfinite, numbers)) else ()


def _scale(root: ET.Element, room: float) -> float:
    """Set the size of a picture, larger where there is little room for values; return how it is scaled."""
    box = _numbers(root.get("viewBox", ""))
    width, height = box[2:] if len(box) == 4 and min(box[2:]) > 0 else (HEIGHT, HEIGHT)
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


# ---------------------------------------------------------------- a position with its moves
def moves(
    position: Position[Any] | None,
    names: Mapping[int, str],
    values: Mapping[int, float | None],
    best: Collection[int],
    columns: Mapping[str, Mapping[int, str]],
) -> str:
    """Return the board, if any, with the values of the moves, and the moves as a table, best ones first.

    ``names`` are the moves by action, in the order of the table, and ``columns`` further columns by their titles;
    columns without a text are left out.
    """
    order = sorted(names, key=lambda action: action not in best)
    strong = [i for i, action in enumerate(order) if action in best]
    kept = {title: column for title, column in columns.items() if any(column.values())}
    rows = [(names[a], number(values.get(a)), *(column[a] for column in kept.values())) for a in order]
    listing = table(("move", "value", *kept), rows, things="moves", strong=strong) if rows else ""
    return shown("" if position is None else board(position, values, best), listing)


def refused(error: MdplayError) -> str:
    """Return why there is nothing to show, as a sentence."""
    return sentence(f"Not shown: {error}")
