import pytest

from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
from mdplay.playing.accuracy import Accuracy, keeps_value, measure_accuracy, sample_states
from mdplay.playing.basic import RandomAgent
from mdplay.searching.mcts import MCTSAgent
from tests.helpers import write
from tests.searching.games import BruteForce


def test_values_within_the_tolerance_are_kept():
    assert keeps_value({0: 1.0, 1: 1.0 - 1e-12, 2: 0.9}, 1)
    assert not keeps_value({0: 1.0, 1: 1.0 - 1e-12, 2: 0.9}, 2)


def test_states_are_different_and_have_a_choice():
    game = anti_tic_tac_toe()
    states = sample_states(game, 300, seed=1)
    assert len(set(states)) == 300
    assert all(game.legal(s).bit_count() > 1 for s in states)
    assert states == sample_states(game, 300, seed=1)


def test_mcts_keeps_the_value_of_anti_tic_tac_toe(needs_compiler):
    game = anti_tic_tac_toe()
    states = sample_states(game, 300)
    agent = MCTSAgent(game, simulations=10_000, reuse=False)
    good = measure_accuracy(game, agent, BruteForce(game), states)
    assert good.share >= 0.99
    assert measure_accuracy(game, RandomAgent(game), BruteForce(game), states).share < good.share


def test_proofs_know_the_values_too(mdplay, tmp_path, needs_compiler):
    write(tmp_path, "positions.txt", "414141\n41414\n")
    options = ["--oracle", "proof", "--agent", "heuristic:depth=2", "--positions", tmp_path / "positions.txt"]
    assert '"kept": 2' in mdplay("accuracy", "connect-four", *options, "--json").out
    assert "does not know" in mdplay("accuracy", "connect-four", "--oracle", "random").err


def test_the_statistics():
    found = Accuracy(100, 90, ("a",))
    assert found.document()["share"] == 0.9
    assert found.standard_error == pytest.approx(0.03)
