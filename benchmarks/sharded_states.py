"""All states of a game in shards, beside one process: seconds, memory of a worker, what a killed worker costs.

    python benchmarks/sharded_states.py connect-four:rows=4,cols=7 --shards 1 2 --kill 3 --single

Seconds are from the end of the first round to that of the last, so neither Ray's start nor kernels that are loaded
count.  ``--kill N`` does the last run again while N workers are ended by SIGKILL; ``--single`` enumerates in one
process, one thread, edges kept.  Count, edges, levels and digest must be equal in all of them.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from mdplay import Game, make
from mdplay.distributed.state_shard import Shard, Sharding, digest_of
from mdplay.distributed.states import Count, enumerated
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.run import Run
from mdplay.states.enumeration import Enumeration

WARM_ROUNDS = 12


class Located(Shard):
    """A shard that says in its folder which process it is in, and how much memory that takes."""

    def __init__(self, number: int, sharding: Sharding) -> None:
        super().__init__(number, sharding)
        (sharding.folder / f"{number}.pid").write_text(str(os.getpid()))

    def memory(self) -> int:
        """Return the anonymous memory of this process in MB, at its peak: nothing is mapped here but libraries."""
        return peak(os.getpid())


def peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    return (int(found["VmHWM"].split()[0]) - int(found["RssFile"].split()[0])) // 1024


class Clock:
    """The seconds between the first round and the last; it ends a run that is only to warm up."""

    def __init__(self, most: int | None = None) -> None:
        self._most, self._rounds, self._first, self._last = most, 0, 0.0, 0.0

    def __call__(self, known: int) -> None:
        self._rounds, self._last = self._rounds + 1, time.perf_counter()
        self._first = self._first or self._last
        if self._rounds == self._most:
            raise KeyboardInterrupt

    @property
    def seconds(self) -> float:
        return self._last - self._first

    @property
    def rounds(self) -> int:
        return self._rounds


def kill(folder: Path, times: int, shards: int, dead: list[int]) -> None:
    """End a worker that has found something since the last time, every so often."""
    while len(dead) < times:
        time.sleep(4.0)
        number = len(dead) % shards
        try:
            pid = int((folder / f"{number}.pid").read_text())
            if pid in dead:
                continue
            os.kill(pid, signal.SIGKILL)
        except (OSError, ValueError):
            return
        dead.append(pid)


def measure(game: Game, executor: Executor, shards: int, kills: int = 0) -> Count:
    with TemporaryDirectory() as temporary:
        try:
            warm = Run(
                executor=executor, threads=shards, file=Path(temporary) / "warm", progress=Clock(WARM_ROUNDS)
            )
            with enumerated(game, run=warm):
                pass
        except KeyboardInterrupt:
            pass
        folder, dead, clock = Path(temporary) / "all", list[int](), Clock()
        if kills:
            Thread(target=kill, args=(folder, kills, shards, dead), daemon=True).start()
        run = Run(executor=executor, threads=shards, file=folder, progress=clock)
        with enumerated(game, run=run, make=Located) as found:
            count, memory = found.count(), found.actors.call("memory")
            traffic = found.sent * found.sharding.start.nbytes / len(count)
    print(
        f"{shards} shards, {len(dead)} workers killed: {len(count):,} states, {count.edges:,} edges, "
        f"{clock.rounds} rounds, {clock.seconds:.1f} s, {len(count) / clock.seconds / 1e6:.2f} M states/s, "
        f"{traffic:.1f} bytes sent a state, digest {count.digest:x}, MB of each worker {memory}",
        flush=True,
    )
    return count


def single(game: Game) -> Count:
    began = time.process_time()
    states = Enumeration(game).finish()
    seconds = time.process_time() - began
    digest = int(digest_of(states.words, states.keys)) % (1 << 64)
    count = Count(tuple(states.levels()), len(states.target), digest)
    print(f"one process: {len(count):,} states, {count.edges:,} edges, {seconds:.1f} s, digest {digest:x}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--executor", default="ray")
    parser.add_argument("--kill", type=int, default=0)
    parser.add_argument("--single", action="store_true")
    given = parser.parse_args()
    game, counts = make(given.game), list[Count]()
    with using(given.executor, max(given.shards)) as executor:
        counts += [measure(game, executor, shards) for shards in given.shards]
        if given.kill:
            counts.append(measure(game, executor, given.shards[-1], given.kill))
    if given.single:
        counts.append(single(game))
    if any(count != counts[0] for count in counts):
        raise SystemExit("the counts differ")


if __name__ == "__main__":
    main()
