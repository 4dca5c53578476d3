import pytest

from mdplay.errors import GameError, UnknownName
from mdplay.games.connect_four import ConnectFour
from mdplay.games.tic_tac_toe import TicTacToe
from mdplay.registry import BUILT_IN, make, maker, names, parameters
from tests.helpers import NIM, write


def test_names_and_parameters():
    assert make("connect-four:rows=5,cols=4") == ConnectFour(5, 4)
    assert make("anti-tic-tac-toe") == TicTacToe(misere=True)
    assert make("tic-tac-toe:misere=true") == TicTacToe(misere=True)
    assert set(BUILT_IN) <= set(names())
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
