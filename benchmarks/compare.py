"""Compare the speed of this checkout with an earlier commit: processor seconds of the same small jobs, in turns.

    python benchmarks/compare.py COMMIT [--rows mcts] [--rounds 5] [--processes 3]

COMMIT is checked out beside, for as long as it takes.  For each row both checkouts start a process, which does the
job once to compile its kernels; then they do it in turns.  New processes are started a few times, since where
things happen to lie in memory is worth two per cent.  A ratio is the earlier commit's seconds over ours, above one
if we are faster: the median over all turns, and the quartiles.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Row(NamedTuple):
    """A job: what it needs, what is measured, and both as they were spelled in version 0.1."""

    prepare: str
    work: str
    old_prepare: str = ""
    old_work: str = ""


def game(name: str, work: str, old_work: str = "") -> Row:
    """Return a job with a game."""
    return Row(f"from mdplay import *\ngame = make({name!r})", work, old_work=old_work)


def mcts(name: str, simulations: int, *, every_child: bool = False, solver: bool = False) -> Row:
    """Return a job of tree search."""
    given = f"mcts(game, simulations={simulations}, solver={solver}, threads=1"
    expansion, form = ("all", "report") if every_child else ("one", "standard")
    return game(name, f"{given}, expansion={expansion!r})", f"{given}, form={form!r})")


def depth(name: str, plies: int) -> Row:
    """Return a job of depth-limited search, from the first position in which a player moves."""
    first = """
from mdplay.searching.depth_limited import depth_limited
state = game.initial()
while game.outcomes(state):
    state = game.outcome(state, 0)
"""
    return Row(game(name, "").prepare + first, f"depth_limited(game, state, depth={plies})")


def python(code: str) -> Row:
    """Return a job that is a fresh process, whose kernels were compiled before."""
    return Row("import subprocess, sys", f"subprocess.run([sys.executable, '-c', {code!r}], check=True)")


def solved(name: str, method: str, old: str = "") -> Row:
    """Return a job of exact solving."""
    return game(name, f"solve(game, method={method!r})", f"solve(game, method={old or method!r})")


def planned(model: str) -> Row:
    """Return a job of the planner."""
    return Row(f"from mdp import garnet, grid, plan\nmodel = {model}", "plan(model, threads=1)")


def proved(position: str, name: str = "connect-four") -> Row:
    """Return a job of proof search with an empty table."""
    prepare = f"{game(name, '').prepare}\nstate = game.parse({position!r})\nprover = Prover(game)"
    return Row(prepare, "prover.forget(); prover.score(state)")


def learned(method: str) -> Row:
    """Return a job of learning 2048."""
    return Row(f"from learning import ours\nrun = ours({method!r})", "run(600)")


def pulled(selector: str, bandit: str) -> Row:
    """Return a job of bandits."""
    work = f"run_bandit(parse_bandit({bandit!r}), {selector!r}, steps=1000, runs=1000, threads=1)"
    names = "import parse_bandit, run_bandit"
    return Row(f"from mdplay.bandits.laboratory {names}", work, f"from mdplay.bandits {names}", work)


PILES = "from mdplay import solve\nfrom solving import SortedPiles, ThreePiles\ngame = "
EXPLORED = PILES + "SortedPiles(60)\nfrom mdplay.{} import explore\nfrom mdplay import MDP"
MIDDLE = "444433235"  # Connect Four: nobody has an easy win
ROWS = {
    "playouts, connect four": game("connect-four", "playouts(game, games=300_000, threads=1)"),
    "playouts, 2048": game("2048", "playouts(game, games=6_000, threads=1)"),
    "playouts, 2048 of 3 x 3": game("2048:rows=3,cols=3", "playouts(game, games=20_000, threads=1)"),
    "playouts, qubic": game("qubic", "playouts(game, games=40_000, threads=1)"),
    "playouts, dots and boxes": game("dots-and-boxes:rows=3,cols=3", "playouts(game, games=150_000, threads=1)"),
    "mcts, connect four": mcts("connect-four", 200_000),
    "mcts, connect four, solver": mcts("connect-four", 200_000, solver=True),
    "mcts, connect four, all children": mcts("connect-four", 400_000, every_child=True),
    "mcts, tic-tac-toe": mcts("tic-tac-toe", 300_000),
    "mcts, tic-tac-toe, all children": mcts("tic-tac-toe", 800_000, every_child=True),
    "mcts, dots and boxes": mcts("dots-and-boxes:rows=3,cols=3", 150_000),
    "mcts, 200 short searches": game(
        "connect-four", "[mcts(game, simulations=500, seed=i, threads=1) for i in range(200)]"
    ),
    "match, mcts and random": game(
        "connect-four", "match(game, 'mcts:simulations=300', 'random', games=20, threads=1)"
    ),
    "depth-limited, connect four": depth("connect-four", 9),
    "depth-limited, dots and boxes": depth("dots-and-boxes", 12),
    "perft, connect four": game("connect-four", "perft(game, depth=8)"),
    "perft, connect four, folded": game("connect-four", "perft(game, depth=8, by_symmetry=True)"),
    "indexed, dots and boxes": solved("dots-and-boxes:rows=2,cols=3", "indexed", "dense"),
    "subset, dots and boxes": solved("dots-and-boxes:rows=2,cols=4", "subset", "growing"),
    "hashed, three piles": Row(PILES + "ThreePiles(60)", "solve(game, method='hashed')"),
    "hashed, three piles, folded": Row(PILES + "SortedPiles(60)", "solve(game, method='hashed')"),
    "hashed, connect four of 4 x 5": solved("connect-four:rows=4,cols=5", "hashed"),
    "hashed, 2048 of 2 x 3": solved("2048:rows=2,cols=3", "hashed"),
    "prove, connect four of 5 x 5": proved("", "connect-four:rows=5,cols=5"),
    "prove, connect four": proved(MIDDLE),
    "prove, 1,000 calls": Row(proved(MIDDLE).prepare, "for _ in range(1000): prover.score(state)"),
    "2048, learning by TD": learned("td"),
    "2048, learning by TC": learned("tc"),
    "mdp, garnet of 10,000": planned("garnet(10_000, 10, 10, 0.99)"),
    "mdp, garnet of 100,000": planned("garnet(100_000, 10, 10, 0.99)"),
    "mdp, grid of 150 x 150": planned("grid(150, 0.999)"),
    "mdp, states of a game": Row(
        EXPLORED.format("states.graph"), "explore(game)", EXPLORED.format("mdp.game_graph"), "explore(game)"
    ),
    "mdp, made of a game": Row(PILES + "SortedPiles(60)\nfrom mdplay import MDP", "MDP.from_game(game)"),
    "bandits, ucb1": pulled("ucb1", "gaussian:10"),
    "bandits, gradient": pulled("gradient", "gaussian:10"),
    "bandits, thompson": pulled("thompson", "0.9,0.8,0.7"),
    "start-up, import": python("import mdplay"),
    "start-up, help": python("import sys; sys.argv = ['mdplay', '--help']; from mdplay.cli import main; main()"),
    "start-up, first compiled": python(
        "from mdplay import make, playouts; playouts(make('connect-four'), games=50_000)"
    ),
}


# ---------------------------------------------------------------- a process that does one job
def serve(row: Row) -> None:
    """Do a job once, and once again for each line read; print the processor seconds each time."""
    prepare, work = row.prepare, row.work
    names: dict[str, Any] = {}
    try:
        exec(prepare, names)
        exec(work, names)
    except Exception:  # an earlier version, which knew it by another name
        if not (row.old_prepare or row.old_work):
            raise
        prepare, work = row.old_prepare or prepare, row.old_work or work
        exec(prepare, names)
        exec(work, names)
    code = compile(work, "<job>", "exec")
    print("ready", file=sys.stderr, flush=True)
    for _ in sys.stdin:
        began = processor_seconds()
        exec(code, names)
        print(processor_seconds() - began, file=sys.stderr, flush=True)


def processor_seconds() -> float:
    """Return the processor seconds of this process and of those that it has started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


# ---------------------------------------------------------------- two of them in turns
class Side:
    """A process of one checkout."""

    def __init__(self, checkout: Path, row: str) -> None:
        path = os.pathsep.join(str(checkout / folder) for folder in ("src", "benchmarks"))
        environment = {**os.environ, "PYTHONPATH": path, "MDPLAY_PLAIN_SECONDS": "0"}
        command = [sys.executable, __file__, "--serve", row]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True
        )
        self._answer("ready")

    def _answer(self, wanted: str = "") -> str:
        assert self._process.stderr
        said = []
        for line in self._process.stderr:
            said.append(line)
            if line.strip() == wanted or (not wanted and line[0].isdigit()):
                return line
        raise SystemExit("".join(said))

    def seconds(self) -> float:
        """Do the job once more."""
        assert self._process.stdin
        print(file=self._process.stdin, flush=True)
        return float(self._answer())

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(row: str, checkouts: list[Path], rounds: int, processes: int) -> tuple[float, list[float]]:
    """Return our median seconds, and the ratios of all turns."""
    ours, ratios = [], []
    for _ in range(processes):
        sides = [Side(checkout, row) for checkout in checkouts]
        for _ in range(rounds):
            here, there = (side.seconds() for side in sides)
            ours.append(here)
            ratios.append(there / here)
        for side in sides:
            side.end()
    return statistics.median(ours), ratios


def main() -> None:
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--rows", default="", help="only rows whose name contains this; several by |")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=3)
    given = parser.parse_args()
    rows = [row for row in ROWS if any(part in row for part in given.rows.split("|"))]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "checkout"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), given.commit], check=True)
        try:
            for row in rows:
                seconds, ratios = compare(row, [ROOT, other], given.rounds, given.processes)
                low, middle, high = statistics.quantiles(ratios, n=4)
                print(f"{row:36} {seconds:8.3f} s   {middle:5.2f}x  ({low:.2f} .. {high:.2f})", flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sys.path.pop(0)  # the folder of this file: a checkout has benchmarks of its own
        serve(ROWS[sys.argv[2]])
    else:
        main()
