"""A child that runs command lines in one process: ``python -m tests.hardening.answering FOLDER``.

It reads a command line as JSON from stdin, runs it as the program would, and writes the exit code and what was
printed as JSON to the file that was its stdout.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from pathlib import Path

MOVES = "hint\n0\nvalues\nmoves\nundo\n1\n2\nsave out.jsonl\nsave \nx\n3\n4\n"


def answer(line: list[str], place: Path) -> tuple[int, str, str]:
    """Run one command line; return its exit code, and what it wrote to stdout and stderr."""
    from mdplay.cli import run

    files = [place / "stdout", place / "stderr"]
    sys.argv = ["mdplay", *line]
    sys.stdin = io.StringIO(MOVES)
    sys.stdout, sys.stderr = (file.open("w", encoding="utf-8", errors="backslashreplace") for file in files)
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stderr.fileno(), 2)
    try:
        code = run()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    out, err = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return code, out[-2000:], err[-5000:]


def main() -> None:
    """Answer line by line until the input ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asked, told = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # who reads from there, as an engine does, waits for nobody
    place = Path(sys.argv[1])
    for line in asked:
        told.write(json.dumps(answer(json.loads(line), place)) + "\n")
        told.flush()


if __name__ == "__main__":
    main()
