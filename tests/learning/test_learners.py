from dataclasses import dataclass

import numpy as np
import pytest

from mdplay import (
    ArgumentError,
    FormatError,
    GameError,
    Learned,
    LimitError,
    UnknownName,
    evaluate,
    learn,
    make,
    match,
)
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings
from mdplay.learning.cell_utilities import read_points
from mdplay.learning.learners import learners, options_of
from mdplay.naming.registry import register_extras
from mdplay.rng import Random

BOARD = make("2048:rows=2,cols=2")
SMALL = {"network": "01,23", "episodes": 30, "seed": 3}


def test_the_games_own_learner_is_taken_by_itself():
    by_itself = learn(BOARD, **SMALL)
    assert isinstance(by_itself, TilesTraining) and isinstance(by_itself, Learned)
    named = learn(BOARD, method="td", **SMALL)
    settings = TrainingSettings(rows=2, cols=2, network="01,23", seed=3)
    direct = TilesTraining.begin(settings)
    direct.run(30, 1, 30)
    assert (named.network.weights == by_itself.network.weights).all()
    assert (direct.network.weights == by_itself.network.weights).all()
    other = learn(BOARD, method="tc", **SMALL)
    assert other.settings.method == "tc" and (other.network.weights != direct.network.weights).any()
    assert other.curve[-1].episodes == 30 and other.document()["episodes"] == 30


def test_a_training_is_kept_and_gone_on_with(tmp_path):
    file = tmp_path / "network"
    learn(BOARD, method="tc", file=file, **SMALL)
    with pytest.raises(FormatError, match="already there"):
        learn(BOARD, method="tc", file=file, **SMALL)
    longer = learn(BOARD, file=file, resume=True, episodes=50)  # method and seed are the file's
    assert (longer.settings.method, longer.settings.seed, longer.episodes) == ("tc", 3, 50)
    with pytest.raises(FormatError, match="seed 3, not 4"):
        learn(BOARD, file=file, resume=True, seed=4)
    with pytest.raises(FormatError, match="resume needs a file"):
        learn(BOARD, resume=True)


def test_values_and_players_of_a_training():
    learned = learn(BOARD, method="tc", episodes=3000, seed=1)
    start = BOARD.initial()
    mean, error = evaluate(BOARD, learned.agent(), games=3000, seed=2).mean
    assert abs(mean - learned.value(start)) < 5 * error + 3  # what it expects is what it gets, nearly
    assert learned.value(BOARD.parse("1221")) == 0.0


def test_points_of_any_game_of_points(tmp_path):
    game = TicTacToe()
    points = {"method": "points", "explore": "always", "seed": 2}
    found = learn(game, episodes=(50, 500), file=tmp_path / "points.json", **points)
    assert isinstance(found, Learned) and [run.num_games for run in found.curve] == [50, 500]
    assert (found.wins == learn(game, episodes=500, **points).wins).all()
    kept = read_points(tmp_path / "points.json", game)
    assert [(run.wins == other.wins).all() for run, other in zip(kept, found.curve, strict=True)] == [True, True]
    assert found.value(game.initial()) == found.utilities.max() and found.value(game.parse("121122211")) == 0.5
    from_file = match(game, f"points:{tmp_path / 'points.json'}", "random", games=6, seed=1)
    assert from_file.tally == match(game, found.agent(), "random", games=6, seed=1).tally
    assert kept[-1].agent().act(game.initial(), Random(0)) == np.argmax(found.utilities)


@pytest.mark.parametrize(
    "game, options, error, sentence",
    [
        ("connect-four", {"method": "points"}, GameError, "ConnectFour is not a game of points"),
        ("2048", {"method": "points"}, GameError, "needs two players and no chance"),
        ("qubic", {"method": "td"}, GameError, "name an opponent, for example uniform, or use method network"),
        ("2048", {"method": "sarsa"}, LimitError, "this method lists them all; use a method of self-play"),
        ("qubic", {"method": "points", "explor": "always"}, UnknownName, "did you mean 'explore'"),
        ("qubic", {"method": "points", "episodes": 0}, LimitError, "episodes=0 must be at least 1"),
        ("qubic", {"method": "points", "against": "random"}, UnknownName, "no option 'against', but network has"),
        ("2048", {"epsilon": 0.1}, UnknownName, "the method td has no option 'epsilon', but network has"),
        ("2048", {"method": "tc", "lamda": 0.1}, UnknownName, "no option 'lamda'; did you mean 'lambda'"),
        ("2048", {"episodes": (1, 2)}, LimitError, "give one number of episodes"),
    ],
)
def test_refusals_are_one_sentence(game, options, error, sentence):
    with pytest.raises(error, match=sentence):
        learn(make(game), **{"episodes": 5, **options})


@dataclass(frozen=True)
class Own(TicTacToe):
    """Tic-Tac-Toe with a learner of its own."""


@dataclass(frozen=True)
class Nothing:
    """Learns by itself, whatever it is asked."""

    depth: int = 2

    def learn(self, game, run):
        assert (run.method, run.episodes, self.depth) == (None, 7, 3)
        return learn(TicTacToe(), method="points", episodes=1)


def test_a_game_brings_its_own_learner():
    register_extras(Own, learners={"nothing": Nothing})
    assert list(learners(Own())) == ["nothing", "network", "points"]
    options = {option.name: option.help for option in options_of(Own())}
    assert next(iter(options)) == "depth" and {"minutes", "tuples", "explore"} <= set(options)
    assert learn(Own(), episodes=7, depth=3).num_games == 1
    assert list(learners(TicTacToe())) == ["network", "points"]


def test_a_number_of_games_without_an_opponent_is_refused():
    with pytest.raises(ArgumentError, match="name the opponent with --against"):
        learn(make("qubic"), method="points", games=10_000)
