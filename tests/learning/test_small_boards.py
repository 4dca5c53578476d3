"""The learner measured by exact solutions: what a learned greedy player is expected to score, computed exactly."""

from dataclasses import replace
from functools import cache

import pytest

from mdplay import evaluate
from mdplay.bits import elements
from mdplay.games.twenty48.player import Player
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings

OPTIMAL_2X2 = 66.9641494571  # expected score of perfect play, by exact solution of all states
OPTIMAL_2X3 = 480.2582717760  # the same; tests/solving holds both against the solver


def expected_score(game, choose):
    """Return what a player is expected to score, over all that chance may do."""

    @cache
    def from_here(board):
        s = State(board, 0)
        if not game.legal(s):
            return 0.0
        return choose(s, lambda action: game.reward(s, action) + before_chance(game.step(s, action)))

    @cache
    def before_chance(s):
        total = 0.0
        for i in elements(game.outcomes(s)):
            following = game.outcome(s, i)
            value = before_chance(following) if following.popups else from_here(following.board)
            total += game.probability(s, i) * value
        return total

    return before_chance(game.initial())


def test_perfect_play_on_2x2_is_worth_what_is_known():
    game = Twenty48(2, 2)
    best = expected_score(game, lambda s, value: max(map(value, elements(game.legal(s)))))
    assert best == pytest.approx(OPTIMAL_2X2, abs=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        TrainingSettings(method="tc"),
        pytest.param(TrainingSettings(alpha=0.5, optimistic=100.0), marks=pytest.mark.slow),
        pytest.param(TrainingSettings(method="td-before", optimistic=100.0), marks=pytest.mark.slow),
    ],
    ids=lambda settings: settings.method,
)
def test_learned_play_on_2x2_is_nearly_perfect(settings):
    training = TilesTraining.begin(TrainingSettings(**{**vars(settings), "rows": 2, "cols": 2, "seed": 1}))
    training.run(30_000, 1, 30_000)
    player = Player(training.network)
    score = expected_score(player.game, lambda s, value: value(player.act(s)))
    assert score <= OPTIMAL_2X2 + 1e-9
    assert score >= 0.99 * OPTIMAL_2X2


@pytest.mark.slow
def test_learned_play_on_2x3_is_nearly_perfect():
    """Optimism makes the learner try everything; lower and lower rates average the chance out."""
    training = TilesTraining.begin(
        TrainingSettings(method="td-before", rows=2, cols=3, seed=1, alpha=0.1, optimistic=1000.0)
    )
    for alpha in (0.1, 0.03, 0.01):
        training.settings = replace(training.settings, alpha=alpha)
        training.run(1_000_000, 1, 1_000_000)
    mean, error = evaluate(Twenty48(2, 3), training.agent(), games=400_000, seed=2).mean
    assert mean - 4 * error >= 0.99 * OPTIMAL_2X3
    assert mean - 4 * error <= OPTIMAL_2X3
