"""One training by the workers of an executor: each learns a slice of episodes by itself, then all is put together.

A round begins with the same weights everywhere.  Worker k of N learns slice k of the next N * ``SLICE`` episodes,
or of fewer up to a point of the curve.
What it changed goes to all others and to the driver: a weight moves by the mean of what those moved it who did
at all (by the sum it would not learn), and the sums of temporal coherence add up.  Each worker learns from weights
that are a little out of date: it is another training than that of one process, and another for another number of
workers.  For the same number it repeats, whatever the executor.

A worker that was made again has no weights, and says so: it gets those of the driver.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mdplay import Game, MdplayError
from mdplay.learning.episodes import Episodes
from mdplay.learning.network import Network
from mdplay.learning.self_play import Learn
from mdplay.naming.transfer import GameSpec, rebuild, recipe_of
from mdplay.runtime.executors import Actors, Executor, using

SLICE = 4000  # episodes of a worker in a round: fewer would take less time than telling the others


class Training(Protocol):
    """What is asked of a training (mdplay.learning.training)."""

    network: Network
    coherence: NDArray[np.float32]
    settings: Any
    episodes: int
    seconds: float

    @property
    def game(self) -> Game[Any]:
        """The game that is learned."""

    def play(self, first: int, episodes: int, planned: int) -> Episodes:
        """Learn episodes that do not count as played."""

    def add(self, played: Episodes) -> None:
        """Count episodes that were learned."""


Begin = Callable[[Game[Any], Any], Training]  # makes a training of a game with settings


class OutOfDate(MdplayError):
    """A worker does not have the weights that a round begins with."""


class Changes(NamedTuple):
    """What a worker has learned: the places of the weights that changed, by how much, and of their coherence."""

    places: NDArray[np.int64]
    weights: NDArray[np.float32]
    coherence: NDArray[np.float32]


def join(training: Training, found: list[Changes]) -> None:
    """Add what workers have learned, in place and in their order."""
    weights, coherence = training.network.weights, training.coherence
    movers = np.zeros(len(weights), np.uint8)
    for one in found:
        movers[one.places] += 1
    for one in found:
        shares: NDArray[np.float32] = np.reciprocal(movers[one.places], dtype=np.float32)
        weights[one.places] += one.weights * shares
        coherence[one.places] += one.coherence


class SliceLearner:
    """A worker's copy of a training, as it was after ``rounds`` rounds."""

    def __init__(self, number: int, workers: int, begin: Begin, recipe: GameSpec, settings: Any) -> None:
        self._number, self._workers = number, workers
        self._training = begin(rebuild(recipe), settings)
        self._before = self._training.network.weights.copy(), self._training.coherence.copy()
        self._rounds = -1

    def begin(self, rounds: int, weights: NDArray[np.float32], coherence: NDArray[np.float32]) -> None:
        """Take the weights as they are after ``rounds`` rounds."""
        self._training.network.weights[:], self._training.coherence[:] = weights, coherence
        self._rounds = rounds

    def learn(
        self, rounds: int, last: list[Changes] | None, first: int, episodes: int, planned: int
    ) -> tuple[Changes, Episodes]:
        """Learn the own slice of the next round; ``last`` is what all learned in the round before, if any did."""
        if self._rounds + (last is not None) != rounds:
            raise OutOfDate(f"worker {self._number} was made again")
        training, share = self._training, -(-episodes // self._workers)
        begin = min(episodes, self._number * share)
        if last is not None:
            join(training, last)
        weights, coherence = self._before
        weights[:], coherence[:] = training.network.weights, training.coherence
        self._rounds = -1  # until the weights are again those of the round's begin
        played = training.play(first + begin, min(share, episodes - begin), planned)
        # A small error may change a weight, and be lost in the sums: both are compared, of the sums all 8 bytes.
        changed = training.coherence.view(np.int64)[:, 0] != coherence.view(np.int64)[:, 0]
        changed |= training.network.weights != weights
        places = np.flatnonzero(changed)
        moved = training.network.weights[places] - weights[places]
        changes = Changes(places, moved, training.coherence[places] - coherence[places])
        training.network.weights[places], training.coherence[places] = weights[places], coherence[places]
        self._rounds = rounds
        return changes, played


class Spread:
    """A training in the hands of workers."""

    def __init__(self, training: Training, actors: Actors) -> None:
        self._training, self._actors = training, actors
        self._rounds, self._last = 0, None
        self._begin()

    def _begin(self) -> None:
        self._actors.call("begin", self._rounds, self._training.network.weights, self._training.coherence)
        self._last = None

    def learn(self, episodes: int, planned: int) -> None:
        """Learn a round of ``episodes`` episodes."""
        training, began = self._training, time.perf_counter()
        while True:
            order = (self._rounds, self._last, training.episodes, episodes, planned)
            try:
                held, played = self._actors.exchange("learn", *order)
                break
            except OutOfDate:
                self._begin()
        join(training, self._actors.fetch(held))
        self._rounds, self._last = self._rounds + 1, held
        training.seconds += time.perf_counter() - began
        for one in played:
            training.add(one)


@contextmanager
def spread(
    training: Training, begin: Begin, executor: Executor | str, workers: int | None
) -> Iterator[tuple[Learn, int]]:
    """Yield the function ``learn(episodes, planned)`` that trains by workers, and the episodes of a full round.

    ``begin`` is how workers make such a training.
    """
    with using(executor, workers) as chosen:
        count = workers or chosen.workers
        actors: Any = chosen.actors(SliceLearner, count, count, begin, recipe_of(training.game), training.settings)
        try:
            yield Spread(training, actors).learn, count * SLICE
        finally:
            actors.close()
