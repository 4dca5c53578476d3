import json

import click
import pytest

from mdplay.cli.learn import command_of
from mdplay.games.qubic.rules import Qubic
from mdplay.learning.cell_utilities import PointsAgent


def learn(*arguments):
    return command_of(Qubic()).main([*map(str, arguments)], standalone_mode=False)


def test_runs_are_printed_layer_by_layer_and_point_by_point(capsys):
    learn("--method", "points", "--episodes", "5,10", "--seed", 3)
    out = capsys.readouterr().out
    assert "5 games, annealed, seed 3" in out and "10 games, annealed, seed 3" in out
    assert out.count("layer z = 3") == 2 and len([x for x in out.splitlines() if x.startswith("   63  ")]) == 2
    assert out.count("of the 16 points on 7 lines are among the 16 highest") == 2


def test_what_is_not_kept_is_told(capsys, tmp_path):
    for files, told in (((), True), (("--out", tmp_path / "points.json"), False), (("--json",), False)):
        learn("--method", "points", "--episodes", "5", *files)
        assert ("not saved; use --file FILE" in capsys.readouterr().err) is told


def test_json_and_files(capsys, tmp_path):
    picture, file = tmp_path / "heat.png", tmp_path / "points.json"
    learn(
        "--method",
        "points",
        "--episodes",
        "10,40",
        "--explore",
        "always",
        "--json",
        "--plot",
        picture,
        "--out",
        file,
    )
    document = json.loads(capsys.readouterr().out)
    assert [run["games"] for run in document["runs"]] == [10, 40]
    last = document["runs"][1]
    assert last["layers"][3][0][2] == last["utilities"][2 + 4 * 0 + 16 * 3]
    assert last["utilities"][5] == last["point_wins"][5] / last["point_games"][5]
    assert picture.read_bytes().startswith(b"\x89PNG") and json.loads(file.read_text()) == document
    assert PointsAgent(Qubic(), str(file)).utilities.tolist() == last["utilities"]


def test_bad_numbers_of_games():
    with pytest.raises(click.BadParameter, match="not a positive number, nor a list"):
        learn("--episodes", "10,x")


def test_any_game_of_points_is_learned_by_name(mdplay, needs_compiler):
    points = ("--method", "points", "--episodes")
    assert "layer z" not in mdplay("learn", "tic-tac-toe", *points, 100).out
    document = json.loads(mdplay("learn", "qubic", *points, "10", "--json").out)
    assert len(document["runs"][0]["utilities"]) == 64
    refused = mdplay("learn", "connect-four", *points, 100)
    assert refused.code == 2 and "not a game of points" in refused.err
    assert "did you mean 'qubic'" in mdplay("learn", "qubik").err


def test_every_learner_lists_its_own_options(mdplay):
    of_2048, of_others = (mdplay("learn", game, "--help").out for game in ("2048", "tic-tac-toe"))
    for option in ("--network", "--backward", "--optimistic"):
        assert option in of_2048 and option not in of_others
    for option in ("--explore", "--tuples", "--epsilon", "--minutes"):
        assert option in of_others and option in of_2048  # its --method network takes them
    for option in ("--episodes", "--method", "--seed", "--out", "--plot", "--curve", "--json", "--against"):
        assert option in of_2048 and option in of_others
    assert "td, td-before, tc" in mdplay("learn", "--help").out


def test_the_curve_of_points_as_csv(mdplay, tmp_path):
    mdplay("learn", "tic-tac-toe", "--method", "points", "--episodes", "5,10", "--curve", tmp_path / "c.csv")
    rows = (tmp_path / "c.csv").read_text().splitlines()
    assert rows[0] == "episodes,point,wins,games" and len(rows) == 1 + 2 * 9 and rows[-1].startswith("10,8,")
