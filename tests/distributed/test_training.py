import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from mdplay import make
from mdplay.distributed import training as spreading
from mdplay.distributed.training import Changes, join
from mdplay.learning.training import NetworkTraining
from mdplay.playing.learning import learn
from mdplay.runtime.executors import using
from tests.learning.spread_learners import Mortal

pytestmark = pytest.mark.usefixtures("needs_compiler")


def in_bytes(training):
    return training.network.weights.tobytes() + training.coherence.tobytes()


def learned(executor, **options):
    return learn(make("tic-tac-toe"), method="network", executor=executor, workers=2, **options)


@pytest.fixture
def short_slices(monkeypatch):
    monkeypatch.setattr(spreading, "SLICE", 50)


def test_workers_learn_all_episodes_and_the_game(short_slices):
    training = learned("serial", episodes=4000)
    assert training.episodes == 4000 and len(training.curve) == 10
    game, state = make("tic-tac-toe"), None
    for action in (4, 1, 0):  # the first player has the centre and a corner, and threatens the other
        state = game.step(game.initial() if state is None else state, action)
    assert training.agent().act(state, None) == 8


def test_the_engine_changes_no_bit_and_neither_does_a_worker_that_dies(monkeypatch):
    seed = os.getpid()
    whole = in_bytes(learned("serial", episodes=3000, seed=seed))
    monkeypatch.setattr(spreading, "SliceLearner", Mortal)
    mark = Path(tempfile.gettempdir()) / f"mortal-learner-{seed}"
    with using("processes", 2) as two:
        assert in_bytes(learned(two, episodes=3000, seed=seed)) == whole
    mark.unlink()


def test_a_checkpoint_is_gone_on_with(tmp_path, short_slices):
    path = tmp_path / "spread.safetensors"
    learned("serial", episodes=100, file=path)
    assert learned("serial", episodes=200, file=path, resume=True).episodes == 200
    assert NetworkTraining.load(path, make("tic-tac-toe")).episodes == 200


def test_a_weight_moves_by_the_mean_of_those_who_moved_it():
    training = learned("serial", episodes=10)
    before, places = training.network.weights.copy(), np.arange(3)
    ones = np.ones((3, 2), np.float32)
    parts = [
        Changes(places, np.full(3, 4, np.float32), ones),
        Changes(places[:1], np.full(1, 2, np.float32), ones[:1]),
    ]
    join(training, parts)
    assert (training.network.weights - before)[:4].tolist() == pytest.approx([3, 4, 4, 0], abs=1e-6)
