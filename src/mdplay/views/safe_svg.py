"""Pictures of games for pages and notebooks: shapes and words, and nothing that acts.

A picture comes from a game, which may be anybody's file.  Only the tags and attributes of this list pass; no
script, no link, no style.  What is no picture at all becomes one of its characters.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from mdplay.svg import typed

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
