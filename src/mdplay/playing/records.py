"""A game as a value, and as one line of JSON.

    {"format": "mdplay record 1", "game": "connect-four", "parameters": {"rows": 6, "cols": 7},
     "agents": ["random", "perfect"], "seed": 0, "number": 3, "start": null, "opening": 2,
     "moves": ["4", "4", "3"], "result": 1}

``moves`` are in the game's notation, outcomes of chance among them; the first ``opening`` of them were given
before the agents took over.  ``start`` is a position in the game's notation, or null for the initial state.
``result`` is what player 0 got, rewards included; null if the game was left unfinished.

A record that is read is replayed: every move must be legal there and the result must come out.  A file holds a
record a line.  The game of a user's file is never loaded on a record's word: whoever reads it names the game.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdplay.errors import FormatError, MdplayError
from mdplay.game import Game, num_players, parse_position
from mdplay.playing.course import Course
from mdplay.registry import make, name_of

FORMAT = "mdplay record 1"
KINDS: dict[str, tuple[type, ...]] = {
    "game": (str,),
    "parameters": (dict,),
    "agents": (list,),
    "seed": (int, type(None)),
    "number": (int,),
    "start": (str, type(None)),
    "opening": (int,),
    "moves": (list,),
    "result": (int, float, type(None)),
}


@dataclass(frozen=True)
class Record:
    """One game: who played it, every event of it, and what player 0 got."""

    game: Game[Any]
    agents: tuple[str, ...]  # of player 0, of player 1
    events: tuple[int, ...]
    result: float | None  # None: not finished
    seed: int | None = None
    number: int = 0
    start: Any = None  # None: the initial state
    opening: int = 0

    def replay(self) -> Course:
        """Return the game as it went."""
        course = Course(self.game, self.start)
        for event in self.events:
            course.add(event)
        return course

    @property
    def moves(self) -> tuple[str, ...]:
        """The events in the game's notation."""
        return tuple(self.replay().texts())

    def as_dict(self) -> dict[str, Any]:
        """Return the record for JSON."""
        name, given = name_of(self.game)
        return {
            "format": FORMAT,
            "game": name,
            "parameters": dict(given),
            "agents": list(self.agents),
            "seed": self.seed,
            "number": self.number,
            "start": None if self.start is None else _start_text(self.game, self.start),
            "opening": self.opening,
            "moves": list(self.moves),
            "result": self.result if self.result is None else plain_number(self.result),
        }

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.as_dict())

    @classmethod
    def from_json(cls, text: str, game: Game[Any] | None = None) -> Record:
        """Read, replay and check a record, or raise FormatError; ``game`` overrules the one it names."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise FormatError("not a record: the line is not JSON") from None
        return _record_of(_checked_fields(document), game)

    def save(self, path: str | Path) -> None:
        """Write the record to a file of its own, atomically."""
        save_records(path, [self])


def plain_number(x: float) -> float:
    """Return a whole number as an int: 1, not 1.0."""
    return int(x) if float(x).is_integer() else float(x)


def save_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write records to a file, one a line, atomically."""
    from mdplay.store import replacing

    with replacing(path) as file:
        for record in records:
            file.write(record.to_json().encode() + b"\n")


def load_records(path: str | Path, game: Game[Any] | None = None) -> list[Record]:
    """Read, replay and check the records of a file; raise FormatError naming the line with a fault."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{path} is not a record: it is not text") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        raise FormatError(f"{path} is empty; a record is one line of JSON")
    return [_load(path, number, line, game) for number, line in numbered]


def _load(path: str | Path, number: int, line: str, game: Game[Any] | None) -> Record:
    try:
        return Record.from_json(line, game)
    except MdplayError as error:
        raise FormatError(f"{path}, line {number}: {error}") from None


# ---------------------------------------------------------------- reading what anybody may have written
def _checked_fields(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f"not a record: the field format must be {FORMAT!r}")
    for name, kinds in KINDS.items():
        value = document.get(name, ...)
        if type(value) not in kinds:
            raise FormatError(f"damaged record: the field {name} is missing or of the wrong type")
    for name in ("agents", "moves"):
        if not all(isinstance(item, str) for item in document[name]):
            raise FormatError(f"damaged record: the field {name} must be a list of texts")
    return document


def _record_of(fields: dict[str, Any], game: Game[Any] | None) -> Record:
    game = game or _game_of(fields)
    if len(fields["agents"]) != num_players(game):
        raise FormatError(f"damaged record: {len(fields['agents'])} agents for {num_players(game)} players")
    start = None if fields["start"] is None else parse_position(game, fields["start"])
    course = Course(game, start)
    course.add_texts(fields["moves"])
    result = fields["result"]
    if not 0 <= fields["opening"] <= len(course.events):
        raise FormatError(f"damaged record: an opening of {fields['opening']} moves out of {len(course.events)}")
    if course.over != (result is not None) or (course.over and course.total != result):
        found = f"a result of {plain_number(course.total)}" if course.over else "an unfinished game"
        raise FormatError(f"damaged record: its moves lead to {found}, it says {result}")
    agents, events = tuple(fields["agents"]), tuple(course.events)
    return Record(game, agents, events, result, fields["seed"], fields["number"], start, fields["opening"])


def _game_of(fields: dict[str, Any]) -> Game[Any]:
    if ".py" in fields["game"]:
        raise FormatError(f"the record is of a user's game, {fields['game']}; name the game when you read it")
    given = ",".join(f"{name}={value}" for name, value in fields["parameters"].items())
    return _made(f"{fields['game']}:{given}")


_made = lru_cache(maxsize=8)(make)  # the records of a file are of one game


def _start_text(game: Game[Any], start: Any) -> str:
    if not game.has_parse:
        raise FormatError("this game reads no positions, so a game from another start cannot be recorded")
    return game.text(start)
