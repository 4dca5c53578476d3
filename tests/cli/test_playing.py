import json

import pytest

from tests.helpers import NIM, write
from tests.playing.players import named


def test_match_prints_score_interval_and_distinct_games(mdplay, tmp_path):
    answer = mdplay(
        "match", "tic-tac-toe", named("Leftmost"), named("Leftmost:skip=1"), "--openings", "none", "--games", 40
    )
    assert answer.code == 0
    assert "score " in answer.out and "95 %" in answer.out
    assert "2 distinct games of 40; the intervals count only these" in answer.out


def test_equal_seeds_give_equal_bytes_whatever_the_threads(mdplay, tmp_path):
    outputs = []
    for threads in (1, 2, 5):
        path = tmp_path / f"games{threads}.jsonl"
        arguments = ["--games", 60, "--seed", 4, "--threads", threads, "--record", path, "--json"]
        answer = mdplay("match", "connect-four", "random", named("Leftmost"), *arguments)
        outputs.append((answer.out, path.read_bytes()))
    assert outputs[0] == outputs[1] == outputs[2]
    assert json.loads(outputs[0][0])["games"] == 60


def test_recorded_games_are_shown(mdplay, tmp_path):
    path = tmp_path / "games.jsonl"
    mdplay("match", "connect-four", "random", "random", "--games", 3, "--record", path, "--seed", 1)
    assert [line.split(",")[0] for line in mdplay("show", "--record", path).out.splitlines()] == [
        f"game {number}: random v random" for number in range(3)
    ]
    story = mdplay("show", "--record", path, "--number", 2).out
    assert "opening: " in story and "1 2 3 4 5 6 7" in story
    (document,) = json.loads(mdplay("show", "--record", path, "--number", 2, "--json").out)
    assert document["number"] == 2
    assert mdplay("show", "--record", path, "--number", 9).code == 2
    first, second, third = path.read_text().splitlines()
    path.write_text("\n".join([first, second, third[:-40]]))
    with pytest.warns(UserWarning, match="line 3 is cut off; the 2 before it were read"):
        answer = mdplay("show", "--record", path)
    assert (answer.code, len(answer.out.splitlines())) == (0, 2)
    path.write_text("\n".join([first, second[:-40], third]))
    answer = mdplay("show", "--record", path)
    assert (answer.code, answer.err) == (2, f"mdplay: {path}, line 2: not a record: the line is not JSON\n")


def test_a_record_of_a_users_game(mdplay, tmp_path):
    game, path = f"{write(tmp_path, 'nim_shown.py', NIM)}:Nim", tmp_path / "games.jsonl"
    mdplay("match", game, "random", "random", "--games", 1, "--record", path)
    assert "name the game" in mdplay("show", "--record", path).err
    assert "game 0: random v random" in mdplay("show", game, "--record", path).out


def test_tournament(mdplay, tmp_path):
    agents = ["random", named("Leftmost"), named("Leftmost:skip=2")]
    arguments = ["--games", 6, "--results", tmp_path / "cup.db", "--plot", tmp_path / "cup.png"]
    answer = mdplay("tournament", "tic-tac-toe", *agents, *arguments, "--record", tmp_path / "games.jsonl")
    assert answer.code == 0 and "Elo" in answer.out
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 18
    again = mdplay("tournament", "tic-tac-toe", *agents, *arguments, "--json")
    assert [rating["games"] for rating in json.loads(again.out)["ratings"]] == [12, 12, 12]


def test_a_faulty_agent_is_one_sentence_and_the_table_of_the_rest(mdplay):
    agents = ["random", named("Illegal"), named("Leftmost")]
    answer = mdplay("tournament", "tic-tac-toe", *agents, "--games", 6)
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1 and "withdrawn" in answer.err and "returned 99" in answer.err
    sound = mdplay("tournament", "tic-tac-toe", "random", named("Leftmost"), "--games", 6)
    assert answer.out == sound.out


def test_evaluate(mdplay):
    answer = mdplay("evaluate", "2048:rows=2,cols=2", "--games", 50)
    assert "standard error" in answer.out and "quantiles" in answer.out
    assert json.loads(mdplay("evaluate", "2048:rows=2,cols=2", "--games", 50, "--json").out)["games"] == 50


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["match", "tic-tac-toe", "random", "nobody"], "no agent 'nobody'"),
        (["match", "tic-tac-toe", "random", named("Raising")], "raised RuntimeError"),
        (["match", "tic-tac-toe", "random", named("Illegal")], "returned 99"),
        (["match", "tic-tac-toe", "random", "random", "--openings", "few"], "no kind of opening"),
        (["match", "tic-tac-toe", "random", "random", "--results", "/nowhere/x.db"], "cannot be used for results"),
        (["match", "tic-tac-toe", "random", "random", "--record", "/nowhere/x.jsonl"], "cannot write"),
        (["match", "2048", "random", "random"], "use mdplay evaluate"),
        (["evaluate", "tic-tac-toe"], "use mdplay match"),
        (["tournament", "tic-tac-toe", "random"], "two agents or more"),
        (["tournament", "tic-tac-toe", "random", "policy:nowhere"], "cannot read the policy"),
        (["show", "--record", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
    ],
)
def test_faults_are_one_sentence_and_exit_code_2(mdplay, arguments, sentence):
    answer = mdplay(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err and len(answer.err.splitlines()) == 1 and "Traceback" not in answer.err


def test_games_that_were_read_and_not_played_are_told(mdplay, tmp_path):
    line = ["match", "tic-tac-toe", "random", "random", "--results", tmp_path / "r.db", "--games"]
    assert "games from" not in mdplay(*line, 4).err
    assert mdplay(*line, 6).err == f"mdplay: 4 of 6 games from {tmp_path / 'r.db'}\n"
