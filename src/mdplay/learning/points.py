"""Monte Carlo utilities of points: how often whoever took a point has won.

For games whose actions are points, each played at most once in a game (Qubic, Tic-Tac-Toe, the lines of Dots and
Boxes).  Every point keeps its wins and its games, and its

    utility = wins / games        (0.5 before its first game)

N games of self-play are learned from.  Before each move of game i = 0 .. N - 1, with probability i / N the free
point of the highest utility is played, ties at random (``annealed``); otherwise, or always (``always``), a random
free point.  After the game every point of the winner gets a win and a game, every point of the loser a game, in
a tie every point played a game; points that nobody played get nothing.

Game i has a random stream of its own, so a seed repeats a run to the last count.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import as_int, below, lowest, members, rest, some, unit
from mdplay.bridge import kernel, native, part, unpack, word, words
from mdplay.errors import FormatError, GameError
from mdplay.game import Game, num_players
from mdplay.rng import Random, advance, pick, scramble, stream
from mdplay.running import Show, Watch

NEUTRAL = 0.5  # the utility of a point without games
TIE = 1e-9  # utilities that differ by no more are tied
EXPLORE = ("annealed", "always")
WINS, GAMES = range(2)  # the rows of a tally


@part
def best_point(mask: Any, utility: Any, draw: Any) -> int:
    """Return the point of the highest utility within a set; a random word decides among ties."""
    most, left = -1.0, mask
    while some(left):
        most = max(most, utility[lowest(left)])
        left = rest(left)
    ties, left = 0, mask
    while some(left):
        ties += utility[lowest(left)] >= most - TIE
        left = rest(left)
    skip = below(draw, ties)
    while utility[lowest(mask)] < most - TIE or skip > 0:
        skip -= utility[lowest(mask)] >= most - TIE
        mask = rest(mask)
    return lowest(mask)


@part
def play_game(game: Any, s: Any, x: Any, greed: float, utility: Any, out_points: Any, out_players: Any) -> Any:
    """Play a game, greedy with a probability; return what player 0 gets and the number of moves.

    A game that goes on when every point has been played returns -1 moves.
    """
    total, moves = 0.0, 0
    mask = game.legal(s)
    while some(mask):
        if moves == len(out_points):
            return total, -1
        x = advance(x)
        greedy = greed > 0.0 and unit(scramble(x)) < greed
        x = advance(x)
        point = best_point(mask, utility, scramble(x)) if greedy else pick(mask, scramble(x))
        out_points[moves], out_players[moves] = point, game.player(s)
        if game.has_reward:
            points = game.reward(s, point)
            total += -points if game.player(s) else points
        s = game.step(s, point)
        mask = game.legal(s)
        moves += 1
    return total + game.result(s), moves


@kernel
def learn_points(
    game: Any,
    start: Any,
    seed: Any,
    num_games: int,
    annealed: bool,
    stop: Any,
    progress: Any,
    tally: Any,
    results: Any,
) -> int:
    """Play games and count in place: ``tally[WINS or GAMES, point]`` and ``results[1 + sign]`` for player 0.

    Return the number of games played, or -1 if a point was played twice in one game.
    """
    num_points = tally.shape[1]
    utility = np.full(num_points, NEUTRAL)
    points, players = np.zeros(num_points, np.int64), np.zeros(num_points, np.int64)
    last_game = np.full(num_points, -1)
    for number in range(num_games):
        greed = number / num_games if annealed else 0.0
        value, moves = play_game(game, unpack(game, start), stream(seed, number), greed, utility, points, players)
        if moves < 0:
            return -1
        for i in range(moves):
            point = points[i]
            if last_game[point] == number:
                return -1
            last_game[point] = number
            tally[GAMES, point] += 1
            tally[WINS, point] += value < 0.0 if players[i] else value > 0.0
            utility[point] = tally[WINS, point] / tally[GAMES, point]
        results[1 + (value > 0.0) - (value < 0.0)] += 1
        progress[0] = number + 1
        if stop[0]:
            return number + 1
    return num_games


@dataclass(frozen=True)
class PointUtilities:
    """What a run has learned: wins and games of every point, and who won the games played."""

    explore: str
    seed: int
    wins: NDArray[np.int64]
    games: NDArray[np.int64]
    losses: int  # games that player 0 lost, tied and won
    ties: int
    victories: int
    seconds: float

    @property
    def num_games(self) -> int:
        """The number of games played."""
        return self.losses + self.ties + self.victories

    @property
    def utilities(self) -> NDArray[np.float64]:
        """The utility of every point, in point order."""
        return np.where(self.games > 0, self.wins / np.maximum(self.games, 1), NEUTRAL)

    def highest(self, count: int) -> list[int]:
        """Return the points of the highest utilities; ties go to the smallest point."""
        return [int(point) for point in np.argsort(-self.utilities, kind="stable")[:count]]

    def as_dict(self) -> dict[str, Any]:
        """Return the run for JSON; ``from_dict`` reads it back."""
        return {
            "games": self.num_games,
            "explore": self.explore,
            "seed": self.seed,
            "results": {"player 0": self.victories, "player 1": self.losses, "ties": self.ties},
            "seconds": self.seconds,
            "utilities": self.utilities.tolist(),
            "point_wins": self.wins.tolist(),
            "point_games": self.games.tolist(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> PointUtilities:
        """Return the run that ``as_dict`` wrote."""
        results = document["results"]
        wins, games = (np.array(document[name], np.int64) for name in ("point_wins", "point_games"))
        return cls(
            str(document["explore"]),
            int(document["seed"]),
            wins,
            games,
            int(results["player 1"]),
            int(results["ties"]),
            int(results["player 0"]),
            float(document["seconds"]),
        )


def learn(
    game: Game[Any], *, games: int, explore: str = "annealed", seed: int = 0, show: Show | None = None
) -> PointUtilities:
    """Learn the utilities of the game's points from games of self-play, from scratch."""
    if games < 1:
        raise ValueError(f"games={games} must be at least 1")
    if explore not in EXPLORE:
        raise ValueError(f"explore={explore!r} must be one of {', '.join(EXPLORE)}")
    start = game.initial()
    if game.has_outcomes or num_players(game) != 2:
        raise GameError(f"{type(game).__name__} is not a game of points: it needs two players and no chance")
    tally, results = np.zeros((2, num_points(game)), np.int64), np.zeros(3, np.int64)
    watch = Watch(1, show)
    run = partial(learn_points, native(game), words(start), word(seed))
    tail = (explore == "annealed", watch.stop, watch.progress, tally, results)
    watch.run([partial(run, 0, *tail)])  # compile before the clock starts
    began = time.perf_counter()
    if watch.run([partial(run, games, *tail)])[0] < 0:
        raise GameError(f"{type(game).__name__} is not a game of points: an action was played twice in one game")
    losses, ties, victories = results.tolist()
    return PointUtilities(
        explore, seed, tally[WINS], tally[GAMES], losses, ties, victories, time.perf_counter() - began
    )


def num_points(game: Game[Any]) -> int:
    """Return the number of points: one more than the highest action of the empty board."""
    return as_int(game.legal(game.initial())).bit_length()


def rich_points(game: Game[Any]) -> list[int]:
    """Return the points on the most lines, where the game counts lines (``lines_through``); else none."""
    lines: Sequence[int] = getattr(game, "lines_through", ())
    return [point for point, count in enumerate(lines) if count == max(lines)]


def shape_of(game: Game[Any]) -> tuple[int, int, int]:
    """Return how the points are laid out, as layers x rows x columns: a cube, the game's own rows, or one row."""
    count = num_points(game)
    side = round(count ** (1 / 3))
    rows, cols = getattr(game, "rows", 0), getattr(game, "cols", 0)
    if rows * cols == count:
        return 1, rows, cols
    return (side, side, side) if side**3 == count else (1, 1, count)


# ---------------------------------------------------------------- files, and play by them
def read_points(path: str | Path) -> list[PointUtilities]:
    """Read the runs of a file that ``mdplay learn GAME --out FILE`` wrote, or raise FormatError."""
    try:
        runs = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))["runs"]
        found = [PointUtilities.from_dict(run) for run in runs]
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path} holds no utilities of points ({type(error).__name__}: {error})") from None
    if not found:
        raise FormatError(f"{path} holds no run")
    return found


class PointsAgent:
    """Play the free point of the highest utility of a file's last run; ties at random."""

    def __init__(self, game: Game[Any], file: str) -> None:
        self.game = game
        self.utilities = read_points(file)[-1].utilities
        if len(self.utilities) != num_points(game):
            raise FormatError(f"{file} has {len(self.utilities)} points; this game has {num_points(game)}")

    def act(self, state: Any, rng: Random) -> int:
        """Return the best point."""
        values = self.values(state)
        most = max(values.values())
        tied = [point for point, value in values.items() if value >= most - TIE]
        return tied[rng.below(len(tied))]

    def values(self, state: Any) -> dict[int, float]:
        """Return the utility of each free point."""
        return {point: float(self.utilities[point]) for point in members(self.game.legal(state))}
