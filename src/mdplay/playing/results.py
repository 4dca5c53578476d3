"""Finished games in an SQLite file: written as they end, found again by whoever resumes.

A game is filed under the key of its match (game, agents, openings, seed) and its number, once.  Each is committed
when it ends; in write-ahead mode a process that is killed loses none of them and damages nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mdplay.errors import FormatError
from mdplay.game import Game
from mdplay.playing.records import Record

APPLICATION = 0x6D64706C  # "mdpl" in the header of the file
BUSY_SECONDS = 60.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    match TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (match, number)
) WITHOUT ROWID
"""


class Results:
    """The file of finished games; a context manager that closes it."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        with self._in_words():
            self._file = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def _prepare(self) -> None:
        known = self._file.execute("PRAGMA application_id").fetchone()[0]
        tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if known != APPLICATION and tables:
            raise FormatError("an SQLite file of another program; name a new one for results")
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")
        self._file.execute(f"PRAGMA application_id = {APPLICATION}")
        self._file.execute(SCHEMA)

    def add(self, key: str, record: Record) -> None:
        """File a finished game; one that is there already stays as it is."""
        with self._in_words():
            row = (key, record.number, record.to_json())
            self._file.execute("INSERT OR IGNORE INTO games VALUES (?, ?, ?)", row)

    def records(self, key: str, game: Game[Any], below: int) -> dict[int, Record]:
        """Return the games filed under a key with numbers below a bound, replayed and checked."""
        query = "SELECT number, record FROM games WHERE match = ? AND number < ? ORDER BY number"
        with self._in_words():
            rows = self._file.execute(query, (key, below)).fetchall()
            return {number: Record.from_json(text, game) for number, text in rows}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise FormatError(f"{self.path} cannot be used for results: {error}") from None
        except FormatError as error:
            raise FormatError(f"{self.path}: {error}") from None
