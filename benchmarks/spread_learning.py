"""One training by several workers beside one thread: seconds, processor seconds, and how well what was learned plays.

    python benchmarks/spread_learning.py connect-four 40000 [--workers 2] [--executor processes] [--games 400]

Both learn as many episodes from the same seed, then play games against the same tree search.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

from mdplay import learn, make, match


def processor_seconds() -> float:
    """Return what this process and the workers that have ended took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("episodes", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--executor", default="processes")
    parser.add_argument("--against", default="mcts:simulations=200")
    parser.add_argument("--games", type=int, default=400)
    given = parser.parse_args()
    game = make(given.game)
    learn(game, episodes=10)  # kernels
    ways: dict[str, dict[str, Any]] = {
        "one thread": {},
        f"{given.workers} workers": {"executor": given.executor, "workers": given.workers},
    }
    for name, options in ways.items():
        before = processor_seconds()
        training: Any = learn(game, episodes=given.episodes, **options)
        used = processor_seconds() - before
        played = match(game, training.agent(), given.against, games=given.games)
        low, high = played.interval
        print(
            f"{name}: {given.episodes:,} episodes in {training.seconds:.1f} s, {used:.1f} s of processors; "
            f"score {played.tally.score:.3f} ({low:.3f} to {high:.3f}) in {given.games} games against {given.against}",
            flush=True,
        )


if __name__ == "__main__":
    main()
