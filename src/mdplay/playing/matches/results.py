"""Finished games in an SQLite file: written as they end, found again by whoever resumes.

A game is filed under the key of its match (game, agents, openings, seed) and its number, once.  Each is committed
when it ends; in write-ahead mode a process that is killed loses none of them and damages nothing.

A key has names; the table ``made`` holds beside it what they stood for (``mdplay.identity``).  Whoever resumes
with edited rules, an edited agent or another file of the same name is told so, and gets none of the old games.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mdplay.errors import FormatError, MdplayError
from mdplay.game import Game
from mdplay.identity import UNKNOWN
from mdplay.playing.records import Record

APPLICATION = 0x6D64706C  # "mdpl" in the header of the file
BUSY_SECONDS = 60.0
ANEW = "name a new file for results"
REUSED: Counter[str] = Counter()  # how many games of a file were taken instead of played, in this process
SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS games (
    match TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (match, number)
) WITHOUT ROWID
""",
    """
CREATE TABLE IF NOT EXISTS made (
    match TEXT NOT NULL, part TEXT NOT NULL, identity TEXT NOT NULL, PRIMARY KEY (match, part)
) WITHOUT ROWID
""",
)


class Results:
    """The file of finished games; a context manager that closes it.

    A new file is made when the first game ends: a run that fails before leaves nothing behind.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file: sqlite3.Connection | None = None
        self._claims: list[tuple[str, Mapping[str, str]]] = []
        if self._is_there():
            self._open()
        elif not os.access(self.path.parent, os.W_OK | os.X_OK):  # better known now than after the first game
            raise FormatError(f"{path} cannot be used for results: its folder is not there or cannot be written")

    def _is_there(self) -> bool:
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            raise FormatError(f"{self.path} cannot be used for results: {error}") from None
        if not stat.S_ISREG(mode):
            raise FormatError(f"{self.path} cannot be used for results: it is not a file")
        return True

    def _open(self) -> sqlite3.Connection:
        """Return the open file; make it first if need be."""
        if self._file is None:
            with self._in_words():
                file = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
                try:
                    _prepare(file)
                except BaseException:
                    file.close()
                    raise
            self._file = file
            for claim in self._claims:
                self.claim(*claim)
        return self._file

    def claim(self, key: str, parts: Mapping[str, str]) -> None:
        """Say what a match is made of, each part with its identity; raise FormatError if its games are not."""
        if self._file is None:  # a new file has nothing to contradict
            self._claims.append((key, parts))
            return
        file = self._file
        with self._in_words():
            known = dict(file.execute("SELECT part, identity FROM made WHERE match = ?", (key,)).fetchall())
            games = file.execute("SELECT count(*) FROM games WHERE match = ?", (key,)).fetchone()[0]
            if games and not known:
                raise FormatError(f"its games do not say with which rules they were played; {ANEW}")
            for part, identity in parts.items():
                file.execute("INSERT OR IGNORE INTO made VALUES (?, ?, ?)", (key, part, identity))
                if known.get(part, identity) != identity and UNKNOWN in (identity[:1], known[part][:1]):
                    unknown = "no hash, since its code reads what its source does not name; whether it"
                    raise FormatError(f"{part} {unknown} has changed since these games is unknown; {ANEW}")
                if known.get(part, identity) != identity:
                    raise FormatError(f"{part} changed since its games were played; {ANEW}")

    def add(self, key: str, record: Record) -> None:
        """File a finished game; one that is there already stays as it is."""
        with self._in_words():
            row = (key, record.number, record.to_json())
            self._open().execute("INSERT OR IGNORE INTO games VALUES (?, ?, ?)", row)

    def records(self, key: str, game: Game[Any], below: int) -> dict[int, Record]:
        """Return the games filed under a key with numbers below a bound, replayed and checked."""
        if self._file is None:
            return {}
        query = "SELECT number, record FROM games WHERE match = ? AND number < ? ORDER BY number"
        with self._in_words():
            rows = self._file.execute(query, (key, below)).fetchall()
            REUSED[str(self.path)] += len(rows)
            return {number: _record(number, text, game) for number, text in rows}

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:  # the latter where a damaged name is put into words
            raise FormatError(f"{self.path} cannot be used for results: {error}") from None
        except MdplayError as error:
            raise FormatError(f"{self.path}: {error}") from None


def _prepare(file: sqlite3.Connection) -> None:
    """Check that a file is new or ours; whatever it says, it calls no function of this program."""
    file.execute("PRAGMA trusted_schema = OFF")
    file.execute("PRAGMA cell_size_check = ON")
    known = file.execute("PRAGMA application_id").fetchone()[0]
    tables = file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if known != APPLICATION and tables:
        raise FormatError("an SQLite file of another program; name a new one for results")
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = NORMAL")
    file.execute(f"PRAGMA application_id = {APPLICATION}")
    for table in SCHEMA:
        file.execute(table)


def _record(number: Any, text: Any, game: Game[Any]) -> Record:
    """Return the record of a row, which must be the game of its number."""
    if not isinstance(text, str):
        raise FormatError(f"game {number} is damaged: it is not text")
    record = Record.from_json(text, game)
    if record.number != number:
        raise FormatError(f"game {number} is damaged: its record has the number {record.number}")
    return record
