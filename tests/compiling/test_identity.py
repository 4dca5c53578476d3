"""What a game and an agent are, for whatever is kept."""

import sys
from itertools import count

import pytest

from mdplay import FormatError, GameError, make, make_agent, solve
from mdplay.compiling.cache import identity
from mdplay.compiling.contract import need_game
from mdplay.compiling.identity import agent_identity, check_rules, game_identity
from mdplay.evaluating.evaluation import final_evaluation
from mdplay.naming.specs import load_module
from mdplay.playing.agents import named_agent
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
    ask = "from mdplay import make; from mdplay.compiling.identity import game_identity\n"
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
    def agent_of(text="", bot=BOT, brain="def choose(state):\n    return 0\n", data="a"):
        write(tmp_path, "bot.py", bot)
        write(tmp_path, "brain.py", brain)
        write(tmp_path, "data", data)
        return named_agent(make("tic-tac-toe"), f"{tmp_path / 'bot.py'}:Bot:{text}").identity

    file = f"file={tmp_path / 'data'}"
    assert agent_of() == agent_of(bot="# a comment\n" + BOT) == agent_of(data="b")
    others = [agent_of(), agent_of("depth=2"), agent_of(bot=BOT.replace("choose(state)", "choose(0)"))]
    others += [agent_of(brain="def choose(state):\n    return 1\n"), agent_of(file), agent_of(file, data="b")]
    assert len(set(others)) == len(others)


FAR_BOT = """
import sys, pathlib
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "lib"))
import {brain}
class Bot:
    def __init__(self, game, file=""):
        self.game, self.file = game, file
    def act(self, state, rng):
        {use}
        return {brain}.choose(state)
"""


def far_bot(folder, use="pass", lines="def choose(state):\n    return 0\n", data="a"):
    """Return the identity of an agent whose helper is in another folder, and of what it reads."""
    brain = f"brain{next(NUMBER)}" if not (folder / "brain").exists() else (folder / "brain").read_text()
    write(folder, "brain", brain)
    (folder / "lib").mkdir(exist_ok=True)
    write(folder / "lib", f"{brain}.py", lines)
    write(folder, "data.txt", data)
    write(folder, "bot.py", FAR_BOT.format(brain=brain, use=use))
    return named_agent(make("tic-tac-toe"), f"{folder / 'bot.py'}:Bot:file={folder / 'data.txt'}").identity


@pytest.fixture
def own_path(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_a_helper_of_an_agent_counts_wherever_it_is(tmp_path, own_path):
    assert far_bot(tmp_path) == far_bot(tmp_path) != far_bot(tmp_path, lines="def choose(state):\n    return 1\n")


@pytest.mark.parametrize(
    "use",
    [
        "open(HERE / 'data.txt')",
        "(HERE / 'data.txt').read_text()",
        "open(self.file)",
        "open('data.txt', 'w')",
        "open(str(HERE) + '/data.txt')",
    ],
)
def test_the_data_that_an_agent_reads_counts(tmp_path, own_path, use):
    first = far_bot(tmp_path, use)
    assert not first.startswith("?") and first == far_bot(tmp_path, use) != far_bot(tmp_path, use, data="b")


@pytest.mark.parametrize("use", ["open(str(state))", "__import__('os').environ", "open(f'{self.game}.txt')"])
def test_an_agent_that_reads_what_its_source_does_not_name_is_like_no_other(tmp_path, own_path, use):
    first = far_bot(tmp_path, use)
    assert first.startswith("?") and first != far_bot(tmp_path, use)


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


STALE = {
    "a method of the state": (
        "    player: int\n",
        "    player: int\n\n    def most(self) -> int:\n        return 3\n",
        "s.most()",
    ),
    "a property of the state": (
        "    player: int\n",
        "    player: int\n\n    @property\n    def most(self) -> int:\n        return 3\n",
        "s.most",
    ),
    "an inherited constant": (
        "class State",
        "class A:\n    MOST = 3\n\n\nclass B(A):\n    pass\n\n\nclass State",
        "B.MOST",
    ),
    "an attribute of a dataclass": (
        "class State",
        "@dataclass(frozen=True)\nclass P:\n    k: int = 1\n\n    def __post_init__(self):\n"
        "        object.__setattr__(self, 'most', 3)\n\n\nC = P()\n\n\nclass State",
        "C.most",
    ),
    "a method that calls a constant": (
        "class State",
        "class A(NamedTuple):\n    k: int = 1\n\n    def __call__(self) -> int:\n        return 3\n\n\n"
        "C = A()\n\n\nclass State",
        "C()",
    ),
}


@pytest.mark.parametrize("kind", STALE)
def test_what_the_classes_of_rules_have_and_inherit_counts(nim, kind):
    at, text, limit = STALE[kind]
    rules = NIM.replace(at, text, 1).replace("min(3, s.pile)", f"min({limit}, s.pile)")
    three = text.replace("3", "2")
    others = NIM.replace(at, three, 1).replace("min(3, s.pile)", f"min({limit}, s.pile)")
    assert rules != others and game_identity(nim(rules)) == game_identity(nim(rules)) != game_identity(nim(others))


def test_what_super_calls_counts(nim):
    base = "class Base(Game[State]):\n    def most(self, n: int) -> int:\n        return 3\n\n\n"
    base += "@dataclass(frozen=True)\nclass Nim"
    text = NIM.replace("@dataclass(frozen=True)\nclass Nim", base).replace("Nim(Game[State])", "Nim(Base)")
    text = text.replace("min(3, s.pile)", "min(self.most(s.pile), s.pile)")
    text += "\n    def most(self, n: int) -> int:\n        return super().most(n)\n"
    assert game_identity(nim(text)) == game_identity(nim(text))
    assert game_identity(nim(text)) != game_identity(nim(text.replace("return 3", "return 2")))


def test_a_module_with_a_name_of_the_standard_library_is_the_users(tmp_path):
    program = "from mdplay.compiling.cache import instance_fingerprint\n"
    program += "from mdplay.compiling.identity import game_identity\n"
    program += "from code import Nim\nprint(game_identity(Nim()), instance_fingerprint(Nim()))\n"
    write(tmp_path, "main.py", program)
    found = []
    for text in (NIM, NIM.replace("min(3, s.pile)", "min(2, s.pile)")):
        write(tmp_path, "code.py", text)
        found.append(python("main.py", cwd=tmp_path, PYTHONDONTWRITEBYTECODE="1").split())
    assert found[0][0] != found[1][0] and found[0][1] != found[1][1]


@pytest.mark.parametrize(
    "use", ["int(open('x').read())", "int(os.environ['X'])", "eval('3')", "int(Path('x').read_text())"]
)
def test_rules_that_ask_for_what_may_change_are_not_kept(nim, use):
    text = "import os\nfrom pathlib import Path\n" + NIM.replace("min(3, s.pile)", f"min({use}, s.pile)")
    with pytest.raises(GameError, match="nothing can be kept of Nim.* uses .*, whose answer may change"):
        game_identity(nim(text))


CHANGES = {
    "a constant": ("MOST = 3\n", "MOST", lambda module: setattr(module, "MOST", 2)),
    "a list": ("MOST = [3]\n", "MOST[0]", lambda module: module.MOST.__setitem__(0, 2)),
    "an attribute of a class": ("class A:\n    MOST = 3\n", "A.MOST", lambda module: setattr(module.A, "MOST", 2)),
    "a function": ("def most():\n    return 3\n", "most()", lambda module: setattr(module, "most", lambda: 2)),
    "a property": (
        "MOST = 3\n",
        "self.most",
        lambda module: setattr(module, "MOST", 2),
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_changes_in_this_process_is_noticed_by_the_next_verb(nim, kind):
    before, limit, change = CHANGES[kind]
    text = NIM.replace("class State", f"{before}\n\nclass State").replace(
        "min(3, s.pile)", f"min({limit}, s.pile)"
    )
    text += "\n    @property\n    def most(self) -> int:\n        return MOST\n" if limit == "self.most" else ""
    used = nim(text, pile=4)
    unused = type(used)(4)
    first = game_identity(used), identity(used)
    need_game(used)
    assert first == (game_identity(used), identity(used))
    change(sys.modules[type(used).__module__])
    for game in (used, unused, type(used)(4)):
        need_game(game)  # as every verb does
        assert game_identity(game) != first[0] and identity(game) != first[1]


def value_of_perfect(game):
    return final_evaluation(make_agent(game, "perfect"), game.initial()).value.low


def test_the_verbs_answer_by_the_rules_as_they_are_now(nim, needs_compiler):
    text = NIM.replace("class State", "MOST = 3\n\n\nclass State").replace("min(3, s.pile)", "min(MOST, s.pile)")
    used = nim(text, pile=4)
    unused = type(used)(4)
    assert solve(used).value() == -1.0 == value_of_perfect(used)
    sys.modules[type(used).__module__].MOST = 2
    for game in (used, unused, type(used)(4)):
        assert solve(game).value() == 1.0 == value_of_perfect(game)
