"""What changes the identity of a game, and what does not."""

import pickle
import sys
from itertools import count
from shutil import copytree, ignore_patterns

import pytest

from mdplay.compiling.cache import UNKNOWN, identity, instance_fingerprint
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.naming.specs import load_module
from mdplay.searching.mcts import BY_ROLLOUTS
from tests.helpers import NIM, ROOT, python, write

NUMBER = count()
HELPER = "LIMIT = 3\n\n\ndef most(pile):\n    return min(LIMIT, pile)\n"


@pytest.fixture
def fingerprint(tmp_path, monkeypatch):
    """The fingerprint of Nim as told in a text, with helper.py beside it; each call imports afresh."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def make(text=NIM, helper=HELPER, pile=21):
        for name in ("nim", "helper"):
            sys.modules.pop(name, None)
        folder = tmp_path / str(next(NUMBER))
        folder.mkdir()
        sys.path[0] = str(folder)
        write(folder, "helper.py", helper)
        return instance_fingerprint(load_module(write(folder, "nim.py", text)).Nim(pile))

    yield make
    for name in ("nim", "helper"):
        sys.modules.pop(name, None)


USING_HELPER = NIM.replace("min(3, s.pile)", "most(s.pile)").replace(
    "from mdplay import Game", "from helper import most\nfrom mdplay import Game"
)
USING_MODULE = NIM.replace("min(3, s.pile)", "helper.most(s.pile)").replace(
    "from mdplay import Game", "import helper\nfrom mdplay import Game"
)


def test_the_same_text_has_the_same_fingerprint(fingerprint):
    assert fingerprint() == fingerprint()


@pytest.mark.parametrize(
    "old, new",
    [
        ("class State", "# a comment\n\n\nclass State"),
        ('"""Take one', '"""Remove one'),
        ("        return State(self.pile, 0)", '        """Start."""\n        return State(self.pile, 0)'),
        ("    def initial", "    def board(self, s: State) -> str:\n        return ''\n\n    def initial"),
    ],
    ids=["comment", "module docstring", "method docstring", "drawing"],
)
def test_words_for_readers_do_not_count(fingerprint, old, new):
    assert fingerprint(NIM.replace(old, new)) == fingerprint()


@pytest.mark.parametrize(
    "old, new",
    [
        ("min(3, s.pile)", "min(4, s.pile)"),
        ("s.pile - action - 1", "s.pile - action - 2"),
        ("2 * s.player - 1", "1 - 2 * s.player"),
        ("pile: int\n    player", "pile: int\n    extra: bool\n    player"),
    ],
    ids=["constant", "step", "result", "state"],
)
def test_any_change_of_a_rule_counts(fingerprint, old, new):
    assert fingerprint(NIM.replace(old, new)) != fingerprint()


def test_parameters_count(fingerprint):
    assert fingerprint(pile=20) != fingerprint(pile=21)


@pytest.mark.parametrize("text", [USING_HELPER, USING_MODULE], ids=["from import", "module attribute"])
def test_helpers_in_another_file_count(fingerprint, text):
    before = fingerprint(text)
    assert before == fingerprint(text)
    assert before != fingerprint(text, HELPER.replace("LIMIT = 3", "LIMIT = 2"))
    assert before != fingerprint(text, HELPER.replace("min", "max"))
    assert before == fingerprint(text, "# a comment\n" + HELPER)


HEAD = NIM.replace("from dataclasses", "from functools import cached_property\nfrom dataclasses")
BY_HELPER = NIM.replace("min(3, s.pile)", "min(self.{name}(3), s.pile)") + (
    "\n    def {name}(self, n: int) -> int:\n        return n\n"
)
BY_TABLE = HEAD.replace("min(3, s.pile)", "min(self.most[0], s.pile)")


@pytest.mark.parametrize("name", ["distance", "text", "board", "study", "_most", "most"])
def test_a_method_that_a_rule_calls_counts_whatever_its_name(fingerprint, name):
    text = BY_HELPER.format(name=name)
    assert fingerprint(text) == fingerprint(text)
    assert fingerprint(text) != fingerprint(text.replace("return n", "return n + 1"))


@pytest.mark.parametrize("call", ["word(self)", "getattr(self, 'board')(0)", "(lambda: self.board(0))()"])
def test_a_word_counts_once_a_rule_hands_the_game_on(fingerprint, call):
    text = NIM.replace("min(3, s.pile)", f"min({call}, s.pile)").replace(
        "class State", "def word(game):\n    return game.board(0)\n\n\nclass State"
    )
    text += "\n    def board(self, s: int) -> int:\n        return 3\n"
    assert fingerprint(text) != fingerprint(text.replace("return 3", "return 2"))


def test_a_word_that_only_a_state_has_a_field_for_does_not_count(fingerprint):
    text = NIM.replace("s.pile", "s.board").replace("    pile: int\n    player", "    board: int\n    player")
    text += "\n    def board(self, s: State) -> str:\n        return 'a'\n"
    assert fingerprint(text) == fingerprint(text.replace("'a'", "'b'"))


TABLES = {
    "post init": "    def __post_init__(self) -> None:\n        object.__setattr__(self, 'most', (VALUE,))\n",
    "import inside": "    @cached_property\n    def most(self) -> tuple[int, ...]:\n        import helper\n"
    "        return (helper.LIMIT,)\n",
    "class attribute": "    most = (VALUE,)\n",
    "property": "    @property\n    def most(self) -> tuple[int, ...]:\n        return (VALUE,)\n",
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_counts_by_its_value(fingerprint, kind):
    def made(value):
        return fingerprint(BY_TABLE + TABLES[kind].replace("VALUE", value), f"LIMIT = {value}\n")

    assert made("3") == made("2 + 1") != made("2")


def test_a_data_file_that_a_table_reads_counts(fingerprint, tmp_path):
    text = BY_TABLE + "    @cached_property\n    def most(self) -> tuple[int, ...]:\n"
    text += f"        return (int(open({str(tmp_path / 'most.txt')!r}, 'rb').read()),)\n"
    text = text.replace("open(", "__import__('pathlib').Path(").replace(", 'rb').read()", ").read_text()")
    write(tmp_path, "most.txt", "3")
    three = fingerprint(text)
    assert three == fingerprint(text)
    write(tmp_path, "most.txt", "2")
    assert three != fingerprint(text)


def test_what_an_annotation_means_counts(fingerprint):
    text = NIM.replace("class State", "Count = int\n\n\nclass State").replace(
        "pile: int\n    player", "pile: Count\n    player"
    )
    text = "from mdplay import U64\n" + text
    assert fingerprint(text) != fingerprint(text.replace("Count = int", "Count = U64"))


BOUND = """def bound(limit):
    def most(n, by=LOW):
        return min(limit, n) + by
    return most


most = bound(3)


class State"""


def test_defaults_and_closures_count(fingerprint):
    text = NIM.replace("class State", BOUND)
    text = "LOW = 0\n" + text.replace("min(3, s.pile)", "most(s.pile)")
    assert fingerprint(text) == fingerprint(text)
    assert fingerprint(text) != fingerprint(text.replace("bound(3)", "bound(2)"))
    assert fingerprint(text) != fingerprint(text.replace("LOW = 0", "LOW = 1"))


def test_a_filled_table_changes_nothing(tmp_path):
    text = HEAD + "    @cached_property\n    def most(self) -> tuple[int, ...]:\n        return (3,)\n"
    cls = load_module(write(tmp_path, "filled.py", text)).Nim
    filled = cls()
    assert filled.most == (3,)
    assert instance_fingerprint(filled) == instance_fingerprint(cls())


def test_attributes_that_are_made_up_are_not_guessed(fingerprint):
    text = BY_TABLE + "    def __getattr__(self, name: str) -> tuple[int, ...]:\n        return (3,)\n"
    assert UNKNOWN in fingerprint(text)


def test_what_has_no_hash_is_like_nothing_else(fingerprint):
    text = BY_TABLE + TABLES["class attribute"].replace("(VALUE,)", "object()")
    assert UNKNOWN in fingerprint(text) and fingerprint(text) != fingerprint(text)


def stamp(package):
    return python(
        "-c", "from mdplay.compiling.cache import bridge_stamp as s; print(s())", PYTHONPATH=str(package)
    )


@pytest.mark.parametrize("name", ["compiling/numba/linking.py", "compiling/plain.py", "bits.py", "__init__.py"])
def test_every_source_of_the_bridge_and_the_version_count(tmp_path, name):
    copytree(ROOT / "src", tmp_path / "package", ignore=ignore_patterns("static", "__pycache__"))
    before, file = stamp(tmp_path / "package"), tmp_path / "package" / "mdplay" / name
    assert before == stamp(ROOT / "src")
    file.write_text(file.read_text().replace('__version__ = "', '__version__ = "9.') + "\n# a comment\n")
    assert stamp(tmp_path / "package") != before


def test_a_copy_for_another_process_is_hashed_there():
    game = TicTacToe()
    identity(game)
    copied = pickle.loads(pickle.dumps(game))
    assert copied == game and set(vars(copied)) <= set(vars(game)) - {"_identity"}
    identity(BY_ROLLOUTS)
    code = f"""
import pickle
from mdplay import make, mcts
selector = pickle.loads(bytes.fromhex({pickle.dumps(BY_ROLLOUTS).hex()!r}))
print(mcts(make("tic-tac-toe"), simulations=20_000, selector=selector).simulations > 0)
"""
    assert python("-c", code) == "True\n"
