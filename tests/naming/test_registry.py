import sys

import pytest

from mdplay.errors import GameError, UnknownName
from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.naming import registry, specs
from mdplay.naming.about import built_in_games
from mdplay.naming.registry import from_data, make, maker, names
from mdplay.naming.specs import parameters
from tests.helpers import NIM, python, write


def test_names_and_parameters():
    assert make("connect-four:rows=5,cols=4") == ConnectFour(5, 4)
    assert make("anti-tic-tac-toe") == TicTacToe(misere=True)
    assert make("tic-tac-toe:misere=true") == TicTacToe(misere=True)
    assert set(built_in_games()) <= set(names())
    assert [str(p) for p in parameters(maker("2048"))] == ["rows=4 (1..16)", "cols=4 (1..16)"]


@pytest.mark.parametrize(
    "text, error, sentence",
    [
        ("conect-four", UnknownName, "did you mean 'connect-four'"),
        ("chess", UnknownName, "choose from 2048"),
        ("connect-four:row=5", UnknownName, "did you mean 'rows'"),
        ("connect-four:5", UnknownName, "write name=value"),
        ("connect-four:rows=five", GameError, "rows=five is not a whole number"),
        ("connect-four:rows=0", GameError, "rows=0 is out of range; 1 to 62"),
        ("connect-four:rows=20,cols=20", GameError, "does not fit"),
        ("tic-tac-toe:misere=maybe", GameError, "true or false"),
        ("nowhere.py:Nim", GameError, "there is no file nowhere.py"),
    ],
)
def test_bad_names_say_what_would_be_right(text, error, sentence):
    with pytest.raises(error, match=sentence):
        make(text)


def test_a_users_file(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    assert make(f"{path}:Nim:pile=5").initial() == (5, 0)
    assert make(str(path)).initial() == (21, 0)
    assert make(f"{path}:pile=7").initial() == (7, 0)


@pytest.mark.parametrize(
    "text, name, sentence",
    [
        ("x = (", "Nim", "SyntaxError: .* \\(line 1\\)"),
        ("import nothing_of_this_name", "Nim", "ModuleNotFoundError: .*\\(line 1\\)"),
        ("\n1 / 0", "Nim", "ZeroDivisionError: division by zero \\(line 2\\)"),
        ("raise SystemExit(3)", "Nim", "SystemExit"),
        ("x = 1", "Nim", "has no game class"),
        (NIM, "Nimm", "did you mean 'Nim'"),
        (NIM, "State", "State in .* is not a game"),
        (NIM + "\n\nclass Two(Nim):\n    pass\n", "", "name the class"),
        (NIM.replace("@dataclass(frozen=True)", ""), "Nim", "not a frozen dataclass"),
        (NIM.replace("(frozen=True)", ""), "Nim", "not a frozen dataclass"),
        (NIM.replace("def step", "def stop"), "Nim", "has no method step"),
        (NIM.replace("s: State, action: int", "s: State, action"), "Nim", "step \\(.*line 24\\): annotate action"),
        (NIM.replace("def legal(self, s: State) -> int", "def legal(self, s: State)"), "Nim", "annotate return"),
        (
            NIM.replace("def legal(self, s: State) -> int", "def legal(self, s: State) -> list"),
            "Nim",
            "annotated list",
        ),
        (NIM.replace("def legal(self, s: State)", "def legal(self)"), "Nim", "the contract says \\(s\\)"),
        (NIM.replace("pile: int\n    player", "pile: str\n    player"), "Nim", "a state's fields are int"),
        (
            NIM.replace("-> State:\n        return State(self", "-> tuple:\n        return State(self"),
            "Nim",
            "NamedTuple",
        ),
        (
            NIM.replace("s: State, action: int) -> State", "s: Stat, action: int) -> State"),
            "Nim",
            "'Stat' is not defined",
        ),
        (NIM.replace("pile: int = 21", "pile: list = None"), "Nim:pile=3", "is not readable"),
        (NIM.replace("pile: int = 21", "pile: int"), "Nim", "missing 1 required"),
    ],
)
def test_every_fault_of_a_file_is_one_sentence(tmp_path, text, name, sentence):
    path = write(tmp_path, "faulty.py", text)
    with pytest.raises((GameError, UnknownName), match=sentence) as caught:
        make(f"{path}:{name}" if name else str(path))
    assert "\n" not in str(caught.value)


def test_who_leaves_out_the_ending_of_a_file_is_told(tmp_path, monkeypatch):
    write(tmp_path, "my_nim.py", NIM)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match=r"no game 'my_nim'; for your file write my_nim\.py"):
        make("my_nim")
    with pytest.raises(UnknownName, match=r"no game 'nobodys'; choose from"):
        make("nobodys")


@pytest.mark.parametrize("name", ["numpy", "json", "mdplay", "queue", "click"])
def test_a_game_file_may_be_called_like_a_module(tmp_path, name):
    write(tmp_path, f"{name}.py", NIM)
    program = (
        f"import sys, mdplay; game = mdplay.make(sys.argv[1]); import {name}; assert not hasattr({name}, 'Nim');"
        "print(mdplay.naming.registry.name_of(game)[0], mdplay.playouts(game, games=3).games)"
    )
    assert python("-c", program, str(tmp_path / f"{name}.py")) == f"{name}.py:Nim 3\n"


def test_two_files_of_one_name_are_two_games(tmp_path):
    for folder, pile in (("a", 5), ("b", 6)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, "heap.py", NIM.replace("= 21", f"= {pile}"))
    first, second = (registry.make(str(tmp_path / folder / "heap.py")) for folder in "ab")
    assert (first.pile, second.pile) == (5, 6)
    assert type(first).__module__ != type(second).__module__
    assert sys.modules[type(first).__module__].Nim is type(first)


@pytest.mark.parametrize("path", ["~nobody-of-this-name/x.py", "x" * 5000 + ".py", "a\0b.py", "loop.py"])
def test_odd_paths_are_one_sentence(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.py").symlink_to("loop.py")
    with pytest.raises(GameError, match="no home folder|cannot be read|there is no file"):
        registry.make(path)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400"])
def test_a_parameter_is_a_finite_number(value):
    with pytest.raises(GameError, match="out of range"):
        specs.Parameter("c", float, 1.0, None).parse(value)


def test_a_parameter_fits_64_bits():
    with pytest.raises(GameError, match="out of range"):
        specs.Parameter("n", int, 1, None).parse("0x" + "f" * 5000)


def test_a_game_that_data_name():
    assert from_data("connect-four", {"rows": 5, "cols": 4}) == ConnectFour(5, 4)
    assert from_data("tic-tac-toe", {"misere": True}) == TicTacToe(misere=True)
    assert from_data("anti-tic-tac-toe", {}) == TicTacToe(misere=True)


@pytest.mark.parametrize(
    "name, given, sentence",
    [
        ("x" * 1_000_000, {}, "no game 'x{80}'"),
        ("connect-four:rows=5", {}, "no game 'connect-four:rows=5'"),
        ("connect-four", {"rows": "5"}, "rows=5 is not a whole number"),
        ("connect-four", {"rows": True}, "rows=True is not a whole number"),
        ("connect-four", {"rows": 5.0}, "rows=5.0 is not a whole number"),
        ("connect-four", {"rows": [5]}, r"rows=\[5\] is not a whole number"),
        ("connect-four", {"rows": 10**5000}, "rows=a huge number is out of range"),
        ("connect-four", {"rows": 0}, "rows=0 is out of range"),
        ("connect-four", {"row": 5}, "no parameter 'row'"),
        ("tic-tac-toe", {"misere": 1}, "misere=1 is not true or false"),
    ],
)
def test_data_give_registered_names_and_values_of_the_right_kind_only(name, given, sentence):
    with pytest.raises((GameError, UnknownName), match=sentence):
        from_data(name, given)


@pytest.mark.parametrize("name", ["{}", "{}:Nim", "x:k={}", "../{}", "tic-tac-toe:misere={}"])
def test_data_open_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "evil.py", "from pathlib import Path; Path('ran').touch()")
    for text in (name.format("evil.py"), name.format(tmp_path / "evil.py")):
        with pytest.raises(UnknownName):
            from_data(text, {})
        with pytest.raises((UnknownName, GameError)):
            from_data("connect-four", {"rows": text})
    assert not (tmp_path / "ran").exists()


def test_a_game_may_extend_one_whose_annotations_only_its_own_module_knows(tmp_path):
    text = """
from dataclasses import dataclass
from mdplay.games.tic_tac_toe.rules import TicTacToe

@dataclass(frozen=True)
class Wide(TicTacToe):
    cols: int = 4
"""
    path = tmp_path / "wide.py"
    path.write_text(text)
    assert make(f"{path}:Wide").cols == 4
