import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from mdplay.playing.engine.agent import MAX_LINES, EngineFault, EngineProcess
from tests.helpers import HUNG_SECONDS

HELLO = {"type": "hello"}


def engine(program):
    return EngineProcess([sys.executable, "-c", program])


def is_zombie(pid):
    """Tell whether a process has ended that nobody has reaped."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def gone(pid):
    """Wait until a process has ended."""
    until = time.monotonic() + HUNG_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if is_zombie(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "program, words",
    [
        ("import sys; sys.exit('no\\nlicence')", "died with exit code 1: licence"),
        ("import os; os.kill(os.getpid(), 9)", "died by signal 9"),
        ("print('hello')", "answered nonsense: 'hello' is not JSON"),
        ("print('x' * (1 << 22))", "answered nonsense: a line has more than"),
        ('print(\'{"type": "info"}\\n\' * 20_000)', f"said more than {MAX_LINES:,} lines and no hello"),
        ('print(\'{"type": "ready"}\')', "answered 'ready', not 'hello'"),
        ('print(\'{"type": "error", "message": "busy"}\')', "said: busy"),
        ("import sys; sys.stderr.write('x' * (1 << 22)); sys.exit(3)", "died with exit code 3: xxx"),
    ],
)
def test_whatever_an_engine_does_instead_of_an_answer_is_told(program, words):
    process = engine(program)
    with pytest.raises(EngineFault, match=words):
        process.ask(HELLO, "hello", HUNG_SECONDS, lambda _: False)
    process.end()
    assert gone(process.popen.pid)


def test_an_engine_that_listens_to_nothing_holds_up_nobody():
    process = engine("import time; time.sleep(600)")
    with pytest.raises(EngineFault, match="took longer than 0.2 seconds"):
        process.ask({"type": "hello", "text": "x" * (1 << 22)}, "hello", 0.2, lambda _: False)
    process.end()
    assert gone(process.popen.pid)


def test_all_that_it_has_started_ends_with_it():
    program = (
        "import json, subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(600)']); print(json.dumps({'type': 'hello', 'pid': child.pid}), flush=True); sys.stdin.read()"
    )
    process = engine(program)
    child = process.ask(HELLO, "hello", HUNG_SECONDS, lambda _: False)["pid"]
    assert process.alive
    process.end()
    assert gone(child) and not process.alive
    process.end()  # twice does no harm


def test_nobody_needs_to_end_it():
    process = engine("import sys; sys.stdin.read()")
    pid = process.popen.pid
    del process
    assert gone(pid)


def test_a_program_that_is_not_there():
    with pytest.raises(EngineFault, match="cannot be started: No such file"):
        EngineProcess(["no-such-program"])
