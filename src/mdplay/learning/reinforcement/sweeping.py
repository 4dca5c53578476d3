"""Prioritised sweeping (Moore and Atkeson 1993; Peng and Williams 1993): the largest changes are planned first.

The model is the last outcome of each pair, so the task must be deterministic.  The pairs that lead into a state
form a linked list.  The queue is a binary heap that knows the place of every pair, so that a pair whose priority
rises is moved and not entered twice.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.compiling import inlined, kernel, native, unchecked_view, word
from mdplay.errors import ArgumentError
from mdplay.learning.reinforcement.methods import Sweeping
from mdplay.learning.reinforcement.online import Update, choose, largest_value
from mdplay.learning.reinforcement.recording import (
    MAX_VALUE,
    SNAPSHOT,
    UPDATES,
    Length,
    Output,
    begin_run,
    is_snapshot_due,
    mark_divergence,
    record_episode,
)
from mdplay.learning.reinforcement.results import Curve, ExperimentOptions, Results, num_checkpoints
from mdplay.learning.reinforcement.rules import Schedule, current
from mdplay.learning.reinforcement.tasks import Task, TaskArrays, begin, move
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.run import Run
from mdplay.runtime.threads import WorkSlice

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]


class SweepingNumbers(NamedTuple):
    """The numbers of prioritised sweeping."""

    alpha: Schedule
    epsilon: Schedule
    initial: float
    plans: int
    threshold: float


class Queue(NamedTuple):
    """The working arrays of one thread: values, the remembered model and the heap."""

    q: Floats
    visits: npt.NDArray[np.int64]
    target: Integers  # last target of each pair; -1: not tried
    reward: Floats
    owner: Integers
    into: Integers  # first pair that leads into each state; -1: none
    following: Integers  # next pair that leads into the same state
    previous: Integers
    heap: Integers
    place: Integers  # of each pair in the heap; -1: not in it
    priority: Floats


def learn_sweeping(task: Task, method: Sweeping, size: ExperimentOptions, seed: int, run: Run) -> Curve:
    """Return the curve of prioritised sweeping."""
    if task.world.random or task.world.active or task.later is not None:
        raise ArgumentError(
            f"{method.name} remembers one outcome of each pair; use a deterministic table, or dyna-q"
        )
    if size.steps is not None or method.counts:
        raise ArgumentError(f"{method.name} counts episodes, not steps or visits")
    pairs, states = task.mdp.num_choices, task.mdp.num_states
    checkpoints = num_checkpoints(task, size)
    every = max(1, -(-size.episodes // size.points))
    points = -(-size.episodes // every)
    results = Results(task, method, size, points, pairs, checkpoints)
    numbers = SweepingNumbers(
        method.step_size, method.exploration, float(method.initial), method.plans, float(method.threshold)
    )
    job = partial(
        sweep,
        native(task.world),
        native(method.rule_of_choice),
        native(Update()),
        task.arrays(),
        numbers,
        Length(size.episodes, 0, size.max_steps, every, checkpoints),
        word(seed),
    )
    owner = task.mdp.owners().astype(np.int32)

    def memory() -> Queue:
        def integers(count: int) -> Integers:
            return np.zeros(count, np.int32)

        return Queue(
            np.zeros(pairs), np.zeros(1, np.int64), integers(pairs), np.zeros(pairs), owner, integers(states),
            integers(pairs), integers(pairs), integers(pairs + 1), integers(pairs), np.zeros(pairs),
        )  # fmt: skip

    return results.collect(run, job, memory, every)


@kernel
def sweep(
    world: Any,
    selector: Any,
    update: Any,
    arrays: TaskArrays,
    numbers: SweepingNumbers,
    length: Length,
    seed: Any,
    runs: Any,
    worker: WorkSlice,
    queue: Queue,
    out: Output,
) -> None:
    """Learn the runs runs[0] .. runs[1] - 1 that belong to the groups of the worker."""
    first, q = unchecked_view(arrays.first), unchecked_view(queue.q)
    for group in range(worker.first, len(out.sums), worker.stride):
        sums = out.sums[group]
        for run in range(runs[0] + group, runs[1], len(out.sums)):
            row, x = run - runs[0], stream(seed, run)
            for k in range(len(q)):
                q[k], queue.target[k], queue.place[k] = numbers.initial, -1, -1
                queue.following[k], queue.previous[k] = -1, -1
            for s in range(len(queue.into)):
                queue.into[s] = -1
            size, steps = 0, 0
            ends = out.ends[row]
            begin_run(ends)
            for episode in range(length.episodes):
                epsilon = current(numbers.epsilon, episode, steps, 0)
                alpha = current(numbers.alpha, episode, steps, 0)
                s, x = begin(arrays, x)
                age, total = 0, 0.0
                while first[s] != first[s + 1] and age < length.max_steps:
                    base, count = int(first[s]), world.actions(int(first[s]), int(first[s + 1]))
                    x = advance(x)
                    k = base + choose(update, selector, q, queue.visits, base, count, epsilon, 0, scramble(x))
                    t, reward, x = move(world, arrays, k, x)
                    age += 1
                    total += reward
                    remember(queue, k, t, reward)
                    change = abs(goal_of(world, arrays, q, t, reward) - q[k])
                    size = offer(queue, size, k, change, numbers.threshold)
                    size = plan_sweeps(world, arrays, numbers, queue, size, alpha, ends)
                    s = t
                    if size < 0:
                        break
                steps += age
                record_episode(ends, sums, length, episode, total, age, 0.0, first[s] != first[s + 1])
                while is_snapshot_due(ends, length, episode):
                    line = out.snapshots[row, int(ends[SNAPSHOT]) - 1]
                    for k in range(len(q)):
                        line[k] = q[k]
                    line[len(q)] = epsilon
                if size < 0:
                    mark_divergence(ends, sums, out.snapshots[row], length, episode)
                    break
                if worker.stop[0]:
                    return
            if len(out.tables):
                for k in range(len(q)):
                    out.tables[row, k] = q[k]
            worker.progress[worker.first] += 1


@inlined
def plan_sweeps(
    world: Any, arrays: TaskArrays, numbers: SweepingNumbers, queue: Queue, size: int, alpha: float, ends: Any
) -> int:
    """Update the pairs of the highest priority and queue their predecessors.

    Return the size of the heap; -1 if a value diverged.
    """
    q, left = unchecked_view(queue.q), numbers.plans
    while left and size:
        j = int(queue.heap[0])
        size -= 1
        queue.place[j] = -1
        if size:
            queue.heap[0] = queue.heap[size]
            sink(queue, size)
        q[j] += alpha * (goal_of(world, arrays, q, int(queue.target[j]), queue.reward[j]) - q[j])
        if not abs(q[j]) < MAX_VALUE:
            return -1
        left -= 1
        ends[UPDATES] += 1.0
        u = int(queue.owner[j])
        i = int(queue.into[u])
        while i >= 0:
            change = abs(goal_of(world, arrays, q, u, queue.reward[i]) - q[i])
            size = offer(queue, size, i, change, numbers.threshold)
            i = int(queue.following[i])
    return size


@inlined
def goal_of(world: Any, arrays: TaskArrays, q: Any, target: int, reward: float) -> Any:
    """Return the one-step estimate of a pair: its reward plus the discounted best value of its target."""
    base, last = int(arrays.first[target]), int(arrays.first[target + 1])
    if base == last:
        return reward
    return reward + arrays.discount * largest_value(q, base, world.actions(base, last), 0)


@inlined
def remember(queue: Queue, k: int, target: int, reward: float) -> None:
    """Store the outcome of a pair, and move it to the list of the state that it leads into."""
    into, following, previous = queue.into, queue.following, queue.previous
    old = int(queue.target[k])
    if old != target:
        if old >= 0:
            if previous[k] >= 0:
                following[previous[k]] = following[k]
            else:
                into[old] = following[k]
            if following[k] >= 0:
                previous[following[k]] = previous[k]
        following[k], previous[k] = into[target], -1
        if into[target] >= 0:
            previous[into[target]] = k
        into[target] = k
    queue.target[k], queue.reward[k] = target, reward


@inlined
def offer(queue: Queue, size: int, k: int, priority: float, threshold: float) -> int:
    """Enter a pair into the heap, or raise its priority; return the size of the heap."""
    if priority <= threshold:
        return size
    if queue.place[k] < 0:
        queue.priority[k], queue.heap[size], queue.place[k] = priority, k, size
        rise(queue, size)
        return size + 1
    if priority > queue.priority[k]:
        queue.priority[k] = priority
        rise(queue, int(queue.place[k]))
    return size


@inlined
def rise(queue: Queue, i: int) -> None:
    """Move an entry of the heap towards its root."""
    heap, place, priority = queue.heap, queue.place, queue.priority
    k = int(heap[i])
    while i > 0 and priority[heap[(i - 1) // 2]] < priority[k]:
        heap[i] = heap[(i - 1) // 2]
        place[heap[i]] = i
        i = (i - 1) // 2
    heap[i], place[k] = k, i


@inlined
def sink(queue: Queue, size: int) -> None:
    """Move the root of the heap towards its leaves."""
    heap, place, priority = queue.heap, queue.place, queue.priority
    i, k = 0, int(heap[0])
    while 2 * i + 1 < size:
        j = 2 * i + 1
        if j + 1 < size and priority[heap[j + 1]] > priority[heap[j]]:
            j += 1
        if priority[heap[j]] <= priority[k]:
            break
        heap[i] = heap[j]
        place[heap[i]] = i
        i = j
    heap[i], place[k] = k, i
