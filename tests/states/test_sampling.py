"""Lower bounds of the number of states, against the true numbers."""

from mdplay import make, perft
from mdplay.states.sampling import sample_games
from tests.nim import Nim


def test_the_bound_is_below_the_true_number_and_not_far(needs_compiler):
    game = make("tic-tac-toe")
    largest = max(ply.positions for ply in perft(game, depth=9, by_symmetry=True))
    sampled = sample_games(game, game.initial(), by_symmetry=True)
    assert largest / 4 < sampled.least_states <= 1.1 * largest
    assert sampled.widths == (9, 9, 1)


def test_a_large_game_is_seen_to_be_large(needs_compiler):
    game = make("connect-four")
    assert sample_games(game, game.initial(), by_symmetry=True).least_states > 1e8  # it has 4.5e12 positions


def test_plain_python_counts_the_same():
    sampled = sample_games(Nim(), Nim().initial(), by_symmetry=False)
    assert sampled.widths == (5, 1)
    assert 1 <= sampled.least_states <= 44
