"""Measure how long the first answers of a new game take: processor seconds from an empty kernel cache.

    python benchmarks/first_answer.py                        this package
    python benchmarks/first_answer.py --against OTHER/src    and another checkout, row by row in turns

Each row is a process of its own, with a kernel cache of its own, empty before: what an author of a game waits for.
What is "loaded" was asked before by another process.
The game is a Kalah in plain Python whose pits and seeds are parameters.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
KALAH = Path(__file__).with_name("kalah.py")
LARGEST = {1: 8, 2: 7, 3: 4, 4: 3, 5: 1}  # pits: seeds; (4, 3) has 1.5 million states
BOARDS = [(pits, seeds) for pits, most in LARGEST.items() for seeds in range(1, most + 1)]
SMALL = "kalah.Kalah(2, 2)"
ROWS = {
    "check": f"mdplay.check_game({SMALL})",
    "solve, 37 states": f"mdplay.solve({SMALL}).value()",
    "solve, 2,344 states": "mdplay.solve(kalah.Kalah(3, 2)).value()",
    "search, 500 simulations": f"mdplay.mcts({SMALL}, simulations=500).move",
    "match, 4 games": f"mdplay.match({SMALL}, 'mcts:simulations=100', 'random', games=4).tally",
    "play, 2 moves": f"""
[mdplay.mcts({SMALL}, s, simulations=200).move
    for s in ({SMALL}.initial(), {SMALL}.step({SMALL}.initial(), 0))]""",
    "playouts, 200 games": f"mdplay.playouts({SMALL}, games=200).mean",
    "depth-limited search, depth 3": f"mdplay.search({SMALL}, agent='heuristic:depth=3').move",
    "learn, 50 games": f"mdplay.learn({SMALL}, episodes=50).episodes",
    "first compiled: playouts, 100,000": f"mdplay.playouts({SMALL}, games=100_000).mean",
    "first compiled: solve, 118,000 states": "mdplay.solve(kalah.Kalah(4, 2)).value()",
    "first compiled: search, 50,000": "mdplay.mcts(kalah.Kalah(4, 3), simulations=50_000).move",
    "first compiled: search, 10,000": "mdplay.search(kalah.Kalah(4, 3)).move",
    "loaded: playouts, 50,000": f"mdplay.playouts({SMALL}, games=50_000).mean",
    "loaded: search, 50,000": "mdplay.mcts(kalah.Kalah(4, 3), simulations=50_000).move",
    "23 boards solved": f"[mdplay.solve(kalah.Kalah(*board)).value() for board in {BOARDS}]",
}


def seconds(source: Path, row: str) -> float:
    """Return the processor seconds of one row in a fresh process, compilers included."""
    with tempfile.TemporaryDirectory() as cache:
        folder = Path(cache) / "cache"
        folder.mkdir(mode=0o700)
        path = os.pathsep.join([str(source), str(KALAH.parent)])
        environment = {**os.environ, "PYTHONPATH": path, "MDPLAY_CACHE": str(folder)}
        environment.pop("MDPLAY_PLAIN_SECONDS", None)
        command = [sys.executable, "-c", f"import kalah, mdplay; print({ROWS[row].strip()})"]
        if row.startswith("loaded"):
            subprocess.run(command, env=environment, capture_output=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"{row}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return float("nan")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each row: the median seconds, here and in the other checkout."""
    parser = argparse.ArgumentParser(description="Processor seconds of first answers, from an empty kernel cache.")
    parser.add_argument("--against", type=Path, help="the src folder of another checkout")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    given = parser.parse_args()
    sources = [SOURCE] if given.against is None else [SOURCE, given.against]
    for row in (row for row in ROWS if given.rows in row):
        taken: list[list[float]] = [[] for _ in sources]
        for _ in range(given.rounds):
            for source, found in zip(sources, taken, strict=True):
                found.append(seconds(source, row))
        print(f"{row:40}" + "".join(f"{statistics.median(found):9.2f}" for found in taken), flush=True)


if __name__ == "__main__":
    main()
