"""Players of 2048 that go by a network: an agent for single moves, and whole games at full speed."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bridge import native, word
from mdplay.errors import FormatError, GameError, IllegalMove, LimitError
from mdplay.game import Game
from mdplay.games.twenty48 import State, Twenty48
from mdplay.learning.curves import shares
from mdplay.learning.expectimax import Memory, choose_once, play_games
from mdplay.learning.files import read_network
from mdplay.learning.kernels import Rule
from mdplay.learning.moves import row_table
from mdplay.learning.network import Network
from mdplay.rng import Random
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
        return {**asdict(self), "moves_per_second": self.moves_per_second}

    def text(self) -> str:
        """Return the figures for people."""
        lines = [
            f"mean {self.mean:,.1f} +- {1.96 * self.standard_error:,.1f} (95 %), max {self.max:,}",
            f"{self.games:,} games in {self.seconds:.1f} s, {self.moves_per_second:,.0f} moves per second",
        ]
        return "\n".join([*lines, *(f"{tile:>8} {share:7.2%}" for tile, share in self.tiles.items() if share < 1)])


class Player:
    """Look ``depth`` moves ahead and value what is seen there by a network."""

    def __init__(self, network: Network, depth: int = 1) -> None:
        if not 1 <= depth <= MAX_DEPTH:
            raise LimitError(f"depth={depth} is out of range; 1 to {MAX_DEPTH}")
        self.network, self.depth = network, depth
        size = 1 << self._memory_bits
        self._memory = Memory(np.zeros(size, np.uint64), np.zeros(size, np.uint8), np.zeros(size, np.float32))

    @property
    def _memory_bits(self) -> int:
        return MEMORY_BITS if self.depth > 1 else 0

    @property
    def game(self) -> Twenty48:
        """The game that the network knows."""
        return Twenty48(self.network.patterns.rows, self.network.patterns.cols)

    def act(self, state: State, rng: Random | None = None) -> int:
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
        run = partial(run, self._memory_bits, word(seed))
        run(0, 1, watch.stop, watch.progress, *(np.zeros(0, np.int32) for _ in out))  # compiles, before the clock
        began = time.perf_counter()
        watch.run([partial(run, i, count, watch.stop, watch.progress, *out) for i in range(count)])
        return _evaluation(out, time.perf_counter() - began)


class NetworkAgent(Player):
    """Play by the network in a file, looking ``depth`` moves ahead."""

    def __init__(self, game: Game[Any], file: str, depth: int = 1) -> None:
        path = Path(file).expanduser()
        super().__init__(_network(path, _changed(path)), depth)
        if game != self.game:
            raise GameError(f"{file} knows the board of {self.game.rows} x {self.game.cols} cells, not this game")


@lru_cache(maxsize=2)
def _network(path: Path, changed: int) -> Network:
    """Return the network of a file, which is read anew only if it has changed."""
    return read_network(path)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None


def _evaluation(out: tuple[NDArray[np.int32], ...], seconds: float) -> Evaluation:
    scores, tiles, moves = out
    games = len(scores)
    error = float(scores.std(ddof=1)) / math.sqrt(games) if games > 1 else math.nan
    total = int(moves.sum(dtype=np.int64))
    return Evaluation(games, float(scores.mean()), error, int(scores.max()), shares(tiles), total, seconds)
