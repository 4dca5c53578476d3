import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from mdplay.bits import elements
from mdplay.errors import FormatError, UnknownName
from mdplay.games.twenty48.player import BLOCK
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.games.twenty48.training import METHODS, TilesLearner, TilesTraining, TrainingSettings
from mdplay.learning.learned import LearningRun
from mdplay.learning.self_play import Budget
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.signals import StillRunning

NETWORK = ("--network", "0123,0145,12")
GAME = Twenty48()
SMALL = TrainingSettings(network=NETWORK[1], seed=3)


def bits(training):
    arrays = (training.network.weights, training.coherence, training.scores, training.tiles, training.moves)
    return [hashlib.sha256(np.ascontiguousarray(array)).hexdigest() for array in arrays]


def training(episodes, settings=SMALL, **options):
    return gone_on(TilesTraining.begin(settings), episodes, **options)


def gone_on(training, episodes, file=None, report=None, show=None, **options):
    TilesLearner(**options).go_on(
        training, Budget(episodes, every=1000), LearningRun(file=file, report=report, show=show)
    )
    return training


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_repeats_everything(method):
    settings = replace(SMALL, method=method)
    first = training(40, settings)
    assert bits(first) == bits(training(40, settings))
    assert bits(first) != bits(training(40, replace(settings, seed=4)))
    assert first.curve[-1].episodes == 40


@pytest.mark.parametrize("settings", [SMALL, replace(SMALL, method="tc"), replace(SMALL, method="td-before")])
def test_a_course_in_pieces_ends_with_the_same_bits(tmp_path, settings):
    file = tmp_path / "x"
    for episodes in (1, 17, 60):
        begun = TilesTraining.load(file) if file.exists() else TilesTraining.begin(settings)
        gone_on(begun, episodes, file=file)
    assert bits(TilesTraining.load(file)) == bits(training(60, settings))


class ByHand:
    """TD(0) as the text books have it, through the game's own rules and plain arithmetic."""

    def __init__(self, settings):
        self.settings, self.game = settings, Twenty48(settings.rows, settings.cols)
        self.network = TilesTraining.begin(settings).network

    def episode(self, number, choose):
        """Play: yield (board, points, board after the move, its value when it was chosen), then the last board."""
        game, x, s = self.game, stream(self.settings.seed, number), self.game.initial()
        while True:
            while s.popups:
                x = advance(x)
                s = game.outcome(s, game.draw(s, scramble(x)))
            moves = elements(game.legal(s))
            if not moves:
                return
            values = {action: choose(game.step(s, action)) for action in moves}
            action = max(moves, key=lambda a: (np.float32(game.reward(s, a)) + np.float32(values[a]), -a))
            yield s.board, game.reward(s, action), game.step(s, action).board, values[action]
            s = game.step(s, action)

    def correct(self, board, error):
        self.network.update(State(board, 0), self.settings.rate * error)

    def online(self, number):
        """After-states, corrected on the way by the values known from the choice."""
        score, last, value = 0, None, 0.0
        for _, points, after, after_value in self.episode(number, self.network.estimate):
            if last is not None:
                self.correct(last, points + after_value - value)
            score, last, value = score + points, after, after_value
        self.correct(last, 0.0 - value)
        return score

    def backward(self, number):
        """Before-states, replayed from the end: V(next) after its own update, the last board worth 0."""
        history, following = list(self.episode(number, self.expected)), 0.0
        for board, points, _, _ in reversed(history):
            self.correct(board, points + following - self.network.estimate(State(board, 0)))
            following = self.network.estimate(State(board, 0))
        return sum(points for _, points, _, _ in history)

    def expected(self, after):
        game = self.game
        chances = [(game.probability(after, i), game.outcome(after, i)) for i in elements(game.outcomes(after))]
        return sum(p * self.network.estimate(s) if game.legal(s) else 0.0 for p, s in chances)


@pytest.mark.parametrize(("method", "way"), [("td", ByHand.online), ("td-before", ByHand.backward)])
def test_td_is_what_the_text_books_say(method, way):
    settings = TrainingSettings(method=method, rows=2, cols=3, network="0123,14", seed=5, alpha=0.3)
    hand = ByHand(settings)
    scores = [way(hand, number) for number in range(5)]
    learned = training(5, settings)
    assert learned.scores.tolist() == scores
    assert learned.network.weights == pytest.approx(hand.network.weights, abs=1e-4)


def test_several_threads_learn_the_same_game():
    learned = training(2 * BLOCK, threads=2)
    assert learned.episodes == 2 * BLOCK
    assert learned.curve[1].mean > 1.2 * training(100).curve[0].mean


def test_bad_settings_are_refused():
    with pytest.raises(UnknownName, match="td-before"):
        TrainingSettings(method="td-befor")
    for bad in ({"alpha": 0.0}, {"alpha": float("nan")}, {"decay": 1.5}, {"optimistic": float("inf")}):
        with pytest.raises(FormatError):
            TrainingSettings(**bad)


def test_another_course_is_not_gone_on_with(tmp_path):
    training(5, file=tmp_path / "x")
    assert TilesLearner().resumed(GAME, {"seed": 3}, tmp_path / "x").episodes == 5
    with pytest.raises(FormatError, match="seed 3, not 4"):
        TilesLearner().resumed(GAME, {"seed": 4}, tmp_path / "x")


def test_a_course_of_other_rules_is_not_gone_on_with(tmp_path, monkeypatch):
    training(5).save(tmp_path / "x")
    monkeypatch.setattr("mdplay.compiling.identity.game_identity", lambda game: "other")
    with pytest.raises(
        FormatError, match="the rules of Twenty48 have changed since .*x was made, .*; it still plays"
    ):
        TilesTraining.load(tmp_path / "x")


# ---------------------------------------------------------------- the command, killed
def command(file, episodes, *more):
    arguments = ["learn", "2048", *NETWORK, "--seed", "3", "--episodes", str(episodes)]
    return [sys.executable, "-m", "mdplay", *arguments, "--out", str(file), "--save-every", "0", *more]


def start(file, episodes, *more):
    pipe = subprocess.PIPE
    process = subprocess.Popen(command(file, episodes, "--resume", *more), stdout=pipe, stderr=pipe, text=True)
    process.stdout.readline()  # the first block is done
    return process


def killed_and_resumed(file, episodes, kills):
    """Kill a training at odd moments; after every kill the file is whole and no work before it is lost."""
    done = 0
    for number in range(kills):
        process = start(file, episodes)
        time.sleep(0.013 * (number % 7))
        process.kill()
        process.communicate()
        found = TilesTraining.load(file).episodes
        assert found >= done
        done = found
    subprocess.run(command(file, episodes, "--resume"), check=True, stdout=subprocess.DEVNULL)


def test_a_killed_course_ends_with_the_same_bits(tmp_path, needs_compiler):
    killed_and_resumed(tmp_path / "x", 6000, kills=3)
    assert bits(TilesTraining.load(tmp_path / "x")) == bits(training(6000))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.slow
def test_fifty_kills(tmp_path):
    killed_and_resumed(tmp_path / "x", 60_000, kills=50)
    assert bits(TilesTraining.load(tmp_path / "x")) == bits(training(60_000))


def test_ctrl_c_saves_and_the_course_goes_on(tmp_path, needs_compiler):
    process = start(tmp_path / "x", 1_000_000)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "mdplay: stopped"
    stopped = TilesTraining.load(tmp_path / "x")
    assert stopped.episodes >= BLOCK
    assert bits(stopped) == bits(training(stopped.episodes))


def test_the_json_document(tmp_path, mdplay):
    found = mdplay("learn", "2048", *NETWORK, "--episodes", 1500, "--json", "--curve", tmp_path / "c.csv")
    document = json.loads(found.out)
    assert [point["episodes"] for point in document["curve"]] == [1000, 1500]
    assert set(document["curve"][0]) == {"episodes", "mean", "max", "tiles"}
    scores = training(1500, TrainingSettings(network=NETWORK[1])).scores
    assert document["mean"] == pytest.approx(scores[-1000:].mean())
    assert document["max"] == scores[-1000:].max()
    assert document["moves_per_second"] > 0
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 3


def test_faults_are_told_in_a_sentence(tmp_path, mdplay):
    (tmp_path / "there").write_text("something")
    for arguments, sentence in [
        (
            ("--method", "sarsa"),
            "more than 2,000,000 states, and this method lists them all; use a method of self-play",
        ),
        (("--network", "9x9"), "no network '9x9'"),
        (("--resume",), "resume needs a file"),
        (("--out", tmp_path / "there"), "is already there; resume it"),
        (("--out", tmp_path / "there", "--resume"), "not a file of mdplay"),
        (("--out", tmp_path / "no" / "where"), "cannot write"),
        (("--alpha", "-1"), "alpha=-1.0"),
    ]:
        found = mdplay("learn", "2048", "--episodes", 1, *arguments)
        assert found.code == 2
        assert sentence in found.err
        assert found.err.startswith("mdplay: ")


def test_a_kernel_that_still_runs_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    def run(self, episodes, threads, planned, show=None):
        raise StillRunning

    out = tmp_path / "network"
    training = TilesTraining.begin(TrainingSettings(rows=2, cols=2, network="01,23"))
    training.prepare()
    monkeypatch.setattr(TilesTraining, "prepare", lambda self: out.write_bytes(b"saved before"))
    monkeypatch.setattr(TilesTraining, "run", run)
    with pytest.raises(StillRunning):
        gone_on(training, 10, file=out)
    assert out.read_bytes() == b"saved before"


# ---------------------------------------------------------------- checkpoints that somebody forged
def forged(path, change):
    """Write a checkpoint with a checksum that fits, changed by ``change(arrays, meta)``."""
    from mdplay.storage import arrays as store

    TilesTraining.begin(TrainingSettings(method="tc", network="01,12")).save(path)
    stored = store.load(path, kind="network")
    arrays, meta = dict(stored.arrays), stored.meta
    change(arrays, meta)
    store.save(path, arrays, kind="network", meta=meta)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: arrays.pop("coherence"),
        lambda arrays, meta: arrays.pop("scores"),
        lambda arrays, meta: arrays.pop("weights"),
        lambda arrays, meta: arrays.update(coherence=arrays["coherence"][1:]),
        lambda arrays, meta: arrays.update(scores=arrays["scores"].astype(float)),
        lambda arrays, meta: arrays.update(scores=np.zeros(3, np.int32)),
        lambda arrays, meta: meta.update(settings=7),
        lambda arrays, meta: meta.update(rows=1 << 31),
        lambda arrays, meta: meta.update(rows="4"),
        lambda arrays, meta: meta["settings"].update(rows=1 << 31),
        lambda arrays, meta: meta["settings"].update(strange=1),
        lambda arrays, meta: meta["settings"].update(seed=None),
        lambda arrays, meta: meta["settings"].update(alpha="x"),
        lambda arrays, meta: meta["settings"].update(network=7),
        lambda arrays, meta: meta["settings"].update(backward="no"),
        lambda arrays, meta: meta["settings"].pop("decay"),
        lambda arrays, meta: meta.pop("seconds"),
        lambda arrays, meta: meta.update(seconds=[]),
    ],
)
def test_a_forged_checkpoint_is_refused(tmp_path, change):
    forged(tmp_path / "forged", change)
    with pytest.raises(FormatError):
        TilesTraining.load(tmp_path / "forged")
