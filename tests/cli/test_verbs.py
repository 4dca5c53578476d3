"""The four verbs: a call of the API and the command of its name answer the same, to the last bit.

Answers are compared as JSON, which writes a double with all its digits; only times differ from run to run.
"""

import json

import pytest

from mdplay import MdplayError, learn, make, match, search, solve
from mdplay.notation import parse_position
from tests.helpers import NIM, write
from tests.solving.proof.test_prover import known_scores

CONNECT_FOUR_LATE = known_scores()[-3][0]
QUBIC_LATE = "oxx.oxo.x.xooxoo/oxooox.ox.xoxxox/xxoo..xooxooxoxx/xoxxxx.o.ooxxoo."
POSITIONS = {  # positions that are solved at once: of the games of the five systems, and of a user's file
    "tic-tac-toe": None,
    "anti-tic-tac-toe": None,
    "connect-four": CONNECT_FOUR_LATE,
    "dots-and-boxes": "0x145",
    "2048:rows=2,cols=2": "1100",
    "qubic": QUBIC_LATE,
    "nim.py": None,
}
QUESTIONS = [  # what only one game or one method answers
    ("dots-and-boxes", {"opponent": "uniform-once", "objective": "own"}),
    ("dots-and-boxes", {"opponent": "uniform", "method": "policy-iteration"}),
    ("dots-and-boxes:rows=4,cols=4", {"position": "0xfffffffff0", "method": "chains"}),
    ("connect-four", {"position": CONNECT_FOUR_LATE, "objective": "win"}),
    ("2048:rows=2,cols=2", {"position": "1100", "objective": "tile=16"}),
]


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


def same(answer, document):
    """Tell whether a command printed the document that the API gives."""
    assert answer.code == 0, answer.err
    return without_times(json.loads(answer.out)) == without_times(json.loads(json.dumps(document)))


def options(**given):
    """Return keyword arguments as the options of a command."""
    return [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]


def start_of(game, position):
    return None if position is None else parse_position(game, position)


@pytest.mark.parametrize(
    ("name", "question"), [*((name, {"position": p}) for name, p in POSITIONS.items()), *QUESTIONS]
)
def test_solve(mdplay, game_file, name, question, needs_compiler):
    game = make(name)
    state = start_of(game, question.get("position"))
    asked = {word: value for word, value in question.items() if word != "position"}
    found = solve(game, state, **asked).document(state, name=name)
    assert same(mdplay("solve", name, "--json", *options(**question)), found)


SEARCHES = [(name, "mcts") for name in POSITIONS]
SEARCHES += [("tic-tac-toe", "mcts:selector=thompson,expansion=all"), ("connect-four", "heuristic:depth=3")]


@pytest.mark.parametrize(("name", "agent"), SEARCHES)
def test_search(mdplay, game_file, name, agent, needs_compiler):
    game, position = make(name), POSITIONS[name]
    budget = {} if agent.startswith("heuristic") else {"simulations": 50}
    found = search(game, start_of(game, position), agent=agent, seed=3, **budget)
    given = options(agent=agent, position=position, seed=3, **budget)
    assert same(mdplay("search", name, "--json", *given), found.document())


@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes", "2048:rows=2,cols=2", "qubic"]
)
def test_learn(mdplay, name, needs_compiler):
    found = learn(make(name), episodes=50, seed=3)
    assert same(mdplay("learn", name, "--json", *options(episodes=50, seed=3)), found.document())


@pytest.mark.parametrize("name", ["connect-four", "nim.py"])
def test_what_cannot_be_learned_is_refused_alike(mdplay, game_file, name, needs_compiler):
    with pytest.raises(MdplayError) as refused:
        learn(make(name), method="points", episodes=50)
    assert str(refused.value) in mdplay("learn", name, "--method", "points", "--episodes", 50).err


@pytest.mark.parametrize("name", [name for name in POSITIONS if not name.startswith("2048")])  # a game for one
def test_match(mdplay, game_file, name, needs_compiler):
    agents = ("mcts:simulations=30", "random")
    found = match(make(name), *agents, games=4, seed=3)
    assert same(mdplay("match", name, *agents, "--json", *options(games=4, seed=3)), found.document())
