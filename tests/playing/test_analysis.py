from mdplay import make
from mdplay.playing.agents import make_agent
from mdplay.playing.terminal import MoveValue, analyse
from tests.playing.players import Guessing, Leftmost

GAME = make("tic-tac-toe")
ONE_MOVE_WINS = GAME.parse("110220000")  # cell 2


def test_whoever_knows_no_values_still_has_a_move():
    analysis = analyse(Leftmost(GAME), "it", GAME, GAME.initial())
    assert (analysis.action, analysis.values) == (0, {})


def test_estimates_are_called_so():
    analysis = analyse(Guessing(GAME), "it", GAME, GAME.initial())
    assert analysis.action == 8
    assert [action for action, _ in analysis.ranked] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert str(analysis.values[3]) == "estimate +0.3"


def test_a_solution_and_a_proven_node_are_exact(needs_compiler):
    for name in ("perfect", "mcts:simulations=500,threads=1"):
        analysis = analyse(make_agent(GAME, name), name, GAME, ONE_MOVE_WINS)
        assert (analysis.action, analysis.values[2]) == (2, MoveValue(1.0, True))
        assert str(analysis.values[2]) == "exact +1"
