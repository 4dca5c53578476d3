"""Monte Carlo utilities of points: the share of games won by the player who took a point.

For games whose actions are points, each played at most once in a game (Qubic, Tic-Tac-Toe, the lines of Dots and
Boxes).  Every point keeps its wins and its games, and its

    utility = wins / games        (0.5 before its first game)

N games of self-play are learned from.  Before each move of game i = 0 .. N - 1, with probability i / N the free
point of the highest utility is played, ties at random (``annealed``); otherwise, or always (``always``), a random
free point.  After the game every point of the winner gets a win and a game, every point of the loser a game, in
a tie every point played a game; points that were not played are unchanged.

Game i has a random stream of its own, so a seed repeats a run to the last count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import Mask, below, lowest, nonempty, unit, without_lowest
from mdplay.checking.contract_checks import LARGEST, spot_check
from mdplay.compiling import State, inlined, kernel, native, unpack, word, words
from mdplay.compiling.contract import mask_size
from mdplay.compiling.identity import game_identity
from mdplay.errors import GameError, LimitError, short, unknown
from mdplay.evaluating.evaluation import TIE
from mdplay.game import Game, num_players
from mdplay.learning.cell_utilities import NEUTRAL, PointUtilities, num_points
from mdplay.learning.learned import LearningRun
from mdplay.rng import advance, pick, scramble, stream
from mdplay.runtime.threads import Counters, Show, StopFlag, Stopwatch, TaskGroup

EXPLORE = ("annealed", "always")
EPISODES = (1_000, 10_000, 100_000)
WINS, GAMES = range(2)  # the rows of a tally
TWICE, BEYOND, NO_NUMBER = -1, -2, -3
REASONS = {
    TWICE: "is not a game of points: an action was played twice in one game",
    BEYOND: "has points that neither its first position nor a few random games show",
    NO_NUMBER: f"breaks a promise: reward or result gave what is no number from -{LARGEST:g} to {LARGEST:g}",
}


@inlined
def best_point(mask: Mask, utility: NDArray[np.float64], draw: Any) -> int:
    """Return the point of the highest utility within a set; a random word decides among ties."""
    most, left = -1.0, mask
    while nonempty(left):
        most = max(most, utility[lowest(left)])
        left = without_lowest(left)
    ties, left = 0, mask
    while nonempty(left):
        ties += utility[lowest(left)] >= most - TIE
        left = without_lowest(left)
    skip = below(draw, ties)
    while utility[lowest(mask)] < most - TIE or skip > 0:
        skip -= utility[lowest(mask)] >= most - TIE
        mask = without_lowest(mask)
    return lowest(mask)


@inlined
def play_game(
    game: Game[Any],
    s: State,
    x: Any,
    greed: float,
    utility: NDArray[np.float64],
    out_points: NDArray[Any],
    out_players: Any,
) -> Any:
    """Play a game, greedy with a probability; return what player 0 gets and the number of moves.

    A game that continues when every point has been played returns TWICE as its moves, one with a point beyond the
    table of points BEYOND, one whose total is no number NO_NUMBER.
    """
    total, moves = 0.0, 0
    mask = game.legal(s)
    while nonempty(mask):
        if moves == len(out_points):
            return total, TWICE
        x = advance(x)
        greedy = greed > 0.0 and unit(scramble(x)) < greed
        x = advance(x)
        point = best_point(mask, utility, scramble(x)) if greedy else pick(mask, scramble(x))
        if point >= len(out_points):
            return total, BEYOND
        out_points[moves], out_players[moves] = point, game.player(s)
        if game.has_reward:
            points = game.reward(s, point)
            total += -points if game.player(s) else points
        s = game.step(s, point)
        mask = game.legal(s)
        moves += 1
    total += game.result(s)
    return total, moves if abs(total) <= LARGEST else NO_NUMBER


@kernel(plain_first=True)
def learn_points(
    game: Game[Any],
    start: Any,
    seed: Any,
    num_games: int,
    annealed: bool,
    stop: StopFlag,
    progress: Counters,
    tally: Any,
    results: Any,
) -> int:
    """Play games and count in place: ``tally[WINS or GAMES, point]`` and ``results[1 + sign]`` for player 0.

    Return the number of games played, or why a game could not be learned from (a negative number).
    """
    num_points = tally.shape[1]  # every point that play_game hands over is below it
    utility = np.full(mask_size(game), NEUTRAL)  # whatever a mask holds is inside
    points, players = np.zeros(num_points, np.int64), np.zeros(num_points, np.int64)
    last_game = np.full(num_points, -1)
    for number in range(num_games):
        greed = number / num_games if annealed else 0.0
        value, moves = play_game(game, unpack(game, start), stream(seed, number), greed, utility, points, players)
        if moves < 0:
            return int(moves)
        for i in range(moves):
            point = points[i]
            if last_game[point] == number:
                return TWICE
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
class PointsLearner:
    """Learn the utility of each point by playing: the share of games won by the player who took it.

    Several numbers of episodes are learned one after the other, each from scratch.  The file takes all runs as
    JSON, for the agent points:FILE.

    Example:
      mdplay learn qubic --episodes 1000,10000,100000 --plot points.png
      mdplay learn qubic --episodes 100000 --explore always --out points.json

    """

    explore: Annotated[str, "annealed: play the best point more and more often; always: random points always."] = (
        "annealed"
    )

    def learn(self, game: Game[Any], run: LearningRun) -> PointUtilities:
        """Learn the utilities and keep them."""
        episodes = EPISODES if run.episodes is None else run.episodes
        learned = learn_utilities(game, episodes=episodes, seed=run.seed or 0, explore=self.explore, show=run.show)
        if run.file is not None:
            learned.save(run.file)
        return learned


def learn_utilities(
    game: Game[Any],
    *,
    episodes: int | Sequence[int] = EPISODES,
    seed: int = 0,
    explore: str = "annealed",
    show: Show | None = None,
) -> PointUtilities:
    """Return the utilities of the points of a game after ``episodes`` games, or after each number of a list."""
    counts = (episodes,) if isinstance(episodes, int) else tuple(episodes)
    if not counts or min(counts) < 1:
        raise LimitError(f"episodes={short(episodes)} must be at least 1")
    if explore not in EXPLORE:
        raise unknown("way to explore", explore, EXPLORE)
    spot_check(game)
    if game.has_outcomes or num_players(game) != 2:
        raise GameError(f"{type(game).__name__} is not a game of points: it needs two players and no chance")
    runs = [_run(game, count, explore, seed, show) for count in counts]
    return replace(runs[-1], earlier=tuple(runs[:-1]))


def _run(game: Game[Any], episodes: int, explore: str, seed: int, show: Show | None) -> PointUtilities:
    """Play ``episodes`` games and return the utilities of the points."""
    tally, results = np.zeros((2, num_points(game)), np.int64), np.zeros(3, np.int64)
    watch = TaskGroup(1, show)
    run = partial(learn_points, native(game), words(game.initial()), word(seed))
    tail = (explore == "annealed", watch.stop, watch.progress, tally, results)
    clock = Stopwatch()
    played = watch.run([partial(run, episodes, *tail)])[0]
    if played < 0:
        raise GameError(f"{type(game).__name__} {REASONS[played]}")
    losses, ties, victories = results.tolist()
    rules = game_identity(game)
    return PointUtilities(
        explore, seed, tally[WINS], tally[GAMES], losses, ties, victories, clock.seconds, rules, game
    )
