"""Planning speed against quantecon and mdpsolver, in interleaved rounds of one process.

    python benchmarks/mdp.py [--rounds 5] [--large] [--mdpsolver]

Garnet models (states x actions x branches, Archibald 1995) at discount 0.99 and a slowly mixing grid with slip
at 0.999, all to a value error of 1e-6: ours proven, quantecon's and mdpsolver's by their stopping rule.  One
round runs every solver once; the table shows the median of each and the median of the ratios of one round.
Our one thread is compared by processor time, our two threads by the wall clock.  At the end: how fast the states
of a user's game are found, and an MDP made of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from mdplay.lab.benchmarks.planning import garnet, mdpsolver_solver, quantecon_solver
from mdplay.planning import MDP, plan


def grid(size: int, discount: float, slip: float = 0.2) -> MDP:
    """Return a grid of random costs; a step may slip to either side; the last cell costs nothing for ever."""
    rng = np.random.default_rng(0)
    cell = np.arange(size * size)
    r, c = np.divmod(cell, size)
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    to = np.stack([np.clip(r + a, 0, size - 1) * size + np.clip(c + b, 0, size - 1) for a, b in steps], axis=1)
    target = np.stack([to, np.roll(to, -1, axis=1), np.roll(to, -3, axis=1)], axis=2)
    cost = -rng.random(size * size)
    target[-1], cost[-1] = size * size - 1, 0.0
    weights = np.broadcast_to([1 - slip, slip / 2, slip / 2], target.shape)
    shape = target.shape
    state, action = np.broadcast_to(cell[:, None, None], shape), np.broadcast_to(np.arange(4)[:, None], shape)
    columns = (state, action, target, np.broadcast_to(cost[:, None, None], shape), weights)
    flat = (np.ascontiguousarray(column).ravel() for column in columns)
    return MDP.from_transitions(*flat, num_states=size * size, discount=discount)


def timed(solver: Callable[[], Any]) -> tuple[float, float]:
    """Return processor and wall seconds."""
    time.sleep(0.002)  # until no helper of the solver before looks out for work any more
    wall, processor = time.perf_counter(), time.process_time()
    solver()
    return time.process_time() - processor, time.perf_counter() - wall


def compare(name: str, mdp: MDP, rounds: int, with_mdpsolver: bool) -> None:
    solvers: dict[str, Callable[[], Callable[[], Any]]] = {
        "mdplay, 1 thread": lambda: lambda: plan(mdp, threads=1).value,
        "mdplay, 2 threads": lambda: lambda: plan(mdp, threads=2).value,
        "quantecon mpi": lambda: quantecon_solver(mdp),
    }
    if with_mdpsolver:  # a model made anew each time: it begins where its last solution ended
        solvers["mdpsolver mpi"] = lambda: mdpsolver_solver(mdp)
    values = {label: make()() for label, make in solvers.items()}  # compiles, and warms the caches
    reference = values["mdplay, 1 thread"]
    seconds: dict[str, list[tuple[float, float]]] = {label: [] for label in solvers}
    order = list(solvers)
    for _ in range(rounds):
        # Each begins once in a while: who comes first pays for the memory that another gave back.
        for label in order:
            seconds[label].append(timed(solvers[label]()))
        order.append(order.pop(0))
    print(f"\n{name}: {mdp.num_states} states, {mdp.num_transitions} transitions, {mdp.num_bytes >> 20} MB")
    one, two = seconds["mdplay, 1 thread"], seconds["mdplay, 2 threads"]
    for label in solvers:
        found = seconds[label]
        processor = median(theirs[0] / ours[0] for theirs, ours in zip(found, one, strict=True))
        wall = median(theirs[1] / ours[1] for theirs, ours in zip(found, two, strict=True))
        times = f"{median(t for t, _ in found):8.4f} s processor {median(t for _, t in found):8.4f} s wall"
        off = float(np.abs(values[label] - reference).max())
        print(f"  {label:<18} {times}  x {processor:5.2f} of one thread  x {wall:5.2f} of two  differs {off:.1e}")


def enumerate_game(rounds: int) -> None:
    from mdplay.states.graph import explore
    from solving import SortedPiles

    game = SortedPiles()
    mdp = MDP.from_game(game)  # compiles
    found = median(timed(lambda: explore(game))[0] for _ in range(rounds))
    made = median(timed(lambda: MDP.from_game(game))[0] for _ in range(rounds))
    print(f"\na user's game: {mdp.num_states} states, {mdp.num_transitions} moves, one thread, processor time")
    print(
        f"  found {mdp.num_states / found / 1e6:.2f} M states/s, with the MDP {mdp.num_states / made / 1e6:.2f} M/s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also a million states")
    parser.add_argument("--mdpsolver", action="store_true", help="also mdpsolver, which takes gigabytes")
    options = parser.parse_args()
    compare("garnet 1e4 x 10 x 10", garnet(10_000, 10, 10, 0.99), options.rounds, options.mdpsolver)
    compare("grid 150 x 150", grid(150, 0.999), options.rounds, False)
    compare("garnet 1e5 x 10 x 10", garnet(100_000, 10, 10, 0.99), options.rounds, options.mdpsolver)
    if options.large:
        compare("garnet 1e6 x 4 x 4", garnet(1_000_000, 4, 4, 0.99), options.rounds, options.mdpsolver)
    enumerate_game(options.rounds)


if __name__ == "__main__":
    main()
