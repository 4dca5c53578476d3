"""Command lines by grammar: each must end in an answer or in a sentence, and leave no empty file behind."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from tests.hardening.campaign import Tally, names_input, raw_words
from tests.hardening.grammar import command_line, write_files
from tests.helpers import ROOT

PATIENCE = 10.0  # seconds; then Ctrl-C, which must end the command
SERVING = 2.0  # the same for a server, which never ends by itself
CODES = {0, 1, 2, 130}
MAX_LINES, MAX_CHARACTERS = 3, 600
Answer = tuple[int, str, str]


class Child:
    """A process that runs command lines, one after the other; a new one takes the place of one that died."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.process = folder, self._started(folder)

    def _started(self, folder: Path) -> subprocess.Popen[str]:
        self.work, self.place = folder / "work", folder / "place"
        for one in (self.work, self.place):
            shutil.rmtree(one, ignore_errors=True)
            one.mkdir()
        write_files(self.work)
        self.files = _files(self.work)
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "MPLBACKEND": "Agg"}
        environment["PYTHONSAFEPATH"] = "1"
        call = [sys.executable, "-m", "tests.hardening.answering", str(self.place)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            call, cwd=self.work, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, line: list[str]) -> Answer | str:
        """Return the answer to a command line, or in words why there is none: hang, stopped, or an exit code."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = self._answer(SERVING if line[0] == "serve" else PATIENCE)
        if answer == "hang":
            self.process.send_signal(signal.SIGINT)
            answer = self._answer(PATIENCE)
        return answer

    def _answer(self, seconds: float) -> Answer | str:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return "hang"
        text = self.process.stdout.readline()
        if text:
            code, out, err = json.loads(text)
            return code, out, err
        code = self.process.wait()
        return "stopped" if code in (130, -signal.SIGINT) else f"the process ended with {code}"

    def renew(self) -> None:
        """Start again, in a clean folder."""
        self.close()
        self.process = self._started(self.folder)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()

    def tidy(self) -> list[str]:
        """Return the new empty files of the last command, and put the folder back as it was."""
        found = _files(self.work)
        empty = [name for name, facts in found.items() if facts[0] == 0 and name not in self.files]
        for name in found.keys() - self.files.keys():
            (self.work / name).unlink()
        if any(found.get(name) != facts for name, facts in self.files.items()):
            write_files(self.work)
            self.files = _files(self.work)
        return empty


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the time of every file in a folder and below."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and "__pycache__" not in path.parts:
            facts = path.lstat()
            found[str(path.relative_to(folder))] = facts.st_size, facts.st_mtime_ns
    return found


def fault(answer: Answer, empty: list[str], line: list[str]) -> str | None:
    """Return what is wrong with the answer to a command line, if anything is."""
    code, out, err = answer
    if "Traceback" in out + err or "Warning" in err:
        return "a traceback or a warning"
    if code not in CODES:
        return f"exit code {code}"
    if code == 2 and (err.count("\n") > MAX_LINES or len(err) > MAX_CHARACTERS or not err.strip()):
        return f"a message of {err.count(chr(10))} lines and {len(err)} characters"
    if code == 2 and (raw := raw_words(err)):
        return f"a sentence that says {raw!r}, not what is wrong with the input"
    if code == 2 and not names_input(err, line[1:]):
        return "a sentence that names nothing of the input"
    if code == 2 and empty:
        return f"empty files: {', '.join(empty)}"
    return None


def run(tally: Tally, count: int, seed: int) -> None:
    """Run so many command lines."""
    with tempfile.TemporaryDirectory() as folder:
        child = Child(Path(folder))
        try:
            for number in range(count):
                line = command_line(Random(f"{seed}/{number}"))
                _judge(tally, child, line, f"command line {number} of seed {seed}: {line!r:.600}")
        finally:
            child.close()


def _judge(tally: Tally, child: Child, line: list[str], name: str) -> None:
    answer = child.ask(line)
    if isinstance(answer, str):
        tally.ended("stopped") if answer == "stopped" else tally.found(f"{name}: {answer}")
        child.renew()
        return
    wrong = fault(answer, child.tidy(), line)
    if wrong:
        tally.found(f"{name}: {wrong}: {answer[2][-500:]!r}")
    else:
        tally.ended({0: "answered", 1: "denied", 130: "stopped"}.get(answer[0], "refused"))
