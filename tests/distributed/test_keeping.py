import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mdplay import FormatError
from mdplay.distributed import open_executor
from mdplay.runtime.executors import Keep
from tests.distributed import tasks
from tests.helpers import ROOT

DRIVER = """
import sys
from pathlib import Path
from mdplay.distributed import open_executor
from mdplay.runtime.executors import Keep
from tests.distributed import tasks
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with open_executor("processes", 2) as executor:
        executor.map(tasks.note, range(400), folder / "done", keep=Keep(folder / "kept", "notes"))
"""


def test_finished_tasks_are_not_done_again(tmp_path):
    keep = Keep(tmp_path / "kept", "numbers")
    executor = open_executor("serial")
    first = executor.map(tasks.arrays, range(5), keep=keep)
    marks = tmp_path / "marks"
    marks.mkdir()
    again = executor.map(tasks.note, range(5), marks, keep=keep)  # another task, never called
    assert list(marks.iterdir()) == []
    for one, other in zip(first, again, strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_what_is_damaged_or_of_other_work_is_done_again(tmp_path):
    executor, keep = open_executor("serial"), Keep(tmp_path, "numbers")
    wanted = executor.map(tasks.arrays, range(3), keep=keep)
    shards = sorted(tmp_path.rglob("*.shard"))
    shards[0].write_bytes(shards[0].read_bytes()[:-1])
    shards[1].replace(shards[2])  # task 1 under the name of task 2
    assert str(executor.map(tasks.arrays, range(3), keep=keep)) == str(wanted)
    other = executor.map(tasks.note, range(1), tmp_path, keep=Keep(tmp_path, "notes"))
    assert list(other[0]) == ["number"]


def test_only_arrays_are_kept(tmp_path):
    with pytest.raises(FormatError, match="task 0 is no dict of arrays"):
        open_executor("serial").map(tasks.draw, range(1), keep=Keep(tmp_path, "words"))


def test_a_run_whose_driver_was_killed_goes_on(tmp_path):
    done, kept = tmp_path / "done", tmp_path / "kept"
    done.mkdir()
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    driver = subprocess.Popen([sys.executable, script, tmp_path], env=env)
    while len(list(kept.rglob("*.shard"))) < 20:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = {int(path.stem) for path in kept.rglob("*.shard")}
    assert 20 <= len(before) < 400
    again = tmp_path / "again"
    again.mkdir()
    found = open_executor("serial").map(tasks.note, range(400), again, keep=Keep(kept, "notes"))
    assert [int(one["number"][0]) for one in found] == list(range(400))
    assert {int(path.name.partition(".")[0]) for path in again.iterdir()} == set(range(400)) - before
