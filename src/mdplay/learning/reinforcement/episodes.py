"""Monte Carlo learning: the kernel of whole episodes, on and off policy.

An episode is played to its end and processed backwards.  Off policy, the return of a visit is weighted by the
ratio of the probabilities of its actions under the two policies; the estimate is the sum of the weighted returns
divided by their number (ordinary) or by the sum of the weights (weighted).  A truncated episode has no return and
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.bits import below, unit
from mdplay.compiling import inlined, kernel, native, unchecked_view, word
from mdplay.errors import ArgumentError
from mdplay.game import Compiled
from mdplay.learning.reinforcement.methods import MonteCarlo, MonteCarloPrediction
from mdplay.learning.reinforcement.online import Update, choose
from mdplay.learning.reinforcement.recording import (
    MAX_VALUE,
    SNAPSHOT,
    Length,
    Output,
    begin_run,
    is_snapshot_due,
    mark_divergence,
    record_episode,
)
from mdplay.learning.reinforcement.results import (
    Curve,
    ExperimentOptions,
    Results,
    num_checkpoints,
    state_values,
)
from mdplay.learning.reinforcement.rules import Schedule, current
from mdplay.learning.reinforcement.tasks import Task, TaskArrays, begin, move
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.run import Run
from mdplay.runtime.threads import WorkSlice

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Visits(Compiled):
    """The properties of a Monte Carlo method that are constants in kernels."""

    first: bool = True  # only the first visit of an episode counts
    exploring_starts: bool = False
    off_policy: bool = False
    weighted: bool = False
    measured: bool = False


class MonteCarloNumbers(NamedTuple):
    """The numbers of a Monte Carlo method."""

    alpha: Schedule
    epsilon: Schedule
    initial: float


class Episode(NamedTuple):
    """The working arrays of one thread: values, counts and one episode."""

    q: Floats
    visits: npt.NDArray[np.int64]
    weights: Floats
    seen: npt.NDArray[np.int64]
    pair: npt.NDArray[np.int32]
    slot: npt.NDArray[np.int32]  # the value that a visit changes: its pair, or the first pair of its state
    reward: Floats


def learn_monte_carlo(
    task: Task, method: MonteCarlo, size: ExperimentOptions, policy: Any, behaviour: Any, seed: int, run: Run
) -> Curve:
    """Return the curve of a Monte Carlo method."""
    if size.steps is not None:
        raise ArgumentError(f"{method.name} learns from whole episodes; give episodes= instead of steps=")
    off_policy = isinstance(method, MonteCarloPrediction) and method.off_policy != "none"
    if off_policy and behaviour is None:
        raise ArgumentError(f"{method.name} needs the policy that plays; name it with behaviour=, such as uniform")
    truth, target, acting = np.zeros(1), np.zeros(1), np.zeros(1)
    if off_policy:
        values = state_values(task, policy)
        target, acting = task.probabilities(policy), task.probabilities(behaviour)
        if bool(((target > 0.0) & (acting == 0.0)).any()):
            raise ArgumentError("the behaviour policy must take every action that the policy may take")
        truth = values[task.mdp.owners()]
    elif method.predicts:
        truth, task = state_values(task, policy), task.chain(policy)
        truth = truth[task.mdp.owners()]
    pairs = task.mdp.num_choices
    firsts = np.zeros(pairs)
    firsts[np.unique(task.mdp.first_choice[:-1][~task.mdp.terminal]).astype(np.int64)] = 1.0
    weighted = off_policy and isinstance(method, MonteCarloPrediction) and method.off_policy == "weighted"
    flags = Visits(not method.every_visit, method.exploring_starts, off_policy, weighted, method.predicts)
    checkpoints = 0 if method.predicts else num_checkpoints(task, size)
    every = max(1, -(-size.episodes // size.points))
    points = -(-size.episodes // every)
    results = Results(task, method, size, points, pairs, checkpoints)
    job = partial(
        learn_episodes,
        native(task.world),
        native(flags),
        native(method.rule_of_choice),
        native(Update(counts=method.counts)),
        task.arrays(),
        MonteCarloNumbers(method.step_size, method.exploration, float(method.initial)),
        Length(size.episodes, 0, size.max_steps, every, checkpoints),
        acting,
        target,
        word(seed),
    )
    weight = firsts / firsts.sum()
    return results.collect(run, job, lambda: new_episode(pairs, size.max_steps), every, truth, weight)


def new_episode(pairs: int, max_steps: int) -> Episode:
    """Return the working arrays for ``pairs`` values and episodes of at most ``max_steps`` steps."""
    return Episode(
        np.zeros(pairs),
        np.zeros(pairs, np.int64),
        np.zeros(pairs),
        np.zeros(pairs, np.int64),
        np.zeros(max_steps, np.int32),
        np.zeros(max_steps, np.int32),
        np.zeros(max_steps),
    )


@inlined
def draw_action(share: Any, first: int, n: int, random_word: Any) -> int:
    """Return an action, drawn by the probabilities from ``first`` on."""
    left = unit(random_word)
    for i in range(n - 1):
        left -= share[first + i]
        if left < 0.0:
            return i
    return n - 1


@kernel
def learn_episodes(
    world: Any,
    flags: Any,
    selector: Any,
    update: Any,
    arrays: TaskArrays,
    numbers: MonteCarloNumbers,
    length: Length,
    acting: Any,
    target: Any,
    seed: Any,
    runs: Any,
    worker: WorkSlice,
    memory: Episode,
    out: Output,
) -> None:
    """Learn the runs runs[0] .. runs[1] - 1 that belong to the groups of the worker."""
    first, pairs, groups = unchecked_view(arrays.first), len(memory.q), len(out.sums)
    q, visits, weights = unchecked_view(memory.q), unchecked_view(memory.visits), unchecked_view(memory.weights)
    seen, pair = unchecked_view(memory.seen), unchecked_view(memory.pair)
    slot, earned = unchecked_view(memory.slot), unchecked_view(memory.reward)
    for group in range(worker.first, groups, worker.stride):
        sums = out.sums[group]
        for run in range(runs[0] + group, runs[1], groups):
            row, x = run - runs[0], stream(seed, run)
            for k in range(pairs):
                q[k], visits[k], weights[k], seen[k] = numbers.initial, 0, 0.0, -1
            steps = 0
            ends = out.ends[row]
            begin_run(ends)
            for episode in range(length.episodes):
                epsilon = current(numbers.epsilon, episode, steps, 0)
                s, x = begin(arrays, x)
                age, k, base = 0, -1, 0
                if flags.exploring_starts:
                    x = advance(x)
                    k = below(scramble(x), pairs)
                while (k >= 0 or first[s] != first[s + 1]) and age < length.max_steps:
                    if k < 0:
                        base = int(first[s])
                        count = world.actions(base, int(first[s + 1]))
                        x = advance(x)
                        if flags.off_policy:
                            k = base + draw_action(acting, base, count, scramble(x))
                        else:
                            k = base + choose(update, selector, q, visits, base, count, epsilon, 0, scramble(x))
                    s, reward, x = move(world, arrays, k, x)
                    pair[age], earned[age] = k, reward
                    slot[age] = base if flags.off_policy else k
                    age += 1
                    k = -1
                steps += age
                total, ended = 0.0, first[s] == first[s + 1]
                if ended:
                    learn_backwards(flags, numbers, arrays.discount, memory, acting, target, age, episode, steps)
                for i in range(age):
                    total += earned[i]
                error = weighted_error(q, out.truth, out.weight) if flags.measured else 0.0
                record_episode(ends, sums, length, episode, total, age, error, not ended)
                while is_snapshot_due(ends, length, episode):
                    line = out.snapshots[row, int(ends[SNAPSHOT]) - 1]
                    for k in range(pairs):
                        line[k] = q[k]
                    line[pairs] = epsilon
                if age and not abs(q[slot[0]]) < MAX_VALUE:
                    mark_divergence(ends, sums, out.snapshots[row], length, episode)
                    break
                if worker.stop[0]:
                    return
            if len(out.tables):
                for s in range(len(first) - 1):
                    for k in range(first[s], first[s + 1]):
                        out.tables[row, k] = q[first[s]] if flags.off_policy else q[k]
            worker.progress[worker.first] += 1


@inlined
def learn_backwards(
    flags: Any,
    numbers: MonteCarloNumbers,
    discount: float,
    memory: Episode,
    acting: Any,
    target: Any,
    age: int,
    episode: int,
    steps: int,
) -> None:
    """Update the values of an episode from its last step to its first."""
    q, visits, weights = unchecked_view(memory.q), unchecked_view(memory.visits), unchecked_view(memory.weights)
    seen, pair = unchecked_view(memory.seen), unchecked_view(memory.pair)
    slot, earned = unchecked_view(memory.slot), unchecked_view(memory.reward)
    if flags.first:
        for i in range(age - 1, -1, -1):
            seen[slot[i]] = i
    g, ratio = 0.0, 1.0
    for i in range(age - 1, -1, -1):
        j, k = int(slot[i]), int(pair[i])
        g = earned[i] + discount * g
        if flags.off_policy:
            ratio *= target[k] / acting[k]
        if not flags.first or seen[j] == i:
            alpha = current(numbers.alpha, episode, steps, int(visits[j]))
            visits[j] += 1
            if flags.weighted:
                weights[j] += ratio
                if weights[j] > 0.0:
                    q[j] += ratio / weights[j] * (g - q[j])
            else:
                q[j] += alpha * (ratio * g - q[j])


@inlined
def weighted_error(q: Any, truth: Any, weight: Any) -> Any:
    """Return the weighted root mean square difference of values to the given ones."""
    total = 0.0
    for k in range(len(q)):
        total += weight[k] * (q[k] - truth[k]) ** 2
    return np.sqrt(total)
