"""Recording of runs in kernels: points of the curve, snapshots for the judge, and the end of each run.

A kernel calls ``begin_run``, and after each episode ``record_episode``, ``is_snapshot_due`` (while it holds) and,
if the values have diverged, ``mark_divergence``.  The row ``ends`` of a run also accumulates its current point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.compiling import inlined

Floats = npt.NDArray[np.float64]
REWARD, REWARD_SQUARED, STEPS, STEPS_SQUARED, ERROR, ERROR_SQUARED, TIME, COLUMNS = range(8)
(
    DIVERGED,
    TRUNCATED,
    TOTAL_STEPS,
    AVERAGE,
    UPDATES,
    POINT,
    SUM_REWARD,
    SUM_STEPS,
    SUM_ERROR,
    SIZE,
    SNAPSHOT,
    ENDS,
) = range(12)
MAX_VALUE = 1e100  # a run whose values exceed this has diverged


class Length(NamedTuple):
    """The length of a run and of an episode, and the points of its curve."""

    episodes: int
    steps: int
    max_steps: int  # an episode is truncated after this many steps
    every: int  # episodes, or steps, of a point
    snapshots: int  # tables saved of a run, evenly spaced


class Output(NamedTuple):
    """The results: sums over the runs of each group, snapshots of tables, the end of each run."""

    sums: Floats  # [group, point, column]
    snapshots: Floats  # [run, snapshot, pair]; the last entry is epsilon
    truth: Floats
    weight: Floats
    ends: Floats  # [run, column]
    tables: Floats  # [run, pair], empty if the tables are not wanted


@inlined
def begin_run(ends: Any) -> None:
    """Empty the row of a run."""
    for i in range(ENDS):
        ends[i] = 0.0
    ends[DIVERGED] = -1.0


@inlined
def record_episode(
    ends: Any, sums: Any, length: Length, episode: int, reward: float, steps: int, error: float, truncated: bool
) -> None:
    """Add an episode to the current point of the curve, and write the point if it is complete."""
    ends[TOTAL_STEPS] += steps
    ends[TRUNCATED] += truncated
    ends[SUM_REWARD] += reward
    ends[SUM_STEPS] += steps
    ends[SUM_ERROR] += error
    ends[SIZE] += 1.0
    if (episode + 1) % length.every == 0 or episode + 1 == length.episodes:
        size = ends[SIZE]
        add_point(
            sums[int(ends[POINT])], ends[SUM_REWARD] / size, ends[SUM_STEPS] / size, ends[SUM_ERROR] / size,
            ends[TOTAL_STEPS],
        )  # fmt: skip
        ends[POINT] += 1.0
        ends[SUM_REWARD] = ends[SUM_STEPS] = ends[SUM_ERROR] = ends[SIZE] = 0.0


@inlined
def is_snapshot_due(ends: Any, length: Length, episode: int) -> bool:
    """Return whether the next snapshot is to be taken after an episode; count it if so."""
    snapshot = int(ends[SNAPSHOT])
    if snapshot < length.snapshots and (episode + 1) * length.snapshots >= (snapshot + 1) * length.episodes:
        ends[SNAPSHOT] += 1.0
        return True
    return False


@inlined
def add_point(point: Any, reward: float, steps: float, error: float, time: float) -> None:
    """Add the results of a run to a point of the curve."""
    point[REWARD] += reward
    point[REWARD_SQUARED] += reward * reward
    point[STEPS] += steps
    point[STEPS_SQUARED] += steps * steps
    point[ERROR] += error
    point[ERROR_SQUARED] += error * error
    point[TIME] += time


@inlined
def mark_divergence(ends: Any, sums: Any, snapshots: Any, length: Length, episode: int) -> None:
    """Note the episode in which a run diverged; its remaining points and snapshots are nan."""
    ends[DIVERGED] = episode
    for i in range(int(ends[POINT]), len(sums)):
        add_point(sums[i], math.nan, math.nan, math.nan, math.nan)
    for i in range(int(ends[SNAPSHOT]), length.snapshots):
        for k in range(snapshots.shape[1]):
            snapshots[i, k] = math.nan
