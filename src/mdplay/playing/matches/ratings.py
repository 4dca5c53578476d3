"""Elo ratings of a tournament, with intervals.

The model of Bradley and Terry (1952): agent i scores 1 / (1 + exp(t_j - t_i)) against agent j on average, and a
rating is t in Elo points, 400 / ln 10 to the unit, zero on average.  The log-likelihood of the points s_ij that i
scored against j is concave; Newton's method climbs it:

    gradient_i = sum_j (s_ij - n_ij p_ij),   information = diag(sum_j w_ij) - w,   w_ij = n_ij p_ij (1 - p_ij)

One drawn game is added to every pair, so that whoever won all games has a rating too.  The intervals come from
the inverse of the information, with draws taken for half wins: a little too wide rather than too narrow.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mdplay.playing.matches.statistics import Z

ELO = 400 / math.log(10)
STEPS, LARGEST_STEP, SMALLEST_STEP = 200, 2.0, 1e-12


def elo_ratings(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each agent's Elo rating and half the width of its 95 % interval.

    ``points[i, j]`` is what i scored against j: 1 a win, 1/2 a draw.
    """
    points = points + 0.5 * (1 - np.eye(len(points)))
    games = points + points.T
    ratings = np.zeros(len(points))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
        weights = games * expected * (1 - expected)
        inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
        step = inverse @ (points - games * expected).sum(axis=1)
        ratings += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        if np.abs(step).max() < SMALLEST_STEP:
            break
    return ELO * (ratings - ratings.mean()), ELO * Z * np.sqrt(np.diag(inverse))
