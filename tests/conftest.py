"""What all tests share: whether the compiler is on, and the command line in this process."""

import os
import signal
import sys
from dataclasses import dataclass

import pytest
from hypothesis import settings

from tests.helpers import COMPILED, ROOT

# Tests are small questions, which plain Python would answer.  Tests of algorithms are to test what is compiled;
# what people meet is tested as they meet it: small questions in plain Python first.
AT_ONCE, AS_PEOPLE_DO = "0", "0.6"
MET_BY_PEOPLE = ("benching", "cli", "test_docs.py", "test_registry.py")
os.environ.setdefault("MDPLAY_PLAIN_SECONDS", AT_ONCE)
FORCED = os.environ["MDPLAY_PLAIN_SECONDS"] != AT_ONCE

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


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set when kernels are compiled, here and in the processes that a test starts."""
    if FORCED:
        return
    from mdplay.bridge import kernels

    room = item.path.relative_to(ROOT / "tests").parts[0]
    seconds = AS_PEOPLE_DO if room in MET_BY_PEOPLE else AT_ONCE
    os.environ["MDPLAY_PLAIN_SECONDS"] = seconds
    kernels.PLAIN_SECONDS = 0.0 if kernels.BOUNDS else float(seconds)


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="needs the compiler")
    for item in items:
        if not COMPILED and "needs_compiler" in getattr(item, "fixturenames", ()):
            item.add_marker(skip)


@pytest.fixture
def needs_compiler():
    """Skip the test when NUMBA_DISABLE_JIT is set."""
