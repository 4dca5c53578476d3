"""Learning: episodes of 2048 and of any game, and bandits; beside the same in numpy where there is no library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mdplay.benching.measuring import OURS, Group
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48

ARMS, STEPS = (0.9, 0.8), 1_000
ROOM = 8.0  # by which the mean regret of random runs may differ


def twenty48_group(quick: bool) -> Group:
    """Return the group: episodes of 2048, by each method."""
    methods = {OURS: "td", "mdplay, before-states": "td-before", "mdplay, temporal coherence": "tc"}
    contenders = {
        name: lambda size, method=method: _episodes(Twenty48(), method, size) for name, method in methods.items()
    }
    sizes = (20, 40) if quick else (100, 300, 1_000)
    return Group("2048", "learn 2048 by an n-tuple network, 4 x 6", "episodes", sizes, contenders)


def learning_group(quick: bool) -> Group:
    """Return the group: episodes of a game without a learner of its own."""
    sizes = (50, 100) if quick else (1_000, 10_000, 30_000)
    contenders = {OURS: lambda size: _episodes(TicTacToe(), None, size)}
    return Group("learning", "learn Tic-Tac-Toe by the network for any game", "episodes", sizes, contenders)


def _episodes(game: Any, method: str | None, episodes: int) -> Callable[[], Any]:
    from mdplay.learning.learned import Run
    from mdplay.learning.learners import learn_by

    def run() -> int:
        learn_by(game, Run(method, episodes, seed=1))
        return episodes

    return run


def bandits_group(quick: bool) -> Group:
    """Return the group: runs of UCB1 on two arms; numpy lets all runs pull at once, step by step."""
    sizes = (20, 40) if quick else (100, 1_000, 10_000)
    title = f"runs of UCB1 on arms of {ARMS[0]} and {ARMS[1]}, {STEPS} steps"
    return Group(
        "bandits", title, "runs", sizes, {OURS: _runs, "numpy, all runs at once": _numpy_runs}, tolerance=ROOM
    )


def _runs(runs: int) -> Callable[[], Any]:
    from mdplay.bandits.laboratory import compare

    bandit = ",".join(map(str, ARMS))
    return lambda: float(compare(bandit, ("ucb1",), steps=STEPS, runs=runs, seed=1, threads=1)[0].regret[-1])


def _numpy_runs(runs: int) -> Callable[[], Any]:
    """Return UCB1 in numpy: the mean regret of all runs."""

    def run() -> float:
        rng, arms = np.random.default_rng(1), np.array(ARMS)
        pulls = np.ones((runs, len(arms)))
        wins = (rng.random((runs, len(arms))) < arms).astype(np.float64)
        rows = np.arange(runs)
        for step in range(len(arms), STEPS):
            chosen = np.argmax(wins / pulls + np.sqrt(2.0 * np.log(step) / pulls), axis=1)
            wins[rows, chosen] += rng.random(runs) < arms[chosen]
            pulls[rows, chosen] += 1
        return float((pulls @ (arms.max() - arms)).mean())

    return run
