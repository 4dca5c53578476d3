"""Descriptions of games, read from the file ``game.toml`` beside their rules.

A table of the file describes one game.  Its key is the name of the game; every entry is optional:

    [my-game]
    class = "MyGame"            the class of the game; default: the only class of the file
    title = "My Game"
    summary = "..."             a sentence, shown below the title in the web app
    rules = "..."               goal, moves and end of the game in paragraphs; default: the docstring of the class
    order = 3                   position among the games of the web app
    sides = ["Red", "Blue"]     names of the players
    piece = "disc"              what a move puts on the board
    evaluator = "table"         how moves are evaluated: table, proof, book, network or search
    prepare = true              evaluate the first position when the server starts
    position = "moves:4,4"      position shown in the list of games
    picture = "..."             position drawn in the documentation; default: ``position``
    facts = ["..."]             published or verified facts, with their source
    presets = {"5 x 5" = "rows=5,cols=5"}     parameters to choose from in the web app
    starts = {"queen=yes" = "Ke1,Qd1,ke5,w"}  first position, by parameters
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from mdplay.errors import FormatError

FILE = "game.toml"
GAMES = Path(__file__).parents[1] / "games"
TYPES = {"order": int, "prepare": bool, "sides": list, "facts": list, "presets": dict, "starts": dict}


@dataclass(frozen=True)
class About:
    """The description of a game, for the web app and the documentation."""

    title: str
    summary: str = ""
    rules: str = ""
    order: int = 1000
    sides: tuple[str, ...] = ("Red", "Blue")
    piece: str = "move"
    evaluator: str = ""
    prepare: bool = False
    position: str = ""
    picture: str = ""
    facts: tuple[str, ...] = ()
    presets: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, str] = field(default_factory=dict)


@cache
def built_in_games() -> dict[str, str]:
    """Return the import path ``module:attribute`` of each built-in game by its name, in alphabetical order."""
    found = {
        name: f"mdplay.games.{path.parent.name}:{table['class']}"
        for path in GAMES.glob(f"*/{FILE}")
        for name, table in _tables(path).items()
    }
    return dict(sorted(found.items()))


def about(name: str, folder: Path | None = None, cls: str = "") -> About:
    """Return the description of a game: of a built-in one by name, of another one by its folder and class."""
    if folder is None:
        place = built_in_games().get(name)
        folder = GAMES / place.rpartition(":")[0].rpartition(".")[2] if place else None
    if folder is None or not (folder / FILE).exists():
        return About(name)
    tables = _tables(folder / FILE)
    chosen = [key for key, table in tables.items() if key == name or (cls and table.get("class") == cls)]
    return _read(folder / FILE, chosen[0], tables[chosen[0]]) if chosen else About(name)


@cache
def _tables(path: Path) -> dict[str, dict[str, Any]]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot read {path}: {error}") from None


def _read(path: Path, name: str, table: Mapping[str, Any]) -> About:
    known = sorted(entry.name for entry in fields(About))
    for key, value in table.items():
        wanted = TYPES.get(key, str)
        if key not in ("class", *known):
            raise FormatError(f"{path}: [{name}] has an unknown entry {key!r}; use one of {', '.join(known)}")
        if not isinstance(value, wanted):
            raise FormatError(f"{path}: {key} of [{name}] must be of type {wanted.__name__}, not {value!r}")
    given: dict[str, Any] = {"title": name}
    given |= {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    given.pop("class", None)
    if len(given.get("sides", ())) == 1:
        given["sides"] = (*given["sides"], "")
    return About(**given)
