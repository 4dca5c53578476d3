"""Many runs of a bandit: the kernel of the laboratory.  It pulls arms by the same part as tree search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import below, unit
from mdplay.compiling import inlined, kernel, unchecked_view
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.threads import StopFlag, WorkSlice
from mdplay.searching import selectors
from mdplay.searching.selecting import ARM, Scale, learn, reward_arm, select

REWARD, REWARD_SQUARED, OPTIMAL, OPTIMAL_SQUARED, REGRET, REGRET_SQUARED, COLUMNS = range(7)
END_REWARD, END_OPTIMAL, MEAN_REWARD = range(3)
POLL = (1 << 14) - 1  # a run polls the stop flag every POLL + 1 steps
TAIL = 20  # the last twentieth of the steps is "the end"
normal = inlined(selectors.normal)


class Problem(NamedTuple):
    """A bandit: its means, unless they are drawn; what a pull gives, and how the means drift."""

    means: NDArray[np.float64]
    drawn: bool
    gaussian: bool
    deviation: float
    drift: float


class Length(NamedTuple):
    """How many steps a run has, and how many of them make a point of the curve."""

    steps: int
    every: int


class Arms(NamedTuple):
    """The arms of one run: what is known of each, and its true mean."""

    known: NDArray[Any]
    true: NDArray[np.float64]


class Totals(NamedTuple):
    """What runs come to: sums for each group and point, and the end of each run."""

    sums: NDArray[np.float64]
    ends: NDArray[np.float64]


def new_arms(size: int) -> Arms:
    """Return room for the arms of one run."""
    return Arms(np.zeros(size, ARM), np.zeros(size))


@kernel
def play(
    selector: Any, problem: Problem, length: Length, seed: Any, worker: WorkSlice, room: Arms, out: Totals
) -> None:
    """Play the groups of runs that are the worker's.

    Row g of ``out.sums`` gets, for each point of the curve, sums over group g's runs and their squares; row i of
    ``out.ends`` the reward and share of best pulls at the end of run i, and its mean reward.
    """
    # All indices are inside: the arms have an entry each for every mean, out.sums a point for every `every`
    # steps, begun ones included, and progress an entry for every worker.
    arms = unchecked_view(room)
    out_sums, out_ends = unchecked_view((out.sums, out.ends))
    for group in range(worker.first, len(out_sums), worker.stride):
        for run in range(group, len(out_ends), len(out_sums)):
            x = start(selector, arms.known, problem.means, problem.drawn, stream(seed, run), arms.true)
            play_once(selector, arms, problem, length, x, worker.stop, out_sums[group], out_ends[run])
            worker.progress[worker.first] += length.steps
            if worker.stop[0]:
                return


@inlined
def start(selector: Any, arms: Any, means: Any, drawn: bool, x: Any, out_true: Any) -> Any:
    """Reset the arms and set their true means, given ones in random order; return the random state."""
    for k in range(len(means)):
        arms[k].value = 0.0
        arms[k].square = 0.0
        arms[k].weight = selector.initial_weight()
        arms[k].pulls = 0
        x = advance(x)
        if drawn:
            out_true[k] = normal(scramble(x))
        else:  # put it in a random place: ties go to the lowest arm, which must not always be the same one
            j = below(scramble(x), k + 1)
            out_true[k] = out_true[j]
            out_true[j] = means[k]
    return x


@inlined
def play_once(
    selector: Any,
    room: Arms,
    problem: Problem,
    length: Length,
    x: Any,
    stop: StopFlag,
    out_sums: Any,
    out_end: Any,
) -> None:
    """Play one run and add its statistics; the statistics of a stopped run are invalid."""
    (arms, true), (steps, every) = room, length
    plain, n, best = Scale(0.0, 1.0), len(true), np.argmax(true)
    end = max(1, steps // TAIL)
    regret, total, end_reward, end_optimal = 0.0, 0.0, 0.0, 0.0
    reward_here, optimal_here, since = 0.0, 0.0, 0
    for t in range(steps):
        if t & POLL == POLL and stop[0]:
            return
        x = advance(x)
        k = select(selector, arms, 0, n, t, plain, scramble(x))
        x = advance(x)
        if problem.gaussian:
            reward = true[k] + problem.deviation * normal(scramble(x))
        else:
            reward = 1.0 if unit(scramble(x)) < true[k] else 0.0
        if selector.learns:
            learn(selector, arms, 0, n, k, reward, plain)
        reward_arm(selector, arms, k, reward)
        optimal = 1.0 if true[k] == true[best] else 0.0
        regret += true[best] - true[k]
        reward_here += reward
        optimal_here += optimal
        since += 1
        total += reward
        if t >= steps - end:
            end_reward += reward
            end_optimal += optimal
        if since == every or t == steps - 1:
            point = out_sums[t // every]
            add(point, REWARD, reward_here / since)
            add(point, OPTIMAL, optimal_here / since)
            add(point, REGRET, regret)
            reward_here, optimal_here, since = 0.0, 0.0, 0
        if problem.drift > 0.0:
            for j in range(n):
                x = advance(x)
                true[j] += problem.drift * normal(scramble(x))
            best = np.argmax(true)
    out_end[END_REWARD] = end_reward / end
    out_end[END_OPTIMAL] = end_optimal / end
    out_end[MEAN_REWARD] = total / steps


@inlined
def add(point: Any, column: int, value: float) -> None:
    """Add a figure and its square, in place."""
    point[column] += value
    point[column + 1] += value * value
