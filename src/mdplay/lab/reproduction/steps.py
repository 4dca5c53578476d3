"""Steps of a reproduction, the claims that are checked against their facts, and drawings for the page.

A step makes one figure: a text, a table, a plot (light and dark), drawings and facts, with the command that gives
the same result.  A figure is saved as soon as it is made; an interrupted run continues with the first missing
step.

A claim compares a statement of a report with the facts of the figures: equal, better, or different with a reason.
It is computed whenever the page is written.  Drawings are values written on a board, and search trees.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self

import mdplay.svg as draw
from mdplay import __version__
from mdplay.storage.files import write
from mdplay.views.charts import Paint, Size, png

EQUAL, BETTER, DIFFERS = MARKS = ("equal", "better", "differs")
HEADER = ("the report says", "here", "how checked", "mark")


@dataclass(frozen=True)
class Claim:
    """One line of a report: what it says, what came out here, how that was checked, and the mark."""

    says: str
    here: str
    how: str
    mark: str
    why: str = ""


def equal(says: str, here: str, how: str, holds: bool, why: str = "") -> Claim:
    """Return a claim that holds, or differs."""
    return Claim(says, here, how, EQUAL if holds else DIFFERS, why)


def better(says: str, here: str, how: str, holds: bool, why: str) -> Claim:
    """Return a claim that is surpassed here, or differs."""
    return Claim(says, here, how, BETTER if holds else DIFFERS, why)


def differs(says: str, here: str, how: str, why: str) -> Claim:
    """Return a claim that does not hold as it is written."""
    return Claim(says, here, how, DIFFERS, why)


def tally(claims: Sequence[Claim]) -> str:
    """Return the number of claims with each mark, as text."""
    counts = Counter(claim.mark for claim in claims)
    return ", ".join(f"{counts[mark]} {mark}" for mark in MARKS if counts[mark])


def table(claims: Sequence[Claim]) -> ResultTable:
    """Return the claims as a table of sentences."""
    rows = [[c.says, c.here, c.how, f"{c.mark}: {c.why}" if c.why else c.mark] for c in claims]
    return ResultTable(HEADER, rows, prose=True)


def small(difference: float) -> str:
    """Return a difference for people: 0, or its order."""
    return f"{difference:.0e}" if difference else "0"


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


Row = Sequence[str]
Facts = Mapping[str, dict[str, Any]]  # of every step, as JSON keeps them


@dataclass(frozen=True)
class ResultTable:
    """A table of texts; numbers are set to the right.  ``prose``: its cells are sentences."""

    header: Row
    rows: Sequence[Row]
    prose: bool = False


@dataclass(frozen=True)
class Drawing:
    """A picture as SVG, and the words below it."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """One result of a system: what a reader sees, and the facts behind it."""

    title: str
    command: str
    text: str
    facts: dict[str, Any]
    table: ResultTable | None = None
    picture: tuple[bytes, bytes] | None = None  # PNG, for light and for dark surroundings
    drawings: Sequence[Drawing] = ()


@dataclass(frozen=True)
class Made:
    """A figure with the name of its step and the seconds it took."""

    name: str
    figure: Figure
    seconds: float


@dataclass(frozen=True)
class Step:
    """How one figure is made; ``settings`` are all that its facts depend on."""

    name: str
    make: Callable[[Callable[[int], None]], Figure]
    settings: dict[str, Any] = field(default_factory=dict)
    work: int | None = None  # what the progress counts to, if it is known


def both(paint: Paint, size: Size = (6.6, 4.0)) -> tuple[bytes, bytes]:
    """Return a plot for light and for dark surroundings."""
    return png(paint, size), png(paint, size, dark=True)


def run_step(step: Step, folder: Path, show: Callable[[int], None]) -> Made:
    """Return the figure of a step: from the folder if it was made with the same settings, else made now."""
    path = folder / f"{step.name}.json"
    stamp = json.loads(json.dumps({"version": __version__, "source": _source(), **step.settings}))
    if (found := _kept(path, stamp)) is not None:
        return found
    began = time.perf_counter()
    figure = step.make(show)
    made = Made(step.name, figure, time.perf_counter() - began)
    write(path, json.dumps({"stamp": stamp, **_document(made)}))
    return made


@cache
def _source() -> str:
    """Return the hash of this room: figures that other code has made are made again."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _document(made: Made) -> dict[str, Any]:
    document = asdict(made)
    if made.figure.picture is not None:
        document["figure"]["picture"] = [base64.b64encode(png).decode() for png in made.figure.picture]
    return document


def _kept(path: Path, stamp: dict[str, Any]) -> Made | None:
    try:
        document = json.loads(path.read_bytes())
        if document["stamp"] != stamp:
            return None
        facts = document["figure"]
        if facts["picture"] is not None:
            light, dark = (base64.b64decode(text) for text in facts["picture"])
            facts["picture"] = (light, dark)
        if facts["table"] is not None:
            facts["table"] = ResultTable(**facts["table"])
        facts["drawings"] = [Drawing(**drawing) for drawing in facts["drawings"]]
        return Made(document["name"], Figure(**facts), document["seconds"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # damaged: it is made again
        return None
