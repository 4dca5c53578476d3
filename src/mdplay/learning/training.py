"""A training that can be stopped, killed and gone on with.

A checkpoint is the network file itself: the weights, the sums of temporal coherence, and the scores of all
episodes so far.  It is written atomically after blocks of a thousand episodes, at the end, and when the user
stops.  Every episode has a random stream of its own, so a run on one thread that goes on from a checkpoint ends
with the same bits as one that was never interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bridge import native, word
from mdplay.errors import FormatError, unknown
from mdplay.games.twenty48 import Twenty48
from mdplay.learning.curves import BLOCK, Point, curve
from mdplay.learning.files import load_network, save_network
from mdplay.learning.kernels import Rule, train
from mdplay.learning.moves import row_table
from mdplay.learning.network import Network, Weights, new_array
from mdplay.learning.patterns import parse_patterns
from mdplay.running import Show, Watch, num_threads

METHODS = {
    "td": Rule(),
    "td-before": Rule(before=True, backward=True),
    "tc": Rule(coherent=True),
}
ALPHAS = {"td": 0.1, "td-before": 0.1, "tc": 1.0}
SAVE_SHARE = 20  # saving takes at most one part in so many of the time


@dataclass(frozen=True)
class Settings:
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
    def rule(self) -> Rule:
        """The rule of the kernels."""
        rule = METHODS[self.method]
        return replace(rule, backward=rule.backward or self.backward or self.decay > 0)


@dataclass
class Training:
    """A training: the settings, the network as it is now, and what the episodes brought so far."""

    settings: Settings
    network: Network
    coherence: Weights
    scores: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    tiles: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    moves: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    seconds: float = 0.0

    @classmethod
    def begin(cls, settings: Settings) -> Training:
        """Return a training before its first episode."""
        patterns = parse_patterns(settings.network, settings.rows, settings.cols)
        network = Network.create(patterns, settings.optimistic, before=settings.rule.before)
        coherence = new_array(patterns.num_entries if settings.rule.coherent else 1, 2)
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

    def curve(self) -> list[Point]:
        """Return the learning curve."""
        return curve(self.scores, self.tiles)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON: the last thousand episodes, and the curve."""
        points = self.curve()
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
        scores, tiles, moves = (np.full(episodes, -1, np.int32) for _ in range(3))
        before = int(self.moves.sum(dtype=np.int64))
        watch = Watch(threads, None if show is None else lambda moves: show(before + moves))
        began = time.perf_counter()
        try:
            watch.run([self._task(i, threads, watch, (scores, tiles, moves)) for i in range(threads)])
        finally:
            done = scores >= 0
            self.seconds += time.perf_counter() - began
            self.scores = np.concatenate([self.scores, scores[done]])
            self.tiles = np.concatenate([self.tiles, tiles[done].astype(np.uint8)])
            self.moves = np.concatenate([self.moves, moves[done]])

    def _task(
        self, thread: int, threads: int, watch: Watch, out: tuple[NDArray[np.int32], ...]
    ) -> Callable[[], None]:
        """Return the work of one thread: a kernel with all its arguments."""
        settings, patterns = self.settings, self.network.patterns
        step, decay = np.float32(settings.rate / patterns.num_lookups), np.float32(settings.decay)
        game = Twenty48(settings.rows, settings.cols)
        run = partial(train, native(game), native(patterns), native(settings.rule), self.network.weights)
        run = partial(run, self.coherence, row_table(), step, decay, word(settings.seed), self.episodes)
        return partial(run, thread, threads, watch.stop, watch.progress, *out)

    def task(self, episodes: int) -> tuple[Callable[[], None], NDArray[np.int32]]:
        """Return the work of some episodes for the caller's own thread, and the moves it will have made."""
        out = tuple(np.full(episodes, -1, np.int32) for _ in range(3))
        return self._task(0, 1, Watch(), out), out[2]

    def prepare(self) -> None:
        """Compile what there is to compile, so that the clock measures learning."""
        Watch().run([self.task(0)[0]])

    # ---------------------------------------------------------------- checkpoints
    def save(self, path: str | Path) -> None:
        """Write the checkpoint, which is also the network's file."""
        arrays: dict[str, NDArray[Any]] = {"scores": self.scores, "tiles": self.tiles, "moves": self.moves}
        if self.settings.rule.coherent:
            arrays["coherence"] = self.coherence
        save_network(path, self.network, arrays, {"settings": asdict(self.settings), "seconds": self.seconds})

    @classmethod
    def load(cls, path: str | Path) -> Training:
        """Read a checkpoint."""
        network, arrays, meta = load_network(path)
        if "settings" not in meta:
            raise FormatError(f"{path} is a network without its training; it cannot be gone on with")
        training = cls.begin(Settings(**meta["settings"]))
        if training.network.patterns != network.patterns:
            raise FormatError(f"{path} is damaged: its patterns are not those of its settings")
        training.network.weights[:] = network.weights
        if training.settings.rule.coherent:
            training.coherence[:] = arrays["coherence"]
        training.scores, training.tiles, training.moves = (
            arrays[name].copy() for name in ("scores", "tiles", "moves")
        )
        training.seconds = float(meta["seconds"])
        return training


def resume(path: str | Path, wanted: Mapping[str, Any]) -> Training:
    """Read a checkpoint to go on with; ``wanted`` are the settings asked for, which must be its own."""
    training = Training.load(path)
    for name, value in wanted.items():
        if (has := getattr(training.settings, name)) != value:
            raise FormatError(f"{path} was learned with {name} {has}, not {value}; leave it out or start anew")
    return training


def learn(
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
    if out is not None:
        training.save(out)  # a path that cannot be written is better known now
    training.prepare()
    saved, wait = time.monotonic(), save_seconds
    try:
        while training.episodes < episodes:
            block = min(episodes, training.episodes // BLOCK * BLOCK + BLOCK) - training.episodes
            training.run_block(block, num_threads(threads), show)
            if report is not None:
                report(training)
            if out is not None and time.monotonic() - saved >= wait and training.episodes < episodes:
                began = time.monotonic()
                training.save(out)
                saved = time.monotonic()
                wait = max(save_seconds, SAVE_SHARE * (saved - began)) if save_seconds else 0.0
    finally:
        if out is not None:
            training.save(out)
    return training
