"""Tests of ``mdplay.checking.check``.

Here are tested besides: ``mdplay.checking.compiled`` and ``mdplay.checking.check``.
"""

import pytest

from mdplay.checking.check import check_game, try_game
from mdplay.errors import GameError
from mdplay.naming.registry import make, names
from tests.helpers import COMPILED, NIM, write


@pytest.mark.parametrize(
    "name", [*names(), "2048:rows=2,cols=3", "tic-tac-toe:rows=2,cols=4", "connect-four:rows=4,cols=5"]
)
def test_our_games_keep_the_contract(name):
    report = check_game(make(name), games=4, compiled=COMPILED)
    assert report.positions > 10


def test_a_users_game_keeps_the_contract(tmp_path):
    report = check_game(make(str(write(tmp_path, "nim.py", NIM))), compiled=COMPILED)
    assert report.knowledge == ()
    assert report.longest <= 21


FAULTS = [
    ("1 - s.player)", "s.player)", "second player .player == 1. never moved"),
    ("s.pile - action - 1", "s.pile", "did not end within"),
    ("1 - s.player)", "2 - s.player)", "player must be 0 or 1, not 2"),
    ("2 * s.player - 1", "1 // (s.player - s.player)", "ZeroDivisionError"),
    ("State(s.pile - action - 1, 1 - s.player)", "(s.pile - action - 1, 1 - s.player)", "not the annotated State"),
    ("min(3, s.pile)", "min(LIMIT, s.pile)", "NameError: name 'LIMIT' is not defined"),
    ("s.pile - action - 1", "(s.pile - action - 1) << 70", "does not fit the annotated int"),
    ("2 * s.player - 1", "0.5", "not the annotated int"),
]


@pytest.mark.parametrize("old, new, sentence", FAULTS, ids=[sentence for *_, sentence in FAULTS])
def test_faults_are_told_in_one_sentence(tmp_path, old, new, sentence):
    game = make(str(write(tmp_path, "faulty.py", NIM.replace(old, new))))
    with pytest.raises(GameError, match=sentence) as caught:
        check_game(game, max_moves=500, compiled=False)
    assert "\n" not in str(caught.value)


METHODS = [
    ("board", "s: State) -> str", "'o' * s.pile + 5", "Nim raised TypeError: .* \\(late.py, line 31: return"),
    ("svg", "s: State) -> str", "'<svg'", "svg drew no SVG for 21,0: unclosed token"),
    ("move_text", "s: State, action: int) -> str", "'xo'[action]", "Nim raised IndexError: .* line 31"),
    ("reward", "s: State, action: int) -> int", "1 // (s.pile - 4)", "Nim raised ZeroDivisionError: .* line 31"),
    ("heuristic", "s: State) -> float", "s.pile * 1e308 * 10", "heuristic is inf in 21,0"),
    ("order", "s: State, action: int) -> int", "s.pile / 2", "order .* returned 10.5, not the annotated int"),
]


@pytest.mark.parametrize("name, signature, value, sentence", METHODS, ids=[name for name, *_ in METHODS])
def test_faults_of_words_and_knowledge_are_told_in_one_sentence(tmp_path, name, signature, value, sentence):
    text = f"{NIM}\n    def {name}(self, {signature}:\n        return {value}\n"
    with pytest.raises(GameError, match=sentence):
        check_game(make(str(write(tmp_path, "late.py", text))), compiled=False)


BOUNDS = [  # what faulty bounds are returned for Nim, and what is said of it
    ("Bounds(1, -1, 1)", "bounds gives 1 .. -1 in 21,0"),
    ("Bounds(-1, 1, 8)", r"bounds lists \[3\] in 21,0; legal are \[0, 1, 2\]"),
    ("Bounds(-1, 1, 0)", r"bounds lists \[\] in 21,0"),
    ("Bounds(-1, 1, self.legal(s))", "bounds gives -1 .. 1 in 0,., where the game is over with"),
    ("Bounds(1, 1, 0)", "bounds gives 1 .. 1 in .*; player 0's value is -1"),
    (
        "Bounds(1 - 2 * s.player, 1 - 2 * s.player, 1)",
        "bounds settles 21,0 as 1 by action 0, which leads to -1 .. -1",
    ),
    ("Bounds(-1, 1, 1) if s.pile else Bounds(2 * s.player - 1, 2 * s.player - 1, 0)", "none of them is best"),
]


@pytest.mark.parametrize("value, sentence", BOUNDS, ids=[value for value, _ in BOUNDS])
def test_false_bounds_are_found(tmp_path, value, sentence):
    text = NIM.replace("import Game", "import Bounds, Game")
    text += f"\n    def bounds(self, s: State) -> Bounds:\n        return {value}\n"
    with pytest.raises(GameError, match=sentence):
        check_game(make(str(write(tmp_path, "bounds.py", text))), compiled=False)


def test_true_bounds_are_accepted(tmp_path):
    text = NIM.replace("import Game", "import U64, Bounds, Game")
    text += """
    def bounds(self, s: State) -> Bounds:
        won = 1 - 2 * s.player
        return Bounds(won, won, U64(1) << s.pile % 4 - 1) if s.pile % 4 else Bounds(-won, -won, 0)
"""
    assert check_game(make(str(write(tmp_path, "bounds.py", text))), compiled=COMPILED).knowledge == ("bounds",)


def test_knowledge_that_does_not_compile_is_found(tmp_path, needs_compiler):
    text = f"{NIM}\n    def order(self, s: State, action: int) -> int:\n        return int(str(s.pile))\n"
    with pytest.raises(GameError, match="Nim.order .* does not compile: it uses a text; rules use numbers"):
        check_game(make(str(write(tmp_path, "order.py", text))))


def test_a_rule_that_never_returns_is_stopped(tmp_path):
    text = NIM.replace("return State(s.pile", "while True:\n            pass\n        return State(s.pile")
    game = make(str(write(tmp_path, "hangs.py", text)))
    with pytest.raises(GameError, match="used more than 0.2 s of CPU time \\(hangs.py, line"):
        try_game(game, seconds=0.2)


def test_targets_that_the_rules_do_not_keep_are_found(tmp_path):
    lines = ["    @property", "    def scoring_sets(self) -> tuple[int, ...]:", "        return (3, 12)", ""]
    game = make(str(write(tmp_path, "aimed.py", NIM + "\n" + "\n".join(lines))))
    with pytest.raises(GameError, match="a game with scoring sets has"):
        check_game(game, compiled=False)


def test_a_rule_that_loops_late_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("mdplay.checking.check.TRIAL_SECONDS", 0.2)
    loops = NIM.replace("return 2 * s.player - 1", "while s.player == 1:\n            pass\n        return -1")
    game = make(str(write(tmp_path, "loops.py", loops)))
    with pytest.raises(GameError, match="used more than 0.2 s of CPU time"):
        check_game(game, compiled=False, seed=1)
