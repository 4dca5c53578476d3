import json

import click
import pytest

from mdplay.cli.learn_points import command
from mdplay.games.qubic import Qubic
from mdplay.learning.points import PointsAgent


def learn(*arguments):
    return command.main([*map(str, arguments)], standalone_mode=False, obj=Qubic())


def test_runs_are_printed_layer_by_layer_and_point_by_point(capsys):
    learn("--games", "5,10", "--seed", 3)
    out = capsys.readouterr().out
    assert "5 games, annealed, seed 3" in out and "10 games, annealed, seed 3" in out
    assert out.count("layer z = 3") == 2 and len([x for x in out.splitlines() if x.startswith("   63  ")]) == 2
    assert out.count("of the 16 points on 7 lines are among the 16 highest") == 2


def test_json_and_files(capsys, tmp_path):
    picture, file = tmp_path / "heat.png", tmp_path / "points.json"
    learn("--games", "10,40", "--explore", "always", "--json", "--plot", picture, "--out", file)
    document = json.loads(capsys.readouterr().out)
    assert [run["games"] for run in document["runs"]] == [10, 40]
    last = document["runs"][1]
    assert last["layers"][3][0][2] == last["utilities"][2 + 4 * 0 + 16 * 3]
    assert last["utilities"][5] == last["point_wins"][5] / last["point_games"][5]
    assert picture.read_bytes().startswith(b"\x89PNG") and json.loads(file.read_text()) == document
    assert PointsAgent(Qubic(), str(file)).utilities.tolist() == last["utilities"]


def test_bad_numbers_of_games():
    with pytest.raises(click.BadParameter, match="list of positive numbers"):
        learn("--games", "10,x")


def test_any_game_of_points_is_learned_by_name(mdplay, needs_compiler):
    assert "layer z" not in mdplay("learn", "tic-tac-toe", "--games", 100).out
    document = json.loads(mdplay("learn", "qubic", "--games", "10", "--json").out)
    assert len(document["runs"][0]["utilities"]) == 64
    refused = mdplay("learn", "connect-four", "--games", 100)
    assert refused.code == 2 and "not a game of points" in refused.err
    assert "did you mean 'qubic'" in mdplay("learn", "qubik").err
