"""The course of a run, with a training that only counts; and 2048, which runs as every game does."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import LimitError, learn, make
from mdplay.learning.curves import NO_JUDGE
from mdplay.learning.learned import LearningRun
from mdplay.learning.self_play import SelfPlayLearner, Training, done

BOARD = make("2048:rows=2,cols=2")
NETWORK = {"network": "01,23", "seed": 3}


class Told(NamedTuple):
    moves: np.ndarray


class Line(NamedTuple):
    episodes: int

    def line(self):
        return f"{self.episodes} episodes"


@dataclass
class Counting(Training[Told]):
    """Every episode is its number long; the clock is the number of episodes."""

    blocks: list = field(default_factory=list)
    saved: list = field(default_factory=list)
    seconds: float = 0.0

    episodes = property(lambda self: len(self.blocks))
    num_moves = property(lambda self: sum(self.blocks))

    def room(self, episodes):
        return Told(np.full(episodes, -1))

    def task(self, worker, planned, out):
        def work():
            for i in range(worker.first, len(out.moves), worker.stride):
                out.moves[i] = self.episodes + i

        return work

    def add(self, played):
        self.blocks += [int(moves) for moves in played.moves]

    def add_point(self, found=NO_JUDGE):
        return Line(self.episodes)

    def agent(self):
        raise AssertionError("nobody judges")

    def save(self, path):
        self.saved.append(self.episodes)

    def save_compact(self, path):
        self.saved.append("compact")


@dataclass(frozen=True)
class CountingLearner(SelfPlayLearner[Counting]):
    EPISODES = 30
    POINT_EPISODES = None

    def settings(self, game, run):
        return {}

    def begin(self, game, given):
        return Counting()

    def resumed(self, game, given, path):
        raise AssertionError("there is no file")


def test_a_run_has_its_episodes_its_points_and_its_checkpoints(tmp_path):
    lines = []
    learner = CountingLearner(threads=2, save_every=0, compact="small")
    training = learner.learn(BOARD, LearningRun(file=tmp_path / "x", report=lines.append))
    assert training.blocks == list(range(30))  # each episode once, whatever the threads and blocks
    assert lines == [f"{n} episodes" for n in range(3, 31, 3)]
    assert training.saved == [*range(0, 31, 3), "compact"]  # before, after each block, at the end


def test_points_of_a_learner_that_counts_episodes():
    class Often(CountingLearner):
        POINT_EPISODES = 8

    lines = []
    Often().learn(BOARD, LearningRun(episodes=20, report=lines.append))
    assert lines == ["8 episodes", "16 episodes", "20 episodes"]  # the last one may be shorter


def test_episodes_that_were_not_played_do_not_count():
    assert done(Told(np.array([4, -1, 7, -1]))).moves.tolist() == [4, 7]


def test_episodes_or_minutes():
    for given in (0, [10, 20], 2.5):
        with pytest.raises(LimitError, match="one number of episodes, at least 1"):
            CountingLearner().learn(BOARD, LearningRun(episodes=given))
    for minutes in (0, -1.0, float("nan")):
        with pytest.raises(LimitError, match="is no time to learn in"):
            CountingLearner(minutes=minutes).learn(BOARD, LearningRun())
    with pytest.raises(LimitError, match="episodes or of minutes, not both"):
        CountingLearner(minutes=1).learn(BOARD, LearningRun(episodes=10))


def test_2048_is_learned_for_minutes_too():
    lines = []
    learned = learn(BOARD, minutes=0.005, report=lines.append, **NETWORK)
    assert learned.seconds >= 0.3 and len(lines) == len(learned.curve) == -(-learned.episodes // 1000)
    again = learn(BOARD, episodes=learned.episodes, **NETWORK)
    assert (again.network.weights == learned.network.weights).all()  # the clock decides how long, nothing else
