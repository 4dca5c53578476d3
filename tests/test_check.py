import pytest

from mdplay.check import check_game, try_game
from mdplay.errors import GameError
from mdplay.registry import make, names
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
    ("1 - s.player)", "s.player)", "player 1 never moved"),
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


def test_a_rule_that_never_returns_is_stopped(tmp_path):
    text = NIM.replace("return State(s.pile", "while True:\n            pass\n        return State(s.pile")
    game = make(str(write(tmp_path, "hangs.py", text)))
    with pytest.raises(GameError, match="did not answer within 0.2 s; they were at hangs.py, line"):
        try_game(game, seconds=0.2)
