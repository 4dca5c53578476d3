"""Random play at full speed.

Game number i of a seed has a random stream of its own and the statistics are summed in fixed chunks, so the
same seed gives the same figures to the last bit, whatever the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import has, nonempty
from mdplay.checking.contract_checks import DRAW, ENDLESS, LARGEST, NUMBERS, STOPPED, check_kept, spot_check
from mdplay.compiling import Packed, State, Word, inlined, kernel, native, unpack, word, words
from mdplay.errors import check_integer
from mdplay.game import Game
from mdplay.position import takes_state
from mdplay.rng import advance, pick, scramble, stream
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.runtime.threads import StopFlag, Stopwatch, TaskGroup, WorkSlice, num_threads
from mdplay.states.game_length import MAX_MOVES, move_limit

CHUNK = 256  # games whose statistics are summed before they meet the others
MOST_PLAIN = 10_000  # games that may be tried in plain Python first: it never gets through more in time
POLL = 4096  # moves of one game after which it first asks whether it is to stop
TOTAL, SQUARES, WINS, DRAWS, LOSSES, MOVES, LONGEST, BY_LIMIT, BROKEN, COLUMNS = range(10)


@inlined
def play_out(game: Game[Any], s: State, x: Word, max_moves: int) -> Any:
    """Play at random to the end: what player 0 gets from here, the moves made, the random state.

    A game that is not over after ``max_moves`` moves and chance events, or whose draw is no outcome, returns minus
    the reason (see broken.py) as its moves.
    """
    total, moves, chances = 0.0, 0, 0
    while moves + chances <= max_moves:
        x = advance(x)
        if game.has_outcomes and nonempty(game.outcomes(s)):
            i = game.draw(s, scramble(x))
            if game.has_draw and not has(game.outcomes(s), i):
                return total, -DRAW, x
            s = game.outcome(s, i)
            chances += 1
            continue
        mask = game.legal(s)
        if not nonempty(mask):
            return total + game.result(s), moves, x
        action = pick(mask, scramble(x))
        if game.has_reward:
            points = game.reward(s, action)
            total += -points if game.player(s) else points
        s = game.step(s, action)
        moves += 1
    return total, -ENDLESS, x


@inlined
def rollout(game: Game[Any], s: State, x: Word, max_moves: int, stop: StopFlag) -> Any:
    """Play a random game as ``play_out`` does, and hear of a stop in a long one: -STOPPED moves.

    The few games that are long are played again with a higher limit: the quick ones need not ask on their way.
    """
    limit = min(POLL, max_moves)
    while True:
        value, moves, after = play_out(game, s, x, limit)
        if moves != -ENDLESS or limit == max_moves:
            return value, moves, after
        if stop[0]:
            return value, -STOPPED, after
        limit = min(4 * limit, max_moves)


@kernel(plain_first=True)
def play_chunks(
    game: Game[Any],
    start: Packed,
    seed: Word,
    num_games: int,
    max_moves: int,
    worker: WorkSlice,
    out: NDArray[np.float64],
) -> None:
    """Fill a worker's rows of ``out`` with the statistics of their chunks of games.

    A game that reaches ``max_moves`` is truncated and counted; at ``MAX_MOVES`` the rules are at fault.
    """
    first, stride, stop, progress = worker
    for chunk in range(first, len(out), stride):  # first: this thread's number, within progress
        last = min(num_games, (chunk + 1) * CHUNK)
        total, squares, wins, losses, moves, longest, by_limit = 0.0, 0.0, 0, 0, 0, 0, 0
        for number in range(chunk * CHUNK, last):
            value, length, _ = rollout(game, unpack(game, start), stream(seed, number), max_moves, stop)
            if length == -ENDLESS and max_moves < MAX_MOVES:
                length, value = max_moves, value + game.endless
                by_limit += 1
            if length < 0:
                out[chunk, BROKEN] = -length
                stop[0] = 1
                return
            total += value
            squares += value * value
            wins += value > 0
            losses += value < 0
            moves += length
            longest = max(longest, length)
        if not squares <= LARGEST:  # a value was no number
            out[chunk, BROKEN] = NUMBERS
            stop[0] = 1
            return
        games = last - chunk * CHUNK
        row = out[chunk]
        row[TOTAL], row[SQUARES] = total, squares
        row[WINS], row[DRAWS], row[LOSSES] = wins, games - wins - losses, losses
        row[MOVES], row[LONGEST], row[BY_LIMIT] = moves, longest, by_limit
        progress[first] += games
        if stop[0]:
            return


@dataclass(frozen=True)
class Playouts:
    """Statistics of random games: results for player 0, lengths in moves.

    ``by_limit`` of them were truncated after ``max_moves`` moves.
    """

    games: int
    mean: float
    standard_error: float
    wins: int
    draws: int
    losses: int
    moves: int
    longest: int
    seconds: float
    by_limit: int = 0
    max_moves: int = MAX_MOVES

    @property
    def mean_length(self) -> float:
        """The mean number of moves of a game."""
        return self.moves / self.games

    @property
    def games_per_second(self) -> float:
        """The speed, all threads together."""
        return self.games / self.seconds

    def document(self) -> dict[str, float]:
        """Return the statistics for JSON."""
        return {**asdict(self), "mean_length": self.mean_length, "games_per_second": self.games_per_second}


@takes_state
def playouts(
    game: Game[Any],
    state: Any = None,
    *,
    games: int = 10_000,
    seed: int = 0,
    max_moves: int | None = None,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Playouts:
    """Play random games from a state (default: the start) and return their statistics.

    A game that is not over after ``max_moves`` moves is truncated; by default only games whose positions repeat
    are truncated, after ten times their mean length or as the game says.  The settings of the run are ``threads``
    and ``progress``.
    """
    run = run_of("playouts", ("threads", "progress"), run, settings)
    s = state
    check_integer("games", games)
    spot_check(game, s)
    limit = move_limit(game, max_moves)
    start = words(s)
    rows = np.zeros((-(-games // CHUNK), COLUMNS))
    count = min(num_threads(run.threads), len(rows))
    watch = TaskGroup(count, run.progress)
    play = play_chunks if games <= MOST_PLAIN else play_chunks.compiled_first
    task = partial(play, native(game), start, word(seed), games, limit)
    clock = Stopwatch()
    watch.run([partial(task, watch.worker(i, count), rows) for i in range(count)])
    seconds = clock.seconds
    for code in rows[:, BROKEN]:
        check_kept(game, int(code), limit)
    return _summary(rows, seconds, limit)


def _summary(rows: NDArray[np.float64], seconds: float, limit: int) -> Playouts:
    sums = rows.sum(axis=0)
    games = int(sums[WINS] + sums[DRAWS] + sums[LOSSES])
    mean = float(sums[TOTAL] / games)
    variance = max(0.0, float(sums[SQUARES] / games) - mean * mean)
    wins, draws, losses, moves = (int(sums[i]) for i in (WINS, DRAWS, LOSSES, MOVES))
    error, longest, by_limit = math.sqrt(variance / games), int(rows[:, LONGEST].max()), int(sums[BY_LIMIT])
    return Playouts(games, mean, error, wins, draws, losses, moves, longest, seconds, by_limit, limit)
