"""What changes the identity of a game, and what does not."""

import sys
from itertools import count

import pytest

from mdplay.bridge.fingerprint import instance_fingerprint
from mdplay.registry import load_module
from tests.helpers import NIM, write

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
