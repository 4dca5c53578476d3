from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest

from mdplay import Game, GameError, LimitError, evaluate, make
from mdplay.playing.matches import evaluating
from mdplay.states import game_length as limits
from mdplay.states.game_length import repeating_limit


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
    assert found.document()["games"] == 200
    assert len(found.histogram()) == 10 < len(set(results))
    few = replace(found, results=(1.0, -1.0, 1.0))
    assert few.histogram() == [(-1.0, -1.0, 1), (1.0, 1.0, 2)]


def test_threads_and_results_change_nothing(tmp_path):
    game = make("2048:rows=2,cols=3")
    whole = evaluate(game, "random", games=20, seed=3)
    evaluate(game, "random", games=7, seed=3, file=tmp_path / "results.db")
    assert evaluate(game, "random", games=20, seed=3, threads=3, file=tmp_path / "results.db") == whole
    assert len({record.events for record in whole.records}) == whole.distinct > 15


def test_a_game_for_two_is_refused():
    with pytest.raises(GameError, match="use mdplay match"):
        evaluate(make("tic-tac-toe"), "random")


def test_compiled_games_have_the_result_and_the_json_of_any_other(needs_compiler):
    from mdplay import learn

    game = make("2048:rows=2,cols=2")
    player = learn(game, network="01,23", episodes=30, seed=3).agent()
    fast, slow = (evaluate(game, player, games=30, seed=1, record=record) for record in (False, True))
    assert fast.records == () and fast.distinct is None and len(slow.records) == 30
    assert fast.document().keys() == slow.document().keys()
    assert fast.shares["tiles"][4] > 0 and fast.moves > 30 < slow.moves
    events = sum(len(record.events) for record in slow.records)
    assert events == 2 * slow.moves + 2 * 30  # a tile pops up after every move, and two at first


def test_compiled_games_are_the_same_by_an_engine(needs_compiler, tmp_path):
    from mdplay import learn

    game, file = make("2048:rows=2,cols=2"), tmp_path / "network.safetensors"
    learn(game, network="01,23", episodes=30, seed=3).save(file)
    shown = []
    here, there = (
        evaluate(game, f"network:{file}", games=40, executor=e, progress=shown.append) for e in (None, "serial")
    )
    assert (here.results, here.moves, here.shares) == (there.results, there.moves, there.shares)
    assert shown[-1] == here.moves


def test_another_name_for_the_value_of_a_policy():
    from mdplay import planning as mdp

    assert not hasattr(mdp, "evaluate") and mdp.evaluate_policy


class Turn(NamedTuple):
    waits: int  # 1 while chance decides
    over: int  # 1 after quitting, 2 after a win


@dataclass(frozen=True)
class Waiting(Game[Turn]):
    """Quit for 0, or wait: one time in 64 that wins 1.  Waiting for ever is certain to win."""

    def initial(self) -> Turn:
        return Turn(0, 0)

    def legal(self, s: Turn) -> int:
        return 0 if s.over or s.waits else 3

    def step(self, s: Turn, action: int) -> Turn:
        return Turn(0, 1) if action == 0 else Turn(1, 0)

    def outcomes(self, s: Turn) -> int:
        return 3 if s.waits else 0

    def outcome(self, s: Turn, i: int) -> Turn:
        return Turn(0, 2 * i)

    def probability(self, s: Turn, i: int) -> float:
        return 1 / 64 if i else 63 / 64

    def result(self, s: Turn) -> int:
        return s.over // 2


class Patient:
    def act(self, state, rng):
        return 1


def test_games_with_chance_are_played_to_their_end_or_the_mean_is_refused(monkeypatch):
    """Random games last four events on average, these about 128: a limit by the former would change the mean."""
    found = evaluate(Waiting(), Patient, games=20)
    assert (found.mean[0], found.by_limit) == (1.0, 0)
    assert max(len(record.events) for record in found.records) > repeating_limit(Waiting())
    for place in (limits, evaluating):
        monkeypatch.setattr(place, "MAX_CHANCE_MOVES", 120)
    with pytest.raises(
        LimitError, match=r"the mean result is unknown, because \d+ of 20 games did not end within"
    ):
        evaluate(Waiting(), Patient, games=20)
    assert evaluate(Waiting(), Patient, games=20, max_moves=120).by_limit > 0
