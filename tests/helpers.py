"""Small tools of the tests: fresh processes, and a game that a user might write."""

import os
import subprocess
import sys
from pathlib import Path

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
ROOT = Path(__file__).parents[1]
HUNG_SECONDS = 1800  # far beyond what a busy machine needs: only a hang takes so long

NIM = (ROOT / "tests" / "nim.py").read_text()


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
