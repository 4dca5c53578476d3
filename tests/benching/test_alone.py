import subprocess
import sys

from mdplay.benching.alone import LIBRARIES, one_thread

ASKED = """
import os, sys
import mdplay.cli.bench
from mdplay.benching.alone import LIBRARIES, one_thread
assert one_thread()
print(*(os.environ[name] for name in LIBRARIES))
"""


def test_the_command_comes_before_numpy_and_leaves_what_the_environment_says(monkeypatch):
    for name in LIBRARIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(LIBRARIES[1], "3")
    told = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["1", "3", "1", "1"]


def test_when_numpy_is_there_nothing_is_changed(monkeypatch):
    import os

    import numpy  # noqa: F401

    monkeypatch.delenv(LIBRARIES[0], raising=False)
    assert not one_thread()
    assert LIBRARIES[0] not in os.environ
