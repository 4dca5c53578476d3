"""Models recognised by their content, converted, and refused in one sentence."""

import json

import numpy as np
import pytest
import umbi.ats

from mdplay import FormatError, UnknownName, make
from mdplay.planning import MDP, plan
from mdplay.planning.formats.files import FORMATS, Options, game_model, read_model, write_model
from mdplay.planning.formats.tables import from_gymnasium
from tests.helpers import write
from tests.planning.exact import random_mdp
from tests.planning.formats.test_cs747 import GOOD
from tests.planning.formats.test_umb import write_umb

MAZE = "S..#\n.#.G\n...O\nslip 0.1\nhole -10\n"
DRN = "@type: MDP\n@reward_models\ncost\n@nr_states\n2\n@model\nstate 0 [2] init\n"
DRN += " action a [0]\n  1 : 1\nstate 1 [0]\n"


def values(path, **options):
    return plan(read_model(str(path), Options(**options))[0]).value.tolist()


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_that_is_written_and_read_has_the_same_values(form, tmp_path):
    rng = np.random.default_rng(5)
    for number in range(20):
        mdp = random_mdp(rng, discount=0.9)
        if form == "cs747" and mdp.minimise:
            continue
        path = tmp_path / f"{number}.model"  # recognised by content, not by name
        write_model(mdp, path, form)
        sense = {"discount": 0.9, "minimise": mdp.minimise} if form == "umb" else {}
        wanted = plan(mdp).value
        sign = -1 if form == "gymnasium" and mdp.minimise else 1
        found = values(path, **sense)[: mdp.num_states]
        assert found == pytest.approx((sign * wanted).tolist(), abs=2e-6)


def test_files_of_other_programs_are_recognised(tmp_path):
    assert read_model(str(write(tmp_path, "course.txt", GOOD)))[1] is None
    model, grid = read_model(str(write(tmp_path, "maze.txt", MAZE)))
    assert grid is not None and model.num_states == 10
    assert values(write(tmp_path, "model", DRN))[0] == 2.0
    umb = write_umb(tmp_path / "walk")
    assert values(umb, reward="cost", minimise=True) == pytest.approx([0, 130 / 79, 170 / 79, 0], abs=1e-6)
    tra = write(tmp_path, "a.tra", "2 1 1\n0 0 1 1.0\n")
    write(tmp_path, "a.srew", "2 1\n0 3.5\n")
    assert values(tra) == [3.5, 0.0]
    nested = write(tmp_path, "nested.json", "[[[[1, 2.5, 1.0]]], [[]]]")
    assert values(nested) == [2.5, 0.0]
    assert values(write(tmp_path, "maze2.txt", MAZE), discount=0.5) != values(tmp_path / "maze.txt")


def test_gymnasium_tables():
    gymnasium = pytest.importorskip("gymnasium")
    model, _ = read_model("gymnasium:FrozenLake-v1:is_slippery=false", Options(discount=0.9))
    table = gymnasium.make("FrozenLake-v1", is_slippery=False).unwrapped.P
    assert plan(model).value.tolist() == plan(from_gymnasium(table, discount=0.9)).value.tolist()
    assert plan(model).value[0] == pytest.approx(0.9**5)
    with pytest.raises(FormatError, match="has no table P"):
        read_model("gymnasium:CartPole-v1")


def test_the_formats_own_library_reads_what_is_written(tmp_path):
    write_model(MDP.from_nested([[[[1, 2.0, 0.5], [0, 1.0, 0.5]]], [[]]], discount=1.0), tmp_path / "m.umb", "umb")
    assert umbi.ats.read(tmp_path / "m.umb").num_states == 2


def test_games_are_models_too():
    mdp = MDP.from_game(make("tic-tac-toe"))
    assert game_model(make("tic-tac-toe"), "uniform").num_transitions == mdp.num_transitions


@pytest.mark.parametrize(
    "name, content, sentence",
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", '{"a": 1}', "neither nested lists"),
        ("a.json", "[[[[1, 2]]]]", "write .target, reward, probability."),
        ("a.npz", "PK", "is not an .npz file"),
        ("a.txt", "S.?\n..G\n", "row 1, column 3: character '.' is unknown"),
        ("a.json", "[[[[0, 1.0, 0.9]]]]", "sum to 0.9, not to 1"),
    ],
)
def test_faults_are_named(tmp_path, name, content, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_model(str(write(tmp_path, name, content)))


def test_unknown_formats_and_arrays(tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'npz'"):
        write_model(MDP.from_nested([[[[0, 1.0, 1.0]]]], discount=0.5), tmp_path / "x", "npy")
    np.savez(tmp_path / "x.npz", Q=np.zeros(3))
    with pytest.raises(FormatError, match="it needs P and R"):
        read_model(str(tmp_path / "x.npz"))


def test_the_command_converts_plans_and_draws(mdplay, tmp_path):
    maze = write(tmp_path, "maze.txt", MAZE)
    drawn = mdplay("plan", maze, "--plot", "-").out
    assert drawn.startswith("→→↓#\n↑#→G\n→→↑O\n\n")
    assert mdplay("plan", maze, "--plot", tmp_path / "maze.svg").code == 0
    assert (tmp_path / "maze.svg").read_text().startswith("<?xml")
    assert mdplay("plan", maze, "--to", "umb", "--out", tmp_path / "maze.umb").code == 0
    first = [float(line.split()[0]) for line in mdplay("plan", tmp_path / "maze.umb").out.splitlines()]
    again = [float(line.split()[0]) for line in mdplay("plan", maze).out.splitlines()]
    assert first == pytest.approx(again, abs=2e-6)
    document = json.loads(mdplay("plan", maze, "--criterion", "horizon=3", "--json").out)
    assert document["criterion"] == "horizon=3" and len(document["stages"]) == 3
    assert float(mdplay("plan", "tic-tac-toe", "--opponent", "uniform").out.split()[0]) == 0.994791667
    for arguments, sentence in [
        ((maze, "--criterion", "average"), "state 5 is terminal; use the criterion total"),
        ((maze, "--criterion", "mean"), "no criterion 'mean'"),
        ((maze, "--to", "umb"), "--to umb needs --out FILE"),
        ((tmp_path / "maze.umb", "--plot", "-"), "the file is not a drawn grid"),
    ]:
        answer = mdplay("plan", *arguments)
        assert answer.code == 2 and sentence in answer.err, answer.err
