"""What installed packages add: entry points in the groups mdplay.games, .agents, .selectors and .solvers.

    [project.entry-points."mdplay.games"]
    nim = "my_package.nim:Nim"

A package that cannot be loaded is one warning, and stands in nobody's way; asked for by its name, it is an error.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from mdplay.errors import GameError, MdplayError

_told: set[str] = set()  # warnings are given once


def plugin_points(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind (game, agent, selector, solver) by name; nothing is imported."""
    return dict(_points(kind, tuple(map(_last_change, sys.path))))


@lru_cache(maxsize=16)
def _points(kind: str, folders: tuple[tuple[str, int], ...]) -> dict[str, EntryPoint]:
    """Read the entry points of a kind, again only where the folders have changed: it takes milliseconds."""
    return {point.name: point for point in sorted(entry_points(group=f"mdplay.{kind}s"), key=_place, reverse=True)}


def _last_change(folder: str) -> tuple[str, int]:
    """Return a folder in which packages lie, and when one was added or removed last."""
    try:
        return folder, Path(folder).stat().st_mtime_ns
    except OSError:
        return folder, 0


def _place(point: EntryPoint) -> tuple[str, str]:
    return source_of(point), point.value


def source_of(point: EntryPoint) -> str:
    """Return the package that an entry point comes from, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


def load_plugin(kind: str, point: EntryPoint) -> Any:
    """Return what an entry point names, or raise GameError."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        words = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise GameError(f"the {kind} {point.name} of {source_of(point)} cannot be loaded: {words}") from None


def plugins(kind: str) -> dict[str, Any]:
    """Return all that packages add of a kind; what cannot be loaded is left out with a warning, given once."""
    found = {}
    for name, point in plugin_points(kind).items():
        try:
            found[name] = load_plugin(kind, point)
        except MdplayError as error:
            warn_once(str(error))
    return found


def warn_once(sentence: str) -> None:
    """Give a warning, unless it was given before."""
    if sentence not in _told:
        _told.add(sentence)
        warnings.warn(sentence, stacklevel=3)
