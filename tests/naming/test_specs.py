"""One reader of specs: games, agents and selectors by name and by file."""

from pathlib import Path

import pytest

from mdplay import make, make_agent
from mdplay.naming.specs import Spec, parameters, read_spec
from mdplay.rng import Random
from mdplay.searching.selectors import make_selector
from tests.helpers import NIM, write

SELECTOR = """
from dataclasses import dataclass
from mdplay.searching.selectors import Arm, Selector

@dataclass(frozen=True)
class Halving(Selector):
    c: float = 1.0
    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        return arm.mean + self.c * 0.5**arm.pulls
"""
AGENT = """
class First:
    def __init__(self, game, skip: int = 0):
        self.skip = skip
    def act(self, state, rng):
        return self.skip
"""


@pytest.mark.parametrize(
    "text, name, options",
    [
        ("connect-four", "connect-four", ""),
        ("connect-four:rows=5,cols=5", "connect-four", "rows=5,cols=5"),
        (" ucb1 ( c=2 ) ", "ucb1", "c=2"),
        ("mcts:selector=ucb1(c=1),solver=no", "mcts", "selector=ucb1(c=1),solver=no"),
        ("mcts:selector=mine.py:Rule(c=1)", "mcts", "selector=mine.py:Rule(c=1)"),
        ("policy:nowhere.py", "policy", "nowhere.py"),
        ("ucb1(c=2", "ucb1(c=2", ""),
        ("", "", ""),
    ],
)
def test_names(text, name, options):
    assert read_spec(text) == Spec(None, name, options)


@pytest.mark.parametrize(
    "text, file, name, options",
    [
        ("nim.py", "nim.py", "", ""),
        ("a/nim.py:Nim", "a/nim.py", "Nim", ""),
        ("a/nim.py:Nim:pile=7", "a/nim.py", "Nim", "pile=7"),
        ("a/nim.py:pile=7,text=a:b", "a/nim.py", "", "pile=7,text=a:b"),
        ("nim.py:Nim(pile=7)", "nim.py", "Nim", "pile=7"),
        ("./odd.py/nim.py:Nim", "odd.py/nim.py", "Nim", ""),
        ("odd.python/nim.py:Nim", "odd.python/nim.py", "Nim", ""),
    ],
)
def test_files(text, file, name, options):
    assert read_spec(text) == Spec(Path(file), name, options)


@pytest.mark.parametrize("folder", ["odd.py", "odd.python", ".py", "odd.py:", "a(b.py)"])
def test_a_folder_may_be_called_like_a_file(tmp_path, folder):
    (tmp_path / folder).mkdir()
    nim, rule = (write(tmp_path / folder, *file) for file in (("nim.py", NIM), ("rule.py", SELECTOR)))
    agent = write(tmp_path / folder, "first.py", AGENT)
    assert make(f"{nim}:Nim:pile=4").pile == make(f"{nim}:pile=4").pile == 4
    assert make_agent(make("tic-tac-toe"), f"{agent}:First:skip=3").act(None, Random(0)) == 3
    assert make_selector(f"{rule}:Halving(c=2)").c == make_selector(f"{rule}:Halving:c=2").c == 2.0


def test_parameters_are_what_a_text_can_mean():
    def maker(depth: int | None = None, rule: "str | Path" = "x") -> None: ...

    assert [(parameter.name, parameter.kind) for parameter in parameters(maker)] == [("depth", int), ("rule", str)]
