"""Thoughts beyond what the engine's own tests show: budgets, and the moves of a match."""

from mdplay import make
from mdplay.playing.agents import make_agent
from mdplay.playing.engine.server import think
from mdplay.rng import Random


def thought(game, spec, **go):
    game = make(game)
    return list(think(game, make_agent(game, spec), spec, game.initial(), Random(3), go).answers())


def test_a_budget_counts_before_the_agents_own(needs_compiler):
    assert thought("tic-tac-toe", "mcts:simulations=100")[-1][1]["simulations"] == 100
    assert thought("tic-tac-toe", "mcts:simulations=100", simulations=300)[-1][1]["simulations"] == 300
    assert thought("tic-tac-toe", "mcts:simulations=100", depth=3)[-1][1]["simulations"] == 100


def test_depths_come_one_by_one(needs_compiler):
    told = [told for _, told in thought("tic-tac-toe", "heuristic", depth=3)]
    assert [one["depth"] for one in told] == [1, 2, 3]


def test_without_info_an_agent_plays_as_in_a_match(needs_compiler):
    game, spec = make("tic-tac-toe"), "mcts:simulations=200"
    expected = make_agent(game, spec).act(game.initial(), Random(3))
    assert thought("tic-tac-toe", spec, info=False) == [(expected, {})]


def test_a_budget_that_an_agent_does_not_know_is_let_be():
    assert thought("tic-tac-toe", "random", simulations=5) == thought("tic-tac-toe", "random")
