"""How the page's server answers: values at a steady rate, the event loop's lag, memory over many games.

    python benchmarks/page.py [--seconds 60] [--rate 50] [--games 1000]

It starts a server of its own.  Figures depend on what else the machine does: the load is printed with them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Server:
    """A server in a process of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "mdplay", "serve", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found
        self.address = found[0]

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"{self.address}api/v1{path}", timeout=120) as answer:
            return answer.read()

    def status(self) -> dict:
        return json.loads(self.get("/status"))

    def megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Wait until nothing is being prepared, and for ten quiet seconds more: the lag is of the last ten."""
        while self.status()["busy"]:
            time.sleep(0.5)
        time.sleep(11)


def random_moves(rng: random.Random) -> str:
    cells = list(range(9))
    rng.shuffle(cells)
    return ",".join(map(str, cells[: rng.randrange(5)]))


def steady(server: Server, seconds: float, rate: float) -> None:
    rng, times, lags = random.Random(1), [], []
    ended = threading.Event()

    def feel() -> None:
        while not ended.wait(5):
            lags.append(server.status()["max_lag_ms"])

    def one(moves: str) -> float:
        began = time.perf_counter()
        server.get(f"/games/tic-tac-toe/values?moves={moves}")
        return 1000 * (time.perf_counter() - began)

    threading.Thread(target=feel, daemon=True).start()
    before = server.cpu_seconds()
    with ThreadPoolExecutor(5) as pool:
        futures, began = [], time.perf_counter()
        for i in range(int(seconds * rate)):
            time.sleep(max(0.0, began + i / rate - time.perf_counter()))
            futures.append(pool.submit(one, random_moves(rng)))
        times = sorted(future.result() for future in futures)
    ended.set()
    print(
        f"{len(times)} value requests at {rate:g}/s: median {statistics.median(times):.1f} ms, "
        f"99 % {times[int(0.99 * len(times))]:.1f} ms, worst {times[-1]:.1f} ms; "
        f"{1000 * (server.cpu_seconds() - before) / len(times):.1f} ms of CPU each; "
        f"event loop at most {max(lags, default=server.status()['max_lag_ms'])} ms late"
    )


def memory(server: Server, games: int) -> None:
    rng, before = random.Random(2), 0.0
    for number in range(games):
        if number == games // 10:
            before = server.megabytes()
        moves = random_moves(rng)
        server.get(f"/games/tic-tac-toe/position?moves={moves}")
        server.get(f"/games/tic-tac-toe/values?moves={moves}")
        server.get(f"/games/tic-tac-toe/agent?agent=mcts&setting=100&moves={moves}")
    print(f"memory after {games // 10} games {before:.0f} MB, after {games} games {server.megabytes():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--games", type=int, default=1000)
    given = parser.parse_args()
    server = Server()
    try:
        server.get("/games/tic-tac-toe/values")
        server.get("/games/tic-tac-toe/agent?agent=mcts&setting=100")
        server.settle()
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        steady(server, given.seconds, given.rate)
        memory(server, given.games)
    finally:
        began = time.perf_counter()
        server.process.terminate()
        server.process.wait()
        print(f"ended in {time.perf_counter() - began:.2f} s, exit code {server.process.returncode}")


if __name__ == "__main__":
    main()
