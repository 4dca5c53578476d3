from mdplay import make
from mdplay.playing.advice import Worth, advise
from mdplay.playing.agents import make_agent
from tests.playing.players import Guessing, Leftmost

GAME = make("tic-tac-toe")
ONE_MOVE_WINS = GAME.parse("110220000")  # cell 2


def test_whoever_knows_no_values_still_has_a_move():
    advice = advise(Leftmost(GAME), "it", GAME, GAME.initial())
    assert (advice.action, advice.worths) == (0, {})


def test_estimates_are_called_so():
    advice = advise(Guessing(GAME), "it", GAME, GAME.initial())
    assert advice.action == 8
    assert [action for action, _ in advice.ranked] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert str(advice.worths[3]) == "estimate +0.3"


def test_a_solution_and_a_proven_node_are_exact(needs_compiler):
    for name in ("perfect", "mcts:simulations=500,threads=1"):
        advice = advise(make_agent(GAME, name), name, GAME, ONE_MOVE_WINS)
        assert (advice.action, advice.worths[2]) == (2, Worth(1.0, True))
        assert str(advice.worths[2]) == "exact +1"
