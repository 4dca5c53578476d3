"""Steps of Q-learning per second on cliff walking: mdplay, a rule of one's own, numpy, and numpy over Gymnasium.

    python benchmarks/reinforcement.py [rounds]

One thread, processor time, interleaved rounds, medians.  All contenders use alpha 0.5 and epsilon 0.1.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

import mdplay
from mdplay import After, Rule

ALPHA, EPSILON = 0.5, 0.1
EPISODES, RUNS, SLOW_STEPS = 400, 2000, 30_000


@dataclass(frozen=True)
class Cautious(Rule):
    """Three lines, as in docs/reinforcement-learning.md."""

    def target(self, after: After) -> float:
        """Return the best value, as Q-learning does."""
        return after.best


def by_mdplay(method: object, task: object = None) -> Callable[[], float]:
    """Return a contender: many runs of a method."""
    cliff = mdplay.make_task("cliff") if task is None else task

    def run() -> float:
        curve = mdplay.learn(
            cliff, method=method, alpha=ALPHA, epsilon=EPSILON, episodes=EPISODES, runs=RUNS, threads=1, points=1,
            checkpoints=0,
        )[0]  # fmt: skip
        return curve.total_steps

    return run


def own_task() -> mdplay.Task:
    """Return the cliff written as a list of transitions, as a student would."""
    rows = []
    for s in range(37):
        y, x = divmod(s, 12)
        for a, (dy, dx) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            t = 12 * min(max(y + dy, 0), 3) + min(max(x + dx, 0), 11)
            fell = 36 < t < 47
            rows.append((s, a, 36 if fell else t, -100.0 if fell else -1.0, 1.0))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return mdplay.Task(mdplay.MDP.from_transitions(*columns, num_states=48, discount=1.0, keep_rewards=True), 36)


def by_numpy() -> float:
    """Run Q-learning in numpy over an environment of a few lines."""
    rng, q, s = np.random.default_rng(1), np.zeros((48, 4)), 36
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    for _ in range(SLOW_STEPS):
        a = int(rng.integers(4)) if rng.random() < EPSILON else int(rng.choice(np.flatnonzero(q[s] == q[s].max())))
        y, x = divmod(s, 12)
        t = 12 * min(max(y + moves[a][0], 0), 3) + min(max(x + moves[a][1], 0), 11)
        reward = -1.0
        if 36 < t < 47:
            t, reward = 36, -100.0
        q[s, a] += ALPHA * (reward + (0.0 if t == 47 else q[t].max()) - q[s, a])
        s = 36 if t == 47 else t
    return SLOW_STEPS


def by_gymnasium() -> float:
    """Run the same over Gymnasium's CliffWalking."""
    import gymnasium

    env = gymnasium.make("CliffWalking-v1")
    rng, q = np.random.default_rng(1), np.zeros((48, 4))
    s, _ = env.reset(seed=1)
    for _ in range(SLOW_STEPS):
        a = int(rng.integers(4)) if rng.random() < EPSILON else int(rng.choice(np.flatnonzero(q[s] == q[s].max())))
        t, reward, ended, _, _ = env.step(a)
        q[s, a] += ALPHA * (float(reward) + (0.0 if ended else q[t].max()) - q[s, a])
        s = env.reset()[0] if ended else t
    return SLOW_STEPS


def main() -> None:
    """Print millions of steps per processor second."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    contenders: dict[str, Callable[[], float]] = {
        "mdplay, q": by_mdplay("q"),
        "mdplay, a rule of one's own": by_mdplay(mdplay.learning.reinforcement.methods.Online(rule=Cautious())),
        "mdplay, a task of one's own": by_mdplay("q", own_task()),
        "mdplay, sarsa": by_mdplay("sarsa"),
        "mdplay, expected-sarsa": by_mdplay("expected-sarsa"),
        "numpy": by_numpy,
        "numpy over Gymnasium": by_gymnasium,
    }
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():
        run()  # compile
    for _ in range(rounds):
        for name, run in contenders.items():
            began = time.process_time()
            steps = run()
            found[name].append(steps / (time.process_time() - began) / 1e6)
    ours = median(found["mdplay, q"])
    for name, speeds in found.items():
        print(
            f"{name:30} {median(speeds):9.3f} M steps/s   {ours / median(speeds):8.2f} times slower than mdplay, q"
        )


if __name__ == "__main__":
    main()
