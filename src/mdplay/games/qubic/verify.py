"""An independent checker of books that claim the first player's win in Qubic.

Nothing here comes from the prover, the threat search or the rules of the game: what the checker knows of the cube
it has from the cube's definition (plain.py).

A book has a line ``attacker defender cell`` for each position in which the attacker needs a plan (masks as decimal
numbers, cell = x + 4y + 16z; any symmetric image will do).  The attacker takes cell 0; then, for every answer of
the defender, the position must either be in the book, and everything after the book's move must hold in the same
way, or be won by forcing moves alone.  The first position where neither is true is the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, lowest, nonempty, popcount, without_lowest
from mdplay.compiling import Words, get, inlined, kernel, put, unchecked_view
from mdplay.errors import FormatError
from mdplay.games.qubic.plain import (
    DEEPEST,
    FAILURES,
    complete,
    finishing,
    forced,
    moved_by,
    place_of,
    smallest,
    tables,
)
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.threads import Show, StopFlag, TaskGroup
from mdplay.storage.files import read, unzip

Words = Words
START = (1, 0)
PART = 64  # positions that are checked together
OCCUPIED, UNEVEN, OVERLAP, LOST, OPEN, FULL = range(1, 7)
REASONS = {
    OCCUPIED: "the book's cell is occupied",
    UNEVEN: "the attacker is not to move: both sides must have equally many marks",
    OVERLAP: "a cell belongs to both sides",
    LOST: "the defender, to move, completes a line",
    OPEN: "the position is not in the book, and no sequence of threats wins it",
    FULL: "the cube is full and neither player has won",
}


# ---------------------------------------------------------------- the book
@inlined
def book_place(attacker: Any, defender: Any, book: Any) -> int:
    """Return where the book keeps a smallest image, or the free place where it belongs; one is always free."""
    size = len(book) // 3
    at = place_of(attacker, defender, size)
    while get(book, 3 * at) != 0 and (get(book, 3 * at) != attacker or get(book, 3 * at + 1) != defender):
        at = (at + 1) & (size - 1)
    return 3 * at


@inlined
def flaw_of(attacker: Any, defender: Any, cell: int) -> int:
    """Return what is wrong with a line of the book by itself, or 0."""
    if nonempty(attacker & defender):
        return OVERLAP
    if popcount(attacker) != popcount(defender):
        return UNEVEN
    return OCCUPIED if cell > 63 or nonempty((attacker | defender) & U64(1) << cell) else 0


@kernel
def enter_lines(rows: Any, moved: Any, out_book: Any) -> Any:
    """Write the lines of a book under their smallest images: attacker, defender, move as a mask.

    Return what is wrong with the first faulty line, or 0, and its number.
    """
    rows, moved, book = unchecked_view((rows, moved, out_book))
    for i in range(len(rows) // 3):
        attacker, defender, cell = get(rows, 3 * i), get(rows, 3 * i + 1), int(get(rows, 3 * i + 2))
        flaw = flaw_of(attacker, defender, cell)
        if flaw != 0:
            return flaw, i
        x, y, k = smallest(attacker, defender, moved)
        at = book_place(x, y, book)
        put(book, at, x)
        put(book, at + 1, y)
        put(book, at + 2, moved_by(U64(1) << cell, k, moved))
    return 0, 0


@kernel
def follow_book(
    positions: Any,
    lines: Any,
    moved: Any,
    book: Any,
    stack: Any,
    failures: Any,
    stop: Any,
    out_met: Any,
    out_counts: Any,
) -> Any:
    """Try every answer to positions of the attacker's; return what is wrong, or 0, and the position where.

    ``out_met`` gets the places of the book that answers lead to, one for each of at most 64 a position;
    ``out_counts`` how many these are, how many answers were left to threats, and the nodes.
    """
    positions, lines, moved, book = unchecked_view((positions, lines, moved, book))
    stack, failures, met = unchecked_view(stack), unchecked_view(failures), 0
    for i in range(len(out_met) // 64):
        attacker, defender = get(positions, 2 * i), get(positions, 2 * i + 1)
        if stop[0] != 0:
            break
        if complete(attacker, lines):
            continue
        if nonempty(finishing(defender, attacker, lines)):
            return LOST, int(attacker), int(defender)
        free = ~(attacker | defender)
        if not nonempty(free):
            return FULL, int(attacker), int(defender)
        while nonempty(free):
            x, y, _ = smallest(attacker, defender | U64(1) << lowest(free), moved)
            free = without_lowest(free)
            at = book_place(x, y, book)
            if get(book, at) != 0:
                out_met[met] = at
                met += 1
                out_counts[0] = met
                continue
            won, nodes = forced(x, y, lines, stack, failures)
            out_counts[1] += 1
            out_counts[2] += nodes
            if not won:
                return OPEN, int(x), int(y)
    return 0, 0, 0


@dataclass(frozen=True)
class Verdict:
    """What the checker found: the gap, or none."""

    gap: str | None
    lines: int  # of the book
    met: int  # positions of the book that the strategy meets
    threats: int  # answers that fall to threats alone
    depth: int  # moves from the book in one game, at most
    nodes: int

    @property
    def verified(self) -> bool:
        """Whether the book proves the win."""
        return self.gap is None


def read_rows(path: str | Path) -> Words:
    """Read the lines of a book (or of a compressed one, .gz) as rows of three words, or raise FormatError."""
    data = read(path)
    try:
        text = (unzip(data, path) if str(path).endswith(".gz") else data).decode("ascii")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1 if not str(path).endswith(".gz") else "?"
        raise FormatError(f"{path}, line {line}: a book has decimal numbers only") from None
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        short = [item for item in line.split() if item.isdigit() and len(item) <= 20]
        numbers = [int(item) for item in short if int(item) < 1 << 64]
        if len(numbers) != 3 or len(line.split()) != 3:
            raise FormatError(
                f"{path}, line {number}: {line[:60]!r} is not attacker, defender and cell as numbers"
            )
        rows.append(numbers)
    return np.array(rows, np.uint64).reshape(-1, 3)


Check = Callable[[Words, Words], "list[Part]"]


class Part(NamedTuple):
    """What was found of some positions."""

    gap: str | None
    met: NDArray[np.int64]  # places of the book
    threats: int
    nodes: int


def check_part(number: int, positions: Words, book: Words, stop: StopFlag | None = None) -> Part:
    """Try every answer to part ``number`` of positions: the task of an executor.

    A part remembers failures of its own, so what it counts does not depend on who did which part.
    """
    own = positions[2 * PART * number : 2 * PART * (number + 1)].copy()
    met, counts = np.zeros(64 * (len(own) // 2), np.int64), np.zeros(3, np.int64)
    stack, failures = np.zeros(3 * DEEPEST, np.uint64), np.zeros(2 * FAILURES, np.uint64)
    room = (stack, failures, np.zeros(1, np.uint8) if stop is None else stop, met, counts)
    flaw, attacker, defender = follow_book(own, *tables(), np.array(book), *room)
    return Part(_gap(int(flaw), int(attacker), int(defender)), met[: counts[0]], int(counts[1]), int(counts[2]))


def verify(
    rows: Words,
    start: tuple[int, int] = START,
    *,
    executor: Executor | str | None = None,
    threads: int | None = None,
    show: Show | None = None,
) -> Verdict:
    """Check a book, given as rows of attacker, defender and cell, from a position with the defender to move.

    With an ``executor`` (mdplay.runtime.executors) its workers do it, as many as ``threads`` says; the verdict is
    the same.
    """
    book = np.zeros(3 << (2 * len(rows) + 1).bit_length(), np.uint64)
    flaw, number = enter_lines(np.ascontiguousarray(rows).reshape(-1), tables()[1], book)
    if flaw:
        attacker, defender, cell = (int(value) for value in rows[number])
        return Verdict(f"line {number + 1}: {attacker} {defender} {cell}: {REASONS[flaw]}", len(rows), 0, 0, 0, 0)
    if executor is None:
        return _followed(book, len(rows), start, _checked_here, show)
    with using(executor, threads) as chosen:
        shared = chosen.share(book)

        def checked(positions: Words, _: Words) -> list[Part]:
            return chosen.map(check_part, range(_num_parts(positions)), positions, shared)

        return _followed(book, len(rows), start, checked, show)


def _checked_here(positions: Words, book: Words) -> list[Part]:
    """Check all parts of positions in this process, up to the first gap."""
    watch, found = TaskGroup(), list[Part]()
    for number in range(_num_parts(positions)):
        found += watch.run([partial(check_part, number, positions, book, watch.stop)])
        if found[-1].gap is not None:
            break
    return found


def _num_parts(positions: Words) -> int:
    return -(-len(positions) // (2 * PART))


def _followed(book: Words, lines: int, start: tuple[int, int], check: Check, show: Show | None) -> Verdict:
    """Follow a book against every answer, move after move, up to the first gap."""
    level, seen = np.array(start, np.uint64), np.zeros(len(book), np.bool_)
    met, threats, depth, nodes = 0, 0, 0, 0
    while len(level):
        fresh = list[NDArray[np.int64]]()
        for one in check(level, book):
            places = _firsts(one.met)
            fresh.append(places[~seen[places]])
            seen[fresh[-1]] = True
            met, threats, nodes = met + len(fresh[-1]), threats + one.threats, nodes + one.nodes
            if one.gap is not None:
                return Verdict(one.gap, lines, met, threats, depth + (len(fresh[-1]) > 0), nodes)
        places = np.concatenate(fresh)
        level = np.column_stack([book[places] | book[places + 2], book[places + 1]]).ravel()
        depth += len(places) > 0
        if show is not None:
            show(met)
    return Verdict(None, lines, met, threats, depth, nodes)


def _firsts(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers without repetitions, each where it came first."""
    return numbers[np.sort(np.unique(numbers, return_index=True)[1])]


def verify_book(
    path: str | Path,
    *,
    executor: Executor | str | None = None,
    threads: int | None = None,
    show: Show | None = None,
) -> Verdict:
    """Check the book in a file."""
    return verify(read_rows(path), executor=executor, threads=threads, show=show)


def _gap(flaw: int, attacker: int, defender: int) -> str | None:
    if not flaw:
        return None
    mask = (1 << 64) - 1
    return f"attacker {attacker & mask} defender {defender & mask}: {REASONS[flaw]}"
