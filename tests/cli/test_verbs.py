"""The four verbs: a call of the API and the command of its name answer the same, to the last bit.

Answers are compared as JSON, which writes a double with all its digits; only times differ from run to run.  What
is refused is refused by the same sentence.

Every shipped game and a user's file go through every verb in plain Python (``NUMBA_DISABLE_JIT=1``), where small
questions need no compiler.  With the compiler a few of them do, and the questions that need it are asked.
"""

import json

import pytest

from mdplay import MdplayError, Position, evaluate, learn, make, match, search, solve
from mdplay.naming.about import built_in_games
from mdplay.naming.registry import names
from mdplay.position import as_state
from tests.helpers import COMPILED, NIM, write
from tests.solving.proof.test_prover import known_scores

CONNECT_FOUR_LATE = known_scores()[-3][0]
QUBIC_LATE = "oxx.oxo.x.xooxoo/oxooox.ox.xoxxox/xxoo..xooxooxoxx/xoxxxx.o.ooxxoo."
GAMES = {  # each with a position that is solved at once; a number: after so many moves, each the first there is
    "2048:rows=2,cols=2": "1100",
    "anti-tic-tac-toe": 3,
    "breakthrough:rows=4,cols=2": 4,
    "chess-ending": None,
    "connect-four": CONNECT_FOUR_LATE,
    "dodgem:side=2": None,
    "dots-and-boxes": "0x145",
    "mens-morris": "XOX.O.X.O,6,x",
    "mu-torere": None,
    "othello:side=4": 7,
    "pig:goal=6": None,
    "pocket-cube": "moves:R',F',U',R',F'",
    "qubic": QUBIC_LATE,
    "sliding-puzzle:rows=2,cols=2": None,
    "tic-tac-toe": 3,
    "nim.py": None,
}
LARGE = ("chess-ending", "pocket-cube", "qubic")  # they have no position that plain Python solves in a moment
FOR_ONE = [name for name in GAMES if name.startswith(("2048", "pocket", "sliding"))]
FEW = ["2048:rows=2,cols=2", "dots-and-boxes", "nim.py", "tic-tac-toe"]
ASKED = FEW if COMPILED else list(GAMES)
QUESTIONS = [  # what is large, and what only one game or one method answers
    ("chess-ending", None, {}),
    pytest.param("pocket-cube", None, {}, marks=pytest.mark.slow),
    ("qubic", QUBIC_LATE, {}),
    ("connect-four", CONNECT_FOUR_LATE, {"objective": "win"}),
    ("dots-and-boxes", None, {"opponent": "uniform-once", "objective": "own"}),
    ("dots-and-boxes", None, {"opponent": "uniform", "method": "policy-iteration"}),
    ("dots-and-boxes:rows=4,cols=4", "0xfffffffff0", {"method": "chains"}),
    ("2048:rows=2,cols=2", "1100", {"objective": "tile=16"}),
]
SOLVED = [(name, GAMES[name], {}) for name in ASKED if name not in LARGE]


@pytest.fixture
def game_file(tmp_path, monkeypatch):
    """A user's file in the folder of work."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, "nim.py", NIM)


def without_times(document):
    """Return a document without what a clock has measured."""
    if isinstance(document, dict):
        kept = {name: value for name, value in document.items() if "second" not in name}
        return {name: without_times(value) for name, value in kept.items()}
    return [without_times(part) for part in document] if isinstance(document, list) else document


def compare(ask, answer):
    """Compare what the API returns, or the sentence of its refusal, with what the command has answered."""
    try:
        document = ask()
    except MdplayError as refusal:
        assert (answer.code, str(refusal) in answer.err) == (2, True), answer.err
        return
    assert answer.code == 0, answer.err
    assert without_times(json.loads(answer.out)) == without_times(json.loads(json.dumps(document)))


def options(**given):
    """Return keyword arguments as the options of a command."""
    pairs = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    return [word for name, value in pairs.items() for word in (f"--{name}", str(value))]


def text_of(game, position):
    """Return a position of the table as a text; None is the start."""
    if not isinstance(position, int):
        return position
    found = Position.start(game)
    for _ in range(position):
        found = found.after(found.actions[0])
    return found.text


def test_every_shipped_game_is_asked():
    assert {name.partition(":")[0] for name in GAMES} == {*built_in_games(), "nim.py"}
    assert set(built_in_games()) <= set(names())


@pytest.mark.parametrize(("name", "position", "question"), SOLVED + (QUESTIONS if COMPILED else []))
def test_solve(mdplay, game_file, name, position, question):
    game = make(name)
    text = text_of(game, position)
    answer = mdplay("solve", name, "--json", *options(position=text, **question))
    assert answer.code == 0, answer.err
    compare(lambda: solve(game, text, **question).document(as_state(game, text), name=name), answer)


AGENTS = {"pocket-cube": "ida-star"}  # who plays at random turns a cube for ever
SEARCHES = [(name, AGENTS.get(name, "mcts")) for name in ASKED]
SEARCHES += [("tic-tac-toe", "mcts:selector=thompson,expansion=all"), ("connect-four", "heuristic:depth=2")]


@pytest.mark.parametrize(("name", "agent"), SEARCHES)
def test_search(mdplay, game_file, name, agent):
    game = make(name)
    text = text_of(game, GAMES.get(name))
    budget = {"simulations": 20} if agent.startswith("mcts") else {}
    answer = mdplay("search", name, "--json", *options(agent=agent, position=text, seed=3, **budget))
    assert answer.code == 0, answer.err
    compare(lambda: search(game, text, agent=agent, seed=3, **budget).document(), answer)


LEARNED = [(name, method) for name in ASKED if name not in LARGE for method in ("auto", "points")]
LONG = [pytest.param(name, "auto", marks=pytest.mark.slow) for name in LARGE]  # their games are


@pytest.mark.parametrize(("name", "method"), LEARNED + (LONG if COMPILED else []))
def test_learn(mdplay, game_file, name, method):
    given = {"episodes": 3, "seed": 3, "method": method}
    answer = mdplay("learn", name, "--json", *options(**given))
    assert answer.code == 0 or method == "points", answer.err
    compare(lambda: learn(make(name), **given).document(), answer)


@pytest.mark.parametrize("name", [name for name in ASKED if name not in FOR_ONE])
def test_match(mdplay, game_file, name):
    agents, given = ("mcts:simulations=5", "random"), {"games": 2, "max_moves": 12, "seed": 3}
    answer = mdplay("match", name, *agents, "--json", *options(**given))
    compare(lambda: match(make(name), *agents, **given).document(), answer)


@pytest.mark.parametrize("name", [name for name in ASKED if name in FOR_ONE])
def test_evaluate(mdplay, name):
    given = {"agent": "random", "games": 2, "max_moves": 12, "seed": 3}
    answer = mdplay("evaluate", name, "--json", *options(**given))
    compare(lambda: evaluate(make(name), **given).document(), answer)
