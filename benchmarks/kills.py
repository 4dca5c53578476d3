"""Kill what long work hangs on, and compare the outcome with undisturbed work, byte for byte.

    python benchmarks/kills.py workers --executor ray --kills 20      SIGKILL of workers, each time after some progress
    python benchmarks/kills.py driver --executor processes            SIGKILL of the program, which is then run again
    python benchmarks/kills.py head                                 SIGKILL of Ray's own servers, then run again

The work is a match of tree searches, its games kept in a file of results.  Undisturbed is ``--executor serial``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from mdplay import make, match
from mdplay.runtime.executors import using

GAME, AGENTS = "connect-four", ("mcts:simulations=300", "mcts:simulations=100")
HEAD = ("gcs_server", "raylet")
PATIENCE = 120.0  # seconds until a driver without its head must have given up


def descendants(pid: int) -> dict[int, str]:
    """Return the processes below one, with their command lines."""
    parents, names = dict[int, int](), dict[int, str]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                names[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, ValueError):
                continue
    found, layer = dict[int, str](), {pid}
    while layer:
        layer = {child for child, parent in parents.items() if parent in layer}
        found |= {child: names[child] for child in layer}
    return found


def busy_workers() -> list[int]:
    """Return the workers of this program's executor that are at a task."""
    below = descendants(os.getpid())
    return sorted(pid for pid, name in below.items() if name.startswith("ray::_do_chunk") or "spawn_main" in name)


def kill_workers(executor: str, kills: int, games: int) -> list[str]:
    """Play matches until so many workers were killed, each after a further game had ended; return their games."""
    ended, killed, stop = [0], list[int](), [False]

    def kill() -> None:
        seen = 0
        while len(killed) < kills and not stop[0]:
            time.sleep(0.05)
            workers = [pid for pid in busy_workers() if pid not in killed]
            if ended[0] > seen and workers:
                seen = ended[0]
                os.kill(workers[len(killed) % len(workers)], signal.SIGKILL)
                killed.append(workers[len(killed) % len(workers)])

    def show(done: int) -> None:
        ended[0] += 1

    found, began = list[str](), time.perf_counter()
    with using(executor, 2) as opened:
        match(make(GAME), *AGENTS, games=4, executor=opened)  # the workers are up
        Thread(target=kill, daemon=True).start()
        while len(killed) < kills:
            result = match(make(GAME), *AGENTS, games=games, executor=opened, progress=show)
            found.append("\n".join(record.to_json() for record in result.records))
    stop[0] = True
    seconds = time.perf_counter() - began
    print(f"{executor}: {len(killed)} workers killed in {len(found)} matches of {games} games, {seconds:.0f} s")
    return found


def command(executor: str, games: int, results: Path) -> list[str]:
    words = ["match", GAME, *AGENTS, "--games", str(games), "--threads", "2", "--executor", executor]
    return [sys.executable, "-m", "mdplay", *words, "--results", str(results), "--json"]


def games_in(results: Path) -> int:
    try:
        with closing(sqlite3.connect(results)) as file:
            return int(file.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def cut_off(executor: str, games: int, head: bool) -> str:
    """Run a match, kill the program or Ray's servers on the way, run it again, and return what that prints."""
    with TemporaryDirectory() as folder:
        results = Path(folder) / "match.db"
        program = subprocess.Popen(
            command(executor, games, results), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        while games_in(results) < games // 4 and program.poll() is None:
            time.sleep(0.02)
        if head:
            servers = [pid for pid, name in descendants(program.pid).items() if any(one in name for one in HEAD)]
            for pid in servers:
                os.kill(pid, signal.SIGKILL)
            print(f"{len(servers)} servers of Ray killed")
        else:
            program.kill()
        began = time.perf_counter()
        try:
            said = program.communicate(timeout=PATIENCE)[0].decode()
        except subprocess.TimeoutExpired:
            program.kill()
            said = "(nothing: it was ended)"
        last = (said.strip().splitlines() or ["(nothing)"])[-1]
        print(f"code {program.returncode} after {time.perf_counter() - began:.1f} s; it said: {last[:200]}")
        print(f"{games_in(results)} of {games} games kept")
        again = subprocess.run(command(executor, games, results), capture_output=True, check=True)
        return again.stdout.decode()


def undisturbed(games: int) -> str:
    with TemporaryDirectory() as folder:
        words = command("serial", games, Path(folder) / "match.db")
        return subprocess.run(words, capture_output=True, check=True).stdout.decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["workers", "driver", "head"])
    parser.add_argument("--executor", default="ray")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--games", type=int, default=200)
    given = parser.parse_args()
    if given.what == "workers":
        found = kill_workers(given.executor, given.kills, given.games)
        result = match(make(GAME), *AGENTS, games=given.games)
        wanted = "\n".join(record.to_json() for record in result.records)
        same = all(one == wanted for one in found)
    else:
        same = cut_off(given.executor, given.games, given.what == "head") == undisturbed(given.games)
    print("identical" if same else "DIFFERENT")
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
