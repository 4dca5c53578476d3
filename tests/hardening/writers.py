"""Every command that writes a file, what the file must be like, and a process that runs such commands in forks.

``python -m tests.hardening.writers`` imports the package once and then runs each command in a fork of itself.  It
may kill the fork after some seconds, or before the n-th thing that the command does to its folder; the fork may
also have a limit for the size of files.  It is asked by `tests.hardening.kills` and `tests.hardening.disks`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mdplay.storage.files import SUFFIX

STEPS = ("open", "os.rename", "os.remove", "os.link", "os.chmod", "os.chown", "sqlite3.connect")
SIDE_FILES = (SUFFIX, "-wal", "-shm", "-journal")  # what a killed writer may leave until the next one comes


@dataclass(frozen=True)
class Writer:
    """A command; {out} is the file (or folder) that it writes, {seed} makes another one of the same kind.

    One that resumes goes on with what its file has; any other one replaces it.  ``check`` raises if the file of a
    command that was killed is not whole.
    """

    command: str
    out: str
    resumes: bool = False
    content: Callable[[Path], Any] = Path.read_bytes
    check: Callable[[Path], Any] | None = None

    def arguments(self, out: Path, seed: int) -> list[str]:
        """Return the command's arguments."""
        return [word.format(out=out, seed=seed) for word in self.command.split()]


# ---------------------------------------------------------------- what a file holds, without the time it took
def _json(path: Path) -> Any:
    return _timeless(json.loads(path.read_bytes()))


def _timeless(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _timeless(value) for name, value in document.items() if "seconds" not in name}
    return [_timeless(value) for value in document] if isinstance(document, list) else document


def _tuple_arrays(path: Path) -> Any:
    return _arrays(path, "tuple-network")


def _arrays(path: Path, kind: str = "network") -> Any:
    from mdplay.storage.arrays import load

    stored = load(path, kind=kind)
    return {name: array.tobytes() for name, array in stored.arrays.items()}, _timeless(stored.meta)


def _rows(path: Path) -> Any:
    writable = os.access(path, os.W_OK)  # else a database cannot even be read without being told so
    file = sqlite3.connect(path) if writable else sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return file.execute("SELECT * FROM games ORDER BY match, number").fetchall()
    finally:
        file.close()


def _files(path: Path) -> Any:
    return {file.name: file.read_bytes() for file in sorted(path.iterdir()) if not file.name.endswith(SUFFIX)}


def _page(path: Path) -> Any:
    assert (path / "index.html").read_text().rstrip().endswith("</html>")
    return sorted(json.loads((path / "figures.json").read_bytes())["systems"])


def _whole_solution(path: Path) -> None:
    from mdplay.storage.arrays import load

    load(path, kind="solution")


def _whole_book(path: Path) -> None:
    from mdplay.storage.arrays import load

    load(path, kind="opening book")


WRITERS = {
    "match --record": Writer("match tic-tac-toe random perfect --games 9 --seed {seed} --record {out}", "g.jsonl"),
    "match --results": Writer(
        "match tic-tac-toe random perfect --games 60 --seed {seed} --results {out}", "g.db", True, _rows
    ),
    "book": Writer("book connect-four:rows=4,cols=4 --plies 3 --out {out}", "b.book", True, check=_whole_book),
    "solve --save": Writer("solve tic-tac-toe --save {out}", "s", True, check=_whole_solution),
    "solve --all": Writer("solve dots-and-boxes:rows=1,cols={seed} --all {out}", "a.csv"),
    "learn 2048": Writer(
        "learn 2048 --network 012,123 --episodes 2500 --seed {seed} --out {out} --resume --save-every 0",
        "n.safetensors", True, _arrays,
    ),
    "learn network": Writer(
        "learn tic-tac-toe --tuples 0-1-2,0-4-8 --episodes 9000 --seed {seed} --out {out} --resume --save-every 0",
        "n.safetensors", True, _tuple_arrays,
    ),
    "learn points": Writer(
        "learn tic-tac-toe --method points --episodes 500 --seed {seed} --out {out}", "p.json", content=_json
    ),
    "learn --curve": Writer("learn 2048 --network 012,123 --episodes 500 --seed {seed} --curve {out}", "c.csv"),
    "tournament --results": Writer(
        "tournament tic-tac-toe random perfect mcts:simulations=50 --games 10 --seed {seed} --results {out}",
        "t.db", True, _rows,
    ),
    "respond --out": Writer("respond anti-tic-tac-toe --player {seed} --out {out}", "policies", content=_files),
    "search --tree": Writer("search tic-tac-toe -n 500 --seed {seed} --tree {out}", "t.json"),
    "bandits --csv": Writer("bandits --policies ucb1 --steps 50 --runs 20 --seed {seed} --csv {out}", "b.csv"),
    "bandits --plot": Writer("bandits --policies ucb1 --steps 50 --runs 20 --seed {seed} --plot {out}", "b.png"),
    "show --svg": Writer("show tic-tac-toe -p moves:{seed} --svg {out}", "s.svg"),
    "play --record": Writer("play tic-tac-toe --agent random --seed {seed} --record {out}", "r.jsonl"),
    "new": Writer("new {out}", "game.py"),
    "write_mdp": Writer("write_mdp {seed} {out}", "m.txt"),
    "reproduce": Writer("reproduce 3 --quick --out {out}", "page", True, _page),
}  # fmt: skip


# ---------------------------------------------------------------- the process that runs commands
def _command(arguments: list[str]) -> None:
    """Run a command of the package, or its own function for those that no command writes."""
    if arguments[0] == "write_mdp":
        _write_mdp(float(arguments[1]), arguments[2])
    from mdplay.cli import run

    sys.argv = ["mdplay", *arguments]
    sys.exit(run())


def _write_mdp(reward: float, path: str) -> None:
    from mdplay import MdplayError
    from mdplay.planning import MDP
    from mdplay.planning.formats.cs747 import write_mdp

    count = 2000
    first = np.minimum(np.arange(count + 2), count)
    arrays = np.zeros(count, int), np.arange(count + 1), np.arange(1, count + 1), np.ones(count)
    try:
        write_mdp(MDP(first, *arrays, np.full(count, reward)), path)
    except MdplayError as error:
        sys.stderr.write(f"mdplay: {error}\n")
        sys.exit(2)
    sys.exit(0)


def _kill_before(step: int, folder: str) -> None:
    """Let this process die before the n-th thing it does to files in a folder."""
    seen = 0

    def hook(event: str, details: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in STEPS and any(str(detail).startswith(folder) for detail in details[:2]):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _in_fork(request: dict[str, Any], output: int) -> None:
    """Be the command: never return."""
    code = 70
    try:
        os.setpgid(0, 0)  # whatever it starts dies with it
        os.chdir(request["folder"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if limit := request.get("limit"):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if step := request.get("step"):
            _kill_before(step, request["folder"])
        _command(request["arguments"])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(pid: int, output: BinaryIO, said: list[bytes], seconds: float, kill: bool) -> tuple[int, bool]:
    """Wait for a process so long; then it is killed.  Return its exit code, and whether the time was up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        said.append(output.read() or b"")
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.002)
    os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), not kill


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run one command in a fork; say how it ended and how long it took."""
    began = time.monotonic()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _in_fork(request, writer)
    os.close(writer)
    os.set_blocking(reader, False)
    with suppress(OSError):  # the fork does the same: whoever is first
        os.setpgid(pid, pid)
    kill = "after" in request
    said: list[bytes] = []
    with os.fdopen(reader, "rb", buffering=0) as output:
        code, hung = _wait(pid, output, said, request["after"] if kill else request.get("patience", 300.0), kill)
        said.append(output.read() or b"")
    text = b"".join(said).decode(errors="replace")
    return {"code": code, "hung": hung, "said": text[-2000:], "seconds": time.monotonic() - began}


def _import_all() -> None:
    """Import what the commands need, so that a fork has it at once; run nothing: no thread survives a fork."""
    from mdplay.cli.commands import COMMANDS, MODULES

    for name in ("numba", "scipy.sparse.linalg", *(f"mdplay.cli.{MODULES.get(name, name)}" for name in COMMANDS)):
        import_module(name)
    for name in (
        "solving.solvers",
        "games.twenty48.training",
        "learning.cell_counting",
        "learning.training",
        "planning.planner",
        "searching.mcts",
    ):
        import_module(f"mdplay.{name}")


def main() -> None:
    """Answer requests until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("kind") == "ready":
            _import_all()
            found: dict[str, Any] = {"ready": True}
        else:
            found = answer(request)
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
