"""Measure the enumeration of all states, and retrograde analysis after it.

    python benchmarks/states.py                             a few shipped games
    python benchmarks/states.py mens-morris:men=5           any game
    python benchmarks/states.py FILE.py:Class --most 20000000    the first states of a game too large
    python benchmarks/states.py --rounds 3                  the best of three

Seconds are those of the processor, so a busy machine does little harm; "two threads" alone goes by the clock, and
tells something only where two cores are idle.  Bytes are per state, without the 4 for each edge.
"""

import argparse
import time
from dataclasses import dataclass

from mdplay import Game, LimitError, make
from mdplay.runtime.threads import TaskGroup
from mdplay.solving.retrograde import analysed
from mdplay.states.enumeration import Enumeration

GAMES = ["sliding-puzzle", "mens-morris:men=4", "pocket-cube:half=no", "dodgem:side=4"]
WARM_UP = 20_000  # states enumerated first, so that nothing is compiled while the clock runs


@dataclass
class Run:
    """An enumeration as far as it went, and its seconds."""

    work: Enumeration
    seconds: float
    clock: float

    def line(self) -> str:
        """Return the figures."""
        states, edges, numbering = self.work.done, self.work.edges, self.work.numbering
        size = 8 * numbering.words + 2 + numbering.index.nbytes / numbering.known
        return (
            f"{states:>12,} states  {edges / states:5.1f} edges a state  {self.seconds:7.2f} s  "
            f"{states / self.seconds / 1e6:5.2f} M states/s  {edges / self.seconds / 1e6:5.1f} M edges/s  "
            f"{size:5.1f} bytes"
        )


def enumerated(game: Game, threads: int, most: int | None, memory: int) -> Run:
    """Enumerate a game, or its first states."""
    work = Enumeration(game, fold=True, threads=threads, memory=memory, max_states=most)
    began, clock = time.process_time(), time.perf_counter()
    try:
        work.run(TaskGroup(threads))
    except LimitError:
        if most is None:
            raise
    return Run(work, time.process_time() - began, time.perf_counter() - clock)


def measure(name: str, most: int | None, rounds: int, memory: int) -> None:
    """Print the figures of one game."""
    game = make(name)
    for threads in (1, 2):
        enumerated(game, threads, WARM_UP, memory)
    if most is None:
        analysed(enumerated(game, 1, None, memory).work.states())
    one, two, analysis = [], [], []
    for _ in range(rounds):  # in turns
        one.append(enumerated(game, 1, most, memory))
        two.append(enumerated(game, 2, most, memory).clock)
        if most is None:
            began = time.process_time()
            analysed(one[-1].work.states())
            analysis.append(time.process_time() - began)
    best = min(one, key=lambda run: run.seconds)
    print(f"{name}\n  {best.line()}")
    print(f"  two threads: {min(run.clock for run in one) / min(two):.2f} times as fast")
    if analysis:
        print(
            f"  retrograde analysis: {min(analysis):.2f} s, {min(analysis) / best.seconds:.2f} of the enumeration"
        )


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--most", type=int, help="stop after so many states")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--memory", type=float, default=8.0, help="GB")
    given = parser.parse_args()
    for name in given.games:
        measure(name, given.most, given.rounds, int(given.memory * (1 << 30)))


if __name__ == "__main__":
    main()
