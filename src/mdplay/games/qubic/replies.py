"""The proof of Qubic by the workers of an executor: each of the defender's answers to the start is a task.

A task has a table of its own, so positions that two answers lead to are proved twice; the book is the same
whatever the executor, and another one than that of a proof in one table.  Answers that are proved are kept.

Why the books of the answers make one book: after a move of the book of answer k, whatever the defender does leads
to a position of that book, or of an answer before k whose move is taken instead, or falls to threats.
"""

from __future__ import annotations

import time
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.games.qubic.book import StrategyBook
from mdplay.games.qubic.proof import (
    START,
    Pause,
    Position,
    ProofSettings,
    StrategyProof,
    StrategyProver,
    prove_qubic,
)
from mdplay.games.qubic.proof_nodes import EXPANSIONS, NUM_ENTRIES, THREAT_NODES
from mdplay.runtime.executors import Executor, Keep, using
from mdplay.runtime.threads import Show

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


def _rows(prover: StrategyProver, reply: Position) -> NDArray[np.uint64]:
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
