import subprocess
import sys

import pytest

from mdplay.registry import make
from tests.helpers import ROOT


@pytest.mark.parametrize("name, cls", [("my_game.py", "MyGame"), ("nim2.py", "Nim2"), ("state.py", "MyGame")])
def test_the_starter_keeps_the_contract(mdplay, tmp_path, name, cls):
    path = tmp_path / name
    assert "a small game that works" in mdplay("new", path).out
    assert "keeps the contract" in mdplay("check", f"{path}:pile=5", "--games", 3).out
    assert "ooooo" in mdplay("show", f"{path}:{cls}:pile=5").out
    game = make(f"{path}:pile=5")
    assert type(game).__name__ == cls


@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy --strict"])
def test_the_starter_passes_the_linters(tmp_path, mdplay, tool):
    path = tmp_path / "clean.py"
    mdplay("new", path)
    config = ["--config", ROOT / "pyproject.toml"] if tool.startswith("ruff") else []
    command = [sys.executable, "-m", *tool.split(), *config, path]
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
    assert "cannot be written: No such file or directory" in mdplay("new", tmp_path / "no" / "game.py").err
