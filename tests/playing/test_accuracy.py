import pytest

from mdplay import LimitError, PositionError, make
from mdplay.bits import lowest
from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
from mdplay.playing.accuracy import Accuracy, Mistake, accuracy, keeps_value, sample_states
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
    good = accuracy(game, agent, BruteForce(game), states)
    assert good.share >= 0.99
    assert accuracy(game, RandomAgent(game), BruteForce(game), states).share < good.share


def test_proofs_know_the_values_too(mdplay, tmp_path, needs_compiler):
    write(tmp_path, "positions.txt", "414141\n41414\n")
    options = ["--oracle", "proof", "--agent", "heuristic:depth=2", "--positions", tmp_path / "positions.txt"]
    assert '"kept": 2' in mdplay("accuracy", "connect-four", *options, "--json").out
    assert "does not know" in mdplay("accuracy", "connect-four", "--oracle", "random").err


def test_the_statistics():
    """The interval is that of Agresti and Coull (1998): of 90 of 100 it is 0.824 to 0.947."""
    mistake = Mistake("a", "1", ("2", "3"))
    found = Accuracy(100, 90, (mistake,) * 10, 40)
    assert found.document()["share"] == 0.9
    assert found.interval == pytest.approx((0.8239, 0.9465), abs=1e-4)
    assert found.critical_share == 0.75
    assert found.document()["lost"][0] == {"position": "a", "move": "1", "best": ("2", "3")}
    assert repr(found).startswith("<Accuracy 90.0% (82.4% to 94.7%): 90 of 100 moves are optimal")
    assert Accuracy(3, 3, (), 0).critical_share == 1.0


def test_mistakes_are_listed_with_the_move_and_the_optimal_ones(mdplay):
    """Always the first free cell: against 0 in a corner of Tic-Tac-Toe only the centre does not lose."""
    game = make("tic-tac-toe")

    class First:
        def act(self, state, rng):
            return lowest(game.legal(state))

    found = accuracy(game, First, states=["000000000", "100000000"])
    assert (found.kept, found.critical) == (1, 1)
    assert found.lost == (Mistake("100000000", "1", ("4",)),)
    assert accuracy(game, "random", count=30, side=1).positions == 30
    answer = mdplay("accuracy", "tic-tac-toe", "--agent", "random", "--count", 200, "--side", 2)
    assert answer.code == 0 and ": plays " in answer.out and " more (--json lists all)" in answer.out


def test_positions_without_a_move_are_refused_before_the_agent_is_asked():
    game = make("tic-tac-toe")
    with pytest.raises(PositionError, match="no player is to move in 111220000"):
        accuracy(game, "random", states=["111220000"])
    with pytest.raises(LimitError, match="at least one position"):
        accuracy(game, "random", states=[])
