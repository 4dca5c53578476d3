"""A training that can be stopped, killed and gone on with.

A checkpoint is the network file itself: the weights, the sums of temporal coherence, and the scores of all
episodes so far.  It is written atomically after blocks of a thousand episodes, at the end, and when the user
stops.  Every episode has a random stream of its own, so a run on one thread that goes on from a checkpoint ends
with the same bits as one that was never interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bridge import native, word
from mdplay.errors import FormatError, LimitError, unknown
from mdplay.game import Between
from mdplay.games.twenty48.curves import BLOCK, Point, curve, draw, write_csv
from mdplay.games.twenty48.files import load_network, save_compact, save_network
from mdplay.games.twenty48.kernels import Pace, Rule, train
from mdplay.games.twenty48.moves import Evaluator, Games, no_games, row_table
from mdplay.games.twenty48.network import Network, Weights
from mdplay.games.twenty48.patterns import parse_patterns
from mdplay.games.twenty48.player import Player
from mdplay.games.twenty48.rules import State, Twenty48
from mdplay.identity import check_rules, game_identity
from mdplay.learning.checkpoints import Checkpoints, begin_or_resume, check_settings
from mdplay.learning.learned import Run
from mdplay.learning.memory import new_floats
from mdplay.running import MAX_THREADS, Show, Watch, Worker, num_threads
from mdplay.words import counted

METHODS = {
    "td": Rule(),
    "td-before": Rule(before=True, backward=True),
    "tc": Rule(coherent=True),
}
EPISODES = 10_000
ALPHAS = {"td": 0.1, "td-before": 0.1, "tc": 1.0}


@dataclass(frozen=True)
class TrainingSettings:
    """What a training depends on; with one thread nothing else changes its result.

    ``alpha`` None takes the method's own.  ``backward`` replays after-states from the end of each episode;
    ``decay`` (lambda) does so with returns of TD(lambda).  ``optimistic`` is the first value of every board.
    """

    method: str = "td"
    network: str = "default"
    rows: int = 4
    cols: int = 4
    alpha: float | None = None
    backward: bool = False
    decay: float = 0.0
    optimistic: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if not 0 < self.rate <= 10:
            raise FormatError(f"alpha={self.rate} is not a rate; give a number above 0, as 0.1")
        if not 0 <= self.decay <= 1:
            raise FormatError(f"lambda={self.decay} is not between 0 and 1")
        if not abs(self.optimistic) < 1e9:
            raise FormatError(f"optimistic={self.optimistic} is no value of a board")

    @property
    def rate(self) -> float:
        """The rate of learning, shared by all look-ups of a board."""
        return ALPHAS[self.method] if self.alpha is None else self.alpha

    @property
    def game(self) -> Twenty48:
        """The game that is learned."""
        return Twenty48(self.rows, self.cols)

    @property
    def rule(self) -> Rule:
        """The rule of the kernels."""
        rule = METHODS[self.method]
        return replace(rule, backward=rule.backward or self.backward or self.decay > 0)


def _settings_of(words: Mapping[str, Any]) -> TrainingSettings:
    """Return the settings of a checkpoint; raise TypeError for one that is not of its kind."""
    for setting in fields(TrainingSettings):
        value, default = words[setting.name], setting.default
        kinds = (int, float, type(default)) if default is None or type(default) is float else (type(default),)
        if type(value) not in kinds:
            raise TypeError(f"{setting.name} is {value!r:.40}")
    return TrainingSettings(**words)


@dataclass
class Training:
    """A training: the settings, the network as it is now, and what the episodes brought so far."""

    settings: TrainingSettings
    network: Network
    coherence: Weights
    scores: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    tiles: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    moves: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    seconds: float = 0.0

    @classmethod
    def begin(cls, settings: TrainingSettings) -> Training:
        """Return a training before its first episode."""
        patterns = parse_patterns(settings.network, settings.rows, settings.cols)
        network = Network.create(patterns, settings.optimistic, before=settings.rule.before)
        coherence = new_floats(patterns.num_entries if settings.rule.coherent else 1, 2)
        coherence.fill(np.finfo(np.float32).tiny)  # the rate of a weight that was never changed is 1
        return cls(settings, network, coherence)

    @property
    def episodes(self) -> int:
        """The episodes done."""
        return len(self.scores)

    @property
    def moves_per_second(self) -> float:
        """The mean speed, all threads together."""
        return int(self.moves.sum(dtype=np.int64)) / self.seconds if self.seconds else 0.0

    @property
    def curve(self) -> list[Point]:
        """The learning curve."""
        return curve(self.scores, self.tiles)

    def agent(self, depth: int = 1) -> Player:
        """Return a player that goes by the network, looking ``depth`` moves ahead."""
        return Player(self.network, depth)

    def value(self, state: State) -> float:
        """Return the points that are expected from a state on, over all tiles that may pop up."""
        return self.agent().value(state)

    def text(self) -> str:
        """Return for people how much was learned how fast."""
        speed = self.moves_per_second / 1e6
        return f"{counted(self.episodes, 'episode')} in {self.seconds:,.1f} s, {speed:.2f} M moves per second"

    def plot(self, path: str | Path) -> None:
        """Draw the curve."""
        draw(path, {f"{self.settings.method}, seed {self.settings.seed}": self.curve}, "2048")

    def _repr_html_(self) -> str:
        """Show the mean score of every block of episodes."""
        from mdplay.charts import Series, chart
        from mdplay.showing import sentence

        points = self.curve
        mean = Series("mean", [point.episodes for point in points], [point.mean for point in points])
        best = Series("best", mean.x, [float(point.max) for point in points])
        return sentence(self.text()) + chart([mean, best], "episodes", "score")

    def write_curve(self, path: str | Path) -> None:
        """Write the curve as CSV."""
        write_csv(path, self.curve)

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON: the last thousand episodes, and the curve."""
        points = self.curve
        last = self.scores[-BLOCK:]
        return {
            "mean": float(last.mean()) if len(last) else 0.0,
            "max": int(last.max(initial=0)),
            "episodes": self.episodes,
            "moves": int(self.moves.sum(dtype=np.int64)),
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
            "settings": asdict(self.settings),
            "curve": [asdict(point) for point in points],
        }

    def run_block(self, episodes: int, threads: int, show: Show | None = None) -> None:
        """Learn some more episodes.  Ctrl-C ends it after the episodes at work, which count."""
        out = no_games(episodes)
        before = int(self.moves.sum(dtype=np.int64))
        watch = Watch(threads, None if show is None else lambda moves: show(before + moves))
        began = time.perf_counter()
        try:
            watch.run([self._task(watch.worker(i, threads), out) for i in range(threads)])
        finally:
            done = out.scores >= 0
            self.seconds += time.perf_counter() - began
            self.scores = np.concatenate([self.scores, out.scores[done]])
            self.tiles = np.concatenate([self.tiles, out.tiles[done].astype(np.uint8)])
            self.moves = np.concatenate([self.moves, out.moves[done]])

    def _task(self, worker: Worker, out: Games) -> Callable[[], None]:
        """Return the work of one thread: a kernel with all its arguments."""
        settings, patterns = self.settings, self.network.patterns
        evaluator = Evaluator(native(patterns), native(settings.rule), self.network.weights, row_table())
        pace = Pace(np.float32(settings.rate / patterns.num_lookups), np.float32(settings.decay))
        run = partial(train, native(settings.game), evaluator, self.coherence, pace)
        return partial(run, word(settings.seed), self.episodes, worker, out)

    def task(self, episodes: int) -> tuple[Callable[[], None], NDArray[np.int32]]:
        """Return the work of some episodes for the caller's own thread, and the moves it will have made."""
        out = no_games(episodes)
        return self._task(Watch().worker(), out), out.moves

    def prepare(self) -> None:
        """Compile what there is to compile, so that the clock measures learning."""
        Watch().run([self.task(0)[0]])

    # ---------------------------------------------------------------- checkpoints
    def save(self, path: str | Path) -> None:
        """Write the checkpoint, which is also the network's file."""
        arrays: dict[str, NDArray[Any]] = {"scores": self.scores, "tiles": self.tiles, "moves": self.moves}
        if self.settings.rule.coherent:
            arrays["coherence"] = self.coherence
        rules = game_identity(self.settings.game)
        words = {"settings": asdict(self.settings), "seconds": self.seconds, "rules": rules}
        save_network(path, self.network, arrays, words)

    @classmethod
    def load(cls, path: str | Path) -> Training:
        """Read a checkpoint."""
        network, arrays, meta = load_network(path)
        if "settings" not in meta:
            raise FormatError(f"{path} is a network without its training; it cannot be gone on with")
        try:
            settings, seconds = _settings_of(meta["settings"]), float(meta["seconds"])
            coherence = arrays["coherence"] if settings.rule.coherent else None
            scores, tiles, moves = (arrays[name].copy() for name in ("scores", "tiles", "moves"))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FormatError(f"{path} is damaged: its training cannot be read ({error!r:.80})") from None
        board = (network.patterns.rows, network.patterns.cols)
        if (settings.rows, settings.cols) != board:
            raise FormatError(f"{path} is damaged: its settings are not those of its network")
        instead = "it still plays, but start a new training in another file"
        check_rules(path, meta.get("rules"), settings.game, instead)
        if parse_patterns(settings.network, *board) != network.patterns:
            raise FormatError(f"{path} is damaged: its patterns are not those of its settings")
        training = cls.begin(settings)
        if not scores.shape == tiles.shape == moves.shape == (scores.size,):
            raise FormatError(f"{path} is damaged: its episodes are not as many scores as tiles and moves")
        training.network.weights[:] = network.weights
        if coherence is not None:
            if coherence.shape != training.coherence.shape:
                raise FormatError(f"{path} is damaged: its sums of coherence are not those of its weights")
            training.coherence[:] = coherence
        training.scores, training.tiles, training.moves, training.seconds = scores, tiles, moves, seconds
        return training


def _begin(given: Mapping[str, Any]) -> Training:
    return Training.begin(TrainingSettings(**given))


def resumed(path: str | Path, wanted: Mapping[str, Any]) -> Training:
    """Read a checkpoint to go on with; ``wanted`` are the settings asked for, which must be its own."""
    training = Training.load(path)
    check_settings(path, training.settings, wanted)
    return training


@dataclass(frozen=True)
class TilesLearner:
    """Learn 2048 by an n-tuple network and temporal differences.

    Methods: td (after-states, the default), td-before (before-states), tc (temporal coherence).  Every 1000
    episodes: the mean score, the maximum, and for each tile the share of games that reached it.  The file is
    network and checkpoint in one, written about every minute.  Ctrl-C saves and stops; resume goes on.  One seed
    and one thread repeat to the last bit, also over kills.

    Example:
      mdplay learn 2048 --episodes 100000 --seed 1 --out td.safetensors --plot td.png
      mdplay learn 2048 --method tc --threads 2 --episodes 5000 --json

    """

    resume: Annotated[bool, "Go on from the file; start anew if there is none yet."] = False
    network: Annotated[str | None, "Patterns: 4x6 (the default), 5x6, 8x6 ... or cells in hex, as 0123,4567."] = (
        None
    )
    alpha: Annotated[float | None, "Rate of learning; 0.1 for td, 1 for tc unless given."] = None
    backward: Annotated[bool | None, "Replay each episode from its end."] = None
    lambda_: Annotated[float | None, "Returns of TD(lambda); replays backward."] = None
    optimistic: Annotated[float | None, "First value of every board (0)."] = None
    threads: Annotated[int, Between(1, MAX_THREADS), "Only 1 repeats exactly."] = 1
    save_every: Annotated[float, Between(0, 1e9), "Seconds between checkpoints."] = 60.0
    compact: Annotated[str | None, "Write the network alone there, rounded, in a fraction of the room."] = None

    def learn(self, game: Twenty48, run: Run) -> Training:
        """Begin a training, or go on with that of the file, until it has had its episodes."""
        episodes = EPISODES if run.episodes is None else run.episodes
        if not isinstance(episodes, int):
            raise LimitError("2048 is learned in one go; give one number of episodes")
        given = self._settings(game, run)
        begin, go_on = partial(_begin, given), partial(resumed, wanted=given)
        training = begin_or_resume(run.file, self.resume, begin, go_on)
        report = run.report
        tell = None if report is None else lambda training: report(training.curve[-1].line())
        go_on_with = partial(run_training, training, episodes, out=run.file, save_seconds=self.save_every)
        go_on_with(threads=self.threads, report=tell, show=run.show)
        if self.compact is not None:
            save_compact(self.compact, training.network)
        return training

    def _settings(self, game: Twenty48, run: Run) -> dict[str, Any]:
        """Return the settings that are given."""
        wanted = {"method": run.method, "network": self.network, "alpha": self.alpha, "backward": self.backward}
        wanted |= {"decay": self.lambda_, "optimistic": self.optimistic, "seed": run.seed}
        wanted |= {"rows": game.rows, "cols": game.cols}
        return {name: value for name, value in wanted.items() if value is not None}


def run_training(
    training: Training,
    episodes: int,
    *,
    threads: int | None = 1,
    out: str | Path | None = None,
    save_seconds: float = 60.0,
    report: Callable[[Training], None] | None = None,
    show: Show | None = None,
) -> Training:
    """Go on with a training until it has had so many episodes in all.

    It is saved to ``out`` about every ``save_seconds``, at the end, and on Ctrl-C, which goes on as
    KeyboardInterrupt.  ``report`` hears of every thousand episodes, ``show`` of the moves so far.
    """
    checkpoints = Checkpoints(training, out, save_seconds)
    with checkpoints.running():
        training.prepare()
        while training.episodes < episodes:
            block = min(episodes, training.episodes // BLOCK * BLOCK + BLOCK) - training.episodes
            training.run_block(block, num_threads(threads), show)
            if report is not None:
                report(training)
            if training.episodes < episodes:
                checkpoints.save_if_due()
    return training
