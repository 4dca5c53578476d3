"""Policy gradients: softmax over preferences that follow the gradient of the return.

REINFORCE (Williams 1992), REINFORCE with a learned baseline, and one-step actor-critic.  A state has a preference
for each action; states with a common feature share theirs (the short corridor of Sutton and Barto, Example 13.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.compiling import inlined, kernel, native, unchecked_view, word
from mdplay.errors import ArgumentError
from mdplay.game import Compiled
from mdplay.learning.reinforcement.episodes import draw_action
from mdplay.learning.reinforcement.methods import PolicyGradient
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
from mdplay.learning.reinforcement.results import Curve, ExperimentOptions, Results, num_checkpoints
from mdplay.learning.reinforcement.tasks import Task, TaskArrays, begin, move
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.run import Run
from mdplay.runtime.threads import WorkSlice

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Gradient(Compiled):
    """The properties of a policy gradient method that are constants in kernels."""

    baseline: bool = False
    critic: bool = False


class GradientNumbers(NamedTuple):
    """The numbers of a policy gradient method."""

    alpha: float
    alpha_w: float
    initial: float
    lead: float  # initial preference of action 0 over each other action


class GradientMemory(NamedTuple):
    """The working arrays of one thread: preferences, state values and one episode."""

    preference: Floats
    value: Floats
    share: Floats
    group: Integers
    taken: Integers
    reward: Floats


def learn_gradient(task: Task, method: PolicyGradient, size: ExperimentOptions, seed: int, run: Run) -> Curve:
    """Return the curve of a policy gradient method."""
    world = task.world
    if size.steps is not None:
        raise ArgumentError(f"{method.name} counts episodes; give episodes= instead of steps=")
    if world.width == 0 or world.active > 1:
        raise ArgumentError(f"{method.name} needs the same actions in every state and at most one feature a state")
    groups = np.arange(task.mdp.num_states) if task.features is None else task.features[:, 0]
    checkpoints = num_checkpoints(task, size)
    every = max(1, -(-size.episodes // size.points))
    points = -(-size.episodes // every)
    results = Results(task, method, size, points, task.mdp.num_choices, checkpoints)
    job = partial(
        learn_preferences,
        native(world),
        native(Gradient(method.baseline, method.critic)),
        task.arrays(),
        np.ascontiguousarray(groups, np.int32),
        GradientNumbers(float(method.alpha), float(method.alpha_w), float(method.initial), float(method.lead)),
        Length(size.episodes, 0, size.max_steps, every, checkpoints),
        word(seed),
    )

    def memory() -> GradientMemory:
        count, steps = int(groups.max()) + 1, size.max_steps
        episode = (np.zeros(steps, np.int32), np.zeros(steps, np.int32), np.zeros(steps))
        return GradientMemory(np.zeros(count * world.width), np.zeros(count), np.zeros(world.width), *episode)

    return results.collect(run, job, memory, every)


@inlined
def write_softmax(preference: Any, first: int, n: int, out_share: Any) -> None:
    """Write the softmax of n preferences from ``first`` on."""
    top, total = preference[first], 0.0
    for i in range(1, n):
        top = max(top, preference[first + i])
    for i in range(n):
        out_share[i] = math.exp(preference[first + i] - top)
        total += out_share[i]
    for i in range(n):
        out_share[i] /= total


@inlined
def follow_gradient(preference: Any, first: int, n: int, share: Any, action: int, amount: float) -> None:
    """Add ``amount`` times the gradient of the logarithm of the probability of an action."""
    for i in range(n):
        preference[first + i] += amount * ((1.0 if i == action else 0.0) - share[i])


@inlined
def write_pairs(first: Any, number: Any, n: int, preference: Any, out_line: Any) -> None:
    """Write the preferences of all pairs."""
    for u in range(len(first) - 1):
        for k in range(int(first[u]), int(first[u + 1])):
            out_line[k] = preference[n * int(number[u]) + k - int(first[u])]


@kernel
def learn_preferences(
    world: Any,
    flags: Any,
    arrays: TaskArrays,
    groups: Any,
    numbers: GradientNumbers,
    length: Length,
    seed: Any,
    runs: Any,
    worker: WorkSlice,
    memory: GradientMemory,
    out: Output,
) -> None:
    """Learn the runs runs[0] .. runs[1] - 1 that belong to the groups of the worker."""
    n, first, discount = world.width, unchecked_view(arrays.first), arrays.discount
    preference, value = unchecked_view(memory.preference), unchecked_view(memory.value)
    share, group_of = unchecked_view(memory.share), unchecked_view(memory.group)
    taken, earned, number = unchecked_view(memory.taken), unchecked_view(memory.reward), unchecked_view(groups)
    for group in range(worker.first, len(out.sums), worker.stride):
        sums = out.sums[group]
        for run in range(runs[0] + group, runs[1], len(out.sums)):
            row, x = run - runs[0], stream(seed, run)
            for k in range(len(preference)):
                preference[k] = numbers.initial + (numbers.lead if k % n == 0 else 0.0)
            for k in range(len(value)):
                value[k] = 0.0
            ends = out.ends[row]
            begin_run(ends)
            for episode in range(length.episodes):
                s, x = begin(arrays, x)
                age, total, weight, at = 0, 0.0, 1.0, 0
                while first[s] != first[s + 1] and age < length.max_steps:
                    at = int(number[s])
                    write_softmax(preference, n * at, n, share)
                    x = advance(x)
                    a = draw_action(share, 0, n, scramble(x))
                    t, reward, x = move(world, arrays, int(first[s]) + a, x)
                    group_of[age], taken[age], earned[age] = at, a, reward
                    total += reward
                    age += 1
                    if flags.critic:
                        error = reward - value[at]
                        if first[t] != first[t + 1]:
                            error += discount * value[number[t]]
                        value[at] += numbers.alpha_w * error
                        follow_gradient(preference, n * at, n, share, a, numbers.alpha * weight * error)
                        weight *= discount
                    s = t
                ended = first[s] == first[s + 1]
                if ended and not flags.critic:
                    g = 0.0
                    for i in range(age - 1, -1, -1):
                        g = earned[i] + discount * g
                        earned[i] = g
                    for i in range(age):
                        at = int(group_of[i])
                        error = earned[i]
                        if flags.baseline:
                            error -= value[at]
                            value[at] += numbers.alpha_w * error
                        write_softmax(preference, n * at, n, share)
                        follow_gradient(
                            preference, n * at, n, share, int(taken[i]), numbers.alpha * weight * error
                        )
                        weight *= discount
                record_episode(ends, sums, length, episode, total, age, 0.0, not ended)
                while is_snapshot_due(ends, length, episode):
                    line = out.snapshots[row, int(ends[SNAPSHOT]) - 1]
                    write_pairs(first, number, n, preference, line)
                    line[int(first[len(first) - 1])] = 1.0
                if not abs(preference[n * at]) < MAX_VALUE:
                    mark_divergence(ends, sums, out.snapshots[row], length, episode)
                    break
                if worker.stop[0]:
                    return
            if len(out.tables):
                write_pairs(first, number, n, preference, out.tables[row])
            worker.progress[worker.first] += 1
