import os
import subprocess
import sys

import numpy as np  # noqa: F401 (one that is there already is tested)
import pytest

from mdplay.cli.commands import LIBRARIES, SINGLE_THREADED, use_one_thread

ASKED = """
import os, sys
import click
from mdplay.cli.commands import SINGLE_THREADED, group
assert "numpy" not in sys.modules
group.get_command(click.Context(group), "{command}")
print(*(os.environ[name] for name in SINGLE_THREADED["{command}"]))
"""
RUN = """
import os, sys
sys.argv = ["mdplay", "plan", "missing.txt"]
from mdplay.cli import run
run()
print("numpy" in sys.modules, os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("OMP_NUM_THREADS"))
"""


@pytest.fixture
def unset(monkeypatch):
    for name in SINGLE_THREADED["bench"]:
        monkeypatch.delenv(name, raising=False)


def told(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize("command", ["bench", "plan"])
def test_the_commands_come_before_numpy_and_leave_what_the_environment_says(unset, monkeypatch, command):
    monkeypatch.setenv(LIBRARIES[1], "3")
    assert told(ASKED.format(command=command)) == ["1", "3", "1", "1"][: len(SINGLE_THREADED[command])]


def test_plan_uses_one_thread_for_its_equations(unset):
    assert told(RUN) == ["True", "1", "None"]


def test_when_numpy_is_there_nothing_is_changed(unset):
    assert not use_one_thread(LIBRARIES)
    assert LIBRARIES[0] not in os.environ
