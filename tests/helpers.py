"""Small tools of the tests: fresh processes, and a game that a user might write."""

import os
import subprocess
import sys
from pathlib import Path

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
ROOT = Path(__file__).parents[1]
HUNG_SECONDS = 1800  # far beyond what a busy machine needs: only a hang takes so long

NIM = '''"""Take one, two or three; whoever takes the last one wins."""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class State(NamedTuple):
    pile: int
    player: int


@dataclass(frozen=True)
class Nim(Game[State]):
    pile: int = 21

    def initial(self) -> State:
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        return (1 << min(3, s.pile)) - 1

    def step(self, s: State, action: int) -> State:
        return State(s.pile - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        return 2 * s.player - 1
'''


def python(*arguments, cache=None, cwd=None, code=0, **environment):
    """Run Python in a fresh process and return what it printed; the exit code must be as given."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    if cache is not None:
        env["MDPLAY_CACHE"] = str(cache)
    done = subprocess.run(
        [sys.executable, *arguments], env=env, cwd=cwd, capture_output=True, text=True, timeout=HUNG_SECONDS
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write(folder, name, text):
    """Write a file into a folder and return its path."""
    path = folder / name
    path.write_text(text)
    return path
