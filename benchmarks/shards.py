"""Planning in shards against one process, on generated models: seconds, sweeps, memory of a worker.

    python benchmarks/shards.py 2000000 10 2 [--shards 2] [--executor ray] [--folder DIR] [--single]

The model is a Garnet: STATES states, CHOICES choices each, BRANCHES random followers each, discount 0.95.  Its shards
are generated one at a time and written to a folder, so that a model larger than memory can be measured too;
``--single`` also plans the same model in one process, for the ratio.  The answer is checked on a sample of rows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np

from mdplay.distributed import planning as driver
from mdplay.distributed.planning import plan_sharded
from mdplay.distributed.planning_local import LocalShard
from mdplay.distributed.planning_shard import Rows, Shards, even_cuts
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.model import Model
from mdplay.planning.planner import plan
from mdplay.runtime.executors import using

DISCOUNT, SAMPLE = 0.95, 2000


def rows_of(number: int, shards: Shards, choices: int, branches: int) -> Rows:
    """Return the rows of a shard, seeded by its number; sums of probabilities are 1 to the last digits."""
    rng = np.random.default_rng(number)
    begin, end = shards.span(number)
    count = (end - begin) * choices
    weights = rng.random((count, branches))
    weights += 0.01  # in place: a large shard needs most of the memory there is
    weights /= weights.sum(axis=1, keepdims=True)
    arrays = ModelArrays(
        np.arange(end - begin + 1, dtype=np.uint32) * np.uint32(choices),
        np.arange(count + 1, dtype=np.uint32) * np.uint32(branches),
        rng.integers(0, shards.num_states, count * branches, dtype=np.uint32),
        weights.ravel(),
        rng.random(count),
        DISCOUNT,
    )
    return Rows(arrays, np.tile(np.arange(choices, dtype=np.uint8), end - begin))


class Memory:
    """The anonymous memory of this process, in MB: what it is every 20 ms, and the most of it in a file."""

    def __init__(self, path: Path) -> None:
        self._path, self.most = path, 0
        Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            lines = Path("/proc/self/status").read_text().splitlines()
            found = next(line for line in lines if line.startswith("RssAnon:"))
            if (size := int(found.split()[1]) // 1024) > self.most:
                self.most = size
                self._path.write_text(str(size))
            time.sleep(0.02)


class Measured(LocalShard):
    """A shard that writes down how much memory its process takes."""

    def __init__(self, number: int, shards: Shards) -> None:
        self._memory = Memory(shards.folder / f"{number}.peak")
        super().__init__(number, shards)


def whole(shards: Shards) -> Model:
    """Return all shards as one model in memory."""
    parts = [shards.load(number) for number in range(len(shards.cuts) - 1)]
    choices = np.cumsum([0] + [len(part.arrays.reward) for part in parts])
    edges = np.cumsum([0] + [len(part.arrays.target) for part in parts])
    firsts = [
        part.arrays.first_choice[:-1].astype(np.int64) + at for part, at in zip(parts, choices, strict=False)
    ]
    rows = [
        part.arrays.first_transition[:-1].astype(np.int64) + at for part, at in zip(parts, edges, strict=False)
    ]
    return Model(
        np.concatenate([*firsts, choices[-1:]]),
        np.concatenate([part.action for part in parts]),
        np.concatenate([*rows, edges[-1:]]),
        np.concatenate([part.arrays.target for part in parts]),
        np.concatenate([part.arrays.probability for part in parts]),
        np.concatenate([part.arrays.reward for part in parts]),
        shards.discount,
    )


def worst_residual(shards: Shards, value: np.ndarray) -> float:
    """Return the largest Bellman residual in a sample of states, by plain numpy: it bounds the error at 1 / (1 - g)."""
    worst = 0.0
    for number in range(len(shards.cuts) - 1):
        arrays, _ = shards.load(number)
        begin, end = shards.span(number)
        for state in np.random.default_rng(1).integers(0, end - begin, SAMPLE):
            found = []
            for choice in range(int(arrays.first_choice[state]), int(arrays.first_choice[state + 1])):
                row = slice(int(arrays.first_transition[choice]), int(arrays.first_transition[choice + 1]))
                mean = float(arrays.probability[row] @ value[arrays.target[row]])
                found.append(float(arrays.reward[choice]) + shards.discount * mean)
            worst = max(worst, abs(max(found) - float(value[begin + state])))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("states", type=int)
    parser.add_argument("choices", type=int)
    parser.add_argument("branches", type=int)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--executor", default="ray")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    driver.LocalShard = Measured  # in the workers too: it goes there by its class
    with TemporaryDirectory() as temporary:
        shards = Shards(given.folder or Path(temporary), even_cuts(given.states, given.shards), DISCOUNT)
        began = time.perf_counter()
        for number in range(given.shards):
            shards.save(number, rows_of(number, shards, given.choices, given.branches))
        print(
            f"{given.states * given.choices * given.branches:,} transitions in {time.perf_counter() - began:.1f} s"
        )
        with using(given.executor, given.shards) as executor:
            for turn in range(given.rounds):
                found = plan_sharded(shards, executor)
                peaks = [(shards.folder / f"{number}.peak").read_text() for number in range(given.shards)]
                print(
                    f"{given.executor}, {given.shards} shards, run {turn + 1}: {found.seconds:.2f} s, "
                    f"{found.iterations} sweeps, gap {found.gap:.2g}, closed {found.closed}; "
                    f"anonymous peak of each worker: {' '.join(peaks)} MB",
                    flush=True,
                )
        print(f"largest residual of {SAMPLE} states a shard: {worst_residual(shards, found.value):.2g}")
        if given.single:
            memory, model = Memory(shards.folder / "single.peak"), whole(shards)
            for turn in range(given.rounds):
                one = plan(model)
                print(
                    f"one process, run {turn + 1}: {one.seconds:.2f} s, {one.iterations} sweeps; "
                    f"anonymous peak {memory.most} MB",
                    flush=True,
                )
            print(
                f"ratio {found.seconds / one.seconds:.2f}; values differ by {np.abs(found.value - one.value).max():.2g}"
            )


if __name__ == "__main__":
    main()
