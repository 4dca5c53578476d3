"""What can be said after so many games: intervals at 95 %.

A score counts 1 for a win, 1/2 for a draw, 0 for a loss.  Its interval is the adjusted one of Agresti and Coull
(1998), extended to draws: z^2 / 2 wins and as many losses are added before mean and variance are taken,

    n' = n + z^2,   p' = (wins + draws / 2 + z^2 / 2) / n',   v' = (wins + z^2 / 2 + draws / 4) / n' - p'^2,
    p' +- z sqrt(v' / n')

so that ten wins out of ten do not claim certainty.

Games that repeat others move for move may be no news, as when neither agent draws lots: the intervals take the
number of *distinct* games for n.

Elo: a difference of d points promises the score 1 / (1 + 10^(-d / 400)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z = 1.959963984540054  # the normal distribution keeps 95 % within +- Z


class Interval(NamedTuple):
    """Both ends of a 95 % interval."""

    low: float
    high: float


def score_interval(wins: int, draws: int, losses: int, distinct: int | None = None) -> Interval:
    """Return the interval of a score; ``distinct`` of the games count."""
    games = wins + draws + losses
    share = (games if distinct is None else distinct) / games
    n, half = games * share + Z * Z, Z * Z / 2
    mean = (share * (wins + draws / 2) + half) / n
    variance = max(0.0, (share * (wins + draws / 4) + half) / n - mean * mean)
    reach = Z * math.sqrt(variance / n)
    return Interval(max(0.0, mean - reach), min(1.0, mean + reach))


def mean_and_error(values: Sequence[float], distinct: int | None = None) -> tuple[float, float]:
    """Return the mean and its standard error; ``distinct`` of the values count."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((v - mean) ** 2 for v in values) / max(1, n - 1)
    return mean, math.sqrt(variance / (n if distinct is None else distinct))


def elo_of_score(score: float) -> float:
    """Return the Elo difference that promises a score; infinite at 0 and 1."""
    if score <= 0.0 or score >= 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))
