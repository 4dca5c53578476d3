import doctest
import io
import json
import os
import re
import subprocess
import sys
import threading

import jsonschema
import pytest

from mdplay import make
from mdplay.playing.engine.protocol import schema, written
from mdplay.playing.engine.server import Engine, serve_engine
from tests.helpers import HUNG_SECONDS, NIM, ROOT, write
from tests.playing.players import named

PLAYER, ENGINE = (
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{side}", **schema()}) for side in ("player", "engine")
)


def said(game, agent, *lines):
    """Return what an engine answers to lines; each is a message, or bytes as they are."""
    stdin = b"".join(line if isinstance(line, bytes) else written(line) for line in lines)
    out = io.BytesIO()
    serve_engine(make(game), agent, io.BytesIO(stdin), out)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    for message in found:
        ENGINE.validate(message)
    return found


def test_a_line_that_makes_no_sense_is_answered_and_nothing_changes():
    bad = [b"nonsense\n", b"\xff\n", {"type": "fly"}, b"[" * 50_000 + b"\n", b"x" * (2 << 20) + b"\n"]
    found = said("tic-tac-toe", "random", {"type": "position", "moves": ["4"]}, *bad, {"type": "go"})
    assert [message["type"] for message in found] == ["ready", *["error"] * 5, "bestmove"]
    assert found[-1]["move"] != "4"
    assert all("\n" not in m["message"] and len(m["message"]) <= 500 for m in found if m["type"] == "error")


@pytest.mark.parametrize(
    "line, words",
    [
        ({"type": "hello", "protocol": 2}, "protocol 2 is not known"),
        ({"type": "new", "game": "chess"}, "no game 'chess'"),
        ({"type": "new", "game": "connect-four", "parameters": {"rows": 99}}, "rows=99 is out of range"),
        ({"type": "new", "rules": "0" * 32}, "the rules of the game are others here than there"),
        ({"type": "position", "moves": ["4", "4"]}, "move 2: '4' is not a legal move"),
        ({"type": "position", "moves": [4]}, "moves are texts"),
        ({"type": "position", "fields": "1,2"}, "give its fields as"),
        ({"type": "go", "simulations": 0}, "simulations=0 must be at least 1"),
    ],
)
def test_a_fault_is_one_sentence(line, words):
    (message,) = said("tic-tac-toe", "mcts", line)
    assert message["type"] == "error" and words in message["message"]


def test_no_file_is_opened_on_the_word_of_a_line(tmp_path):
    path = write(tmp_path, "nim.py", NIM + "\nraise RuntimeError('loaded')\n")
    for name in (str(path), f"{path}:Nim"):
        (message,) = said("tic-tac-toe", "random", {"type": "new", "game": name, "parameters": {}})
        assert message["type"] == "error" and "no game" in message["message"]


def test_a_users_game_is_the_one_that_the_engine_was_started_with(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    hello, ready, move = said(
        f"{path}:Nim:pile=2",
        "random",
        {"type": "hello"},
        {"type": "new", "game": "nim.py:Nim", "parameters": {"pile": 2}},
        {"type": "go"},
    )
    assert (hello["game"], ready["rules"], move["type"]) == ("nim.py:Nim", hello["rules"], "bestmove")


def test_who_asks_for_another_game_hears_how_a_users_game_is_asked_for(tmp_path):
    path = write(tmp_path, "nim.py", NIM)
    (message,) = said(f"{path}:Nim:pile=2", "random", {"type": "new", "game": "nim", "parameters": {}})
    assert message["type"] == "error"
    assert message["message"].endswith('or as it was started: nim.py:Nim with {"pile": 2}')


def test_over_and_chance_are_refused():
    over = {"type": "position", "moves": list("03142")}
    assert "the game is over" in said("tic-tac-toe", "random", over, {"type": "go"})[-1]["message"]
    assert "chance moves here" in said("2048", "random", {"type": "go"})[-1]["message"]


@pytest.mark.parametrize("agent, words", [("Raising", "RuntimeError"), ("Illegal", "returned 99")])
def test_an_agent_that_fails_is_told(agent, words):
    lines = [{"type": "go"} for _ in range(1)]
    engine_says = [
        said("tic-tac-toe", named(agent), {"type": "new", "seed": seed}, *lines)[-1] for seed in range(12)
    ]
    assert any(words in message.get("message", "") for message in engine_says)


def test_the_seed_of_a_new_game_repeats_its_moves():
    runs = [
        said("connect-four", "random", {"type": "new", "seed": seed}, {"type": "go"})[-1] for seed in (5, 5, 6, 8)
    ]
    assert runs[0] == runs[1] and len({run["move"] for run in runs}) > 1


LOUD = """
class Loud:
    def __init__(self, game):
        print("made")

    def act(self, state, rng):
        print("hm")
        return 4
"""


class Session:
    """An engine in this process, spoken to line by line."""

    def __init__(self, game, agent):
        self.said, self.came = [], threading.Condition()
        self.engine = Engine(make(game), agent, self.hear)

    def hear(self, line):
        with self.came:
            self.said.append(json.loads(line))
            self.came.notify_all()

    def wait(self, kind):
        """Return the first line of a type that tells more than that it compiles."""
        with self.came:
            assert self.came.wait_for(lambda: self.found(kind), HUNG_SECONDS)
            return self.found(kind)[0]

    def found(self, kind):
        return [m for m in self.said if m["type"] == kind and "compiling" not in m]


@pytest.mark.parametrize("agent", ["mcts", "heuristic"])
def test_stop_is_answered_by_the_best_move_so_far(agent, needs_compiler):
    session = Session("connect-four", agent)
    session.engine._answer(written({"type": "go", "seconds": 3600.0}))
    info = session.wait("info")
    session.engine._answer(written({"type": "new"}))
    assert "say stop first" in session.wait("error")["message"]
    session.engine._answer(written({"type": "stop"}))
    assert session.wait("bestmove")["move"] in "1234567"
    assert info["simulations"] or info["depth"]
    session.engine._thinker.join()
    assert session.engine._answer(written({"type": "stop"}))  # there is nothing to stop, and nothing is said
    assert session.said[-1]["type"] == "bestmove"


def test_an_agent_that_does_not_think_in_steps_says_so(needs_compiler):
    session = Session("tic-tac-toe", named("Slow"))
    release = threading.Event()
    session.engine.agent.act = lambda state, rng: release.wait(HUNG_SECONDS) and 4
    session.engine._answer(written({"type": "go"}))
    session.engine._answer(written({"type": "stop"}))
    assert "cannot be stopped before it has found its move" in session.wait("error")["message"]
    release.set()
    assert session.wait("bestmove")["move"] == "4"


# ---------------------------------------------------------------- docs/engine.md
def session_of_the_page():
    page = (ROOT / "docs" / "engine.md").read_text()
    block = re.search(r"^```engine\n(.*?)^```$", page, flags=re.M | re.S)[1]
    return [(line[0], line[2:]) for line in block.splitlines()]


def test_the_session_of_the_page(needs_compiler):
    """Each line of the engine is awaited before the player goes on; info lines beyond those shown are let be."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "mdplay", "engine", "tic-tac-toe"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        for side, text in session_of_the_page():
            if side == ">":
                if text.startswith("{"):
                    PLAYER.validate(json.loads(text))
                engine.stdin.write(text + "\n")
                engine.stdin.flush()
                continue
            line = engine.stdout.readline()
            while "compiling" in line or ('"info"' in line and '"info"' not in text):
                line = engine.stdout.readline()
            ENGINE.validate(json.loads(line))
            wanted = text if text.endswith("}") else text.rstrip(".") + "..."
            assert doctest.OutputChecker().check_output(wanted + "\n", line, doctest.ELLIPSIS), line
        assert engine.wait(HUNG_SECONDS) == 0
        assert engine.stdout.read() == ""


def test_the_end_of_the_input_ends_the_engine_and_prints_of_an_agent_go_elsewhere(tmp_path):
    path = write(tmp_path, "loud.py", LOUD)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "mdplay", "engine", "tic-tac-toe", "--agent", f"{path}:Loud"]
    done = subprocess.run(
        command, env=env, input='{"type": "go"}\n', capture_output=True, text=True, timeout=HUNG_SECONDS
    )
    assert (done.returncode, json.loads(done.stdout)["move"]) == (0, "4")
    assert "hm" in done.stderr
