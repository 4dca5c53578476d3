"""Connect Four scores against BitBully: CPU time a position, one thread, tables cleared before each set.

    python benchmarks/connect_four.py FOLDER [SET[:COUNT] ...]     files Test_<SET> of lines "moves score"
    python benchmarks/connect_four.py --random PLIES:COUNT         random positions without an easy win, one by one
    python benchmarks/connect_four.py --empty [--threads N]        the empty board, no book

The conditions are the same for both:

- Every position is made beforehand in the solver's own form: a State here, a BoardCore there.
- *calls* is one Python call a position, ``Prover.score(state)`` and ``mtdf(board, 0)``.  *batch* is
  ``Prover.scores(rows)`` for a chunk of positions in one array; BitBully has no such call, so its calls stand
  beside it.  Nothing is subtracted; what a call costs by itself, measured on a position that is won at once, is
  printed first.
- The solvers take turns chunk by chunk, so that a busy machine, and a cache left cold by the other, hurt all alike.
- BitBully's table takes 96 MB, fixed; ours at most 64 MB, the power of two below.  Each solver has a table of its
  own, cleared before each round and kept through the set.
- The best of five rounds counts, and the median of their ratios.  Every score is checked against the file, or each
  against the other.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mdplay.games.connect_four.rules import ConnectFour, State
from mdplay.rng import Random
from mdplay.solving.proof.prover import Prover

SETS = ("L3_R1", "L2_R1", "L2_R2.first200", "L1_R1")
REPEATS = 5
EASY, EASY_SCORE = "1212123434", 16  # the fourth disc of column 1


class Calls:
    """mdplay's prover, a Python call a position."""

    def __init__(self, memory: int) -> None:
        self.game = ConnectFour()
        self.prover = Prover(self.game, memory=memory)
        self.forget = self.prover.forget

    def position(self, moves: str) -> State:
        """Return the position after the moves."""
        return self.game.parse(moves)

    def ready(self, positions: list[State]) -> Any:
        """Return a chunk of positions in the form that ``solve`` takes."""
        return positions

    def solve(self, positions: Any) -> list[int]:
        """Return the scores."""
        score = self.prover.score
        return [score(state) for state in positions]


class Batch(Calls):
    """mdplay's prover, a Python call a chunk."""

    def ready(self, positions: list[State]) -> Any:
        """Return the positions as one array."""
        return self.prover.packed(positions)

    def solve(self, positions: Any) -> list[int]:
        """Return the scores."""
        found: list[int] = self.prover.scores(positions).tolist()
        return found


class BitBully:
    """BitBully's MTD(f) without its book, a Python call a position."""

    def __init__(self) -> None:
        from bitbully import bitbully_core

        self.core = bitbully_core
        self.solver = bitbully_core.BitBullyCore()
        self.forget = self.solver.resetTranspositionTable

    def position(self, moves: str) -> Any:
        """Return the position after the moves."""
        board = self.core.BoardCore()
        board.setBoard([int(move) - 1 for move in moves])
        return board

    def ready(self, positions: list[Any]) -> list[Any]:
        """Return the positions."""
        return positions

    def solve(self, positions: list[Any]) -> list[int]:
        """Return the scores."""
        score = self.solver.mtdf
        return [score(board, 0) for board in positions]


def timed(solver: Any, positions: Any, want: list[int]) -> float:
    """Return the CPU seconds of a chunk; check the scores."""
    began = time.process_time()
    got = solver.solve(positions)
    seconds = time.process_time() - began
    if wrong := sum(a != b for a, b in zip(got, want, strict=True)):
        raise SystemExit(f"{type(solver).__name__}: {wrong} wrong scores")
    return seconds


def one_round(solvers: list[Any], chunks: list[tuple[list[Any], list[int]]]) -> list[float]:
    """Return the CPU seconds of each solver for all chunks, from empty tables."""
    for solver in solvers:
        solver.forget()
    spent = [0.0] * len(solvers)
    for ready, want in chunks:
        for i, solver in enumerate(solvers):
            spent[i] += timed(solver, ready[i], want)
    return spent


def compare(name: str, lines: list[tuple[str, int]], solvers: list[Any], size: int) -> None:
    chunks = []
    for chunk in (lines[i : i + size] for i in range(0, len(lines), size)):
        ready = [solver.ready([solver.position(moves) for moves, _ in chunk]) for solver in solvers]
        chunks.append((ready, [score for _, score in chunk]))
    rounds = np.array([one_round(solvers, chunks) for _ in range(REPEATS)]) / len(lines) * 1e6
    figures = [f"{type(s).__name__} {us:.2f} us" for s, us in zip(solvers, rounds.min(axis=0), strict=True)]
    if isinstance(solvers[-1], BitBully):
        ratios = rounds[:, -1:] / rounds
        best = rounds[:, -1].min() / rounds.min(axis=0)
        for i in range(len(solvers) - 1):
            figures[i] += f" = {best[i]:.2f} x (median {np.median(ratios[:, i]):.2f})"
    print(f"{name:16} n={len(lines):<5} {'  '.join(figures)}", flush=True)


def print_overhead(solvers: list[Any]) -> None:
    """Print what a call costs where there is nothing to search: a position that is won at once, known or not."""
    for solver in solvers:
        ready = solver.ready([solver.position(EASY)] * 1000)
        least = min(timed(solver, ready, [EASY_SCORE] * 1000) for _ in range(20))
        print(f"{type(solver).__name__}: {least * 1e3:.2f} us a position won at once")


def read(path: Path, count: int | None) -> list[tuple[str, int]]:
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(moves, int(score)) for moves, score in lines][:count]


def random_positions(plies: int, count: int) -> list[str]:
    """Return positions in which nobody could win at once, or had to defend, on the way."""
    game, rng, found = ConnectFour(), Random(plies), list[str]()
    proof_view: Any = game.proof_view()
    while len(found) < count:
        s, moves = game.initial(), ""
        for _ in range(plies):
            bounds = proof_view.bounds(proof_view.enter(s))
            if bounds.low == bounds.high or not bounds.moves & (bounds.moves - 1):
                break
            column = rng.pick(game.legal(s))
            moves, s = moves + str(column + 1), game.step(s, column)
        if len(moves) == plies and game.legal(s):
            found.append(moves)
    return found


def compare_random(plies: int, count: int, solvers: list[Any]) -> None:
    total = {type(solver).__name__: 0.0 for solver in solvers}
    for moves in random_positions(plies, count):
        scores = set()
        for solver in solvers:
            solver.forget()
            position = [solver.position(moves)]
            began = time.process_time()
            scores.update(solver.solve(position))
            total[type(solver).__name__] += time.process_time() - began
        if len(scores) > 1:
            raise SystemExit(f"{moves}: {scores}")
    print(f"random {plies} plies n={count}", {key: f"{s / count * 1e3:.1f} ms" for key, s in total.items()})


class Clocked(Prover):
    """A prover that knows the CPU time of each of its threads."""

    spent: ClassVar[defaultdict[int, float]] = defaultdict(float)

    def _narrow(self, stack: Any, *rest: Any, **budget: Any) -> None:
        began = time.thread_time()
        super()._narrow(stack, *rest, **budget)
        self.spent[id(stack)] += time.thread_time() - began


def empty_board(threads: int) -> None:
    """Print the wall-clock time, the CPU time of all threads, and that of the busiest: the wall of a quiet machine."""
    game = ConnectFour()
    prover = Clocked(game, threads=threads)
    prover.score(game.parse("44444415"))  # compile
    prover.forget()
    prover.spent.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    proof = prover.prove(game.initial())
    print(
        f"empty board: score {proof.low:+d}, {proof.nodes:,} nodes, {threads} threads, "
        f"{time.perf_counter() - wall:.1f} s, CPU {time.process_time() - cpu:.1f} s, "
        f"of the busiest thread {max(prover.spent.values()):.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--memory", type=int, default=1 << 26, help="bytes of our table; BitBully takes 96 MB")
    parser.add_argument("--chunk", type=int, default=250, help="positions that a solver gets in its turn")
    parser.add_argument("--random", metavar="PLIES:COUNT")
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="without BitBully")
    options = parser.parse_args()
    if options.empty:
        empty_board(options.threads)
        return
    solvers = [Batch(options.memory), Calls(options.memory), *([] if options.alone else [BitBully()])]
    print_overhead(solvers)  # and compile
    if options.random:
        plies, count = map(int, options.random.split(":"))
        compare_random(plies, count, solvers[1:])
    for item in options.sets if options.folder else ():
        name, _, count = item.partition(":")
        compare(name, read(options.folder / f"Test_{name}", int(count) if count else None), solvers, options.chunk)


if __name__ == "__main__":
    main()
