"""Solutions in files: saved whole, checked when read, looked up without loading, and resumed when unfinished.

A table of keys is written in the order of its keys, so the same solution is the same bytes, however often the
work was stopped on the way; looking a state up is a binary search in the mapped file.

    kind "solution"     meta: game, rules (its identity), version, method, complete; whole, how entries are packed;
                        arrays of the table; fold, whether images share a state, of retrograde analysis, which
                        keeps an unfinished enumeration as well: keys in the order of numbers, node, target
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import width
from mdplay.compiling.identity import check_rules, game_identity
from mdplay.errors import FormatError, pluralize
from mdplay.game import Game
from mdplay.runtime.threads import num_threads
from mdplay.solving.hashed import HashTable, has_whole_values
from mdplay.solving.hashed_kernel import CLOSED, NOT_A_VALUE
from mdplay.solving.indexed import IndexedTable
from mdplay.solving.retrograde import RANK_SHIFT, RetrogradeTable, prepared, retrograde
from mdplay.solving.subset import SubsetTable
from mdplay.solving.values import Question, Solver, StateValue, Table
from mdplay.states.enumeration import DEGREE, Enumeration
from mdplay.states.keys import WORD_BITS, key_of, layout_of, num_words, state_of, widths_of
from mdplay.storage import arrays as store

KIND = "solution"
VERSION = 2  # 2: distances in games whose ``endless`` is not 0 are counted as in docs/games-that-repeat.md
TYPES = {
    "layout": "int64",
    "keys": "uint64",
    "entries": "int64",
    "values": "int8 int16 int32 int64 float64",
    "distances": "uint8 uint16 uint32",
    "ranks": "uint32",
    "results": "int64",
    "node": "uint16",
    "target": "uint32",
}
Arrays = dict[str, NDArray[Any]]


class Unfinished:
    """An enumeration for retrograde analysis that was interrupted, as it lies in a file."""

    method = "retrograde"

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays["keys"])

    def lookup(self, state: Any, player: int) -> StateValue:
        """Raise FormatError: nothing is known before all states are."""
        raise FormatError("nothing is known before all states are found")


class SortedTable:
    """A hashed solution in the order of its keys, as it lies in a file."""

    method = "hashed"

    def __init__(self, game: Game[Any], arrays: Arrays, whole: bool) -> None:
        self.game, self.whole = game, whole
        self.layout, self.keys, self.entries = arrays["layout"], arrays["keys"], arrays["entries"]
        self._more = HashTable(game)  # for states that the file does not have

    def __len__(self) -> int:
        return len(self.entries)

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return what a state is worth to a player; a state out of the file's reach is solved anew."""
        at = self._find(state)
        if at is None:
            return self._more.lookup(state, player)
        entry, mine = int(self.entries[at]), player == self.game.player(state)
        if self.whole:
            return StateValue(float((entry >> 32) * (1 if mine else -1)), (entry & 0xFFFF_FFFF) - CLOSED)
        value = float(np.int64(entry ^ NOT_A_VALUE).view(np.float64))
        return StateValue(value if mine else -value, None)

    def states(self) -> Iterator[Any]:
        """Yield every state of the file, in the order of their keys; of symmetric ones the least image."""
        return (state_of(self.game, np.array(key).view(np.int64), self.layout) for key in self.keys)

    def _find(self, state: Any) -> int | None:
        key = key_of(self.game, state, self.layout)
        if key is None:
            return None
        wanted = tuple(key.view(np.uint64).tolist())
        at = bisect_left(range(len(self)), wanted, key=lambda i: tuple(self.keys[i].tolist()))
        return at if at < len(self) and tuple(self.keys[at].tolist()) == wanted else None


# ---------------------------------------------------------------- tables as arrays
def arrays_of(table: Table) -> Arrays:
    """Return the arrays of a table that can be saved."""
    if isinstance(table, HashTable):
        return sorted_arrays(table)
    if isinstance(table, SortedTable):
        return {"layout": table.layout, "keys": table.keys, "entries": table.entries}
    if isinstance(table, IndexedTable):
        return {"values": table.values, "distances": table.distances}
    if isinstance(table, SubsetTable):
        return {"values": table.values}
    if isinstance(table, RetrogradeTable):
        return table.arrays()
    if isinstance(table, Unfinished):
        return table.arrays
    raise FormatError(f"a solution by {table.method} has no file; save one against perfect play")


def sorted_arrays(table: HashTable) -> Arrays:
    """Return the closed states of a hash table in the order of their keys."""
    rows = table.closed()
    order = np.lexsort(rows[:, :-1].view(np.uint64).T[::-1])
    keys, entries = rows[order, :-1].view(np.uint64), rows[order, -1]
    return {"layout": table.layout, "keys": np.ascontiguousarray(keys), "entries": np.ascontiguousarray(entries)}


def table_of(game: Game[Any], meta: Mapping[str, Any], arrays: Arrays) -> Table:
    """Return the table that arrays describe; raise FormatError if they are of other shapes than the game's."""
    method = meta["method"]
    if method in (IndexedTable.method, SubsetTable.method):
        sizes = {len(arrays["values"]), len(arrays.get("distances", ())) or game.size()}
        if not game.has_size or sizes != {game.size()}:
            raise FormatError(f"the table has {len(arrays['values']):,} values; {game!r} has other numbers")
        if method == SubsetTable.method:
            return SubsetTable(game, arrays["values"])
        return IndexedTable(game, arrays["values"], arrays["distances"])
    if method == RetrogradeTable.method:
        return _retrograde_of(game, meta, arrays)
    _check_layout(game, arrays, len(arrays["entries"]))
    return SortedTable(game, arrays, bool(meta.get("whole", has_whole_values(game))))


def _retrograde_of(game: Game[Any], meta: Mapping[str, Any], arrays: Arrays) -> Table:
    """Return a finished retrograde analysis, or what was enumerated for it."""
    if meta["complete"]:
        _check_layout(game, arrays, len(arrays["ranks"]))
        results = arrays["results"].tolist()
        if len(arrays["ranks"]) and int(arrays["ranks"].max()) >> RANK_SHIFT > len(results):
            raise FormatError(f"the file has ranks beyond its {len(results)} results")
        fold = bool(meta["fold"])
        return RetrogradeTable(game, arrays["layout"], fold, arrays["ranks"], results, keys=arrays["keys"])
    _check_layout(game, arrays, len(arrays["keys"]))
    node, target = arrays["node"], arrays["target"]
    known = len(arrays["keys"])
    if (
        len(node) > known
        or int((node & DEGREE).sum()) != len(target)
        or (len(target) and int(target.max()) >= known)
    ):
        raise FormatError("the edges in the file are not those of its states")
    return Unfinished(arrays)


def _check_layout(game: Game[Any], arrays: Arrays, count: int) -> None:
    """Hold the arrays of a solution to the layout that kernels will follow."""
    layout, keys = arrays["layout"], arrays["keys"]
    fits = layout.shape == (width(game), 3) and layout.dtype == np.int64
    widths = widths_of(layout) if fits else []
    fits = fits and all(1 <= w <= WORD_BITS for w in widths) and np.array_equal(layout, layout_of(widths))
    if not fits or keys.shape != (count, num_words(layout)):
        raise FormatError(f"the keys in the file are not those of states of {game!r}")


# ---------------------------------------------------------------- files
def save_table(path: str | Path, table: Table, *, game: Game[Any], complete: bool = True) -> None:
    """Write a table to a file, atomically."""
    meta = {"game": repr(game), "rules": game_identity(game), "method": table.method, "complete": complete}
    meta["version"] = VERSION
    if isinstance(table, HashTable | SortedTable):
        meta["whole"] = table.whole
    if isinstance(table, RetrogradeTable):
        meta["fold"] = table.fold
    store.save(path, arrays_of(table), kind=KIND, meta=meta)


def load_table(path: str | Path, game: Game[Any]) -> tuple[Table, bool]:
    """Return the table in a file and whether it is complete; raise FormatError if it is not of this game."""
    stored = store.load(path, kind=KIND, types=TYPES)
    if stored.meta.get("game") != repr(game):
        raise FormatError(f"{path} is a solution of {stored.meta.get('game')}, not of {game!r}")
    check_rules(path, stored.meta.get("rules"), game, "name a new file and solve again")
    if game.endless and stored.meta.get("version", 1) != VERSION:
        raise FormatError(
            f"{path} was written by an mdplay that counted plies otherwise; solve again into a new file"
        )
    try:
        return table_of(game, stored.meta, stored.arrays), bool(stored.meta["complete"])
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except KeyError as error:
        raise FormatError(f"{path} is not a solution: it has no {error.args[0]}") from None


def solve_in_file(question: Question, solver: Solver) -> Table:
    """Return the finished table of a question's file; make it first, from what the file has of it, if need be."""
    path, game = question.file, question.game
    assert path is not None
    found = load_table(path, game) if Path(path).exists() else None
    if found is not None and found[1]:
        question.notes.append(f"solution read from {path}")
        return found[0]
    unfinished = found[0] if found else None
    if unfinished is not None:
        question.notes.append(f"unfinished solution of {pluralize(len(unfinished), 'state')} read from {path}")
    if solver.name == RetrogradeTable.method or isinstance(unfinished, Unfinished):
        table: Table = _analyse(question, path, unfinished)
    elif solver.name == HashTable.method:
        table = _resume(question, path, unfinished)
    else:
        table = solver.fill(question)
    save_table(path, table, game=game)
    return table


def _resume(question: Question, path: str | Path, found: Table | None) -> HashTable:
    """Close what the start reaches, beginning with what was found in a file and saving it now and then."""
    game = question.game
    table = HashTable(game, memory=question.memory, show=question.show)
    if isinstance(found, SortedTable):
        rows = np.column_stack([found.keys.view(np.int64), found.entries])
        table.restore(np.array(found.layout), rows, whole=found.whole)
    keep = partial(save_table, path, game=game, complete=False)
    table.close(question.state, keep=keep, seconds=question.save_seconds)
    return table


def _analyse(question: Question, path: str | Path, found: Table | None) -> RetrogradeTable:
    """Enumerate and analyse a game, beginning with what was found in a file and saving it now and then."""
    game, threads = question.game, num_threads(question.threads)
    work = prepared(game, question.state, threads=threads, memory=question.memory)
    if isinstance(found, Unfinished):
        work.restore(np.array(found.arrays["layout"]), found.arrays)

    def keep(work: Enumeration) -> None:
        save_table(path, Unfinished({"layout": work.layout, **work.arrays()}), game=game, complete=False)

    return retrograde(
        game,
        question.state,
        memory=question.memory,
        show=question.show,
        begun=work,
        keep=keep,
        seconds=question.save_seconds,
    )
