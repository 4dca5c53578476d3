"""What a game and an agent are, for whatever is kept."""

import sys
from itertools import count

import pytest

from mdplay import FormatError, GameError, make
from mdplay.identity import agent_identity, check_rules, game_identity
from mdplay.playing.agents import named_agent
from mdplay.specs import load_module
from tests.helpers import NIM, python, write

NUMBER = count()
BOT = """
class Bot:
    def __init__(self, game, file="", depth=1):
        self.game = game

    def act(self, state, rng):
        from brain import choose
        return choose(state)
"""


@pytest.fixture
def nim(tmp_path, monkeypatch):
    """Nim as a text tells it, in a file and folder of its own."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def game(text=NIM, **parameters):
        folder = tmp_path / str(next(NUMBER))
        folder.mkdir()
        sys.modules.pop("nim", None)
        return load_module(write(folder, "nim.py", text)).Nim(**parameters)

    yield game
    sys.modules.pop("nim", None)


def test_the_same_rules_elsewhere_are_the_same(nim):
    commented = NIM.replace("class State", "# a comment\n\n\nclass State").replace(
        "min(3, s.pile)", "min( 3,s.pile )"
    )
    documented = NIM.replace(
        "        return State(self.pile, 0)", '        """Start."""\n        return State(self.pile, 0)'
    )
    drawn = NIM + "\n    def board(self, s: State) -> str:\n        return ''\n"
    assert len({game_identity(nim(text)) for text in (NIM, NIM, commented, documented, drawn)}) == 1


def test_other_rules_are_others(nim):
    edits = [
        ("min(3, s.pile)", "min(4, s.pile)"),
        ("2 * s.player - 1", "1 - 2 * s.player"),
        ("    pile: int = 21", "    pile: int = 20"),
    ]
    texts = [NIM, *(NIM.replace(*edit) for edit in edits)]
    assert len({game_identity(nim(text)) for text in texts}) == 4
    assert game_identity(nim(pile=3)) == game_identity(nim(pile=3)) != game_identity(nim(pile=4))


def test_a_file_that_was_edited_after_it_was_imported_does_not_speak_for_the_rules(nim):
    before, game = game_identity(nim()), nim()
    file = sys.modules[type(game).__module__].__file__
    with open(file, "w") as out:  # noqa: PTH123
        out.write(NIM.replace("min(3, s.pile)", "min(4, s.pile)"))
    assert game_identity(game) not in (before, game_identity(nim(NIM.replace("min(3, s.pile)", "min(4, s.pile)"))))


def test_rules_without_a_hash_are_refused_with_a_sentence(nim):
    text = NIM.replace("min(3, s.pile)", "min(self.most[0], s.pile)") + "    most = (object(),)\n"
    with pytest.raises(GameError, match=r"nothing can be kept of Nim.*Nim\.most: a value of the class object"):
        game_identity(nim(text))


def test_the_games_of_the_package_keep_their_identity_in_other_processes():
    names = ["2048", "connect-four", "dots-and-boxes", "qubic", "tic-tac-toe"]
    ask = "from mdplay import make; from mdplay.identity import game_identity\n"
    ask += f"print([game_identity(make(name)) for name in {names}])"
    assert python("-c", ask, PYTHONHASHSEED="7").strip() == str([game_identity(make(name)) for name in names])


def test_a_file_of_other_rules_is_refused(nim):
    with pytest.raises(
        FormatError, match="the rules of Nim have changed since x was made, or it is of another game; solve again"
    ):
        check_rules("x", game_identity(nim(pile=3)), nim(), "solve again")
    with pytest.raises(FormatError, match="x does not say with which rules of Nim it was made; solve again"):
        check_rules("x", None, nim(), "solve again")


def test_an_agent_is_its_text_its_code_and_its_files(tmp_path):
    def identity(text="", bot=BOT, brain="def choose(state):\n    return 0\n", data="a"):
        write(tmp_path, "bot.py", bot)
        write(tmp_path, "brain.py", brain)
        write(tmp_path, "data", data)
        return named_agent(make("tic-tac-toe"), f"{tmp_path / 'bot.py'}:Bot:{text}").identity

    file = f"file={tmp_path / 'data'}"
    assert identity() == identity(bot="# a comment\n" + BOT) == identity(data="b")
    others = [identity(), identity("depth=2"), identity(bot=BOT.replace("choose(state)", "choose(0)"))]
    others += [identity(brain="def choose(state):\n    return 1\n"), identity(file), identity(file, data="b")]
    assert len(set(others)) == len(others)


def test_an_object_is_its_class_and_what_it_holds():
    class Player:
        def __init__(self, depth):
            self.depth = depth

    assert agent_identity(Player(1)) == agent_identity(Player(1)) != agent_identity(Player(2))
    assert agent_identity(Player(object())) != agent_identity(Player(object()))


def test_how_a_page_shows_a_game_is_no_rule_of_it():
    game = make("qubic")
    plain = type("Qubic", (type(game),), {"view": "svg", "__module__": type(game).__module__})
    assert (game.view, make("tic-tac-toe").view) == ("cube", "svg")
    assert game_identity(plain()) == game_identity(game)
