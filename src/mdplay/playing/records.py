"""A game as a value, and as one line of JSON.

    {"format": "mdplay record 1", "game": "connect-four", "parameters": {"rows": 6, "cols": 7},
     "agents": ["random", "perfect"], "seed": 0, "number": 3, "start": null, "opening": 2,
     "events": [3, 3, 2], "moves": ["4", "4", "3"], "result": 1, "by_limit": false,
     "rules": "d94af108cba16a1066e45483f68b1e27"}

``events`` are the numbers of the actions and of the outcomes of chance, and ``moves`` are the same in the game's
notation: reading compares the two.  An older record has no numbers, and its words count.  The first ``opening`` of
them were given before the agents took over.  ``start`` is a position, or null for the initial state.
``result`` is what player 0 got, rewards included; null if the game was left unfinished.  ``by_limit`` is true if
the game was truncated by its move limit: then the result is the sum of the rewards and the value of infinite play.

A game that an agent lost because it failed has one field more, ``"forfeit": {"player": 1, "reason": "..."}``.  The
result is what was earned on the way, but a loss by 1 at least; of a game for one, what was earned.

``headers``, if there are any, are texts in the manner of PGN, ``{"event": "cup", "date": "2026.11.17"}``, beside
the players (``agents``) and the result, which every record has.  Nothing writes a date by itself, so that equal
games are equal bytes.

A record that is read is replayed: every move must be legal there and the result must come out.  A file holds a
record a line.  A record never causes the file of a user's game to be loaded: the caller passes the game.

``rules`` is the identity of the game (``mdplay.compiling.identity``), null or missing if it has none.  Other rules
are no fault as long as they allow the moves and give the result: then it is a game of theirs too.  Where they do
not, the sentence says that the rules have changed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdplay.errors import FormatError, GameError, IllegalMove, MdplayError, pluralize
from mdplay.game import Game, num_players, write_fields
from mdplay.naming.notation import event_text, parse_position
from mdplay.naming.registry import from_data, name_of, text_of
from mdplay.position import Position
from mdplay.storage.files import read_text, replacing

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
    by_limit: bool = False  # truncated by the move limit
    forfeit: int | None = None  # the player whose agent failed, and lost by that
    reason: str = ""  # what it did
    headers: tuple[tuple[str, str], ...] = ()  # event, date, site, round ..., in the order of their names

    def __repr__(self) -> str:
        result = "unfinished" if self.result is None else f"result {self.result:g}"
        moves = pluralize(len(self.events), "move")
        return f"<Record of {self.game!r}: {' v '.join(self.agents)}, {moves}, {result}>"

    def replay(self) -> Position[Any]:
        """Return the last position of the game, with all that led there."""
        return Position.start(self.game, self.start).replay(self.events)

    @property
    def moves(self) -> tuple[str, ...]:
        """The events in the game's notation."""
        return tuple(self.replay().played)

    def document(self) -> dict[str, Any]:
        """Return the record for JSON."""
        name, given = name_of(self.game)
        extras: dict[str, Any] = {"headers": dict(self.headers)} if self.headers else {}
        if self.forfeit is not None:
            extras["forfeit"] = {"player": self.forfeit, "reason": self.reason}
        return {
            "format": FORMAT,
            "game": name,
            "parameters": dict(given),
            "agents": list(self.agents),
            "seed": self.seed,
            "number": self.number,
            "start": None if self.start is None else _start_text(self.game, self.start),
            "opening": self.opening,
            "events": list(self.events),
            "moves": list(self.moves),
            "result": self.result if self.result is None else plain_number(self.result),
            "by_limit": self.by_limit,
            "rules": rules_of(self.game),
            **extras,
        }

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.document())

    @classmethod
    def from_json(cls, text: str, game: Game[Any] | None = None) -> Record:
        """Read, replay and check a record, or raise FormatError.

        ``game`` is of which game it must be; one of a user's file may have changed its name, or its rules.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise FormatError("not a record: the line is not JSON") from None
        fields = _checked_fields(document)
        if game is None:
            game = _game_of(fields)
        else:
            _check_named(fields, game)
        try:
            return _record_of(fields, game)
        except MdplayError as error:
            changed = fields.get("rules") not in (None, rules_of(game))
            why = "; the rules of the game have changed since it was recorded" if changed else ""
            raise FormatError(f"{error}{why}") from None

    def save(self, path: str | Path) -> None:
        """Write the record to a file of its own, atomically."""
        save_records(path, [self])


def rules_of(game: Game[Any]) -> str | None:
    """Return the identity of a game; None if its rules have no hash."""
    from mdplay.compiling.identity import game_identity  # late: most matches save nothing

    try:
        return game_identity(game)
    except GameError:
        return None


def forfeited(position: Position[Any], player: int) -> float:
    """Return the result of a game that a player's agent lost there by failing, for player 0."""
    if num_players(position.game) == 1:
        return position.total
    return max(1.0, position.total) if player else min(-1.0, position.total)


def plain_number(x: float) -> float:
    """Return a whole number as an int: 1, not 1.0."""
    return int(x) if float(x).is_integer() else float(x)


def save_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write records to a file, one a line, atomically."""
    with replacing(path) as file:
        for record in records:
            file.write(record.to_json().encode() + b"\n")


def load_records(path: str | Path, game: Game[Any] | None = None) -> list[Record]:
    """Read, replay and check the records of a file; raise FormatError naming the line with a fault.

    A last line that was cut off, as by a full disk, is left out with a warning; the games before it are read.
    """
    lines = read_text(path).split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        raise FormatError(f"{path} is empty; a record is one line of JSON")
    if len(numbered) > 1 and lines[-1].strip() and not _is_json(lines[-1]):
        number, _ = numbered.pop()
        warnings.warn(f"{path}, line {number} is cut off; the {number - 1} before it were read", stacklevel=2)
    return [_load(path, number, line, game) for number, line in numbered]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


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
    events = document.get("events", [])
    if type(events) is not list or not all(type(event) is int for event in events):
        raise FormatError("damaged record: the field events must be a list of whole numbers")
    return document


def _check_named(fields: dict[str, Any], game: Game[Any]) -> None:
    """Raise FormatError if a record names another game than a registered one: its moves may fit by accident."""
    if ".py:" not in text_of(game) and (named := _game_of(fields)) != game:
        raise FormatError(f"a record of {text_of(named)}, not of {text_of(game)}")


def _record_of(fields: dict[str, Any], game: Game[Any]) -> Record:
    if len(fields["agents"]) != num_players(game):
        raise FormatError(f"damaged record: {len(fields['agents'])} agents for {num_players(game)} players")
    start = None if fields["start"] is None else parse_position(game, fields["start"])
    end = _played(Position.start(game, start), fields["moves"], fields.get("events"))
    result = fields["result"]
    if not 0 <= fields["opening"] <= end.num_events:
        raise FormatError(f"damaged record: an opening of {fields['opening']} moves out of {end.num_events}")
    by_limit = fields.get("by_limit") is True
    player, reason = _forfeit_of(fields)
    if (by_limit or player is not None) and end.is_over:
        raise FormatError("damaged record: its moves lead to the end of the game, it says that it was truncated")
    due = end.result if player is None else forfeited(end, player)
    if (end.total_if_endless if by_limit else due) != result:
        found = "an unfinished game" if end.result is None else f"a result of {plain_number(end.result)}"
        raise FormatError(f"damaged record: its moves lead to {found}, it says {result}")
    agents, given = tuple(fields["agents"]), fields["opening"]
    last = (by_limit, player, reason, _headers_of(fields))
    return Record(game, agents, end.events, result, fields["seed"], fields["number"], start, given, *last)


def _headers_of(fields: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    found = fields.get("headers", {})
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise FormatError("damaged record: headers are texts by name")
    return tuple(sorted(found.items()))


def _forfeit_of(fields: dict[str, Any]) -> tuple[int | None, str]:
    """Return who has lost by failing, and how."""
    found = fields.get("forfeit")
    if found is None:
        return None, ""
    player, reason = (found.get("player"), found.get("reason")) if isinstance(found, dict) else (None, None)
    if type(player) is not int or not 0 <= player < len(fields["agents"]) or not isinstance(reason, str):
        raise FormatError("damaged record: forfeit needs a player and a reason")
    return player, reason


def _played(position: Position[Any], moves: list[str], events: list[int] | None) -> Position[Any]:
    """Return the position after the moves; numbers and words must tell the same."""
    if events is None:
        return position.play_all(moves)
    if len(events) != len(moves):
        raise FormatError(f"damaged record: {len(moves)} moves but {len(events)} events")
    for number, (event, move) in enumerate(zip(events, moves, strict=True), start=1):
        position = _followed(position, number, event, move)
    return position


def _followed(position: Position[Any], number: int, event: int, move: str) -> Position[Any]:
    try:
        after = position.play(event)
    except IllegalMove as error:
        raise FormatError(f"move {number}: {error}") from None
    if (called := event_text(position.game, position.state, event)) != move:
        raise FormatError(f"move {number}: number {event} is called {called!r} here, the record calls it {move!r}")
    return after


def _game_of(fields: dict[str, Any]) -> Game[Any]:
    if ".py" in fields["game"]:
        raise FormatError(f"the record is of a user's game, {fields['game']}; name the game when you read it")
    return _made(fields["game"], json.dumps(fields["parameters"], sort_keys=True))


@lru_cache(maxsize=8)  # the records of a file are of one game
def _made(name: str, parameters: str) -> Game[Any]:
    return from_data(name, json.loads(parameters))


def _start_text(game: Game[Any], start: Any) -> str:
    """Return a text that is read back: the fields, if the game does not read its own texts."""
    return game.text(start) if game.has_parse else write_fields(start)
