"""The commands that plan: files in, files out, faults in a sentence."""

import json

import pytest

from tests.helpers import python, write
from tests.planning.formats.test_cs747 import GOOD


@pytest.fixture
def mdp(tmp_path):
    return write(tmp_path, "mdp.txt", GOOD)


@pytest.mark.parametrize("method", ["auto", "vi", "hpi", "lp", "jacobi", "topological", "mpi", "ipi"])
def test_one_line_a_state(mdplay, mdp, method):
    answer = mdplay("plan", "--mdp", mdp, "--algorithm", method)
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines()]
    assert len(lines) == 4
    assert lines[3] == ["0.000000000", "0"]
    assert [action for _, action in lines[1:3]] == ["0", "1"]


def test_bounds_policy_and_json(mdplay, mdp, tmp_path):
    rows = [line.split() for line in mdplay("plan", mdp, "--bounds").out.splitlines()]
    assert all(float(low) <= float(high) for _, _, low, high in rows)
    policy = write(tmp_path, "policy.txt", "1\n0\n1\n0\n")
    value = float(mdplay("plan", mdp, "--policy", policy).out.split()[0])
    assert value == pytest.approx(0.1)
    document = json.loads(mdplay("plan", mdp, "--json").out)
    assert document["closed"] is True
    assert document["action"][3] == -1


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["plan"], "name one MDP file"),
        (["plan", "nowhere.txt"], "cannot read nowhere.txt"),
        (["plan", "MDP", "--method", "hpj"], "no method 'hpj'; did you mean 'hpi'?"),
        (["plan", "MDP", "--policy", "MDP"], "line 13: 12 actions; the MDP has 4 states"),
        (["plan", "anti-tic-tac-toe", "--states", "MDP", "--opponent", "MDP"], "line 1: 2 words"),
        (["plan", "anti-tic-tac-toe", "--states", "MDP"], "with --states give either --opponent"),
        (["plan", "MDP", "--format", "policy"], "need --states"),
        (["respond", "anti-tic-tac-toe", "--start", "MDP"], "line 1: the first line must be the player's number"),
    ],
)
def test_faults_are_one_sentence(mdplay, mdp, arguments, sentence):
    answer = mdplay(*[mdp if word == "MDP" else word for word in arguments])
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.startswith("mdplay: ")
    assert answer.err.count("\n") == 1


def test_small_files_need_no_compiler(mdp):
    code = "import sys; sys.argv=['mdplay', 'plan', sys.argv[1]]\nfrom mdplay.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    assert 'numba' not in sys.modules"
    assert python("-c", code, str(mdp)).count("\n") == 4


def test_respond_prints_the_fixed_point(mdplay, tmp_path):
    answer = mdplay("respond", "anti-tic-tac-toe", "--out", tmp_path / "policies")
    assert answer.code == 0
    assert "fixed point after 8 steps; the game that it plays: 0 1 2 3 4 5 6" in answer.out
    assert len(list((tmp_path / "policies").iterdir())) == 9
    document = json.loads(mdplay("respond", "anti-tic-tac-toe", "--player", 2, "--json").out)
    assert document["values"] == {"1": 0.0, "2": 1.0}


def test_states_lists_them_in_the_order_of_the_course(mdplay):
    lines = mdplay("states", "anti-tic-tac-toe", "--player", 2).out.split()
    assert len(lines) == 2097
    assert lines[:3] == ["100000000", "121000000", "121210000"]
