from mdplay.games.connect_four.rules import ConnectFour
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.notation import parse_position
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from mdplay.searching.agents import HeuristicAgent, MCTSAgent, SearchAgent


def test_agents_by_name():
    game = TicTacToe()
    agent = make_agent(game, "mcts:simulations=300,selector=ucb1(c=1),solver=no")
    assert isinstance(agent, MCTSAgent)
    assert isinstance(agent, SearchAgent)
    assert agent.act(game.parse("110220000"), Random(1)) == 2
    assert isinstance(make_agent(ConnectFour(), "heuristic:depth=2"), HeuristicAgent)


def test_the_tree_goes_along_with_the_game():
    game = TicTacToe()
    keeper, forgetter = MCTSAgent(game, simulations=300), MCTSAgent(game, simulations=300, reuse=False)
    later = parse_position(game, "100020000")
    for agent in (keeper, forgetter):
        agent.search(game.initial())
    kept, fresh = (sum(m.visits for m in agent.search(later).moves) for agent in (keeper, forgetter))
    assert kept > fresh == 300


def test_the_heuristic_agent_draws_among_equals():
    game = ConnectFour()
    agent = HeuristicAgent(game, depth=1)
    best = agent.search(game.initial()).best
    assert len(best) > 1
    assert {agent.act(game.initial(), Random(seed)) for seed in range(40)} == set(best)
