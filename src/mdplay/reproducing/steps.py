"""Steps of a reproduction: each makes one figure, is kept on disk, and is not made twice.

A figure is words, a table, a picture (in light and in dark), drawings and its facts, with the command that gives
the same.  It is written as soon as it is made; a run that was killed goes on with the first step that is missing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mdplay import __version__
from mdplay.files import write
from mdplay.plots import Paint, Size, png

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
