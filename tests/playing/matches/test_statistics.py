import math
from math import comb

import pytest

from mdplay.playing.matches.results import elo_of_score, mean_and_error, score_interval


@pytest.mark.parametrize("chance", [0.02, 0.1, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("games", [10, 40, 200])
def test_the_interval_holds_the_true_score_in_about_95_percent_of_matches(games, chance):
    covered = 0.0
    for wins in range(games + 1):  # the exact probability, by summing over all matches without draws
        low, high = score_interval(wins, 0, games - wins)
        if low <= chance <= high:
            covered += comb(games, wins) * chance**wins * (1 - chance) ** (games - wins)
    assert covered > 0.92


def test_the_interval_with_draws_too():
    games, win, draw = 30, 0.2, 0.7
    covered = 0.0
    for wins in range(games + 1):
        for draws in range(games + 1 - wins):
            low, high = score_interval(wins, draws, games - wins - draws)
            ways = comb(games, wins) * comb(games - wins, draws)
            if low <= win + draw / 2 <= high:
                covered += ways * win**wins * draw**draws * (1 - win - draw) ** (games - wins - draws)
    assert covered > 0.93


def test_without_draws_it_is_the_interval_of_agresti_and_coull():
    # n = 10, x = 9: p' = (9 + 1.9207) / 13.8415 = 0.78898; +- 1.96 sqrt(p' (1 - p') / 13.8415) = 0.21496
    low, high = score_interval(9, 0, 1)
    assert (low, high) == pytest.approx((0.57402, 1.0), abs=1e-4)


def test_repeated_games_do_not_narrow_it():
    assert score_interval(20, 0, 20, distinct=2) == pytest.approx(score_interval(1, 0, 1))
    assert mean_and_error([1, -1] * 20, distinct=2)[1] > 4 * mean_and_error([1, -1] * 20)[1]


def test_mean_and_standard_error():
    mean, error = mean_and_error([1, 2, 3, 4])
    assert mean == 2.5
    assert error == pytest.approx(math.sqrt(5 / 3 / 4))


def test_elo():
    assert elo_of_score(0.75) == pytest.approx(190.85, abs=0.01)  # the usual table: 76 % is 200
    assert elo_of_score(0.5) == 0
    assert elo_of_score(1.0) == math.inf and elo_of_score(0.0) == -math.inf
