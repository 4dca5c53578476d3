import subprocess
import sys

import pytest

from mdplay import check_game
from mdplay.bits import elements
from mdplay.cli.new import KINDS
from mdplay.naming.registry import make
from tests.helpers import ROOT


@pytest.mark.parametrize("name, cls", [("my_game.py", "MyGame"), ("nim2.py", "Nim2"), ("state.py", "MyGame")])
def test_the_starter_keeps_the_contract(mdplay, tmp_path, name, cls):
    path = tmp_path / name
    assert "a small game that works" in mdplay("new", path).out
    assert "keeps the contract" in mdplay("check", f"{path}:pile=5", "--games", 3).out
    assert "ooooo" in mdplay("show", f"{path}:{cls}:pile=5").out
    game = make(f"{path}:pile=5")
    assert type(game).__name__ == cls


SMALL = {
    "chance": ("limit=6", "0 of 6"),
    "points": ("count=4", "1 3 5 2"),
    "board": ("rows=2,cols=3", ". . ."),
    "puzzle": ("holes=6", "o.oooo"),
}


@pytest.mark.parametrize("kind", SMALL)
def test_a_starter_of_each_kind(mdplay, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    assert "a small game that works" in mdplay("new", "game_of_mine.py", "--kind", kind).out
    parameters, board = SMALL[kind]
    game = f"game_of_mine.py:{parameters}"
    assert board in mdplay("show", game).out
    assert check_game(make(game), games=5, compiled=kind in ("chance", "puzzle")).games == 5
    assert SOLVED[kind] == pytest.approx(plain_value(make(game)))


SOLVED = {
    "chance": 11 / 96,
    "points": 5,  # 1 first; after 3 it is 5, another turn and 2: 8 to 3
    "board": 0,  # two rows of three: both block
    "puzzle": -1,  # one peg is left
}


def plain_value(game, s=None):
    """Return what a state is worth to player 0, by recursion."""
    s = game.initial() if s is None else s
    if chances := elements(game.outcomes(s)):
        return sum(game.probability(s, i) * plain_value(game, game.outcome(s, i)) for i in chances)
    sign = -1 if game.player(s) else 1
    values = [sign * game.reward(s, a) + plain_value(game, game.step(s, a)) for a in elements(game.legal(s))]
    return sign * max(sign * value for value in values) if values else game.result(s)


@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy --strict"])
def test_the_starters_pass_the_linters(tmp_path, mdplay, tool):
    paths = [tmp_path / f"clean_{kind}.py" for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        mdplay("new", path, "--kind", kind)
    config = ["--config", ROOT / "pyproject.toml"] if tool.startswith("ruff") else []
    command = [sys.executable, "-m", *tool.split(), *config, *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_that_exists_is_left_alone(mdplay, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("precious")
    answer = mdplay("new", path)
    assert (answer.code, answer.err) == (2, f"mdplay: {path} exists already; it was left alone\n")
    assert path.read_text() == "precious"


@pytest.mark.parametrize("name", ["my-game.py", "game.txt", "1game.py", "class.py"])
def test_names_that_cannot_be_imported(mdplay, tmp_path, name):
    answer = mdplay("new", tmp_path / name)
    assert (answer.code, answer.err) == (
        2,
        f"mdplay: '{name}' cannot be imported; name the file like a Python module: my_game.py\n",
    )
    assert not (tmp_path / name).exists()


def test_a_folder_that_is_not_there(mdplay, tmp_path):
    answer = mdplay("new", tmp_path / "no" / "game.py")
    assert answer.err == f"mdplay: cannot write {tmp_path}/no/game.py: No such file or directory\n"
