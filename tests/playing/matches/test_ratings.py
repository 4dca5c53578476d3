import numpy as np
import pytest

from mdplay.playing.matches.results import elo_of_score, elo_ratings


def by_minorization(points, steps=20_000):
    """The iteration of Hunter (2004), another way to the same maximum."""
    points = points + 0.5 * (1 - np.eye(len(points)))
    games, strength = points + points.T, np.ones(len(points))
    for _ in range(steps):
        strength = points.sum(axis=1) / (games / (strength[:, None] + strength[None, :])).sum(axis=1)
    elo = 400 * np.log10(strength)
    return elo - elo.mean()


def test_two_agents_differ_by_the_elo_of_their_score():
    elo, _ = elo_ratings(np.array([[0, 74.5], [24.5, 0]]))  # with the drawn game added: 75 of 100
    assert elo[0] - elo[1] == pytest.approx(elo_of_score(0.75))


@pytest.mark.parametrize("seed", range(5))
def test_another_algorithm_finds_the_same_ratings(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 40, (5, 5)).astype(float)
    np.fill_diagonal(points, 0)
    assert elo_ratings(points)[0] == pytest.approx(by_minorization(points), abs=1e-6)


def test_whoever_wins_all_games_has_a_rating_and_more_games_narrow_the_interval():
    def reach(n):
        return elo_ratings(np.array([[0, n], [n, 0.0]]))[1][0]

    elo, _ = elo_ratings(np.array([[0, 1000, 1000], [0, 0, 1000], [0, 0, 0.0]]))
    assert elo[0] > elo[1] > elo[2] and np.isfinite(elo).all()
    assert reach(400) == pytest.approx(reach(100) / 2, rel=0.01)


def test_the_interval_holds_the_true_rating_in_95_percent_of_tournaments():
    rng = np.random.default_rng(1)
    true = np.array([100.0, 0.0, -100.0])
    expected = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    inside = 0
    for _ in range(400):
        points = np.triu(rng.binomial(100, expected), 1).astype(float)
        points += np.tril((100 - points).T, -1)
        elo, reach = elo_ratings(points)
        inside += np.sum(np.abs(elo - true) <= reach)
    assert 0.93 < inside / 1200 < 0.97
