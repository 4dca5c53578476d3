"""A model that mixes slowly, planned in shards: seconds, policies, iterations, memory of a worker.

    python benchmarks/slow_grid.py 1000 [--discount 0.999] [--shards 2] [--executor ray] [--folder DIR] [--single]

The model is a grid of SIZE x SIZE cells with random costs; a step slips to either side with probability 0.2, and
the last cell costs nothing for ever (``grid`` of benchmarks/mdp.py).  3163 are ten million states.  Its shards are
strips, written one at a time.  The answer is checked on a sample of rows; ``--single`` also plans it in one process.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mdplay.distributed import planning as driver
from mdplay.distributed.planning import plan_sharded
from mdplay.distributed.planning_shard import Rows, Shards, even_cuts
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.planner import plan
from mdplay.runtime.executors import using
from shards import SAMPLE, Measured, whole, worst_residual

SLIP, STEPS = 0.2, ((-1, 0), (0, 1), (1, 0), (0, -1))


def rows_of(number: int, shards: Shards, size: int) -> Rows:
    """Return the rows of a strip of the grid; costs are the same whatever the number of shards."""
    begin, end = shards.span(number)
    row, column = np.divmod(np.arange(begin, end), size)
    to = np.stack(
        [np.clip(row + a, 0, size - 1) * size + np.clip(column + b, 0, size - 1) for a, b in STEPS], axis=1
    )
    target = np.stack([to, np.roll(to, -1, axis=1), np.roll(to, -3, axis=1)], axis=2).astype(np.uint32)
    cost = -np.random.default_rng(0).random(size * size)[begin:end]
    if end == size * size:
        target[-1], cost[-1] = size * size - 1, 0.0
    count = len(STEPS) * (end - begin)
    arrays = ModelArrays(
        np.arange(end - begin + 1, dtype=np.uint32) * np.uint32(len(STEPS)),
        np.arange(count + 1, dtype=np.uint32) * np.uint32(3),
        target.ravel(),
        np.tile([1.0 - SLIP, 0.5 * SLIP, 0.5 * SLIP], count),
        np.repeat(cost, len(STEPS)),
        shards.discount,
    )
    return Rows(arrays, np.tile(np.arange(len(STEPS), dtype=np.uint8), end - begin))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", type=int)
    parser.add_argument("--discount", type=float, default=0.999)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--executor", default="ray")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--single", action="store_true")
    given = parser.parse_args()
    driver.LocalShard = Measured  # in the workers too: it goes there by its class
    with TemporaryDirectory() as temporary:
        states = given.size * given.size
        shards = Shards(given.folder or Path(temporary), even_cuts(states, given.shards), given.discount)
        for number in range(given.shards):
            shards.save(number, rows_of(number, shards, given.size))
        print(f"{states:,} states, {states * len(STEPS) * 3:,} transitions written", flush=True)
        with using(given.executor, given.workers or given.shards) as executor:
            began = time.perf_counter()

            def show(sweeps: int, miss: float) -> None:
                print(f"  {time.perf_counter() - began:7.1f} s  {sweeps:4} sweeps  error {miss:.3g}", flush=True)

            found = plan_sharded(shards, executor, show=show)
        peaks = [(shards.folder / f"{number}.peak").read_text() for number in range(given.shards)]
        digest = hashlib.sha256(found.value.tobytes() + found.action.tobytes()).hexdigest()[:16]
        print(
            f"{given.executor}: {found.seconds:.1f} s, {found.method}, {found.reason}, gap {found.gap:.2g}, "
            f"closed {found.closed}, sha256 {digest}; anonymous peak of each shard's worker: {' '.join(peaks)} MB"
        )
        print(f"largest residual of {SAMPLE} states a shard: {worst_residual(shards, found.value):.2g}")
        if given.single:
            one = plan(whole(shards))
            print(
                f"one process: {one.seconds:.1f} s, {one.method}, values differ by "
                f"{np.abs(found.value - one.value).max():.2g}"
            )


if __name__ == "__main__":
    main()
