"""Every verb works without the functions that only POSIX systems have."""

import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.helpers import NIM, ROOT, python, write

# What Windows lacks, by the documentation of Python ("Availability: Unix").  Libraries that mdplay uses have their
# own ways for each system and are imported before.
ONLY_POSIX = """
import asyncio, multiprocessing.connection, subprocess, sys, types
import fastapi, numba, platformdirs, uvicorn

def without(name, *gone):
    real, copy = sys.modules[name], types.ModuleType(name)
    copy.__dict__.update({key: value for key, value in vars(real).items() if key not in gone})
    sys.modules[name] = copy
    return copy

def sockets_only(readers, writers, errors, seconds=None):
    raise OSError("an operation was attempted on something that is not a socket")

import os, select, signal
without("os", "fork", "geteuid", "getuid", "fchown", "fchmod", "chown", "killpg", "waitid", "sched_getaffinity",
        "set_blocking", "sysconf", "register_at_fork", "O_NONBLOCK", "O_NOFOLLOW", "mkfifo", "readv", "setsid")
without("signal", "SIGALRM", "SIGHUP", "SIGKILL", "SIGPROF", "SIGUSR1", "setitimer", "alarm", "pthread_kill")
without("select", "poll", "epoll").select = sockets_only
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None  # importing it raises ImportError
"""


def without_posix(folder, text, *arguments):
    """Run a program after removing what only POSIX systems have."""
    return python(write(folder, "portable.py", ONLY_POSIX + text), *arguments, cwd=folder)


def test_library(tmp_path):
    write(tmp_path, "my_nim.py", NIM)
    text = """
import mdplay
from my_nim import Nim

print(mdplay.solve(Nim()).value(), mdplay.search(Nim(), simulations=20_000, seed=1).move)
mdplay.learn(Nim(), episodes=50).save("nim.network")
print(mdplay.match(Nim(), "random", "random", games=4).tally.games)
print(round(mdplay.plan(mdplay.MDP.from_game(Nim(), opponent="uniform")).value[0], 6) > 0)
"""
    assert without_posix(tmp_path, text).split() == ["1.0", "0", "4", "True"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["solve", "my_nim.py"], "wins"),
        (["search", "my_nim.py", "-n", "200"], "0"),
        (["learn", "my_nim.py", "--episodes", "50", "--out", "n.network"], ""),
        (["match", "my_nim.py", "random", "random", "--games", "4", "--record", "r.jsonl"], "random"),
        (["playouts", "my_nim.py", "--games", "10"], ""),
        (["cache"], ""),
    ],
)
def test_commands(tmp_path, arguments, part):
    write(tmp_path, "my_nim.py", NIM)
    text = f"""
sys.argv = ["mdplay", *{arguments!r}]
from mdplay.cli import main
main()
"""
    assert part in without_posix(tmp_path, text)


def test_a_terminal_that_cannot_be_polled(tmp_path):
    """Windows cannot wait for a line of a terminal; the command reads it without polling."""
    text = """
import io
from mdplay.cli import play

class Terminal(io.StringIO):
    def isatty(self):
        return True

sys.stdin = Terminal("quit\\n")
print(play._ask("move: ") == "quit")
"""
    assert without_posix(tmp_path, text.replace("\\\\", "\\")).strip().endswith("True")


def test_ctrl_c_ends_a_command_without_a_pipe(tmp_path):
    """The watcher is woken by a socket, which every system has."""
    text = """
import os
from mdplay.runtime.signals import SignalWatcher

try:
    with SignalWatcher(lambda number: os._exit(3), print) as watcher:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
except KeyboardInterrupt:
    print(watcher.number == signal.SIGINT)
"""
    assert without_posix(tmp_path, text).strip() == "True"


def test_web_app(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = f"""
sys.argv = ["mdplay", "serve", "--port", "{port}"]
from mdplay.cli import main
main()
"""
    program = write(tmp_path, "serving.py", ONLY_POSIX + text)
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": "", "MDPLAY_CACHE": str(tmp_path / "kernels")}
    server = subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        assert str(port) in server.stdout.readline()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/games", timeout=60) as answer:
            assert b"connect-four" in answer.read()
        values = f"http://127.0.0.1:{port}/api/v1/games/tic-tac-toe/values?moves=0,3,1,4"
        with urllib.request.urlopen(values, timeout=60) as answer:
            assert b'"exact": true' in answer.read().replace(b'":t', b'": t')
    finally:
        server.terminate()
        server.communicate()
