"""Simulations per second against OpenSpiel's C++ MCTSBot, interleaved in one process, by processor time.

    python benchmarks/search.py [--rounds 5] [--simulations 20000] [--json]

Every round runs each engine once from the start of the game; the table gives medians and the median of the rounds'
ratios.  One rollout a simulation everywhere; OpenSpiel's solver is off, which is quicker.  The line of two threads is
by the clock: it says something only on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from statistics import median

from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.lab.benchmarks.games import spiel_mcts
from mdplay.searching.mcts import mcts

Run = Callable[[], int]  # runs once and returns the number of simulations


def ours(
    game: ConnectFour | TicTacToe, simulations: int, expansion: str, solver: bool = False, threads: int = 1
) -> Run:
    """Return a run of our search."""
    return lambda: (
        mcts(game, simulations=simulations, expansion=expansion, solver=solver, threads=threads).simulations
    )


def rates(runs: dict[str, Run], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Return the simulations per second of each engine in each round; the first, unmeasured round compiles."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            began = clock()
            count = run()
            if number:
                found[name].append(count / (clock() - began))
    return found


def compare(simulations: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the median speed and the median ratio of each engine."""
    four, three = ConnectFour(), TicTacToe()
    many = 10 * simulations  # a longer run for the quick ones: timers have a grain
    speeds = rates(
        {
            "connect four, OpenSpiel C++": spiel_mcts(simulations),
            "connect four, standard": ours(four, many, "one"),
            "connect four, standard, solver": ours(four, many, "one", solver=True),
            "connect four, report": ours(four, many, "all"),
            "tic-tac-toe, OpenSpiel C++": spiel_mcts(simulations, "tic_tac_toe"),
            "tic-tac-toe, standard": ours(three, many, "one"),
            "tic-tac-toe, standard, solver": ours(three, many, "one", solver=True),
            "tic-tac-toe, report": ours(three, many, "all"),
        },
        rounds,
        time.process_time,
    )
    table = {name: row(name, speeds, f"{name.split(',')[0]}, OpenSpiel C++") for name in speeds}
    by_clock = rates(
        {f"{t} thread(s)": ours(four, 5 * many, "one", threads=t) for t in (1, 2)}, rounds, time.perf_counter
    )
    return table | {name: row(name, by_clock, "1 thread(s)") for name in by_clock}


def row(name: str, speeds: dict[str, list[float]], base: str) -> dict[str, float]:
    """Return the medians of one engine."""
    ratios = [own / other for own, other in zip(speeds[name], speeds[base], strict=True)]
    return {"per_second": median(speeds[name]), "ratio": median(ratios), "low": min(ratios), "high": max(ratios)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = compare(options.simulations, options.rounds)
    if options.json:
        print(json.dumps(table, indent=1))
        return
    for name, figures in table.items():
        print(
            f"{name:32} {figures['per_second']:12,.0f}/s  x{figures['ratio']:.2f} ({figures['low']:.2f} .. {figures['high']:.2f})"
        )


if __name__ == "__main__":
    main()
