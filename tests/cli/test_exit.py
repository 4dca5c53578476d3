import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mdplay.cli.exit import report_error
from mdplay.errors import FormatError
from tests.helpers import HUNG_SECONDS, NIM, ROOT, write


@pytest.mark.parametrize(
    "error, sentence",
    [
        (FormatError("the file is odd"), "the file is odd"),
        (OSError(28, "No space left on device", "x.txt"), "x.txt: No space left on device"),
        (MemoryError(), "the memory is not enough for this"),
        (RuntimeError("can't start new thread"), "no more threads"),
        (RuntimeError("Could not determine home directory."), "no such home folder"),
        (click.UsageError("No such option: -z"), "No such option: -z"),
    ],
)
def test_a_fault_of_the_input_is_one_sentence(capsys, error, sentence):
    assert report_error(error) == 2
    err = capsys.readouterr().err
    assert sentence in err and err.startswith("mdplay: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    "fault",
    [
        KeyError("a bug"),
        ValueError("operands could not be broadcast together"),
        OverflowError("too large"),
        RecursionError("maximum"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
    ],
)
def test_a_fault_of_ours_is_told_with_a_file(capsys, tmp_path, monkeypatch, fault):
    monkeypatch.setattr("mdplay.storage.folders.cache_folder", lambda: tmp_path)
    name = type(fault).__name__
    try:
        raise fault
    except type(fault) as error:
        assert report_error(error) == 70
    err = capsys.readouterr().err
    assert err.startswith(f"mdplay: internal error ({name}); please report it")
    assert f"{name}: {fault}" in Path(err.split()[-1]).read_text()


def test_what_a_rule_raises_is_a_fault_of_the_input(mdplay, tmp_path):
    write(tmp_path, "nim.py", NIM.replace("return State(self.pile, 0)", "return State((1, 2)[self.pile], 0)"))
    report_error = mdplay("show", f"{tmp_path}/nim.py")
    assert (
        report_error.code == 2
        and "Nim raised IndexError: tuple index out of range (nim.py, line" in report_error.err
    )


def test_exit_codes_pass():
    assert [report_error(SystemExit(code)) for code in (0, None, 1, "text")] == [0, 0, 1, 1]
    assert report_error(click.exceptions.Exit(3)) == 3
    assert report_error(KeyboardInterrupt()) == 130


def shell(line, **options):
    """Run a line of a shell and return its exit code and stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PY": sys.executable}
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, env=environment, timeout=HUNG_SECONDS, **options
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence():
    code, err = shell("$PY -m mdplay games > /dev/full")
    assert (code, err) == (2, "mdplay: the output cannot be written: No space left on device\n")
    assert shell("$PY -m mdplay nonsense 2> /dev/full") == (2, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(closed, tmp_path):
    assert shell(f"$PY -m mdplay show tic-tac-toe --svg a.svg {closed}", cwd=tmp_path) == (0, "")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


def test_odd_bytes_are_one_sentence(tmp_path):
    code, err = shell(r"""$PY -m mdplay show "$(printf 'a\377b')" """)
    assert code == 2 and err.startswith("mdplay: no game 'a\\udcffb'")


def test_a_module_in_the_working_folder_is_not_taken(tmp_path):
    for name in ("numpy.py", "click.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit(99)\n")
    assert shell("$PY -m mdplay playouts tic-tac-toe --games 3", cwd=tmp_path) == (0, "")


STUCK = """
import os, signal, sys
import numpy as np
from mdplay.compiling import kernel
from mdplay.cli import main
from mdplay.cli.commands import group

signal.signal(signal.SIGINT, signal.default_int_handler)

@kernel
def forever(stop):
    while stop[0] == 0:
        pass

def stuck(**options):
    os.write(1, b"ready")
    {what}

group.main = stuck
main()
"""
LOOP = "forever(np.zeros(1, np.int64))"
WHATS = {
    "compiled code in the main thread": LOOP,
    "compiled code in a thread": f"from mdplay.runtime import threads; threads.TaskGroup().run([lambda: {LOOP}])",
    "code that catches everything": """
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass""",
}


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_whatever_runs(what, number, needs_compiler):
    code = STUCK.format(what=WHATS[what])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    try:
        assert process.stdout.read(5) == b"ready"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert err == b"mdplay: stopped\n"


@pytest.mark.parametrize("option", ["-t", "--seconds"])
@pytest.mark.parametrize("value", ["nan", "inf", "1e300", "0", "-1"])
def test_time_is_a_finite_number(mdplay, option, value):
    report_error = mdplay("search", "tic-tac-toe", option, value)
    assert report_error.code == 2 and ("range" in report_error.err or "finite" in report_error.err)


@pytest.mark.parametrize("value", [2**63, 10**30, -(10**30)])
def test_counts_and_seeds_fit_64_bits(mdplay, value):
    assert mdplay("playouts", "tic-tac-toe", "--games", 3, "--seed", value).code == 2
    assert mdplay("playouts", "tic-tac-toe", "--games", abs(value)).code == 2


def test_long_input_is_not_repeated_whole(mdplay):
    for arguments in (["show", "y" * 9000], ["show", "tic-tac-toe", "-p", "y" * 9000], ["y" * 9000]):
        report_error = mdplay(*arguments)
        assert report_error.code == 2 and len(report_error.err) < 600


@pytest.mark.parametrize(
    "line",
    [["solve", "connect-four", "--objective", "win", "--batch"], ["accuracy", "tic-tac-toe", "--positions"]],
)
def test_a_line_without_end_is_refused(mdplay, line):
    report_error = mdplay(*line, "/dev/zero")
    assert report_error.code == 2 and "/dev/zero, line 1 is longer than 1,048,576 bytes" in report_error.err


def test_an_argument_with_a_nul_is_named(mdplay):
    report_error = mdplay("plan", "a\0b")
    assert report_error.code == 2 and "The argument 'a\\x00b' contains a NUL character." in report_error.err


def test_a_bad_position_of_a_file_is_named_by_its_line_and_an_empty_name_as_such(mdplay, tmp_path):
    path = tmp_path / "positions.txt"
    path.write_text("000000000\nzzz 1\n")
    report_error = mdplay("accuracy", "tic-tac-toe", "-a", "random", "--positions", path)
    assert report_error.code == 2 and f"{path}, line 2: " in report_error.err
    assert mdplay("plan", "").err == "mdplay: '' is a folder; name a file\n"
    assert "cannot read '': " in mdplay("accuracy", "tic-tac-toe", "--positions", "").err


def test_a_book_that_has_no_name_is_refused(mdplay):
    report_error = mdplay("prove", "qubic", "--out", ".")
    assert report_error.code == 2 and "'.' is a directory" in report_error.err
    assert mdplay("prove", "qubic", "--out", "").err == "mdplay: a book needs the name of a file, not ''\n"


def test_the_game_is_named_that_has_too_many_or_too_few_players(mdplay):
    assert "TicTacToe is a two-player game, and evaluate needs one player" in mdplay("evaluate", "tic-tac-toe").err
    assert (
        "Twenty48 is a single-player game, and a match needs two"
        in mdplay("match", "2048", "random", "random").err
    )
