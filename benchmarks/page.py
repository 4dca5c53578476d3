"""How the page's server answers, beside an empty FastAPI app in the same run, asked in turns.

    python benchmarks/page.py [start steady attack memory] [--seconds 60] [--rate 50] [--games 1000]

    start    from the command to a page that can be played on, in Chromium; its first paint, its weight
    steady   values of a solved game at a steady rate; how late the event loop was
    attack   status while bodies of 60 MB, 200 searches at once, slow clients and strangers keep it busy
    memory   of the server over whole games

What the machine does besides delays both: the empty app shows how much of a figure is not ours.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

EMPTY_PAGE = "<!doctype html><html lang=en data-ready=yes><title>empty</title><p>Nothing.</p></html>"
PULSE_SECONDS = 0.02
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WEIGHT = "performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize ?? 0), 0)"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


# ---------------------------------------------------------------- the empty app
def empty() -> None:
    """Serve next to nothing: what FastAPI, uvicorn and this machine take by themselves."""
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse

    lags: list[float] = []

    async def feel() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(PULSE_SECONDS)
            lags.append(1000 * (time.perf_counter() - before - PULSE_SECONDS))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        feeling = asyncio.create_task(feel())
        yield
        feeling.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.get("/api/v1/status")
    async def status() -> dict:
        return {"busy": [], "max_lag_ms": round(max(lags[-500:], default=0.0), 1)}

    @app.get("/")
    async def page() -> HTMLResponse:
        return HTMLResponse(EMPTY_PAGE)

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no Nagle
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none")).run([listener])


# ---------------------------------------------------------------- servers
class Server:
    """A server in a process of its own."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://127.0.0.1:(\d+)/", self.process.stdout.readline())
        assert found
        self.address, self.port = found[0], int(found[1])
        self._own = threading.local()

    def get(self, path: str) -> bytes:
        """Ask on this thread's connection, as a browser keeps one."""
        for _ in range(2):
            line = getattr(self._own, "line", None) or http.client.HTTPConnection("127.0.0.1", self.port, 120)
            self._own.line = line
            with suppress(http.client.HTTPException, OSError):
                line.request("GET", path)
                return line.getresponse().read()
            line.close()  # the server has closed it meanwhile
        raise OSError(path)

    def status(self) -> dict:
        return json.loads(self.get("/api/v1/status"))

    def _processes(self) -> list[list[str]]:
        """Return what the system tells, from the state on, of the server and of each process that it has started."""
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                found[int(stat.parent.name)] = stat.read_text().rsplit(")", 1)[1].split()
        own = self.process.pid
        return [fields for pid, fields in found.items() if pid == own or int(fields[1]) == own]

    def megabytes(self) -> float:
        return sum(int(fields[21]) for fields in self._processes()) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu_seconds(self) -> float:
        return sum(int(fields[11]) + int(fields[12]) for fields in self._processes()) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Wait until nothing is being prepared, and for ten quiet seconds more: the lag is of the last ten."""
        while self.status()["busy"]:
            time.sleep(0.5)
        time.sleep(11)

    def end(self) -> float:
        began = time.perf_counter()
        self.process.terminate()
        self.process.wait()
        return time.perf_counter() - began


OURS = ("-m", "mdplay", "serve", "--port", "0")
EMPTY = (__file__, "--empty")


@contextmanager
def both() -> Iterator[dict[str, Server]]:
    servers = {"ours": Server(*OURS), "empty": Server(*EMPTY)}
    try:
        servers["ours"].get("/api/v1/games/tic-tac-toe/values")
        servers["ours"].get("/api/v1/games/tic-tac-toe/agent?agent=mcts&setting=100")
        servers["ours"].settle()
        yield servers
    finally:
        print(f"ended in {servers['ours'].end():.2f} s, exit code {servers['ours'].process.returncode}")
        servers["empty"].end()


def told(times: list[float]) -> str:
    ordered = sorted(times)
    return (
        f"median {statistics.median(ordered):.1f} ms, 99 % {ordered[int(0.99 * len(ordered))]:.1f} ms, "
        f"worst {ordered[-1]:.1f} ms"
    )


def timed(task: Callable[[], object]) -> float:
    began = time.perf_counter()
    task()
    return 1000 * (time.perf_counter() - began)


# ---------------------------------------------------------------- start
def start(times: int = 5) -> None:
    """Time commands and page loads, ours and the empty app in turns; the kernel cache is warm after the first."""
    from playwright.sync_api import sync_playwright

    pages = {"ours": (OURS, "connect-four"), "empty": (EMPTY, "")}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in pages}
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for _ in range(times + 1):
            for name, (command, path) in pages.items():
                page, began = browser.new_page(), time.perf_counter()
                server = Server(*command)
                listening = time.perf_counter() - began
                page.goto(server.address + path)
                page.wait_for_selector("html[data-ready=yes]")
                ready, cpu = time.perf_counter() - began, server.cpu_seconds()
                found[name].append((listening, ready, page.evaluate(PAINT) or 0.0, cpu, page.evaluate(WEIGHT)))
                page.close()
                server.end()
        browser.close()
    for name, runs in found.items():
        listening, ready, paint, cpu, weight = (statistics.median(run[k] for run in runs[1:]) for k in range(5))
        print(
            f"start, {name}: listens after {listening:.2f} s, can be played on after {ready:.2f} s, "
            f"first paint {paint:.0f} ms after the address; {weight / 1000:.0f} kB; "
            f"{cpu:.2f} s of CPU (medians of {times})"
        )


# ---------------------------------------------------------------- steady
def random_moves(rng: random.Random) -> str:
    cells = list(range(9))
    rng.shuffle(cells)
    return ",".join(map(str, cells[: rng.randrange(5)]))


class Pulse:
    """How late the event loops were, asked every five seconds while something else goes on."""

    def __init__(self, servers: dict[str, Server]) -> None:
        self.lags = {name: [0.0] for name in servers}
        self.own = [0.0]
        self._servers, self._ended = servers, threading.Event()

    def _feel(self) -> None:
        for name, server in self._servers.items():
            felt = server.status()
            self.lags[name].append(felt["max_lag_ms"])
            self.own.append(felt.get("max_own_lag_ms", 0.0))

    def _watch(self) -> None:
        while not self._ended.wait(5):
            self._feel()

    def __enter__(self) -> Pulse:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._feel()

    def told(self, name: str) -> str:
        own = f", of which it computed at most {max(self.own)}" if name == "ours" else ""
        return f"event loop at most {max(self.lags[name])} ms late{own}"


def steady(seconds: float, rate: float) -> None:
    """Ask ours for values and the empty app for its status, in turns, so often a second each."""
    with both() as servers:
        rng, times = random.Random(1), {name: list[float]() for name in servers}
        before = servers["ours"].cpu_seconds()

        def one(name: str, path: str) -> None:
            times[name].append(timed(lambda: servers[name].get(path)))

        with Pulse(servers) as pulse, ThreadPoolExecutor(6) as pool:
            began = time.perf_counter()
            for i in range(int(seconds * rate)):
                time.sleep(max(0.0, began + i / rate - time.perf_counter()))
                pool.submit(one, "ours", f"/api/v1/games/tic-tac-toe/values?moves={random_moves(rng)}")
                pool.submit(one, "empty", "/api/v1/status")
        each = 1000 * (servers["ours"].cpu_seconds() - before) / len(times["ours"])
        for name in servers:
            print(
                f"steady, {name}: {len(times[name])} requests at {rate:g}/s, {told(times[name])}; {pulse.told(name)}"
            )
        print(f"steady, ours: {each:.1f} ms of CPU a request")


# ---------------------------------------------------------------- attack
def pushed(port: int, path: str, body_bytes: int) -> None:
    """Send a large body, as far as it is taken."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line, suppress(OSError):
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-length: {body_bytes}\r\n\r\n"
        line.sendall(head.encode())
        for _ in range(body_bytes >> 16):
            line.sendall(bytes(1 << 16))


def asked_slowly(port: int, ended: threading.Event) -> None:
    """Send a header, a character a second."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line, suppress(OSError):
        for character in f"GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx: {'y' * 200}":
            line.sendall(character.encode())
            if ended.wait(1):
                return


def searched(port: int, ended: threading.Event) -> int:
    """Ask for a search and read what comes; return the status."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line, suppress(OSError):
        path = "/api/v1/games/connect-four/search?seconds=20"
        line.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode())
        code = int(line.recv(65536).split(b" ", 2)[1])
        while not ended.is_set() and line.recv(65536):
            pass
        return code
    return 0


def refused(port: int, name: str, value: str) -> int:
    """Ask as a stranger: with another host's name, or from another page; return the status."""
    line = http.client.HTTPConnection("127.0.0.1", port, 30)
    line.request("GET", "/api/v1/status", headers={name: value})
    code = line.getresponse().status
    line.close()
    return code


def attack(seconds: float = 20.0) -> None:
    """Ask ours for its status under attack, and the empty app beside it, which nobody attacks."""
    with both() as servers:
        port, ended = servers["ours"].port, threading.Event()
        servers["ours"].get("/api/v1/games/connect-four/search?seconds=1")
        times: dict[str, list[float]] = {name: [] for name in servers}
        strangers = set[int]()
        with Pulse(servers) as pulse, ThreadPoolExecutor(260) as pool:
            slow = [pool.submit(asked_slowly, port, ended) for _ in range(50)]
            searches = [pool.submit(searched, port, ended) for _ in range(200)]
            bodies = [pool.submit(pushed, port, "/api/v1/records", 60 << 20) for _ in range(5)]
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for name, server in servers.items():
                    times[name].append(timed(server.status))
                strangers |= {
                    refused(port, "Host", "evil.example"),
                    refused(port, "Origin", "http://evil.example"),
                }
                time.sleep(0.05)
            ended.set()
            codes = [future.result() for future in searches]
            for future in (*slow, *bodies):
                future.result()
        for name in servers:
            print(f"attack, {name}: {len(times[name])} times status, {told(times[name])}; {pulse.told(name)}")
        print(f"attack: of 200 searches {codes.count(200)} ran, {codes.count(503)} were asked to come again")
        print(f"attack: strangers were answered {sorted(strangers)}")


# ---------------------------------------------------------------- memory
def memory(games: int) -> None:
    """Play whole games, every position and every value asked for, and compare the memory."""
    with both() as servers:
        server, rng, before = servers["ours"], random.Random(2), 0.0
        for number in range(games):
            if number == games // 10:
                before = server.megabytes()
            cells = [str(cell) for cell in rng.sample(range(9), 5)]
            for k in range(5):
                moves = ",".join(cells[:k])
                server.get(f"/api/v1/games/tic-tac-toe/position?moves={moves}")
                server.get(f"/api/v1/games/tic-tac-toe/values?moves={moves}")
            server.get(f"/api/v1/games/tic-tac-toe/agent?agent=mcts&setting=100&moves={','.join(cells[:4])}")
        print(f"memory after {games // 10} games {before:.0f} MB, after {games} games {server.megabytes():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="all of them unless named")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--empty", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.empty:
        empty()
        return
    parts: dict[str, Callable[[], None]] = {
        "start": start,
        "steady": lambda: steady(given.seconds, given.rate),
        "attack": attack,
        "memory": lambda: memory(given.games),
    }
    for name in given.parts or parts:
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        parts[name]()


if __name__ == "__main__":
    main()
