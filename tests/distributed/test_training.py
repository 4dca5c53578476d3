import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from mdplay import make
from mdplay.distributed import training as spreading
from mdplay.distributed.training import Changes, join
from mdplay.learning.training import NetworkTraining, Settings
from mdplay.playing.learning import learn
from mdplay.runtime.executors import using
from tests.learning.spread_learners import Mortal

SMALL = "2048:rows=2,cols=2"
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


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_of_any_executor_train_the_same_packed_network(workers, short_slices):
    options = {"method": "network", "tuples": "0-1-2,0-1", "episodes": 300, "seed": 5, "workers": workers}
    trainings = [
        learn(make(SMALL), executor=executor, **options) for executor in ("serial", "serial", "processes")
    ]
    assert all(training.network.shape.is_packed for training in trainings)
    first, *others = map(in_bytes, trainings)
    assert all(other == first for other in others)


def test_a_checkpoint_of_a_packing_board_with_unpacked_tables_is_resumed_by_workers(tmp_path, short_slices):
    """One worker trains as one process does, except for rounding: it has the same order of weights."""
    settings = Settings(tuples="0-1-2,0-1", alpha=1.0, seed=5)
    training = NetworkTraining.begin(make(SMALL), settings, packed=False)
    training.run(200, 1, 0)
    old, spread, alone = (tmp_path / name for name in ("old", "spread", "alone"))
    training.save(old)
    for path in (spread, alone):
        path.write_bytes(old.read_bytes())
    options = {"method": "network", "episodes": 240, "resume": True}
    by_worker = learn(make(SMALL), file=spread, executor="serial", workers=1, **options)
    by_process = learn(make(SMALL), file=alone, **options)
    assert not by_worker.network.shape.is_packed and by_worker.episodes == by_process.episodes == 240
    assert np.allclose(by_worker.network.weights, by_process.network.weights, rtol=1e-4, atol=1e-3)
    assert not np.allclose(by_worker.network.weights, training.network.weights, rtol=1e-4, atol=1e-3)
    assert not NetworkTraining.load(spread, make(SMALL)).network.shape.is_packed
