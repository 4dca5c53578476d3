"""Search with a learned network: it finds what the network alone does not see, and proves what can be proven."""

import pytest

from mdplay import depth_limited, learn, make, make_agent, match, mcts, solve
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.rng import Random
from mdplay.searching.mcts import MCTSAgent


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Tic-Tac-Toe learned for far too short, by far too small tuples."""
    file = tmp_path_factory.mktemp("networks") / "n.safetensors"
    return learn(TicTacToe(), episodes=30, tuples="0-1-2,0-4-8", file=file), file


def test_a_forced_win_is_proven(learned):
    network, game = learned[0].network, TicTacToe()
    s = game.parse("100020001")  # x in two corners, o in the middle: an edge draws, a corner loses to a fork
    assert mcts(game, s, simulations=200, network=network).action in (1, 3, 5, 7)
    fork = mcts(game, game.parse("120000000"), simulations=200, network=network)
    assert fork.proven and fork.value == 1.0
    once, again = (mcts(game, simulations=50, network=network, seed=2) for _ in range(2))
    assert once.moves == again.moves


def test_depth_limited_search_guesses_by_the_network(learned):
    network, game = learned[0].network, TicTacToe()
    found = depth_limited(game, depth=1, network=network)
    values = {move.action: move.value for move in found.moves}
    for action, value in values.items():  # depth 1: the position after each move, as its best reply leaves it
        assert value == pytest.approx(-network.value(game.step(game.initial(), action)), abs=1e-6)
    assert depth_limited(game, game.parse("120000000"), depth=9, network=network).value == 1.0


def test_agents_by_their_files(learned):
    file, game = learned[1], TicTacToe()
    agent = make_agent(game, f"mcts:network={file},simulations=30")
    assert isinstance(agent, MCTSAgent) and agent.act(game.parse("110220000"), Random(0)) == 2
    played = match(game, f"mcts:network={file},simulations=60", "random", games=6, seed=1)
    assert played.tally.losses == 0
    assert make_agent(game, f"heuristic:depth=2,network={file}").act(game.parse("110220000"), Random(0)) == 2


def test_points_and_extra_turns():
    game = make("dots-and-boxes")
    network = learn(game, episodes=30, seed=1).network
    found = mcts(game, game.parse("111111110000"), simulations=400, network=network)
    assert found.value == pytest.approx(solve(game).value(game.parse("111111110000")), abs=0.02)
