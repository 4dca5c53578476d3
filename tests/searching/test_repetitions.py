"""Searches in games whose positions come back: what is said to be proven is true, whatever path led there."""

import pytest

from mdplay import make, match, search, solve
from mdplay.errors import LimitError
from tests.helpers import COMPILED
from tests.solving.loopy_graphs import naive, random_graph

SEEDS = range(3) if COMPILED else range(40)


def exact(game):
    """Return what the root is worth to the player to move."""
    value, _ = naive(game)[game.root]
    return -value if game.movers[game.root] else value


@pytest.mark.parametrize("agent, options", [("heuristic", {"depth": 7}), ("mcts", {"simulations": 150})])
def test_what_is_proven_is_true(agent, options):
    proven = 0
    for seed in SEEDS:
        game = random_graph(seed, 14)
        found = search(game, agent=agent, **options)
        proven += found.proven
        assert not found.proven or found.value == exact(game), seed
    assert proven or COMPILED


@pytest.mark.skipif(COMPILED, reason="many games to compile; plain Python runs the same code")
def test_proof_search_proves_or_refuses():
    told = 0
    for seed in range(12):
        game = random_graph(seed, 10)
        try:
            assert solve(game, method="proof").value() == exact(game), seed
            told += 1
        except LimitError as error:
            assert "come back" in str(error)
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
@pytest.mark.parametrize("name", ["dodgem", "mens-morris", "mu-torere"])
@pytest.mark.parametrize("other, games", [("perfect", 1000), ("random", 1000), ("mcts:simulations=50", 1000)])
def test_a_thousand_games_of_perfect_spoil_no_won_position(name, other, games):
    game = make(name)
    solution, result = solve(game), match(game, "perfect", other, games=games)
    assert len(result.records) == games
    assert not any(spoiled(game, solution, record) for record in result.records)
