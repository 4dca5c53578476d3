"""Moves per CPU second of the 2048 learner, against a plain scalar kernel and, where it is built, TDL2048.

    python benchmarks/speed.py 2048
    TDL2048=path/to/2048 python benchmarks/learning.py [--rounds 5] [--episodes 1500]

Every round lets each candidate learn the first episodes of a new 4x6 network, one after the other in CPU time of one
thread; what counts is the median of the rounds' ratios.  The line of two threads is by the clock: it says
something only on an idle machine.
"""

import argparse
import os
import re
import resource
import subprocess
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from mdplay.games.twenty48.moves import QuickTwenty48
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings
from mdplay.runtime.threads import TaskGroup
from scalar_2048 import train as train_scalar

Run = Callable[[int], tuple[float, float]]  # episodes -> moves, CPU seconds


def scalar(episodes: int) -> tuple[float, float]:
    """Run the kernel written by hand."""
    rows = np.array(QuickTwenty48().row_pushes, np.uint64)
    left, right = (rows & 0xFFFF).astype(np.uint16), (rows >> 16 & 0xFFFF).astype(np.uint16)
    points, weights = (rows >> 32).astype(np.uint32), np.zeros(1 << 26, np.float32)
    began = time.thread_time()
    moves = train_scalar(weights, left, right, points, episodes, np.float32(0.1 / 32), np.uint64(7))
    return moves, time.thread_time() - began


def ours(method: str) -> Run:
    """Return a run of our learner, in this thread so that its time counts."""

    def run(episodes: int) -> tuple[float, float]:
        training = TilesTraining.begin(TrainingSettings(method=method, seed=1))
        out = training.room(episodes)
        task = training.task(TaskGroup().worker(), episodes, out)
        began = time.thread_time()
        task()
        return int(out.moves.sum()), time.thread_time() - began

    return run


def tdl2048(program: str, *options: str) -> Run:
    """Return a run of TDL2048."""

    def run(episodes: int) -> tuple[float, float]:
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        command = [program, "-n", "4x6patt", "-t", f"1x{episodes}", "-s", "1", *options]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r"(\d+)ms ([\d.]+)ops", out)
        assert found, out
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        return float(found[1]) / 1000 * float(found[2]), seconds

    return run


def compare(title: str, candidates: dict[str, Run], rounds: int, episodes: int) -> None:
    """Print the speed of each candidate and its ratio to the first."""
    for run in candidates.values():
        run(50)
    speeds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            moves, seconds = run(episodes)
            speeds[name].append(moves / seconds)
    print(title)
    base = next(iter(speeds.values()))
    for name, found in speeds.items():
        ratios = sorted(speed / b for speed, b in zip(found, base, strict=True))
        spread = f"({ratios[0]:.2f} .. {ratios[-1]:.2f})"
        print(f"  {name:16} {median(found) / 1e6:6.2f} M moves/CPU s   {median(ratios):5.2f}x  {spread}")


def two_threads(rounds: int, episodes: int) -> None:
    """Print how much faster two threads learn, by the clock."""
    ratios = []
    for _ in range(rounds):
        speeds = []
        for threads in (1, 2):
            training = TilesTraining.begin(TrainingSettings(seed=1))
            training.prepare()
            training.run(threads * episodes, threads, threads * episodes)
            speeds.append(training.moves_per_second)
        ratios.append(speeds[1] / speeds[0])
    print(f"Two threads: {median(ratios):.2f}x one, by the clock ({min(ratios):.2f} .. {max(ratios):.2f})")


def learn_2048(rounds: int = 5, episodes: int = 1500) -> None:
    """Print all comparisons."""
    peer = os.environ.get("TDL2048")
    rivals = {"TDL2048": tdl2048(peer)} if peer else {}
    compare("TD(0), 4x6", {**rivals, "plain scalar": scalar, "mdplay": ours("td")}, rounds, episodes)
    rivals = {"TDL2048": tdl2048(peer, "-a", "1.0")} if peer else {}
    compare("Temporal coherence, 4x6", {**rivals, "mdplay": ours("tc")}, rounds, episodes)
    two_threads(rounds, episodes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=1500)
    learn_2048(**vars(parser.parse_args()))
