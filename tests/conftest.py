"""What all tests share: whether the compiler is on, and the command line in this process."""

import os
import signal
import sys
from dataclasses import dataclass

import pytest
from hypothesis import settings

from tests.helpers import COMPILED

# Tests are small questions, which plain Python would answer; they are to test what is compiled.
os.environ.setdefault("MDPLAY_PLAIN_SECONDS", "0")

# A shell that runs the tests in the background lets them ignore Ctrl-C, and with them every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("mdplay", deadline=None, max_examples=50)
settings.load_profile("mdplay")


@dataclass
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def mdplay(capsys, monkeypatch):
    """Run the command line in this process: mdplay("show", "2048") -> code, out, err."""

    def run(*arguments):
        from mdplay.cli import run as run_commands

        monkeypatch.setattr(sys, "argv", ["mdplay", *map(str, arguments)])
        capsys.readouterr()
        code = run_commands()
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="needs the compiler")
    for item in items:
        if not COMPILED and "needs_compiler" in getattr(item, "fixturenames", ()):
            item.add_marker(skip)


@pytest.fixture
def needs_compiler():
    """Skip the test when NUMBA_DISABLE_JIT is set."""
