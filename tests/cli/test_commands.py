"""Tests of ``mdplay.cli.commands``.

Here are tested besides: ``mdplay.__main__`` and ``mdplay.cli.common``.
"""

import errno
import json

import click
import pytest

from mdplay.cli.commands import COMMANDS, group
from tests.helpers import NIM, python, write


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_loaded_and_has_a_help_text(name):
    assert group.get_command(click.Context(group), name).help


def test_version_and_help(mdplay):
    assert "0.2.0" in mdplay("--version").out
    assert "Usage: mdplay" in mdplay("--help").out


def test_games(mdplay):
    assert "connect-four" in mdplay("games").out
    games = {game["name"]: game for game in json.loads(mdplay("games", "--json").out)}
    assert games["2048"]["players"] == 1 and "chance" in games["2048"]["knows"]


def test_show(mdplay):
    assert (
        ". . . O . . .\n. . O X X . .\n1 2 3 4 5 6 7" in mdplay("show", "connect-four", "--position", "4453").out
    )
    document = json.loads(mdplay("show", "connect-four", "--position", "4453", "--json").out)
    assert (document["player"], [m["move"] for m in document["moves"]]) == (0, list("1234567"))
    assert "Chance moves: 32 outcomes" in mdplay("show", "2048").out
    assert "The game is over: player 1 wins." in mdplay("show", "tic-tac-toe", "-p", "moves:0,3,1,4,2").out


def test_playouts_and_perft(mdplay):
    first = json.loads(mdplay("playouts", "tic-tac-toe", "--games", 500, "--seed", 4, "--json").out)
    again = json.loads(
        mdplay("playouts", "tic-tac-toe", "--games", 500, "--seed", 4, "--threads", 1, "--json").out
    )
    assert (first["games"], first["mean"]) == (500, again["mean"])
    assert "mean result" in mdplay("playouts", "2048:rows=2,cols=2", "--games", 10).out
    assert [ply["paths"] for ply in json.loads(mdplay("perft", "tic-tac-toe", "--depth", 3, "--json").out)] == [
        1,
        9,
        72,
        504,
    ]
    assert "252" in mdplay("perft", "tic-tac-toe", "--depth", 3).out


def test_check_and_cache(mdplay, needs_compiler):
    assert "keeps the contract" in mdplay("check", "tic-tac-toe", "--games", 2).out
    assert "compiled kernels" in mdplay("cache").out


BAD_FILES = {
    "unknown game": (None, "no game 'conect-four'"),
    "no file": (None, "there is no file"),
    "does not import": ("import nothing_of_this_name", "cannot be imported"),
    "lacks a method": (NIM.replace("def step", "def stop"), "has no method step"),
    "lacks an annotation": (NIM.replace("action: int", "action"), "annotate action"),
    "returns a wrong type": (NIM.replace("return 2 * s.player - 1", "return 'x'"), "returned 'x'"),
    "raises": (
        NIM.replace("return State(s.pile", "raise ValueError('no')\n        return State(s.pile"),
        "ValueError: no",
    ),
    "never ends": (NIM.replace("s.pile - action - 1", "s.pile + 1"), "did not end"),
    "does not compile": (NIM.replace("min(3, s.pile)", "len({'a', s.pile}) * 0 + 1"), "does not compile"),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_games_are_one_sentence_and_exit_code_2(mdplay, tmp_path, fault, needs_compiler):
    text, sentence = BAD_FILES[fault]
    name = {"unknown game": "conect-four", "no file": "nowhere.py"}.get(fault)
    answer = mdplay("playouts", name or f"{write(tmp_path, 'faulty.py', text)}:Nim", "--games", 10)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert answer.err.startswith("mdplay: ") and len(answer.err.splitlines()) <= 2
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["show", "connect-four", "-p", "44x"], "move 3: 'x' is not a legal move"),
        (["show", "connect-four:rows=99"], "rows=99 is out of range"),
        (["playouts", "connect-four", "--games", "none"], "is not a valid integer"),
        (["perft", "connect-four"], "Missing option '--depth'"),
        (["chek", "connect-four"], "did you mean 'check'"),
        (["bandits", "--policies", ""], "no policies are named"),
        (["match", "tic-tac-toe", "~nobody-of-this-name/bot.py", "random"], "there is no home folder"),
        (["show"], "Missing argument 'GAME'. Try 'mdplay show --help'."),
    ],
)
def test_bad_arguments(mdplay, arguments, sentence):
    answer = mdplay(*arguments)
    assert answer.code == 2
    assert sentence in answer.err


def test_a_reader_that_leaves_is_no_error():
    program = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'mdplay', 'games'], stdout=subprocess.PIPE)\n"
        "p.stdout.close()\nprint(p.wait())"
    )
    assert python("-c", program).strip() in ("0", "1")


def test_shell_completion_knows_the_games():
    out = python("-m", "mdplay", COMP_WORDS="mdplay show conn", COMP_CWORD="2", _MDPLAY_COMPLETE="bash_complete")
    assert "connect-four" in out


WRITERS = [
    "show tic-tac-toe --svg",
    "solve dots-and-boxes:rows=1,cols=1 --all",
    "search tic-tac-toe -n 20 --tree",
    "bandits --policies ucb1 --steps 5 --runs 2 --csv",
    "learn tic-tac-toe --method points --episodes 5 --out",
    "match tic-tac-toe random random --games 2 --record",
]


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_a_sentence(command, mdplay, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    answer = mdplay(*command.split(), path)
    assert answer.code == 2
    assert answer.err == f"mdplay: cannot write {path}: No space left on device\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", WRITERS)
def test_a_link_is_written_through(command, mdplay, tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    assert mdplay(*command.split(), tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_size > 10


def test_policies_of_respond_go_where_a_folder_can_be(mdplay, tmp_path):
    (tmp_path / "file").touch()
    answer = mdplay("respond", "tic-tac-toe", "--out", tmp_path / "file")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "cannot make the folder" in answer.err
