"""Rules that do not compile: the error names the method, the file, the line and the cause."""

import pytest

from mdplay.checking.check import check_game
from mdplay.errors import GameError
from mdplay.naming.registry import make
from mdplay.searching.playouts import playouts
from tests.helpers import NIM, write

pytestmark = pytest.mark.usefixtures("needs_compiler")

MISTAKES = {
    "a list": ("(1 << min(3, s.pile)) - 1", "sum([1 << i for i in range(min(3, s.pile))])", None),
    "a file": ("2 * s.player - 1", "open('x').fileno()", "open"),
    "an unknown name": ("min(3, s.pile)", "min(LIMIT, s.pile)", "name 'LIMIT' is not defined"),
    "an unknown attribute": ("min(3, s.pile)", "min(self.most, s.pile)", "most"),
    "a string": ("2 * s.player - 1", "len(str(s.player)) * 'x'", "returns|not"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_does_not_compile_is_named(tmp_path, name):
    old, new, sentence = MISTAKES[name]
    game = make(str(write(tmp_path, "mistake.py", NIM.replace(old, new))))
    if sentence is None:  # lists do compile, only slowly
        assert playouts(game, games=10).games == 10
        return
    with pytest.raises(GameError, match=sentence) as caught:
        playouts(game, games=10)
    message = str(caught.value)
    assert "mistake.py" in message
    assert len(message.splitlines()) <= 2


def test_a_helper_that_returns_a_word_keeps_it_a_word(tmp_path):
    text = NIM.replace("class State", "def low(x: U64) -> U64:\n    return x & 3\n\n\nclass State")
    text = text.replace("import Game", "import U64, Game").replace("(1 << min(3, s.pile)) - 1", "low(U64(s.pile))")
    game = make(str(write(tmp_path, "helped.py", text)))
    assert playouts(game, games=10).games == 10


def test_tables_and_floats(tmp_path):
    text = NIM.replace(
        "    def initial",
        "    @cached_property\n    def most(self) -> tuple[tuple[int, int], ...]:\n"
        "        return tuple((0, min(3, n)) for n in range(self.pile + 1))\n\n    def initial",
    )
    text = text.replace("min(3, s.pile)", "int(self.most[s.pile][1])")
    text = text.replace("from typing", "from functools import cached_property\nfrom typing")
    text = text.replace(
        "(self, s: State) -> int:\n        return 2 * s.player - 1",
        "(self, s: State) -> float:\n        return s.player - 0.5",
    )
    game = make(str(write(tmp_path, "tables.py", text)))
    assert check_game(game).compiled
    assert abs(playouts(game, games=300).mean) < 0.2


RARE = """from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class State(NamedTuple):
    ply: int
    path: int


def share(path: int) -> int:
    return 10 // (path - 12345)


@dataclass(frozen=True)
class Rare(Game[State]):
    def initial(self) -> State:
        return State(0, 1)

    def legal(self, s: State) -> int:
        return 3 if s.ply < 14 else 0

    def step(self, s: State, action: int) -> State:
        return State(s.ply + 1, 2 * s.path + action)

    def result(self, s: State) -> int:
        return 10 // (s.path - 23456) + share(s.path)
"""


@pytest.mark.parametrize("zero", ["10 // (s.path - 23456)", "share(s.path)"])
def test_a_rule_that_divides_by_zero_where_no_sample_came_is_an_error_as_in_python(tmp_path, zero):
    text = RARE.replace("10 // (s.path - 23456) + share(s.path)", zero).replace("12345", "23456")
    with pytest.raises(GameError, match="ZeroDivisionError"):
        playouts(make(str(write(tmp_path, "rare.py", text))), games=400_000, threads=1)
