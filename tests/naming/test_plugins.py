"""A real second package, on the path of a fresh process with its own metadata, and a broken one beside it."""

import json
import os
import subprocess
import sys

import pytest

from mdplay.naming.registry import load_plugin, plugin_points, plugins, source_of
from tests.helpers import HUNG_SECONDS, NIM, ROOT

MORE = """
import sys
from dataclasses import dataclass

from mdplay import Selector
from mdplay.bits import lowest
from mdplay.searching.selectors import Arm
from mdplay.solving.solvers import Hashed


class Lowest:
    def __init__(self, game):
        self.game = game

    def act(self, state, rng):
        return lowest(self.game.legal(state))


@dataclass(frozen=True)
class Halving(Selector):
    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        return arm.mean + 0.5**arm.pulls


class Mine(Hashed):
    name = "mine"

    def fill(self, question):
        print("mine", file=sys.stderr)
        return super().fill(question)
"""
POINTS = {
    "games": "nim = second.nim:Nim",
    "agents": "lowest = second.more:Lowest",
    "selectors": "halving = second.more:Halving",
    "solvers": "mine = second.more:Mine",
}


def install(folder, name, points):
    """Put the metadata of a package beside it, as an installer does."""
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("".join(f"[mdplay.{kind}]\n{line}\n" for kind, line in points.items()))


@pytest.fixture
def second(tmp_path):
    package = tmp_path / "second"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nim.py").write_text(NIM)
    (package / "more.py").write_text(MORE)
    install(tmp_path, "second", POINTS)
    return tmp_path


def run(folder, *arguments):
    """Run the command line in a process that finds the packages of a folder."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)]), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "mdplay", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=HUNG_SECONDS)


def test_a_package_adds_a_game_an_agent_and_a_solver(second):
    done = run(second, "games", "--json")
    sources = {game["name"]: game["source"] for game in json.loads(done.stdout)}
    assert (sources["nim"], sources["connect-four"][:6], done.stderr) == ("second 1.5", "mdplay", "")
    assert "nim\n" in run(second, "games").stdout and "from second 1.5" in run(second, "games").stdout
    done = run(second, "match", "nim:pile=5", "lowest", "random", "--games", "2")
    assert "lowest v random" in done.stdout
    done = run(second, "solve", "nim:pile=5", "--method", "mine", "--json")
    assert (done.returncode, done.stderr) == (0, "mine\n")


def test_a_package_adds_a_selector(second):
    done = run(second, "search", "tic-tac-toe", "--agent", "mcts:selector=halving,simulations=20", "--json")
    assert (done.returncode, done.stderr, json.loads(done.stdout)["simulations"]) == (0, "", 20)


def test_a_broken_package_is_one_warning_and_stands_in_nobodys_way(second):
    (second / "broken.py").write_text("raise RuntimeError('no\\nlicence')\n")
    install(second, "broken", {kind: f"bad = broken:{kind}" for kind in POINTS})
    done = run(second, "games", "--json")
    assert (
        done.stderr == ("mdplay: the game bad of broken 1.5 cannot be loaded: RuntimeError: no licence\n")
        and "nim" in done.stdout
    )
    done = run(second, "solve", "nim:pile=5", "--json")
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (
        0,
        done.stderr.count("bad"),
        False,
    )
    done = run(second, "show", "bad")
    assert (done.returncode, done.stderr.count("cannot be loaded")) == (2, 1)
    assert run(second, "match", "nim:pile=5", "bad", "random").returncode == 2


def test_points_of_a_folder(second, monkeypatch):
    monkeypatch.syspath_prepend(second)
    assert source_of(plugin_points("game")["nim"]) == "second 1.5"
    assert set(plugins("game")) == {"nim"}
    assert load_plugin("agent", plugin_points("agent")["lowest"]).__name__ == "Lowest"
    for name in [name for name in sys.modules if name.partition(".")[0] == "second"]:
        del sys.modules[name]


def test_what_is_installed_meanwhile_is_found(second, monkeypatch):
    monkeypatch.syspath_prepend(second)
    assert "later" not in plugin_points("agent")
    install(second, "third", {"agents": "later = second.more:Lowest"})
    assert source_of(plugin_points("agent")["later"]) == "third 1.5"
