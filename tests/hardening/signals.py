"""SIGINT and SIGTERM at random moments of every long command.

The process must end soon, by the right exit code, without a traceback.  The tries of one command share a folder
and go on from the files that are there: a file that a signal broke would be refused by the next try.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.hardening.campaign import Tally
from tests.helpers import NIM, ROOT

SOON, SAVING = 3.0, 30.0  # seconds to end in; a machine may be busy, and a file large
PROGRAM = """
import os, signal, sys
from mdplay.cli import exit as _, main  # loaded before the first signal may come
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background lets its children ignore it
sys.argv = ["mdplay", *sys.argv[2:]]
os.write(int({fd}), b"r")
main()
"""
LOOPS = NIM.replace(
    "        return State(s.pile - action",
    "        while s.pile == 4:\n            action = action + 0\n        return State(s.pile - action",
)
COMMANDS = (
    "search connect-four --seconds 100",
    "playouts connect-four --games 10000000000",
    "learn 2048:rows=3,cols=3 --network 012345 --episodes 100000000 --out net --resume --save-every 1",
    "solve tic-tac-toe:rows=4,cols=4,length=4 --save table",
    "playouts loops.py --games 1000",
    "match connect-four:rows=4,cols=4 mcts:simulations=2000 random --games 100000000 --results games.db",
    "search connect-four -a heuristic:depth=40 --seconds 100",
    "solve connect-four:rows=5,cols=5",
    "solve loops.py",
    "perft connect-four --depth 40",
    "plan chain.txt --method jacobi",
    "bandits --steps 100000 --runs 1000000",
    "book connect-four --plies 6 --out opening.book",
    "prove qubic --out book.txt --save-every 1",
    "accuracy tic-tac-toe -a mcts:simulations=100000 --count 100000",
    "respond anti-tic-tac-toe --out policies",
    "tournament tic-tac-toe random mcts:simulations=100 perfect --games 1000000 --threads 2 --results cup.db",
    "evaluate 2048 --agent random --games 100000000 --results scores.db",
    "learn tic-tac-toe --method points --episodes 1000000000",
    "solve dots-and-boxes:rows=3,cols=3 --opponent uniform --all all.csv",
    "reproduce --quick --out pages",
    "check connect-four --games 100000",
    "states tic-tac-toe:rows=4,cols=4,length=4 --player 1",
    "play connect-four",
)


def write_files(folder: Path) -> None:
    """Write the games and models that the commands name."""
    (folder / "loops.py").write_text(LOOPS)
    states = 20_000
    rows = [f"transition {s} 0 {(s + 1) % states} 0.001 0.5" for s in range(states)]
    rows += [f"transition {s} 0 {(s * 7 + 3) % states} 0 0.5" for s in range(states)]
    head, tail = f"numStates {states}\nnumActions 1\nend -1\n", "mdptype continuing\ndiscount 0.9999999\n"
    (folder / "chain.txt").write_text(head + "\n".join(rows) + "\n" + tail)


def started(line: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command and return when it is about to run."""
    reader, writer = os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    call = [sys.executable, "-c", PROGRAM.format(fd=writer), "-", *line.split()]
    pipe = subprocess.PIPE
    with (folder / "stdout").open("wb") as out:
        process = subprocess.Popen(
            call, cwd=folder, env=environment, stdin=pipe, stdout=out, stderr=pipe, pass_fds=[writer]
        )
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    return process


def moment(luck: Random) -> float:
    """Return when the signal comes, in seconds: half of them early, while modules are imported."""
    return luck.uniform(0.02, 1.0) if luck.random() < 0.5 else luck.uniform(1.0, 8.0)


def attack(line: str, folder: Path, number: signal.Signals, delay: float) -> str:
    """Send a signal to a command and return how it ended; anything but a single word is a fault."""
    process = started(line, folder)
    try:
        process.wait(delay)
        early = True
    except subprocess.TimeoutExpired:
        early = False
        process.send_signal(number)
    began = time.monotonic()
    try:
        _, err = process.communicate(timeout=SAVING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"no end within {SAVING:.0f} s"
    return _verdict(process.returncode, err.decode(), number, early, time.monotonic() - began)


def _verdict(code: int, err: str, number: signal.Signals, early: bool, seconds: float) -> str:
    if "Traceback" in err or "Error" in err:
        return f"code {code}: {err[-600:]!r}"
    if seconds > SOON and "saving" not in err:
        return f"ended only after {seconds:.1f} s"
    if code in (0, 1) and "stopped" not in err:
        return "ended" if early else "answered"
    if not early and code == 128 + number and "mdplay: stopped" in err:
        return "stopped"
    return f"code {code}: {err[-600:]!r}"


def run(tally: Tally, count: int, seed: int) -> None:
    """Send so many signals."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            luck, line = Random(f"{seed}/{number}"), COMMANDS[number % len(COMMANDS)]
            folder = Path(place) / str(number % len(COMMANDS))
            if not folder.is_dir():
                folder.mkdir()
                write_files(folder)
            sign, delay = luck.choice((signal.SIGINT, signal.SIGTERM)), moment(luck)
            ended = attack(line, folder, sign, delay)
            if " " in ended:
                tally.found(
                    f"try {number} of seed {seed}: mdplay {line}, {sign.name} after {delay:.2f} s: {ended}"
                )
            else:
                tally.ended(ended)
