"""The same command twice: equal bytes, whatever the hash seed, the threads where that is promised, and the cache.

A try is one command and one change of its surroundings; what it prints, and what it writes, must be as before.
Times are no part of it.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hardening.campaign import Tally
from tests.hardening.child import FIRST_SECONDS, ROOT
from tests.hardening.writers import WRITERS, Writer

TIMES = re.compile(
    r"(; compiling )?[\d,.]+ ?(s\b|seconds|M moves|k a second|[a-z]*/s\b|states/s)"
    r"|\"((compiling_)?seconds|[a-z_]+_per_second)\": [\d.e+-]+"
)
THREADS = (
    "match",
    "tournament",
    "book",
    "bandits",
    "playouts",
    "plan",
)  # these promise equal answers for any number
PRINTED = (
    "games --json",
    "show connect-four -p 4453 --json",
    "perft connect-four --depth 4",
    "states anti-tic-tac-toe --player 1",
    "solve dots-and-boxes:rows=1,cols=2 --json",
    "solve tic-tac-toe --opponent uniform",
    "search connect-four -n 300 --seed 3 --json",
    "match tic-tac-toe random mcts:simulations=20 --games 6 --seed 2 --json",
    "evaluate 2048:rows=2,cols=2 --agent random --games 20 --json",
    "bandits --steps 50 --runs 10 --policies ucb1,thompson --json",
    "accuracy tic-tac-toe --agent mcts:simulations=50 --count 20",
    "playouts connect-four --games 2000 --json",
)


def run(tally: Tally, count: int, seed: int) -> None:
    """Run so many commands under changed surroundings, each against a plain run."""
    plain: dict[str, bytes] = {}
    writers = {name: writer for name, writer in WRITERS.items() if name not in ("write_mdp", "reproduce", "new")}
    questions = [*(Writer(command, "") for command in PRINTED), *writers.values()]
    for number in range(count):
        rng = random.Random(f"{seed}-{number}")
        writer = questions[number % len(questions)]
        change = "cold cache" if number % 8 == 7 else rng.choice(("hash seed", "threads"))  # to compile takes long
        try:
            if writer.command not in plain:
                plain[writer.command] = _answer(writer, "nothing", rng)
            same = _answer(writer, change, rng) == plain[writer.command]
        except (AssertionError, subprocess.TimeoutExpired) as error:
            tally.found(f"seed {seed}, number {number}: {writer.command}, {change}: {str(error)[:500]}")
            continue
        if same:
            tally.ended(f"same over {change}")
        else:
            tally.found(f"seed {seed}, number {number}: {writer.command}: another answer over {change}")


def _answer(writer: Writer, change: str, rng: random.Random) -> bytes:
    """Return what a command prints and writes, without times."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / (writer.out or "none")
        arguments = writer.arguments(out, 1)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"}
        if change == "hash seed":
            environment["PYTHONHASHSEED"] = str(rng.randrange(1, 1 << 32))
        if change == "threads" and arguments[0] in THREADS:
            arguments += ["--threads", str(rng.choice((2, 3)))]
        if change == "cold cache":
            environment["MDPLAY_CACHE"] = str(Path(name) / "cache")
        done = subprocess.run(
            [sys.executable, "-m", "mdplay", *arguments],
            env=environment, cwd=name, input="", capture_output=True, text=True, timeout=FIRST_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        written = repr(writer.content(out)) if out.exists() else ""
        return json.dumps([TIMES.sub("", done.stdout.replace(name, "")), written]).encode()
