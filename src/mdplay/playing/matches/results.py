"""Finished games in an SQLite file: written as they end, read when a match is resumed.

A game is filed under the key of its match (game, agents, openings, seed) and its number, once.  Each is committed
when it ends; in write-ahead mode a process that is killed loses none of them and damages nothing.

A key has names; the table ``made`` holds beside it what they stood for (``mdplay.compiling.identity``).  A match
that resumes with edited rules, an edited agent or another file of the same name reports this and uses none of the
old games.

Statistics of the games, with intervals at 95 %.

A score counts 1 for a win, 1/2 for a draw, 0 for a loss.  Its interval is the adjusted one of Agresti and Coull
(1998), extended to draws: z^2 / 2 wins and as many losses are added before mean and variance are taken,

    n' = n + z^2,   p' = (wins + draws / 2 + z^2 / 2) / n',   v' = (wins + z^2 / 2 + draws / 4) / n' - p'^2,
    p' +- z sqrt(v' / n')

so that ten wins out of ten do not claim certainty.

Games that repeat others move for move may be no news, as when neither agent draws lots: the intervals take the
number of *distinct* games for n.

Elo: a difference of d points promises the score 1 / (1 + 10^(-d / 400)).

Elo ratings of a tournament, with intervals.

The model of Bradley and Terry (1952): agent i scores 1 / (1 + exp(t_j - t_i)) against agent j on average, and a
rating is t in Elo points, 400 / ln 10 to the unit, zero on average.  The log-likelihood of the points s_ij that i
scored against j is concave; Newton's method climbs it:

    gradient_i = sum_j (s_ij - n_ij p_ij),   information = diag(sum_j w_ij) - w,   w_ij = n_ij p_ij (1 - p_ij)

One drawn game is added to every pair, so that an agent that won all games has a rating too.  The intervals come
from the inverse of the information, with draws taken for half wins: a little too wide rather than too narrow.
"""

from __future__ import annotations

import math
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError, MdplayError
from mdplay.game import Game
from mdplay.playing.records import Record

Z = 1.959963984540054  # the normal distribution keeps 95 % within +- Z


class Interval(NamedTuple):
    """Both ends of a 95 % interval."""

    low: float
    high: float


def score_interval(wins: int, draws: int, losses: int, distinct: int | None = None) -> Interval:
    """Return the interval of a score; ``distinct`` of the games count."""
    games = wins + draws + losses
    share = (games if distinct is None else distinct) / games
    n, half = games * share + Z * Z, Z * Z / 2
    mean = (share * (wins + draws / 2) + half) / n
    variance = max(0.0, (share * (wins + draws / 4) + half) / n - mean * mean)
    reach = Z * math.sqrt(variance / n)
    return Interval(max(0.0, mean - reach), min(1.0, mean + reach))


def mean_and_error(values: Sequence[float], distinct: int | None = None) -> tuple[float, float]:
    """Return the mean and its standard error; ``distinct`` of the values count."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((v - mean) ** 2 for v in values) / max(1, n - 1)
    return mean, math.sqrt(variance / (n if distinct is None else distinct))


def elo_of_score(score: float) -> float:
    """Return the Elo difference that promises a score; infinite at 0 and 1."""
    if score <= 0.0 or score >= 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


ELO = 400 / math.log(10)
STEPS, LARGEST_STEP, SMALLEST_STEP = 200, 2.0, 1e-12


def elo_ratings(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each agent's Elo rating and half the width of its 95 % interval.

    ``points[i, j]`` is what i scored against j: 1 a win, 1/2 a draw.
    """
    points = points + 0.5 * (1 - np.eye(len(points)))
    games = points + points.T
    ratings = np.zeros(len(points))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
        weights = games * expected * (1 - expected)
        inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
        step = inverse @ (points - games * expected).sum(axis=1)
        ratings += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        if np.abs(step).max() < SMALLEST_STEP:
            break
    return ELO * (ratings - ratings.mean()), ELO * Z * np.sqrt(np.diag(inverse))


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
        """Record the parts of a match with their identities; raise FormatError if stored games have other ones."""
        if self._file is None:  # a new file has nothing to contradict
            self._claims.append((key, parts))
            return
        from mdplay.compiling.identity import UNKNOWN

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
