"""Qubic as the report tells it: points with a state, wins and games; plain Python, by the package's random words.

A point is 0 (blank), 1 (X) or -1 (O).  The result of a game is 1, -1, 2 for a tie, 0 while it goes on.
"""

from __future__ import annotations

from itertools import product

from mdplay.bits import below, unit
from mdplay.rng import advance, scramble, stream

NEUTRAL = 0.5  # before the first game
TIE_GAME = 2
TIE = 1e-9  # utilities that differ by no more are tied


def lines() -> list[tuple[int, ...]]:
    """Return the 76 lines, each as its four points x + 4 y + 16 z."""
    found = []
    for start, step in product(product(range(4), repeat=3), product((-1, 0, 1), repeat=3)):
        points = [tuple(s + i * d for s, d in zip(start, step, strict=True)) for i in range(4)]
        inside = all(0 <= c < 4 for point in points for c in point)
        if step > (0, 0, 0) and inside:
            found.append(tuple(x + 4 * y + 16 * z for x, y, z in points))
    return found


LINES = lines()
THROUGH = [[line for line in LINES if point in line] for point in range(64)]


def result(board: list[int], last: int) -> int:
    """Return how the game stands after a move on the last point."""
    mark = board[last]
    if any(all(board[point] == mark for point in line) for line in THROUGH[last]):
        return mark
    return 0 if 0 in board else TIE_GAME


class Trials:
    """So many games of self-play from scratch; ``wins`` and ``games`` of every point."""

    def __init__(self, num_trials: int, seed: int) -> None:
        self.num_trials, self.seed = num_trials, seed
        self.wins, self.games = [0] * 64, [0] * 64

    def utility(self, point: int) -> float:
        """Return wins / games."""
        return self.wins[point] / self.games[point] if self.games[point] else NEUTRAL

    def run(self) -> None:
        """Play the trials."""
        for trial in range(self.num_trials):
            self._play(trial / self.num_trials, stream(self.seed, trial))

    def _play(self, greed: float, x: int) -> None:
        board, mark, end, last = [0] * 64, 1, 0, -1
        while end == 0:
            x = advance(x)
            greedy = greed > 0 and unit(scramble(x)) < greed
            x = advance(x)
            last = self._choose(board, greedy, scramble(x))
            board[last] = mark
            end, mark = result(board, last), -mark
        for point in range(64):
            self.games[point] += board[point] != 0
            self.wins[point] += board[point] == end

    def _choose(self, board: list[int], greedy: bool, word: int) -> int:
        """Return the blank point of the highest utility, ties at random; or any blank point at random."""
        points = [point for point in range(64) if board[point] == 0]
        if greedy:
            most = max(map(self.utility, points))
            points = [point for point in points if self.utility(point) >= most - TIE]
        return points[below(word, len(points))]
