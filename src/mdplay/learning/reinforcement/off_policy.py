"""Off-policy prediction with linear values: semi-gradient TD, and TD with gradient correction (TDC).

The behaviour policy acts; the ratio of the probabilities of its action under the two policies weights the update
(Sutton and Barto, sections 11.1 and 11.7).  With error = reward + discount * v(t) - v(s):

    semi-gradient   w += alpha * ratio * error * x(s)
    tdc             w += alpha * ratio * (error * x(s) - discount * x(t) * (x(s) . h))
                    h += beta * ratio * (error - x(s) . h) * x(s)

A feature that is listed twice for a state counts twice, so that small integers are possible components of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.compiling import inlined, kernel, native, unchecked_view, word
from mdplay.errors import ArgumentError
from mdplay.game import Compiled
from mdplay.learning.reinforcement.episodes import draw_action
from mdplay.learning.reinforcement.methods import OffPolicyPrediction
from mdplay.learning.reinforcement.recording import (
    MAX_VALUE,
    Length,
    Output,
    begin_run,
    mark_divergence,
    record_episode,
)
from mdplay.learning.reinforcement.results import Curve, ExperimentOptions, Results, state_values
from mdplay.learning.reinforcement.rules import Schedule, current
from mdplay.learning.reinforcement.tasks import Task, TaskArrays, begin, move
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.run import Run
from mdplay.runtime.threads import WorkSlice

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Correction(Compiled):
    """The properties of a method that are constants in kernels."""

    corrected: bool = False  # TDC
    size: int = 1  # features of a state


class OffPolicyNumbers(NamedTuple):
    """The numbers of a method, and the two policies as probabilities of all pairs."""

    alpha: Schedule
    beta: float
    first: Floats  # initial weights
    target: Floats
    acting: Floats


class Weights(NamedTuple):
    """The working arrays of one thread."""

    w: Floats
    h: Floats


def learn_off_policy(
    task: Task,
    method: OffPolicyPrediction,
    size: ExperimentOptions,
    policy: Any,
    behaviour: Any,
    seed: int,
    run: Run,
) -> Curve:
    """Return the curve of an off-policy prediction method."""
    if size.steps is not None:
        raise ArgumentError(f"{method.name} counts episodes; give episodes= and max_steps= instead of steps=")
    if behaviour is None:
        raise ArgumentError(f"{method.name} needs the policy that plays; name it with behaviour=, such as uniform")
    target, acting = task.probabilities(policy), task.probabilities(behaviour)
    if bool(((target > 0.0) & (acting == 0.0)).any()):
        raise ArgumentError("the behaviour policy must take every action that the policy may take")
    states, pairs = task.mdp.num_states, task.mdp.num_choices
    features = np.arange(states, dtype=np.int32).reshape(-1, 1) if task.features is None else task.features
    first = np.full(int(features.max()) + 1, float(method.initial) / features.shape[1])
    if task.weights is not None:
        first[:] = task.weights
    weight = np.where(task.mdp.terminal, 0.0, 1.0)
    every = max(1, -(-size.episodes // size.points))
    results = Results(task, method, size, -(-size.episodes // every), pairs, 0)
    job = partial(
        learn_weights,
        native(task.world),
        native(Correction(method.corrected, features.shape[1])),
        task.arrays()._replace(features=np.ascontiguousarray(features, np.int32)),
        OffPolicyNumbers(method.step_size, float(method.beta), first, target, acting),
        Length(size.episodes, 0, size.max_steps, every, 0),
        word(seed),
    )
    truth = state_values(task, policy)
    memory = partial(Weights, np.zeros(len(first)), np.zeros(len(first)))
    return results.collect(
        run, job, lambda: Weights(*(part.copy() for part in memory())), every, truth, weight / weight.sum()
    )


@inlined
def dot(features: Any, s: int, size: int, w: Any) -> float:
    """Return the sum of the weights of a state's features."""
    total = 0.0
    for i in range(size):
        total += w[features[s, i]]
    return total


@inlined
def add_features(features: Any, s: int, size: int, amount: float, out_w: Any) -> None:
    """Add an amount to the weights of a state's features."""
    for i in range(size):
        out_w[features[s, i]] += amount


@inlined
def state_error(arrays: TaskArrays, size: int, w: Any, truth: Any, weight: Any) -> Any:
    """Return the root mean square error of the values of the states that are not terminal."""
    total = 0.0
    for s in range(len(weight)):
        total += weight[s] * (dot(arrays.features, s, size, w) - truth[s]) ** 2
    return np.sqrt(total)


@kernel
def learn_weights(
    world: Any,
    flags: Any,
    arrays: TaskArrays,
    numbers: OffPolicyNumbers,
    length: Length,
    seed: Any,
    runs: Any,
    worker: WorkSlice,
    memory: Weights,
    out: Output,
) -> None:
    """Learn the runs runs[0] .. runs[1] - 1 that belong to the groups of the worker."""
    first, features, discount = unchecked_view(arrays.first), unchecked_view(arrays.features), arrays.discount
    w, h = unchecked_view(memory.w), unchecked_view(memory.h)
    for group in range(worker.first, len(out.sums), worker.stride):
        sums = out.sums[group]
        for run in range(runs[0] + group, runs[1], len(out.sums)):
            row, x, time = run - runs[0], stream(seed, run), 0
            for i in range(len(w)):
                w[i], h[i] = numbers.first[i], 0.0
            ends = out.ends[row]
            begin_run(ends)
            for episode in range(length.episodes):
                s, x = begin(arrays, x)
                age, total = 0, 0.0
                while first[s] != first[s + 1] and age < length.max_steps:
                    base = int(first[s])
                    x = advance(x)
                    k = base + draw_action(numbers.acting, base, int(first[s + 1]) - base, scramble(x))
                    t, reward, x = move(world, arrays, k, x)
                    alpha = current(numbers.alpha, episode, time, 0)
                    ratio = numbers.target[k] / numbers.acting[k]
                    v = dot(features, t, flags.size, w) if first[t] != first[t + 1] else 0.0
                    error = reward + discount * v - dot(features, s, flags.size, w)
                    guess = dot(features, s, flags.size, h)
                    add_features(features, s, flags.size, alpha * ratio * error, w)
                    if flags.corrected:
                        if first[t] != first[t + 1]:
                            add_features(features, t, flags.size, -alpha * ratio * discount * guess, w)
                        add_features(features, s, flags.size, numbers.beta * ratio * (error - guess), h)
                    total += reward
                    age += 1
                    time += 1
                    s = t
                wrong = state_error(arrays, flags.size, w, out.truth, out.weight)
                record_episode(ends, sums, length, episode, total, age, wrong, first[s] != first[s + 1])
                if not wrong < MAX_VALUE:
                    mark_divergence(ends, sums, out.snapshots[row], length, episode)
                    break
                if worker.stop[0]:
                    return
            if len(out.tables):
                for u in range(len(first) - 1):
                    for k in range(int(first[u]), int(first[u + 1])):
                        out.tables[row, k] = dot(features, u, flags.size, w)
            worker.progress[worker.first] += 1
