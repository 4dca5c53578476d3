"""Runs command lines of mdplay in forks of one process that has imported it: isolated, and without the start.

A command line that begins with ``-m MODULE`` runs the function ``main`` of that module with the other words.

Reads lines of JSON, ``{"arguments": [...], "seconds": 20}``, and answers each by ``{"code", "out", "err"}``; the
code is negative after a signal, and None when the time was up and the fork was killed.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.002


class Server:
    """A process that forks for every command line; started anew if it should die."""

    def __init__(self, **environment: str) -> None:
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        self._environment = {**os.environ, "PYTHONPATH": paths, **environment}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.hardening.fork_server"]
        return subprocess.Popen(
            command, env=self._environment, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, arguments: list[str], seconds: float) -> dict[str, Any]:
        """Run a command line in a fork."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"arguments": arguments, "seconds": seconds}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._process = self._start()
            return {"code": code, "out": "", "err": "the server itself has ended"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def answer(arguments: list[str], seconds: float) -> dict[str, Any]:
    """Fork, run a command line there and wait for its end."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            become(arguments, out.fileno(), err.fileno())
        code = wait(child, seconds)
        out.seek(0)
        err.seek(0)
        return {"code": code, "out": out.read(), "err": err.read()}


def become(arguments: list[str], out: int, err: int) -> None:
    """Be the command line, in a process group of its own; never return."""
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    code: Any = 1
    try:
        code = _run(arguments)
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _run(arguments: list[str]) -> Any:
    if arguments[0] == "-m":
        return importlib.import_module(arguments[1]).main(*arguments[2:])
    sys.argv = ["mdplay", *arguments]
    from mdplay.cli import run

    return run()


def wait(child: int, seconds: float) -> int | None:
    """Return the exit code of a child, or None after having killed it when the time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(POLL_SECONDS)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def serve() -> None:
    """Answer the lines of stdin."""
    for name in ("solve", "search", "states", "match", "learn"):
        importlib.import_module(f"mdplay.cli.{name}")
    for name in ("solving.solution", "solving.responses", "searching.mcts", "searching.playouts"):
        importlib.import_module(f"mdplay.{name}")
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
