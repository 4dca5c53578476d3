"""Pictures of positions as SVG text: a few shapes, one style sheet, no dependency.

A shape is a piece of SVG; ``picture`` makes one document of many.  Each shape has a *kind*, the class by which
the style sheet colours it, in light and in dark surroundings:

    panel  the board            first, second  the players' pieces      ink    lines and words on the board
    hole   an empty place       neutral        a neutral piece          faint  numbers to help the eye
    open   what may be played   ring           around what has won

Pieces that are strokes are also ``thin`` or ``thick``, areas that shine through ``tint``.  A shape of any other
kind brings its own ``fill`` or ``stroke``; without one it would be black, and is refused.

A page can play on a picture that marks its *targets*:

    move   shapes as an action: ``data-action`` is its number, its title the name of the move, and ``data-at`` the
           place where there is room to write the value of the move: centre and radius
    ghost  inside a move, the piece as it would lie there; it is seen under the pointer
    last   what the last move made; ``data-fall`` is the height that it fell

A picture brings no ``style`` attributes: a page may forbid them and colour the kinds by a style sheet of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

from mdplay.errors import UnknownName, short

PLAYERS = ("first", "second")

LIGHT = {
    "text": 'font-family: system-ui, "Helvetica Neue", Arial, sans-serif; text-anchor: middle',
    ".code": 'font-family: ui-monospace, "DejaVu Sans Mono", monospace; text-anchor: start',
    ".panel": "fill: #ddd5c7; stroke: #ddd5c7; stroke-width: 0",
    "polygon.panel": "stroke-width: 12; stroke-linejoin: round",
    ".hole": "fill: #f8f4ec",
    ".first": "fill: #d9482b; stroke: #d9482b; stroke-width: 0",
    ".second": "fill: #2468b4; stroke: #2468b4; stroke-width: 0",
    ".neutral": "fill: #a79f93",
    ".thin": "fill: none; stroke-width: 6; stroke-linecap: round",
    ".thick": "fill: none; stroke-width: 10; stroke-linecap: round",
    ".tint": "fill-opacity: 0.35",
    ".shine": "fill: #fff; fill-opacity: 0.3",
    ".ring": "fill: none; stroke: #fff; stroke-width: 3",
    ".groove": "fill: none; stroke: #fff; stroke-opacity: 0.45; stroke-width: 2",
    ".ink": "fill: #3b342b; stroke: #3b342b",
    ".faint": "fill: #9a9082; stroke: #c4bbac",
    "text.ink, .mdplay text.faint": "stroke: none",
    ".open": "fill: #3b342b; fill-opacity: 0",
    ".move": "cursor: pointer",
    ".move:hover .open": "fill-opacity: 0.12",
    ".ghost": "opacity: 0; pointer-events: none",
    ".move:hover .ghost": "opacity: 0.45",
    ".last": "transform-box: fill-box; transform-origin: center",
}
DARK = {
    ".panel": "fill: #3a4049; stroke: #3a4049",
    ".hole": "fill: #20242a",
    ".first": "fill: #f2694a; stroke: #f2694a",
    ".second": "fill: #4f9be8; stroke: #4f9be8",
    ".neutral": "fill: #6b727d",
    ".thin, .mdplay .thick": "fill: none",
    ".shine": "fill-opacity: 0.18",
    ".ink": "fill: #e9e6e0; stroke: #e9e6e0",
    ".faint": "fill: #7f8792; stroke: #59616c",
    ".open": "fill: #e9e6e0",
}
KINDS = frozenset(re.findall(r"\.([a-z]+)", " ".join(LIGHT))) - {"mdplay"}
NAMED = ("panel", "hole", "open", "first", "second", "neutral", "ring", "ink", "faint", "thin", "thick", "tint")


def uncoloured(kind: str) -> str:
    """Return a message if a shape without a colour has an unknown kind, else an empty text."""
    words = kind.split() or [kind]
    black = "" if KINDS & set(words) else ", it would be black"
    for word in words:
        if word not in KINDS:
            return f"no kind of shape {short(word)!r}{black}: choose from {', '.join(NAMED)}, or give it a fill"
    return ""


def _sheet(rules: Mapping[str, str]) -> str:
    return "".join(f".mdplay {selector} {{ {rule} }}\n" for selector, rule in rules.items())


STYLE = f"{_sheet(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_sheet(DARK)}}}"


def picture(width: float, height: float, shapes: Iterable[str], description: str) -> str:
    """Return an SVG document of the shapes with a description for screen readers."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mdplay" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(description)}">'
        f"<style>{STYLE}</style>{''.join(shapes)}</svg>"
    )


def element(tag: str, kind: str, content: str = "", /, **attributes: float | str) -> str:
    """Return one SVG element; in the names of attributes ``_`` stands for ``-``, and ``__`` for ``:``."""
    listed = "".join(
        f' {name.replace("__", ":").replace("_", "-")}="{value if isinstance(value, str) else _rounded(value)}"'
        for name, value in attributes.items()
    )
    return f'<{tag} class="{kind}"{listed}>{content}</{tag}>'


def _shape(tag: str, kind: str, content: str, more: Mapping[str, float | str], /, **at: float | str) -> str:
    """Return one shape; raise UnknownName for a kind that has no colour."""
    if not {"fill", "stroke"} & more.keys() and (wrong := uncoloured(kind)):
        raise UnknownName(wrong)
    return element(tag, kind, content, **at, **more)


def _rounded(number: float) -> str:
    """Return a number as exact as an eye can tell."""
    return f"{round(number, 2):g}"


def circle(x: float, y: float, r: float, kind: str, **more: float | str) -> str:
    """Return a circle around a point."""
    return _shape("circle", kind, "", more, cx=x, cy=y, r=r)


def ellipse(x: float, y: float, rx: float, ry: float, kind: str, **more: float | str) -> str:
    """Return an ellipse around a point."""
    return _shape("ellipse", kind, "", more, cx=x, cy=y, rx=rx, ry=ry)


def rect(x: float, y: float, width: float, height: float, kind: str, r: float = 0, **more: float | str) -> str:
    """Return a rectangle, its corners rounded by r."""
    return _shape("rect", kind, "", more, x=x, y=y, width=width, height=height, rx=r)


def line(x1: float, y1: float, x2: float, y2: float, kind: str, **more: float | str) -> str:
    """Return a straight line."""
    return _shape("line", kind, "", more, x1=x1, y1=y1, x2=x2, y2=y2)


def polygon(points: Iterable[tuple[float, float]], kind: str, **more: float | str) -> str:
    """Return the area inside the points."""
    return _shape("polygon", kind, "", more, points=" ".join(f"{x:g},{y:g}" for x, y in points))


def label(x: float, y: float, text: str, kind: str, size: float, **more: float | str) -> str:
    """Return words centred on a point."""
    return _shape("text", kind, escape(text), more, x=x, y=y + 0.36 * size, font_size=size)


def stone(x: float, y: float, r: float, kind: str) -> str:
    """Return a round piece with a glint; the second player's has a groove too: colour is not all that tells."""
    groove = circle(x, y, 0.62 * r, "groove") if "second" in kind else ""
    return circle(x, y, r, kind) + groove + ellipse(x - 0.25 * r, y - 0.4 * r, 0.42 * r, 0.26 * r, "shine")


def cross(x: float, y: float, r: float, kind: str) -> str:
    """Return two crossing strokes."""
    return line(x - r, y - r, x + r, y + r, kind) + line(x - r, y + r, x + r, y - r, kind)


def move(action: int, name: str, *shapes: str, at: tuple[float, float, float] | None = None) -> str:
    """Return the shapes as one action that may be played; ``name`` is what people call it.

    ``at``: centre and radius of the room for its value; without it a page takes the middle of the shapes.
    """
    room = {} if at is None else {"data_at": " ".join(map(_rounded, at))}
    return element("g", "move", f"<title>{escape(name)}</title>{''.join(shapes)}", data_action=action, **room)


def ghost(*shapes: str) -> str:
    """Return the piece that a move would lay, to be seen under the pointer; it belongs inside the move."""
    return element("g", "ghost", "".join(shapes))


def last(*shapes: str, fall: float = 0) -> str:
    """Return what the last move made; ``fall`` is the height that it fell."""
    return element("g", "last", "".join(shapes), data_fall=fall)


def typed(text: str) -> str:
    """Return characters as a picture: how a game is drawn that brings no picture of its own."""
    rows = text.expandtabs().splitlines()
    width = 9.7 * max(map(len, rows), default=0) + 40
    height = 22.0 * len(rows) + 36
    words = [
        element("text", "ink code", escape(row), x=20, y=34 + 22 * i, font_size=16, xml__space="preserve")
        for i, row in enumerate(rows)
    ]
    return picture(width, height, [rect(0, 0, width, height, "panel", 10), *words], text)
