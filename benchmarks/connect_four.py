"""Connect Four scores against BitBully: CPU time a position, one thread, tables cleared before each set.

    python benchmarks/connect_four.py FOLDER [SET[:COUNT] ...]     files Test_<SET> of lines "moves score"
    python benchmarks/connect_four.py --random PLIES:COUNT         random positions without an easy win, one by one
    python benchmarks/connect_four.py --empty [--threads N]        the empty board, no book

The two take turns, so that a busy machine hurts both alike; the best of five rounds counts, and the median ratio.  BitBully's table takes 96 MB and ours at most 64.  Every score is checked against the file, or each
against the other.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from mdplay.games.connect_four import ConnectFour, State
from mdplay.rng import Random
from mdplay.solving.proof import Prover

SETS = ("L3_R1", "L2_R1", "L2_R2.first200", "L1_R1")
REPEATS = 5


class Ours:
    """mdplay's prover."""

    def __init__(self, memory: int) -> None:
        self.game = ConnectFour()
        self.prover = Prover(self.game, memory=memory)
        self.forget = self.prover.forget

    def position(self, moves: str) -> State:
        """Return the position after the moves."""
        return self.game.parse(moves)

    def ready(self, positions: list[State]) -> Any:
        """Return positions in the solver's own form, as a BoardCore is BitBully's."""
        return self.prover.packed(positions)

    def solve(self, positions: Any) -> list[int]:
        """Return the scores."""
        found: list[int] = self.prover.scores(positions).tolist()
        return found


class BitBully:
    """BitBully's MTD(f) without its book."""

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
        return [self.solver.mtdf(board, 0) for board in positions]


def timed(solver: Any, positions: Any, want: list[int]) -> float:
    """Return the CPU microseconds a position, table cleared first; check the scores."""
    solver.forget()
    began = time.process_time()
    got = solver.solve(positions)
    seconds = time.process_time() - began
    if wrong := sum(a != b for a, b in zip(got, want, strict=True)):
        raise SystemExit(f"{type(solver).__name__}: {wrong} wrong scores")
    return seconds / len(want) * 1e6


def compare(name: str, lines: list[tuple[str, int]], solvers: list[Any]) -> None:
    want = [score for _, score in lines]
    ready = [solver.ready([solver.position(moves) for moves, _ in lines]) for solver in solvers]
    rounds = np.array([[timed(*pair, want) for pair in zip(solvers, ready, strict=True)] for _ in range(REPEATS)])
    best = rounds.min(axis=0)
    figures = "  ".join(f"{type(s).__name__} {us:10.2f} us" for s, us in zip(solvers, best, strict=True))
    ratios = np.sort(rounds[:, -1] / rounds[:, 0])
    ratio = f"  best {best[-1] / best[0]:7.2f} x, median {np.median(ratios):7.2f} x" if len(solvers) > 1 else ""
    print(f"{name:16} n={len(lines):<5} {figures}{ratio}", flush=True)


def read(path: Path, count: int | None) -> list[tuple[str, int]]:
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(moves, int(score)) for moves, score in lines][:count]


def random_positions(plies: int, count: int) -> list[str]:
    """Return positions in which nobody could win at once, or had to defend, on the way."""
    game, rng, found = ConnectFour(), Random(plies), list[str]()
    study: Any = game.study()
    while len(found) < count:
        s, moves = game.initial(), ""
        for _ in range(plies):
            look = study.look(study.enter(s))
            if look.low == look.high or not look.moves & (look.moves - 1):
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


def empty_board(threads: int) -> None:
    game = ConnectFour()
    prover = Prover(game, threads=threads)
    prover.score(game.parse("44444415"))  # compile
    prover.forget()
    wall, cpu = time.perf_counter(), time.process_time()
    proof = prover.prove(game.initial())
    print(
        f"empty board: score {proof.low:+d}, {proof.nodes:,} nodes, {threads} threads, "
        f"{time.perf_counter() - wall:.1f} s, CPU {time.process_time() - cpu:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--memory", type=int, default=1 << 26, help="bytes of our table; BitBully takes 96 MB")
    parser.add_argument("--random", metavar="PLIES:COUNT")
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="without BitBully")
    options = parser.parse_args()
    if options.empty:
        empty_board(options.threads)
        return
    solvers = [Ours(options.memory), *([] if options.alone else [BitBully()])]
    solvers[0].solve([solvers[0].position("2252576253462244111563365343671351441")])  # compile
    if options.random:
        plies, count = map(int, options.random.split(":"))
        compare_random(plies, count, solvers)
    for item in options.sets if options.folder else ():
        name, _, count = item.partition(":")
        compare(name, read(options.folder / f"Test_{name}", int(count) if count else None), solvers)


if __name__ == "__main__":
    main()
