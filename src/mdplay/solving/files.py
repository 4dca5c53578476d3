"""Solution files: saved atomically, checked when they are read, memory-mapped, and resumed if unfinished.

A table of keys is written in the order of its keys, so the same solution has the same bytes, however often the
work was interrupted; a state is looked up by binary search in the mapped file.

    kind "solution"     meta: game, rules (its identity), version, method (the kind of table), complete, and the
                        facts of the table; arrays of the table (`Table.to_arrays`)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from mdplay.compiling.identity import check_rules, game_identity
from mdplay.errors import FormatError, pluralize
from mdplay.game import Game
from mdplay.naming.registry import extras_of, plugins
from mdplay.solving.values import Question, Table
from mdplay.storage import arrays as store

KIND = "solution"
VERSION = 2  # 2: distances in games whose ``endless`` is not 0 are counted as in docs/games-that-repeat.md
BUILT_IN = ("hashed", "indexed", "retrograde", "subset")  # modules of tables, by the kinds of their files


# ---------------------------------------------------------------- files
def save_table(path: str | Path, table: Table, *, game: Game[Any], complete: bool = True) -> None:
    """Write a table to a file, atomically."""
    arrays, facts = table.to_arrays()
    meta = {"game": repr(game), "rules": game_identity(game), "method": table.kind, "complete": complete}
    store.save(path, arrays, kind=KIND, meta={**facts, **meta, "version": VERSION})


def load_table(path: str | Path, game: Game[Any]) -> tuple[Table, bool]:
    """Return the table in a file and whether it is complete; raise FormatError if it is not of this game."""
    stored = store.load(path, kind=KIND)
    if stored.meta.get("game") != repr(game):
        raise FormatError(f"{path} is a solution of {stored.meta.get('game')}, not of {game!r}")
    check_rules(path, stored.meta.get("rules"), game, "name a new file and solve again")
    if game.endless and stored.meta.get("version", 1) != VERSION:
        raise FormatError(
            f"{path} was written by an older mdplay that counted plies differently; solve again into a new file"
        )
    try:
        reader = _reader(stored.meta["method"], game)
        store.check_types(stored.arrays, reader.array_types)
        return reader.from_arrays(game, stored.arrays, stored.meta), bool(stored.meta["complete"])
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except KeyError as error:
        raise FormatError(f"{path} is not a solution: it has no {error.args[0]}") from None


def _reader(kind: object, game: Game[Any]) -> type[Table]:
    """Return the class of tables that is registered for a kind of file."""
    if kind in BUILT_IN:
        import_module(f"mdplay.solving.{kind}")
    elif kind not in Table.readers:
        plugins("solver"), extras_of(game, "solvers")  # imports them, which registers their tables
    if kind not in Table.readers:
        raise FormatError(f"no installed solver reads tables of kind {kind!s:.40}")
    return Table.readers[str(kind)]


def open_file(question: Question) -> tuple[Question, Table | None]:
    """Return the question with the unfinished table of its file and a way to save one, and a finished table."""
    path, game = question.run.file, question.game
    assert path is not None
    found, complete = load_table(path, game) if Path(path).exists() else (None, False)
    if found is not None:
        unfinished = f"unfinished solution of {pluralize(len(found), 'state')} read from {path}"
        question.notes.append(f"solution read from {path}" if complete else unfinished)
    save = partial(save_table, path, game=game, complete=False)
    return replace(question, begun=found, checkpoint=save), found if complete else None
