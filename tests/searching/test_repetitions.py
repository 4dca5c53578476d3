"""Searches in games whose positions come back: what is said to be proven is true, whatever path led there."""

from dataclasses import replace

import pytest

from mdplay import learn, make, match, mcts, search, solve
from mdplay.errors import LimitError
from mdplay.searching.selecting import REPEATED
from tests.helpers import COMPILED
from tests.solving.loopy_graphs import CIRCLE, GOES_ON, Graph, Losing, Winning, naive, random_graph

SEEDS = [7, 71, 135] if COMPILED else [*range(8), 71, 135]  # the last ones: wins of several sizes


def exact(game):
    """Return what the root is worth to the player to move."""
    value, _ = naive(game)[game.root]
    return -value if game.movers[game.root] else value


@pytest.mark.parametrize("kind", [Graph] if COMPILED else [Graph, Winning, Losing])
@pytest.mark.parametrize("agent, options", [("heuristic", {"depth": 4}), ("mcts", {"simulations": 150})])
def test_what_is_proven_is_true(agent, options, kind):
    proven = 0
    for seed in SEEDS:
        game = random_graph(seed, 14, kind)
        if seed % 2 == 0:  # wins and losses of one size: more is proven
            game = replace(game, results=tuple(r if r == GOES_ON else (r > 0) - (r < 0) for r in game.results))
        found = search(game, agent=agent, **options)
        proven += found.proven
        assert not found.proven or found.value == exact(game), seed
    assert proven or COMPILED


@pytest.mark.parametrize("kind, value", [(Graph, 0), (Winning, 1)])
def test_going_round_is_worth_endless_play(kind, value):
    """Random games from anywhere end in a loss: only the circle itself tells."""
    found = mcts(kind(*CIRCLE), simulations=200)
    assert found.value == pytest.approx(value, abs=0.1) and not found.proven
    assert found.action in (0, 2)
    assert found.nodes == 10  # the root, two and three moves on: below what came back nothing is searched
    assert mcts(kind(*CIRCLE), simulations=200, expansion="all").nodes == 10


def test_a_kept_tree_forgets_what_came_back_to_an_earlier_root():
    game = Graph(*CIRCLE)
    first = mcts(game, simulations=50)
    again = mcts(game, game.step(game.initial(), 0), simulations=50, reuse=first)
    assert again.value == pytest.approx(0.0, abs=0.1)
    assert again.nodes == 13  # what had come back to the first root has moves again: three more, and theirs


@pytest.mark.usefixtures("needs_compiler")
def test_a_network_does_not_go_round():
    game = make("dodgem")
    network = learn(game, episodes=3).network
    found = mcts(game, simulations=400, network=network)
    assert any(node["proof"] == REPEATED for node in found.tree.places[0][0].nodes)


@pytest.mark.skipif(COMPILED, reason="many games to compile; plain Python runs the same code")
@pytest.mark.parametrize("kind", [Graph, Winning, Losing])
def test_proof_search_proves_or_refuses(kind):
    told = 0
    for seed in range(4):
        game = random_graph(seed, 10, kind)
        try:
            assert solve(game, method="proof").value() == exact(game), seed
            told += 1
        except LimitError as error:
            assert "has cycles" in str(error)
    assert told


def spoiled(game, solution, record):
    """Tell whether the first agent of a match, who is perfect, did not win a position that it had won."""
    mine, s = record.number % 2, game.initial() if record.start is None else record.start
    won = False
    for number, event in enumerate(record.events):
        value = solution.value(s, player=mine)
        if won and value != 1.0:
            return True
        won = number >= record.opening and value == 1.0
        s = game.step(s, event)
    return won and record.result != (-1.0 if mine else 1.0)


@pytest.mark.usefixtures("needs_compiler")
def test_perfect_wins_what_is_won_and_every_match_ends():
    game = make("dodgem")
    solution = solve(game)
    for other in ("perfect", "random"):
        result = match(game, "perfect", other, games=40)
        assert not any(spoiled(game, solution, record) for record in result.records)
        assert result.tally.wins >= 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["dodgem", "mens-morris", "mens-morris:diagonals=no", "mu-torere", "chess-ending", "chess-ending:queen=yes"],
)
@pytest.mark.parametrize("other, games", [("perfect", 1000), ("random", 1000), ("mcts:simulations=50", 1000)])
def test_a_thousand_games_of_perfect_spoil_no_won_position(name, other, games):
    game = make(name)
    solution, result = solve(game), match(game, "perfect", other, games=games)
    assert len(result.records) == games and all(record.result is not None for record in result.records)
    assert not any(spoiled(game, solution, record) for record in result.records)
