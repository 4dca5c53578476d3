"""Random play at full speed.

Game number i of a seed has a random stream of its own and the statistics are summed in fixed chunks, so the
same seed gives the same figures to the last bit, whatever the number of threads.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import some
from mdplay.bridge import kernel, native, part, unpack, word, words
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.rng import advance, pick, scramble, stream
from mdplay.running import Show, Watch, num_threads

CHUNK = 256  # games whose statistics are summed before they meet the others
MAX_MOVES = 1_000_000
TOTAL, SQUARES, WINS, DRAWS, LOSSES, MOVES, LONGEST, ENDLESS, COLUMNS = range(9)


@part
def rollout(game: Any, s: Any, x: Any, max_moves: int) -> Any:
    """Play at random to the end: what player 0 gets from here, the moves made, the random state.

    A game that is not over after ``max_moves`` moves and chance events returns -1 moves.
    """
    total, moves, chances = 0, 0, 0
    while moves + chances <= max_moves:
        x = advance(x)
        if game.has_outcomes and some(game.outcomes(s)):
            s = game.outcome(s, game.draw(s, scramble(x)))
            chances += 1
            continue
        mask = game.legal(s)
        if not some(mask):
            return total + game.result(s), moves, x
        action = pick(mask, scramble(x))
        if game.has_reward:
            points = game.reward(s, action)
            total += -points if game.player(s) else points
        s = game.step(s, action)
        moves += 1
    return total + game.result(s), -1, x


@kernel
def play_chunks(
    game: Any,
    start: Any,
    seed: Any,
    num_games: int,
    first: int,
    stride: int,
    max_moves: int,
    stop: Any,
    progress: Any,
    out: Any,
) -> None:
    """Fill the rows first, first + stride, ... of ``out`` with the statistics of their chunks of games."""
    for chunk in range(first, len(out), stride):
        last = min(num_games, (chunk + 1) * CHUNK)
        total, squares, wins, losses, moves, longest = 0.0, 0.0, 0, 0, 0, 0
        for number in range(chunk * CHUNK, last):
            value, length, _ = rollout(game, unpack(game, start), stream(seed, number), max_moves)
            total += value
            squares += value * value
            wins += value > 0
            losses += value < 0
            moves += length
            longest = max(longest, length)
            if length < 0:
                out[chunk, ENDLESS] = 1
                stop[0] = 1
                return
        games = last - chunk * CHUNK
        row = out[chunk]
        row[TOTAL], row[SQUARES] = total, squares
        row[WINS], row[DRAWS], row[LOSSES] = wins, games - wins - losses, losses
        row[MOVES], row[LONGEST] = moves, longest
        progress[first] += games
        if stop[0]:
            return


@dataclass(frozen=True)
class Playouts:
    """Statistics of random games: results for player 0, lengths in moves."""

    games: int
    mean: float
    standard_error: float
    wins: int
    draws: int
    losses: int
    moves: int
    longest: int
    seconds: float

    @property
    def mean_length(self) -> float:
        """The mean number of moves of a game."""
        return self.moves / self.games

    @property
    def games_per_second(self) -> float:
        """The speed, all threads together."""
        return self.games / self.seconds

    def as_dict(self) -> dict[str, float]:
        """Return the figures for JSON."""
        return {**asdict(self), "mean_length": self.mean_length, "games_per_second": self.games_per_second}


def playouts(
    game: Game[Any],
    state: Any = None,
    *,
    games: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
    max_moves: int = MAX_MOVES,
    show: Show | None = None,
) -> Playouts:
    """Play random games from a state (default: the start) and return their statistics."""
    if games < 1:
        raise ValueError(f"games={games} must be at least 1")
    start = words(game.initial() if state is None else state)
    rows = np.zeros((-(-games // CHUNK), COLUMNS))
    count = min(num_threads(threads), len(rows))
    watch = Watch(count, show)
    run = partial(play_chunks, native(game), start, word(seed), games)
    watch.run(
        [partial(run, 0, 1, max_moves, watch.stop, watch.progress, rows[:0])]
    )  # compile before the clock starts
    began = time.perf_counter()
    watch.run([partial(run, i, count, max_moves, watch.stop, watch.progress, rows) for i in range(count)])
    return _summary(rows, time.perf_counter() - began, max_moves)


def _summary(rows: NDArray[np.float64], seconds: float, max_moves: int) -> Playouts:
    sums = rows.sum(axis=0)
    if sums[ENDLESS]:
        raise GameError(f"a random game did not end within {max_moves} moves; does every game end?")
    games = int(sums[WINS] + sums[DRAWS] + sums[LOSSES])
    mean = float(sums[TOTAL] / games)
    variance = max(0.0, float(sums[SQUARES] / games) - mean * mean)
    wins, draws, losses, moves = (int(sums[i]) for i in (WINS, DRAWS, LOSSES, MOVES))
    error = math.sqrt(variance / games)
    return Playouts(games, mean, error, wins, draws, losses, moves, int(rows[:, LONGEST].max()), seconds)
