"""What a format of others is: a text that holds games, read by replaying every move.

    class Moves(ForeignFormat):
        ending = ".moves"

        def dump(self, record): ...      one game as a text
        def load(self, text): ...        all games of a text

A text is data, whoever wrote it: it names no file and nothing in it is run.

Files of games: read, written and converted.

    convert("games.jsonl", "games.sgf")
    convert("openings.moves", "games.jsonl", game=make("connect-four"))

``mdplay`` is our own format, a record a line of JSON; the others a game brings.  A file's name tells its format by
its ending (``.json`` and ``.jsonl`` are ours) unless somebody says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from mdplay.errors import FormatError, MdplayError, UnknownName, unknown
from mdplay.game import Game, num_players
from mdplay.naming.registry import extra_names, extras_of, from_text
from mdplay.playing.records import Record, load_records, save_records
from mdplay.position import Position
from mdplay.storage.files import read_text, write

NOBODY = "?"


class ForeignFormat:
    """The texts of one game; ``ending`` is how its files end."""

    ending: ClassVar[str]

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def dump(self, record: Record) -> str:
        """Return a game as a text that ends with a line; raise FormatError if the format cannot hold it."""
        raise NotImplementedError

    def load(self, text: str) -> list[Record]:
        """Return the games of a text, or raise FormatError."""
        raise NotImplementedError

    def replayed(self, place: str, moves: Sequence[str], agents: tuple[str, ...] = ()) -> Record:
        """Return the record of a game by its moves; ``place`` tells in an error where it stands."""
        try:
            end = Position.start(self.game).play_all(moves)
        except MdplayError as error:
            raise FormatError(f"{place}: {error}") from None
        return Record(self.game, agents or (NOBODY,) * num_players(self.game), end.events, end.result)


def from_the_start(record: Record, name: str) -> Record:
    """Return a record, or raise FormatError if it begins elsewhere than the game does."""
    if record.start is not None:
        raise FormatError(f"game {record.number} begins with a position, which the format {name} cannot hold")
    return record


OURS = "mdplay"
OUR_ENDINGS = (".json", ".jsonl")
NAMED_IN_SGF = re.compile(r"GN\[([\w-]+(?::[\w=,.-]*)?)\]")


def format_names(game: Game[Any]) -> list[str]:
    """Return the names of the formats in which games of a game can be written."""
    return [OURS, *extra_names(game, "formats")]


def load_games(path: str | Path, *, game: Game[Any] | None = None, format: str | None = None) -> list[Record]:
    """Return the games of a file; ``game`` may be left out where the file names a registered one."""
    if (format or _by_ending(path)) == OURS:
        return load_records(path, game)
    text = read_text(path)
    chosen = game or _named_in(text)
    if chosen is None:
        raise FormatError(f"{path} does not say of which game its games are; name the game")
    try:
        return _format(chosen, format, path).load(text)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def save_games(path: str | Path, records: Sequence[Record], *, format: str | None = None) -> None:
    """Write games to a file, atomically."""
    if (format or _by_ending(path)) == OURS:
        save_records(path, records)
        return
    if not records:
        raise FormatError("there is no game to write")
    made = _format(records[0].game, format, path)
    if other := next((record for record in records if record.game != made.game), None):
        raise FormatError(f"games of {made.game!r} and of {other.game!r} do not go into one file of this format")
    write(path, "".join(map(made.dump, records)))


def convert(
    source: str | Path,
    target: str | Path,
    *,
    game: Game[Any] | None = None,
    source_format: str | None = None,
    target_format: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Record]:
    """Read the games of a file, write them to another one, and return them; ``headers`` are added to each."""
    records = load_games(source, game=game, format=source_format)
    added = headers or {}
    records = [replace(r, headers=tuple(sorted({**dict(r.headers), **added}.items()))) for r in records]
    save_games(target, records, format=target_format)
    return records


def _by_ending(path: str | Path) -> str | None:
    return OURS if Path(path).suffix.lower() in OUR_ENDINGS else None


def _format(game: Game[Any], name: str | None, path: str | Path) -> ForeignFormat:
    """Return the format of a name, or else of a file's ending; raise UnknownName if the game brings none such."""
    known: dict[str, type[ForeignFormat]] = extras_of(game, "formats")
    if name is not None:
        if name not in known:
            raise unknown("format", name, format_names(game))
        return known[name](game)
    ending = Path(path).suffix.lower()
    found = next((cls for cls in known.values() if cls.ending == ending), None)
    if found is None:
        endings: Iterable[str] = (*OUR_ENDINGS, *(cls.ending for cls in known.values()))
        raise UnknownName(f"{path}: {type(game).__name__} has no format of this ending; {', '.join(endings)}")
    return found(game)


def _named_in(text: str) -> Game[Any] | None:
    """Return the registered game that an SGF names, if it does."""
    found = NAMED_IN_SGF.search(text)
    try:
        return None if found is None else from_text(found[1])
    except MdplayError:
        return None
