import pytest

from mdplay import GameError, evaluate, make


def test_random_play_of_a_tiny_2048_has_the_exact_mean(needs_compiler):
    from mdplay import playouts

    game = make("2048:rows=2,cols=2")
    known = playouts(game, games=200_000, seed=1)
    mean, error = evaluate(game, "random", games=1000, seed=1).mean
    assert abs(mean - known.mean) < 4 * error


def test_the_distribution():
    found = evaluate(make("2048:rows=2,cols=2"), "random", games=200, seed=1)
    results = sorted(found.results)
    assert found.quantiles[0.0] == results[0] and found.quantiles[1.0] == results[-1]
    assert found.quantiles[0.5] == results[100]
    assert sum(count for *_, count in found.histogram()) == 200
    assert found.as_dict()["games"] == 200
    assert len(evaluate(make("2048:rows=1,cols=2"), "random", games=1).histogram()) == 10


def test_threads_and_results_change_nothing(tmp_path):
    game = make("2048:rows=2,cols=3")
    whole = evaluate(game, "random", games=20, seed=3)
    evaluate(game, "random", games=7, seed=3, results=tmp_path / "results.db")
    assert evaluate(game, "random", games=20, seed=3, threads=3, results=tmp_path / "results.db") == whole
    assert len({record.events for record in whole.records}) == whole.distinct > 15


def test_a_game_for_two_is_refused():
    with pytest.raises(GameError, match="use match"):
        evaluate(make("tic-tac-toe"), "random")
