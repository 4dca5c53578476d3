"""Players of 2048 that go by a network: an agent for single moves, and whole games at full speed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bridge import native, word
from mdplay.errors import GameError, IllegalMove, LimitError
from mdplay.games.twenty48 import State, Twenty48
from mdplay.learning.curves import shares
from mdplay.learning.expectimax import Memory, choose_once, play_games
from mdplay.learning.files import read_network
from mdplay.learning.kernels import Rule
from mdplay.learning.moves import row_table
from mdplay.learning.network import Network
from mdplay.running import Show, Watch, num_threads

MAX_DEPTH = 16
MEMORY_BITS = 18  # entries of the table, 13 bytes each


@dataclass(frozen=True)
class Evaluation:
    """What a player reached in a number of games.  ``tiles`` are shares of games that reached a tile or more."""

    games: int
    mean: float
    standard_error: float
    max: int
    tiles: dict[int, float]
    moves: int
    seconds: float

    @property
    def moves_per_second(self) -> float:
        """The speed, all threads together."""
        return self.moves / self.seconds

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {**self.__dict__, "moves_per_second": self.moves_per_second}


@dataclass(frozen=True, eq=False)
class NetworkAgent:
    """A player that looks ``depth`` moves ahead and values what it sees there by a network."""

    network: Network
    depth: int = 1
    _memory: Memory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a depth that makes no sense; make the table of positions searched."""
        if not 1 <= self.depth <= MAX_DEPTH:
            raise LimitError(f"depth={self.depth} is out of range; 1 to {MAX_DEPTH}")
        size = 1 << (MEMORY_BITS if self.depth > 1 else 0)
        table = Memory(np.zeros(size, np.uint64), np.zeros(size, np.uint8), np.zeros(size, np.float32))
        object.__setattr__(self, "_memory", table)

    @classmethod
    def from_file(cls, path: str | Path, depth: int = 1) -> NetworkAgent:
        """Return the player that goes by the network of a file."""
        return cls(read_network(path), depth)

    @property
    def game(self) -> Twenty48:
        """The game that the network knows."""
        return Twenty48(self.network.patterns.rows, self.network.patterns.cols)

    def act(self, state: State, rng: Any = None) -> int:
        """Return the best move; nothing is random about it."""
        return self.look(state)[0]

    def look(self, state: State) -> tuple[int, float]:
        """Return the best move, and the points that it is expected to bring from here on."""
        if state.popups:
            raise IllegalMove(f"{self.game.text(state)}: chance moves here, not the player")
        out = np.zeros(1, np.float32)
        rules = (native(self.game), native(self.network.patterns), native(Rule(before=self.network.before)))
        action = choose_once(
            *rules, self.network.weights, row_table(), self._memory, word(state.board), self.depth, out
        )
        if action < 0:
            raise IllegalMove(f"{self.game.text(state)}: the game is over")
        return int(action), float(out[0])

    def evaluate(
        self, *, games: int = 1000, seed: int = 0, threads: int | None = None, show: Show | None = None
    ) -> Evaluation:
        """Play whole games; game number i of a seed is the same for any number of threads."""
        if games < 1:
            raise GameError(f"games={games}: play at least one")
        count = min(num_threads(threads), games)
        out = tuple(np.zeros(games, np.int32) for _ in range(3))
        watch = Watch(count, show)
        run = partial(play_games, native(self.game), native(self.network.patterns))
        run = partial(run, native(Rule(before=self.network.before)), self.network.weights, row_table(), self.depth)
        run = partial(run, MEMORY_BITS if self.depth > 1 else 0, word(seed))
        began = time.perf_counter()
        watch.run([partial(run, i, count, watch.stop, watch.progress, *out) for i in range(count)])
        return _evaluation(out, time.perf_counter() - began)


def _evaluation(out: tuple[NDArray[np.int32], ...], seconds: float) -> Evaluation:
    scores, tiles, moves = out
    games = len(scores)
    error = float(scores.std(ddof=1)) / math.sqrt(games) if games > 1 else math.nan
    total = int(moves.sum(dtype=np.int64))
    return Evaluation(games, float(scores.mean()), error, int(scores.max()), shares(tiles), total, seconds)
