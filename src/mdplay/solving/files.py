"""Solutions in files: saved whole, checked when read, looked up without loading, and resumed when unfinished.

A table of keys is written in the order of its keys, so the same solution is the same bytes, however often the
work was stopped on the way; looking a state up is a binary search in the mapped file.

    kind "solution"     meta: game, method, complete; arrays of the table
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay import store
from mdplay.errors import FormatError
from mdplay.game import Game
from mdplay.running import Show
from mdplay.solving.dense import DenseTable
from mdplay.solving.growing import GrowingTable
from mdplay.solving.hashed import CLOSED, NOT_A_VALUE, HashTable
from mdplay.solving.keys import Layout, key_of
from mdplay.solving.solution import fill_table
from mdplay.solving.worth import Table, Worth

KIND = "solution"
Arrays = dict[str, NDArray[Any]]


class SortedTable:
    """A hashed solution in the order of its keys, as it lies in a file."""

    method = "hashed"

    def __init__(
        self, game: Game[Any], layout: Layout, keys: NDArray[np.uint64], entries: NDArray[np.int64]
    ) -> None:
        self.game, self.layout, self.keys, self.entries = game, layout, keys, entries
        self._more = HashTable(game)  # for states that the file does not have

    def __len__(self) -> int:
        return len(self.entries)

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player; a state out of the file's reach is solved anew."""
        at = self._find(state)
        if at is None:
            return self._more.worth(state, player)
        entry, mine = int(self.entries[at]), player == self.game.player(state)
        if self._more.whole:
            return Worth(float((entry >> 32) * (1 if mine else -1)), (entry & 0xFFFF_FFFF) - CLOSED)
        value = float(np.int64(entry ^ NOT_A_VALUE).view(np.float64))
        return Worth(value if mine else -value, None)

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
    if isinstance(table, DenseTable):
        return {"values": table.values, "distances": table.distances}
    if isinstance(table, GrowingTable):
        return {"values": table.values}
    raise FormatError(f"a solution by {table.method} has no file; save one against perfect play")


def sorted_arrays(table: HashTable) -> Arrays:
    """Return the closed states of a hash table in the order of their keys."""
    rows = table.closed()
    order = np.lexsort(rows[:, :-1].view(np.uint64).T[::-1])
    keys, entries = rows[order, :-1].view(np.uint64), rows[order, -1]
    return {"layout": table.layout, "keys": np.ascontiguousarray(keys), "entries": np.ascontiguousarray(entries)}


def table_of(game: Game[Any], method: str, arrays: Arrays) -> Table:
    """Return the table that arrays describe."""
    if method == DenseTable.method:
        return DenseTable(game, arrays["values"], arrays["distances"])
    if method == GrowingTable.method:
        return GrowingTable(game, arrays["values"])
    return SortedTable(game, arrays["layout"], arrays["keys"], arrays["entries"])


# ---------------------------------------------------------------- files
def save_table(path: str | Path, table: Table, game: Game[Any], *, complete: bool = True) -> None:
    """Write a table to a file, atomically."""
    meta = {"game": repr(game), "method": table.method, "complete": complete}
    store.save(path, arrays_of(table), kind=KIND, meta=meta)


def load_table(path: str | Path, game: Game[Any]) -> tuple[Table, bool]:
    """Return the table in a file and whether it is complete; raise FormatError if it is not of this game."""
    stored = store.load(path, kind=KIND)
    if stored.meta.get("game") != repr(game):
        raise FormatError(f"{path} is a solution of {stored.meta.get('game')}, not of {game!r}")
    try:
        return table_of(game, stored.meta["method"], stored.arrays), bool(stored.meta["complete"])
    except KeyError as error:
        raise FormatError(f"{path} is not a solution: it has no {error.args[0]}") from None


def solve_in_file(
    path: str | Path,
    game: Game[Any],
    start: Any,
    method: str,
    memory: int | None,
    seconds: float,
    show: Show | None,
) -> Table:
    """Return the finished table of a file; make it first, from what the file has of it, if need be."""
    found = load_table(path, game) if Path(path).exists() else None
    if found is not None and found[1]:
        return found[0]
    if method == HashTable.method:
        table: Table = _resume(path, game, start, found[0] if found else None, memory, seconds, show)
    else:
        table = fill_table(game, start, method, memory, show)
    save_table(path, table, game)
    return table


def _resume(
    path: str | Path,
    game: Game[Any],
    start: Any,
    found: Table | None,
    memory: int | None,
    seconds: float,
    show: Show | None,
) -> HashTable:
    """Close what the start reaches, beginning with what was found in a file and saving it now and then."""
    table = HashTable(game, memory=memory, show=show)
    if isinstance(found, SortedTable):
        table.restore(np.array(found.layout), np.column_stack([found.keys.view(np.int64), found.entries]))
    table.close(start, keep=lambda t: save_table(path, t, game, complete=False), seconds=seconds)
    return table
