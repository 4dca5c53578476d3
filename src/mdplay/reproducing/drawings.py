"""Drawings for the page: values written on a board, search trees."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import mdplay.drawing as draw

GOOD, PLAIN, WHITE = "#2c7a4b", "#6b6257", "#ffffff"  # the best moves; all others; letters on both
SIZE = re.compile(r'(?<= )(width|height)="([\d.]+)"')
MOVE = re.compile(r'<g class="move" data-action="(\d+)" data-at="([\d. -]+)">')
SIBLING, LEVEL, BOX, MARGIN = 76, 84, 32, 8  # of a tree, in pixels


def valued(svg: str, texts: Mapping[int, str], best: Collection[int] = ()) -> str:
    """Return a picture with a text on each move, where the picture has room for it; the best ones in green."""
    pills = []
    for action, place in MOVE.findall(svg):
        if (text := texts.get(int(action))) is not None:
            x, y, _ = map(float, place.split())
            pills.append(_pill(x, y, text, GOOD if int(action) in best else PLAIN))
    return svg.removesuffix("</svg>") + "".join(pills) + "</svg>"


def resized(svg: str, factor: float) -> str:
    """Return a picture larger or smaller than it was drawn."""
    return SIZE.sub(lambda found: f'{found[1]}="{factor * float(found[2]):g}"', svg, count=2)


def _pill(x: float, y: float, text: str, colour: str) -> str:
    width = 9.0 * len(text) + 14
    ground = draw.rect(x - width / 2, y - 12, width, 24, "value", 12, fill=colour)
    return ground + draw.label(x, y, text, "value", 15, fill=WHITE, font_weight="600")


class Drawn(Protocol):
    """What a tree is drawn of: moves, visits, wins, children."""

    @property
    def action(self) -> int:
        """The move that led here; negative at the root."""

    @property
    def visits(self) -> int:
        """How often the search came by."""

    @property
    def wins(self) -> int:
        """How often the player who moved here has won then."""

    @property
    def children(self) -> Sequence[Self]:
        """The nodes after each move."""


@dataclass(frozen=True)
class Placed:
    """A node of a tree with its place in the picture."""

    node: Drawn
    x: float
    y: float
    children: list[Placed]


def tree(root: Drawn, best: int, names: Mapping[int, str]) -> str:
    """Draw a search tree: in each node its wins of its visits, on each edge the move; the move played in green."""
    top = _placed(root, MARGIN, MARGIN + 16)
    edges = [shape for place in _all(top) for child in place.children for shape in _edge(place, child, names)]
    chosen = {id(place) for place in top.children if place.node.action == best}
    boxes = [_box(place, GOOD if id(place) in chosen else PLAIN) for place in _all(top)]
    width, height = 2 * MARGIN + _width(root) * SIBLING, max(place.y for place in _all(top)) + 16 + MARGIN
    return draw.picture(width, height, [*edges, *boxes], f"a search tree of {len(boxes)} nodes")


def _placed(node: Drawn, left: float, y: float) -> Placed:
    """Place a node in the middle of the room of its children."""
    x, children = left + _width(node) * SIBLING / 2, []
    for child in node.children:
        children.append(_placed(child, left, y + LEVEL))
        left += _width(child) * SIBLING
    return Placed(node, x, y, children)


def _width(node: Drawn) -> int:
    return sum(map(_width, node.children)) or 1


def _all(place: Placed) -> Iterator[Placed]:
    yield place
    for child in place.children:
        yield from _all(child)


def _edge(parent: Placed, child: Placed, names: Mapping[int, str]) -> tuple[str, str, str]:
    x, y = (parent.x + child.x) / 2, (parent.y + child.y) / 2
    line = draw.line(parent.x, parent.y, child.x, child.y, "faint", stroke_width=2)
    return line, draw.circle(x, y, 11, "hole"), draw.label(x, y, names[child.node.action], "ink", 14)


def _box(place: Placed, colour: str) -> str:
    node = place.node
    text = f"{node.wins}/{node.visits}" if node.action >= 0 else str(node.visits)
    ground = draw.rect(place.x - BOX, place.y - 16, 2 * BOX, 32, "value", 8, fill=colour)
    return ground + draw.label(place.x, place.y, text, "value", 17, fill=WHITE, font_weight="600")
