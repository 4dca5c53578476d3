"""Records of games over the API."""

import json

import pytest

from mdplay import Record

API = "/api/v1"


def test_a_record_goes_out_and_comes_in_again(client):
    asked = {"moves": "4,4,3", "params": "rows=5,cols=5", "first": "person", "second": "mcts"}
    record = client.get(f"{API}/games/connect-four/record", params=asked).json()
    assert Record.from_json(json.dumps(record)).moves == ("4", "4", "3")
    found = client.post(f"{API}/records", json=record).json()
    assert (found["game"], found["params"], found["moves"]) == ("connect-four", "rows=5,cols=5", ["4", "4", "3"])


def test_a_game_of_chance_from_another_start_is_recorded_too(client):
    asked = {"from": "1123000000000000", "moves": "left"}
    record = client.get(f"{API}/games/2048/record", params=asked).json()
    found = client.post(f"{API}/records", json=record).json()
    assert (found["game"], found["from"], found["moves"]) == ("2048", "1123000000000000", ["left"])


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"format": "mdplay record 1", "game": "/etc/passwd.py:X"},
        {
            "format": "mdplay record 1", "game": "tic-tac-toe", "parameters": {}, "agents": ["a", "b"], "seed": 0,
            "number": 0, "start": None, "opening": 0, "moves": ["4", "4"], "result": None,
        },
        {
            "format": "mdplay record 1", "game": "evil.py:Class", "parameters": {}, "agents": ["a", "b"],
            "seed": 0, "number": 0, "start": None, "opening": 0, "moves": [], "result": None,
        },
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused_and_not_repeated(client, record):
    answer = client.post(f"{API}/records", json=record)
    assert answer.status_code == 422
    assert "passwd" not in answer.text
    assert "evil" not in answer.text
