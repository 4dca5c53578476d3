"""The proof that the first player wins Qubic, and the book of its strategy.

Proof-number search from the start does not converge; the first moves are searched depth first.  The attacker has
taken cell 0.  For each answer of the defender (12, up to symmetry) a few second moves are tried, and for each of
those every answer must be proved in turn by df-pn (``proof_kernels``) within a limit of expansions; after the
first failure the second move is given up.  Open answers are tried again with a larger limit; the table is reused.

A checkpoint stores the positions proved by search with their winning cells, and which second moves have failed at
which limit.  A resumed run finds the same proof.

With an executor each of the defender's answers to the start is a task with its own table, so positions that two
answers lead to are proved twice.  The book does not depend on the executor, but differs from that of a proof in
one table.  Proved answers are saved.  The books of the answers make one book: after a move of the book of answer
k, every move of the defender leads to a position of that book, or of an answer before k whose move is taken
instead, or to one that threats win.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.compiling import Words, word
from mdplay.errors import FormatError, LimitError
from mdplay.games.qubic import proof_kernels as kernels
from mdplay.games.qubic.book import StrategyBook, image_tables, write_book
from mdplay.games.qubic.proof_kernels import (
    EXPANSIONS,
    INFINITE,
    LOW_HALF,
    NUM_ENTRIES,
    SLOT,
    THREAT_NODES,
    WIDTH,
)
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.threats import line_tables, new_frames, new_memory
from mdplay.runtime.executors import Executor, Keep, using
from mdplay.runtime.signals import saving
from mdplay.runtime.threads import Show, TaskGroup
from mdplay.storage.arrays import load, save

KIND = "qubic-proof"
TYPES = {"attackers": "uint64", "defenders": "uint64", "cells": "int64"}
START = (1, 0)  # the attacker has taken cell 0, the defender is to move
MAX_DEPTH = 64
Position = tuple[int, int]  # the marks of the attacker and of the defender
Pause = Callable[[int, int], None]  # told the answers proved so far, and how many there are


@dataclass(frozen=True)
class ProofSettings:
    """How the proof is searched; none of it can make a proof unsound."""

    threat_nodes: int = 600  # the budget of each search for threats
    limit: int = 30_000  # expansions for each answer, at first
    growth: int = 3  # of the limit, from round to round
    rounds: int = 8
    candidates: int = 6  # second moves to try
    slots: int = 1 << 24  # of the table, a power of two

    @property
    def max_limit(self) -> int:
        """The limit of the last round."""
        return int(self.limit * self.growth ** (self.rounds - 1))


class Child(NamedTuple):
    """A canonical position after a move: the cell taken, and its proof and disproof number."""

    position: Position
    cell: int
    proof: int
    disproof: int


@dataclass(frozen=True)
class StrategyProof:
    """What came out: the book if the win is proved, and what it took."""

    book: StrategyBook | None
    replies: int
    proved: int
    expansions: int
    threat_nodes: int
    positions: int
    seconds: float

    def save(self, path: Path) -> None:
        """Write the book, if there is one, to a file."""
        if self.book is not None:
            write_book(path, self.book)

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        statistics = {name: value for name, value in vars(self).items() if name != "book"}
        lines = 0 if self.book is None else len(self.book)
        return {"verdict": "open" if self.book is None else "proved", "lines": lines, **statistics}


@lru_cache(maxsize=1)
def corner_turns() -> Words:
    """Return for each cell on seven lines its number and the symmetries that bring it to cell 0."""
    game = Qubic()
    rich = [cell for cell in range(64) if game.lines_through[cell] == game.lines_through[0]]
    rows = [[cell, *(k for k, image in enumerate(game.images) if image[cell] == 0)] for cell in rich]
    return np.array(rows, np.uint64).reshape(-1)


class StrategyProver:
    """A proof at work: its table, and which second moves have failed."""

    def __init__(
        self, settings: ProofSettings | None = None, start: Position = START, show: Show | None = None
    ) -> None:
        self.settings = settings or ProofSettings()
        self.start = start
        self.failed: set[tuple[int, int, int, int]] = set()  # the position (2), the candidate, the limit
        self.watch = TaskGroup(1, show)
        self.table, self.counters = _zeros(SLOT * self.settings.slots), _zeros(3)
        self.children, self.cells = (_zeros(WIDTH * MAX_DEPTH) for _ in range(2))
        tables = (line_tables(Qubic()), corner_turns(), image_tables().reshape(-1))
        scratch = (new_memory(1 << 21), new_frames(), _zeros(64), _zeros(64), _zeros(kernels.NODE * MAX_DEPTH))
        self.room = kernels.Room(*tables, self.table, *scratch, self.children, self.cells, self.counters)

    # ---------------------------------------------------------------- the schedule
    def run(self, pause: Pause | None = None) -> StrategyProof:
        """Prove every answer of the defender to the start; ``pause`` is called after every second move tried."""
        began, answers = time.perf_counter(), self.expand(self.start)
        replies = [answer.position for answer in answers]
        proved = {answer.position for answer in answers if answer.proof == 0}
        for number in range(self.settings.rounds):
            limit = self.settings.limit * self.settings.growth**number
            for reply in replies:
                if reply not in proved and self.prove_reply(reply, limit, lambda: _tell(pause, proved, replies)):
                    proved.add(reply)
            if len(proved) == len(replies):
                break
        return self._proof(len(replies), len(proved), began)

    def prove_reply(self, reply: Position, limit: int, pause: Callable[[], None]) -> bool:
        """Try to prove a position in which the attacker is to move by one of its candidates."""
        for number, candidate in enumerate(self.expand(reply)[: self.settings.candidates]):
            if (*reply, number, limit) in self.failed:
                continue
            proved = self.prove_candidate(candidate, limit)
            if proved:
                self.keep(reply, INFINITE + 1 + candidate.cell)
            else:
                self.failed.add((*reply, number, limit))
            pause()
            if proved:
                return True
        return False

    def prove_candidate(self, candidate: Child, limit: int) -> bool:
        """Return whether every answer to a candidate could be proved within the limit."""
        if candidate.proof == 0 or candidate.disproof == 0:
            return candidate.proof == 0
        return all(self.prove_answer(answer, limit) for answer in self.expand(candidate.position))

    def prove_answer(self, answer: Child, limit: int) -> bool:
        """Return whether a position in which the attacker is to move could be proved within the limit."""
        if answer.proof == 0 or answer.disproof == 0:
            return answer.proof == 0
        if self.counters[NUM_ENTRIES] * 4 > self.settings.slots * 3:
            self.forget()
        budget, stop, progress = self.settings.threat_nodes, self.watch.stop, self.watch.progress
        attacker, defender = map(word, answer.position)
        task = partial(kernels.prove, self.room, attacker, defender, budget, limit, stop, progress)
        return self.watch.run([task])[0] > 0

    # ---------------------------------------------------------------- the table
    def expand(self, position: Position) -> list[Child]:
        """Return the children of a position, best first."""
        attacker, defender = map(word, position)
        total = kernels.children_of(self.room, attacker, defender, self.settings.threat_nodes)
        return [self._child(int(self.children[i]), int(self.cells[i])) for i in range(total)]

    def _child(self, place: int, cell: int) -> Child:
        attacker, defender, both = map(int, self.table[place : place + SLOT])
        return Child((attacker, defender), cell, both >> 32, min(INFINITE, both & LOW_HALF))

    def keep(self, position: Position, entry: int) -> None:
        """Write the numbers of a canonical position into the table."""
        kernels.insert(self.room, *(np.array([value], np.uint64) for value in (*position, entry)))

    def forget(self) -> None:
        """Drop from the table what is neither proved nor disproved."""
        rows = self.table.reshape(-1, SLOT)
        decided = (rows[:, 2] >> np.uint64(32) == 0) | (rows[:, 2] & np.uint64(LOW_HALF) == 0)
        rows = rows[decided & (rows[:, 0] != 0)]
        if 2 * len(rows) > self.settings.slots:
            raise LimitError(f"the proof does not fit into a table of {self.settings.slots:,} slots")
        self.table[:] = 0
        self.counters[NUM_ENTRIES] = 0
        kernels.insert(self.room, *np.ascontiguousarray(rows.T))

    def proved_by_search(self) -> StrategyBook:
        """Return the positions proved so far beyond threats, with their winning cells."""
        rows = self.table.reshape(-1, SLOT)
        rows = rows[rows[:, 2] - np.uint64(INFINITE + 1) < np.uint64(64)]  # wraps below: no other entry fits
        return StrategyBook(rows[:, 0], rows[:, 1], (rows[:, 2] - np.uint64(INFINITE + 1)).astype(np.int64))

    # ---------------------------------------------------------------- results
    def book(self) -> StrategyBook:
        """Return the strategy of a complete proof: the positions it can meet beyond threats.

        A checkpoint does not keep what threats won; where that hung on a memory now lost, it is proved again.
        """
        while True:
            rows = self._needed()
            cells = rows[:, 2] - np.uint64(INFINITE + 1)  # wraps below: only a proof by search is less than 64
            if (cells < 64).all():
                return StrategyBook(rows[:, 0], rows[:, 1], cells.astype(np.int64))
            for attacker, defender, _ in rows[cells >= 64].tolist():
                if not self.prove_answer(Child((attacker, defender), 0, 1, 1), self.settings.max_limit):
                    raise LimitError("the proof has a gap that the limit of expansions does not close")

    def _needed(self) -> Words:
        """Return the entries of the table that the strategy needs beyond threats."""
        seen, queue = np.zeros(self.settings.slots, np.uint8), _zeros(self.settings.slots)
        attacker, defender = map(word, self.start)
        total = kernels.collect(self.room, attacker, defender, self.settings.threat_nodes, seen, queue)
        return self.table.reshape(-1, SLOT)[queue[:total] // SLOT]

    def _proof(self, replies: int, proved: int, began: float) -> StrategyProof:
        book = self.book() if proved == replies else None
        expansions, nodes, positions = (int(self.counters[i]) for i in (EXPANSIONS, THREAT_NODES, NUM_ENTRIES))
        return StrategyProof(book, replies, proved, expansions, nodes, positions, time.perf_counter() - began)

    # ---------------------------------------------------------------- checkpoints
    def save(self, path: str | Path) -> None:
        """Write a checkpoint, whole or not at all."""
        known = self.proved_by_search()
        arrays = {"attackers": known.attackers, "defenders": known.defenders, "cells": known.cells}
        save(path, arrays, kind=KIND, meta={"start": self.start, "failed": sorted(self.failed)})

    def resume(self, path: str | Path) -> None:
        """Take over what a checkpoint holds, or raise FormatError."""
        stored = load(path, kind=KIND, types=TYPES, needs=tuple(TYPES))
        if stored.meta.get("start") != list(self.start):
            raise FormatError(f"{path} is a checkpoint of another proof, from {stored.meta.get('start')!r:.60}")
        attackers, defenders, cells = (stored.arrays[name] for name in TYPES)
        if not attackers.shape == defenders.shape == cells.shape == (cells.size,) or not _are_cells(cells):
            raise FormatError(f"{path} is damaged: its positions and their cells do not fit each other")
        if len(cells) > self.settings.slots // 2:
            raise FormatError(f"{path} is damaged: it has {len(cells):,} positions, more than the table holds")
        entries = np.uint64(INFINITE + 1) + cells.astype(np.uint64)
        kernels.insert(self.room, np.array(attackers), np.array(defenders), entries)
        try:
            self.failed = {
                (int(x), int(y), int(number), int(limit)) for x, y, number, limit in stored.meta["failed"]
            }
        except (KeyError, TypeError, ValueError, OverflowError):
            raise FormatError(f"{path} is damaged: its failures are not rows of four numbers") from None


def _are_cells(cells: NDArray[np.int64]) -> bool:
    return bool(((cells >= 0) & (cells < 64)).all())


def _zeros(count: int) -> Words:
    return np.zeros(count, np.uint64)


def _tell(pause: Pause | None, proved: set[Position], replies: list[Position]) -> None:
    if pause is not None:
        pause(len(proved), len(replies))


def prove_qubic(
    checkpoint: str | Path | None = None,
    *,
    settings: ProofSettings | None = None,
    start: Position = START,
    save_seconds: float = 10.0,
    pause: Pause | None = None,
    show: Show | None = None,
) -> StrategyProof:
    """Prove that the attacker wins from ``start``, the defender to move; go on from a checkpoint that is there.

    The checkpoint is written every ``save_seconds`` and on Ctrl-C, and removed when the proof is complete.
    """
    prover = StrategyProver(settings, start, show)
    if checkpoint is None:
        return prover.run(pause)
    path = Path(checkpoint)
    if path.exists():
        prover.resume(path)
    proof = _run_saving(prover, path, save_seconds, pause)
    path.unlink(missing_ok=True)
    return proof


def _run_saving(prover: StrategyProver, path: Path, save_seconds: float, pause: Pause | None) -> StrategyProof:
    saved = time.monotonic()

    def rest(proved: int, replies: int) -> None:
        nonlocal saved
        if time.monotonic() - saved >= save_seconds:
            prover.save(path)
            saved = time.monotonic()
        if pause is not None:
            pause(proved, replies)

    with saving(partial(prover.save, path)):
        return prover.run(rest)


COUNTED = (EXPANSIONS, THREAT_NODES, NUM_ENTRIES)
Arrays = dict[str, NDArray[Any]]


def prove(
    checkpoint: str | Path | None = None,
    *,
    executor: Executor | str | None = None,
    threads: int | None = None,
    save_seconds: float = 10.0,
    pause: Pause | None = None,
    show: Show | None = None,
) -> StrategyProof:
    """Prove that the first player wins, in one table or by the workers of an executor.

    The checkpoint, in one table a file and with an executor a folder, is removed when the proof is complete.
    """
    if executor is None:
        return prove_qubic(checkpoint, save_seconds=save_seconds, pause=pause, show=show)
    folder = None if checkpoint is None else Path(checkpoint)
    proof = prove_replies(executor, folder, threads=threads, pause=pause)
    if folder is not None:
        rmtree(folder)
    return proof


def prove_replies(
    executor: Executor | str,
    folder: Path | None = None,
    *,
    settings: ProofSettings | None = None,
    start: Position = START,
    threads: int | None = None,
    pause: Pause | None = None,
) -> StrategyProof:
    """Prove every answer of the defender to the start, each by a worker; ``folder`` keeps those that are done."""
    settings = settings or ProofSettings()
    began, count = time.perf_counter(), len(StrategyProver(settings, start).expand(start))
    keep = None if folder is None else Keep(folder, f"qubic {start} {settings}")
    with using(executor, threads) as chosen:
        show = None if pause is None else lambda ended: pause(ended, count)
        found = chosen.map(prove_one, range(count), settings, start, keep=keep, show=show)
    proved = sum(int(one["proved"][0]) for one in found)
    expansions, threat_nodes, positions = (int(sum(one["counts"][i] for one in found)) for i in range(3))
    book = joined(found) if proved == count else None
    seconds = time.perf_counter() - began
    return StrategyProof(book, count, proved, expansions, threat_nodes, positions, seconds)


def prove_one(number: int, settings: ProofSettings, start: Position) -> Arrays:
    """Prove one answer to the start; return the rows of its book, whether it is proved, and what it took."""
    prover = StrategyProver(settings, start)
    answer = prover.expand(start)[number]
    limits = [settings.limit * settings.growth**k for k in range(settings.rounds)]
    by_threats = answer.proof == 0
    proved = by_threats or any(prover.prove_reply(answer.position, limit, _go_on) for limit in limits)
    rows = _rows(prover, answer.position) if proved and not by_threats else np.zeros((0, 3), np.uint64)
    counts = np.array([int(prover.counters[i]) for i in COUNTED], np.int64)
    return {"rows": rows, "proved": np.array([proved]), "counts": counts}


def _go_on() -> None:
    """Stand in for a pause."""


def _rows(prover: StrategyProver, reply: Position) -> Words:
    """Return the book of a proved answer, with the answer itself."""
    known = prover.proved_by_search()
    at = int(np.flatnonzero((known.attackers == reply[0]) & (known.defenders == reply[1]))[0])
    cell = int(known.cells[at])
    prover.start = (reply[0] | 1 << cell, reply[1])
    book = prover.book()
    rows = np.column_stack([book.attackers, book.defenders, book.cells.astype(np.uint64)])
    return np.vstack([np.array([[*reply, cell]], np.uint64), rows])


def joined(found: list[Arrays]) -> StrategyBook:
    """Return one book of all rows; of two moves in a position that of the first answer."""
    rows = np.vstack([one["rows"] for one in found])
    _, first = np.unique(rows[:, :2], axis=0, return_index=True)
    rows = rows[first]
    return StrategyBook(rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].astype(np.int64))
