"""Many runs of a bandit: the kernel of the laboratory.  It pulls arms by the same part as tree search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import below, unit
from mdplay.bridge import borrow, kernel, part
from mdplay.rng import advance, scramble, stream
from mdplay.searching import selectors
from mdplay.searching.selecting import ARM, Scale, learn, reward_arm, select

REWARD, REWARD_SQUARED, OPTIMAL, OPTIMAL_SQUARED, REGRET, REGRET_SQUARED, COLUMNS = range(7)
END_REWARD, END_OPTIMAL, MEAN_REWARD = range(3)
TAIL = 20  # the last twentieth of the steps is "the end"
normal = part(selectors.normal)


def new_arms(size: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return room for the arms of one run and for their true means."""
    return np.zeros(size, ARM), np.zeros(size)


@kernel
def play(
    selector: Any,
    means: Any,
    drawn: bool,
    gaussian: bool,
    deviation: float,
    drift: float,
    steps: int,
    every: int,
    seed: Any,
    first: int,
    stride: int,
    arms: Any,
    room: Any,
    stop: Any,
    progress: Any,
    out_sums: Any,
    out_ends: Any,
) -> None:
    """Play the groups first, first + stride, ... of the runs.

    Row g of ``out_sums`` gets, for each point of ``every`` steps, sums over group g's runs and their squares; row
    i of ``out_ends`` the reward and share of best pulls at the end of run i, and its mean reward.
    """
    arms, out_sums, out_ends = borrow(arms), borrow(out_sums), borrow(out_ends)
    true = borrow(room)
    for group in range(first, len(out_sums), stride):
        for run in range(group, len(out_ends), len(out_sums)):
            x = start(selector, arms, means, drawn, stream(seed, run), true)
            play_once(
                selector, arms, true, gaussian, deviation, drift, steps, every, x, out_sums[group], out_ends[run]
            )
            progress[first] += steps
            if stop[0]:
                return


@part
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


@part
def play_once(
    selector: Any,
    arms: Any,
    true: Any,
    gaussian: bool,
    deviation: float,
    drift: float,
    steps: int,
    every: int,
    x: Any,
    out_sums: Any,
    out_end: Any,
) -> None:
    """Play one run and add its figures."""
    plain, n, best = Scale(0.0, 1.0), len(true), np.argmax(true)
    end = max(1, steps // TAIL)
    regret, total, end_reward, end_optimal = 0.0, 0.0, 0.0, 0.0
    reward_here, optimal_here, since = 0.0, 0.0, 0
    for t in range(steps):
        x = advance(x)
        k = select(selector, arms, 0, n, t, plain, scramble(x))
        x = advance(x)
        if gaussian:
            reward = true[k] + deviation * normal(scramble(x))
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
        if drift > 0.0:
            for j in range(n):
                x = advance(x)
                true[j] += drift * normal(scramble(x))
            best = np.argmax(true)
    out_end[END_REWARD] = end_reward / end
    out_end[END_OPTIMAL] = end_optimal / end
    out_end[MEAN_REWARD] = total / steps


@part
def add(point: Any, column: int, value: float) -> None:
    """Add a figure and its square, in place."""
    point[column] += value
    point[column + 1] += value * value
