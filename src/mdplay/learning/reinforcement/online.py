"""The kernel of online learning: one loop of experience for tables, features and real-valued states.

    for each run, each episode, each step: choose an action, observe the outcome, update

An update reaches back one step, n steps through a ring of the last pairs, or all pairs of the episode by their
eligibility.  With planning steps (Dyna) the remembered outcomes of earlier pairs are replayed after every step.
Prediction is control without a choice: the chain of a policy has one action in each state, and Q of it is V.

The values of a state are ``w[base + a]`` in a table, and the sum of ``w[cell + a]`` over its active features
otherwise.  The flags of `Update` and the constants of the world are folded when the kernel is compiled; all
numbers of a method are read at run time, so a sweep over step sizes compiles nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.bits import below, mix, unit
from mdplay.compiling import inlined, kernel, unchecked_view
from mdplay.game import Compiled
from mdplay.learning.reinforcement.recording import (
    AVERAGE,
    MAX_VALUE,
    POINT,
    SNAPSHOT,
    SUM_REWARD,
    TOTAL_STEPS,
    Length,
    Output,
    add_point,
    begin_run,
    is_snapshot_due,
    mark_divergence,
    record_episode,
)
from mdplay.learning.reinforcement.rules import STEPS as STEP_CLOCK
from mdplay.learning.reinforcement.rules import After, Schedule, current
from mdplay.learning.reinforcement.tasks import TaskArrays, begin, move
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.threads import WorkSlice
from mdplay.searching.selectors import Arm, Crowd

Floats = npt.NDArray[np.float64]
FAINT = 1e-4  # smaller eligibilities are set to zero


@dataclass(frozen=True)
class Update(Compiled):
    """The properties of a method that are constants in kernels."""

    counts: bool = False  # visits are counted, for schedules by visits and selectors that need pulls
    n_step: bool = False
    traces: bool = False
    replacing: bool = False
    dutch: bool = False  # true online
    cuts: bool = False  # Watkins: an exploratory action ends all eligibility
    planning: bool = False  # Dyna
    curious: bool = False  # Dyna-Q+
    differential: bool = False  # rewards are relative to their average
    measured: bool = False  # the error to given values is measured
    by_steps: bool = False  # a point of the curve is a number of steps instead of episodes


class Numbers(NamedTuple):
    """The numbers of a method."""

    alpha: Schedule
    epsilon: Schedule
    initial: float
    decay: float  # lambda
    n: int
    plans: int  # planning steps after each step
    kappa: float
    beta: float  # step size of the average reward


class Memory(NamedTuple):
    """The working arrays of one thread."""

    w: Floats
    visits: npt.NDArray[np.int64]
    trace: Floats
    active: npt.NDArray[np.int32]  # weights of nonzero eligibility
    here: npt.NDArray[np.int32]
    there: npt.NDArray[np.int32]
    values: Floats  # of the actions of a state with features
    ring_base: npt.NDArray[np.int32]
    ring_cells: npt.NDArray[np.int32]
    ring_action: npt.NDArray[np.int32]
    ring_count: npt.NDArray[np.int32]
    ring_reward: Floats
    seen_target: npt.NDArray[np.int32]
    seen_reward: Floats
    seen_at: npt.NDArray[np.int64]
    known: npt.NDArray[np.int32]


def new_memory(size: int, world: Any, update: Any, n: int) -> Memory:
    """Return the working arrays for ``size`` weights."""
    cells, ring, pairs = max(1, world.active), n + 2, size if update.planning else 1
    return Memory(
        np.zeros(size),
        np.zeros(size if update.counts else 1, np.int64),
        np.zeros(size if update.traces else 1),
        np.zeros(size + 1 if update.traces else 1, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(max(1, world.width)),
        np.zeros(ring, np.int32),
        np.zeros((ring, cells), np.int32),
        np.zeros(ring, np.int32),
        np.zeros(ring, np.int32),
        np.zeros(ring),
        np.zeros(pairs, np.int32),
        np.zeros(pairs),
        np.zeros(pairs, np.int64),
        np.zeros(pairs + 1, np.int32),
    )


# ---------------------------------------------------------------- the actions of a state
@inlined
def value_at(q: Any, k: int, half: int) -> Any:
    """Return a value; with two tables, the mean of both."""
    return q[k] if half == 0 else 0.5 * (q[k] + q[k + half])


@inlined
def choose(
    update: Any, selector: Any, q: Any, visits: Any, first: int, n: int, epsilon: float, half: int, word: Any
) -> int:
    """Return the action that the selector chooses among n values from ``first`` on; ties are broken at random."""
    coin, best, highest, ties, total = unit(word), 0, -math.inf, 0, 0
    if update.counts:
        for i in range(n):
            total += visits[first + i]
    for i in range(n):
        pulls = int(visits[first + i]) if update.counts else 0
        score = selector.score(
            Arm(pulls, value_at(q, first + i, half), 0.0, epsilon), total, coin, unit(mix(word, i))
        )
        if score > highest:
            highest, best, ties = score, i, 1
        else:
            ties += score == highest
    if ties > 1:  # rare once learning has begun, so the scores are computed again
        left = below(mix(word, 1 << 33), ties)
        for i in range(n):
            pulls = int(visits[first + i]) if update.counts else 0
            arm = Arm(pulls, value_at(q, first + i, half), 0.0, epsilon)
            if selector.score(arm, total, coin, unit(mix(word, i))) == highest:
                if left == 0:
                    return i
                left -= 1
    return best


@inlined
def largest_value(q: Any, first: int, n: int, half: int) -> Any:
    """Return the largest of n values from ``first`` on."""
    best = value_at(q, first, half)
    for i in range(1, n):
        best = max(best, value_at(q, first + i, half))
    return best


@inlined
def observe_after(
    rule: Any, selector: Any, q: Any, first: int, n: int, taken: int, epsilon: float, half: int
) -> After:
    """Return a state as a rule sees it; fields that the rule does not use are not computed."""
    best = largest_value(q, first, n, half)
    mean, chance = 0.0, 1.0
    if rule.needs_mean:
        ties, total = 0, 0.0
        for i in range(n):
            v = value_at(q, first + i, half)
            ties += v == best
            if selector.exponential:
                total += math.exp((v - best) / epsilon)
        for i in range(n):
            v = value_at(q, first + i, half)
            p = selector.chance(Arm(0, v, 0.0, epsilon), Crowd(n, best, ties, total))
            mean += p * v
            if i == taken:
                chance = p
    return After(best, mean, value_at(q, first + taken, half), chance)


@inlined
def other_value(q: Any, first: int, n: int, side: int, half: int) -> Any:
    """Return the value in the other table of the action that is best in table ``side``."""
    best = first
    for i in range(1, n):
        best = first + i if q[first + i + side * half] > q[best + side * half] else best
    return q[best + (1 - side) * half]


# ---------------------------------------------------------------- tables and features
@inlined
def first_state(world: Any, arrays: TaskArrays, x: Any) -> Any:
    """Return the first state of an episode, and the next state of the random stream."""
    if world.is_model:
        return begin(arrays, x)
    x = advance(x)
    return world.start(scramble(x)), x


@inlined
def is_over(world: Any, arrays: TaskArrays, s: Any) -> Any:
    """Return whether an episode ends in a state."""
    if world.is_model:
        return arrays.first[s] == arrays.first[s + 1]
    return world.is_terminal(s)


@inlined
def locate(world: Any, arrays: TaskArrays, s: Any, out_cells: Any) -> int:
    """Write the first weights of the active features of a state; return the first weight of a state in a table."""
    if world.is_model:
        for i in range(world.active):
            out_cells[i] = arrays.features[s, i] * world.width
        return 0 if world.active else int(arrays.first[s])
    for i in range(world.active):
        out_cells[i] = world.feature(s, i) * world.width
    return 0


@inlined
def num_actions(world: Any, arrays: TaskArrays, s: Any) -> Any:
    """Return the number of actions of a state."""
    if world.is_model:
        return world.actions(int(arrays.first[s]), int(arrays.first[s + 1]))
    return world.width


@inlined
def sum_values(world: Any, w: Any, cells: Any, out_values: Any) -> None:
    """Write the values of the actions of a state with features."""
    for a in range(world.width):
        out_values[a] = 0.0
    for i in range(world.active):
        for a in range(world.width):
            out_values[a] += w[cells[i] + a]


@inlined
def pair_value(world: Any, w: Any, base: int, cells: Any, a: int) -> Any:
    """Return the value of one action."""
    if world.active == 0:
        return w[base + a]
    total = 0.0
    for i in range(world.active):
        total += w[cells[i] + a]
    return total


@inlined
def add_to(world: Any, w: Any, base: int, cells: Any, a: int, amount: float) -> None:
    """Add to the weights of a pair."""
    if world.active == 0:
        w[base + a] += amount
    else:
        for i in range(world.active):
            w[cells[i] + a] += amount


# ---------------------------------------------------------------- runs
@kernel
def learn_online(
    world: Any,
    rule: Any,
    selector: Any,
    update: Any,
    arrays: TaskArrays,
    numbers: Numbers,
    length: Length,
    seed: Any,
    runs: Any,
    worker: WorkSlice,
    memory: Memory,
    out: Output,
) -> None:
    """Learn the runs runs[0] .. runs[1] - 1 that belong to the groups of the worker."""
    groups = len(out.sums)
    plain = TaskArrays(
        unchecked_view(arrays.first),
        unchecked_view(arrays.rows),
        unchecked_view(arrays.outcomes),
        unchecked_view(arrays.start),
        unchecked_view(arrays.features),
        arrays.discount,
        arrays.change_at,
    )
    for group in range(worker.first, groups, worker.stride):
        for run in range(runs[0] + group, runs[1], groups):
            row = run - runs[0]
            learn_run(
                world, rule, selector, update, plain, numbers, length, stream(seed, run), worker.stop, memory,
                unchecked_view(out.sums[group]), unchecked_view(out.snapshots), row, unchecked_view(out.truth),
                unchecked_view(out.weight), unchecked_view(out.ends[row]),
            )  # fmt: skip
            if len(out.tables):
                half = len(memory.w) // 2 if rule.double else 0
                for s in range(len(plain.first) - 1):
                    save_values(world, plain, memory.w, s, half, out.tables[row])
            worker.progress[worker.first] += 1
            if worker.stop[0]:
                return


@inlined
def learn_run(
    world: Any, rule: Any, selector: Any, update: Any, arrays: TaskArrays, numbers: Numbers, length: Length,
    x: Any, stop: Any, memory: Memory, sums: Any, snapshots: Any, row: int, truth: Any, weight: Any, ends: Any,
) -> None:  # fmt: skip
    """Learn once, from the initial values."""
    w, visits, trace = unchecked_view(memory.w), unchecked_view(memory.visits), unchecked_view(memory.trace)
    active, here, there = (
        unchecked_view(memory.active),
        unchecked_view(memory.here),
        unchecked_view(memory.there),
    )
    values, ring_cells = unchecked_view(memory.values), unchecked_view(memory.ring_cells)
    ring_base, ring_action = unchecked_view(memory.ring_base), unchecked_view(memory.ring_action)
    ring_count, ring_reward = unchecked_view(memory.ring_count), unchecked_view(memory.ring_reward)
    seen_target, seen_reward = unchecked_view(memory.seen_target), unchecked_view(memory.seen_reward)
    seen_at, known = unchecked_view(memory.seen_at), unchecked_view(memory.known)
    first, discount, n = arrays.first, arrays.discount, numbers.n
    half = len(w) // 2 if rule.double else 0
    pairs = int(first[len(first) - 1])
    for k in range(len(w)):
        w[k] = numbers.initial / max(1, world.active)
    for k in range(len(visits)):
        visits[k] = 0
    for k in range(len(trace)):
        trace[k] = 0.0
    for k in range(len(seen_at)):
        seen_at[k] = -1
    num_known, num_active, time, average = 0, 0, 0, 0.0
    begin_run(ends)
    for episode in range(length.episodes):
        epsilon = current(numbers.epsilon, episode, time, 0)
        age, old, total = 0, 0.0, 0.0
        s, x = first_state(world, arrays, x)
        base, count, a = 0, 0, 0
        ended = is_over(world, arrays, s)
        x = advance(x)
        if not ended:
            base, count = locate(world, arrays, s, here), num_actions(world, arrays, s)
            if world.active == 0:
                a = choose(update, selector, w, visits, base, count, epsilon, half, scramble(x))
            else:
                sum_values(world, w, here, values)
                a = choose(update, selector, values, visits, 0, count, epsilon, 0, scramble(x))
        if update.n_step:
            ring_base[0], ring_action[0], ring_count[0] = base, a, count
            for i in range(world.active):
                ring_cells[0, i] = here[i]
        while not ended:
            if world.is_model:
                shift = pairs if time >= arrays.change_at else 0
                t, reward, x = move(world, arrays, int(first[s]) + a + shift, x)
            else:
                x = advance(x)
                t = world.step(s, a, scramble(x))
                reward = world.reward(s, a, t)
            ended = is_over(world, arrays, t)
            age += 1
            time += 1
            total += reward
            if numbers.epsilon.clock == STEP_CLOCK:
                epsilon = current(numbers.epsilon, episode, time, 0)
            alpha = current(numbers.alpha, episode, time - 1, 0)
            if update.counts:
                alpha = current(numbers.alpha, episode, time - 1, int(visits[base + a]))
                visits[base + a] += 1
            x = advance(x)
            word = scramble(x)
            to, width, chosen = 0, 1, 0
            after = After(0.0, 0.0, 0.0, 1.0)
            if not ended:
                to, width = locate(world, arrays, t, there), num_actions(world, arrays, t)
                if world.active:
                    sum_values(world, w, there, values)
                    chosen = choose(update, selector, values, visits, 0, width, epsilon, 0, word)
                    after = observe_after(rule, selector, values, 0, width, chosen, epsilon, 0)
                elif not rule.double:
                    if rule.needs_action or update.n_step or update.traces:
                        chosen = choose(update, selector, w, visits, to, width, epsilon, half, word)
                    if not update.n_step:
                        after = observe_after(rule, selector, w, to, width, chosen, epsilon, half)
            if rule.double:
                side = int(word & 1)  # the coin of ``choose`` uses higher bits
                goal = reward
                if not ended:
                    goal += discount * other_value(w, to, width, side, half)
                w[base + a + side * half] += alpha * (goal - w[base + a + side * half])
            elif update.n_step:
                slot = age % (n + 1)
                ring_reward[slot] = reward
                if not ended:
                    ring_base[slot], ring_action[slot], ring_count[slot] = to, chosen, width
                    for i in range(world.active):
                        ring_cells[slot, i] = there[i]
                last = age - 1 if ended or age >= length.max_steps or time >= length.steps else age - n
                for moment in range(max(0, age - n), last + 1):
                    g = 0.0
                    for i in range(age, moment, -1):
                        slot = i % (n + 1)
                        if i < age or not ended:
                            if i == age or rule.needs_mean:
                                if world.active:
                                    sum_values(world, w, ring_cells[slot], values)
                                    after = observe_after(
                                        rule, selector, values, 0, world.width, int(ring_action[slot]), epsilon, 0
                                    )
                                else:
                                    after = observe_after(
                                        rule, selector, w, int(ring_base[slot]), int(ring_count[slot]),
                                        int(ring_action[slot]), epsilon, 0,
                                    )  # fmt: skip
                            g = rule.target(after) if i == age else rule.carry(after, g)
                        g = ring_reward[slot] - average + discount * g
                    slot = moment % (n + 1)
                    at, b = int(ring_base[slot]), int(ring_action[slot])
                    if update.counts:  # the step size of the pair that is updated
                        alpha = current(numbers.alpha, episode, time - 1, int(visits[at + b]) - 1)
                    error = g - pair_value(world, w, at, ring_cells[slot], b)
                    if update.differential:
                        average += numbers.beta * error
                    add_to(world, w, at, ring_cells[slot], b, alpha * error)
            else:
                goal = reward - average
                if not ended:
                    goal += discount * rule.target(after)
                v = pair_value(world, w, base, here, a)
                error = goal - v
                if update.differential:
                    average += numbers.beta * error
                if update.traces:
                    gap, dot = 0.0, 0.0
                    if update.dutch:
                        for i in range(max(1, world.active)):
                            dot += trace[(here[i] if world.active else base) + a]
                        gap = v - old
                        old = 0.0
                        if not ended:
                            old = pair_value(world, w, to, there, chosen)
                    for i in range(max(1, world.active)):
                        k = (here[i] if world.active else base) + a
                        if trace[k] == 0.0:
                            active[num_active] = k
                            num_active += 1
                        if update.dutch:
                            trace[k] += 1.0 - alpha * dot
                        elif update.replacing:
                            trace[k] = 1.0
                        else:
                            trace[k] += 1.0
                    fade = discount * numbers.decay
                    if update.cuts and not ended and after.taken < after.best:
                        fade = 0.0
                    left = 0
                    for i in range(num_active):
                        k = int(active[i])
                        w[k] += alpha * (error + gap) * trace[k]
                        trace[k] *= fade
                        if abs(trace[k]) < FAINT:
                            trace[k] = 0.0
                        else:
                            active[left] = k
                            left += 1
                    num_active = left
                    if update.dutch:
                        add_to(world, w, base, here, a, -alpha * gap)
                else:
                    add_to(world, w, base, here, a, alpha * error)
            if update.planning:
                k = base + a
                if seen_at[k] < 0:
                    if (
                        update.curious
                    ):  # untried actions of a visited state are planned too, as if they stayed there
                        for i in range(count):
                            if seen_at[base + i] < 0:
                                seen_at[base + i], seen_target[base + i], seen_reward[base + i] = 0, s, 0.0
                                known[num_known] = base + i
                                num_known += 1
                    else:
                        known[num_known] = k
                        num_known += 1
                seen_target[k], seen_reward[k], seen_at[k] = t, reward, time
                for _ in range(numbers.plans):
                    x = advance(x)
                    k = int(known[below(scramble(x), num_known)])
                    u = int(seen_target[k])
                    goal = seen_reward[k]
                    if update.curious:
                        goal += numbers.kappa * math.sqrt(float(time - seen_at[k]))
                    if first[u] != first[u + 1]:
                        goal += discount * largest_value(w, int(first[u]), num_actions(world, arrays, u), 0)
                    if update.counts:
                        alpha = current(numbers.alpha, episode, time - 1, max(0, int(visits[k]) - 1))
                    w[k] += alpha * (goal - w[k])
            if update.by_steps:
                ends[SUM_REWARD] += reward
                if time % length.every == 0 or time == length.steps:
                    add_point(sums[int(ends[POINT])], ends[SUM_REWARD], 1.0, 0.0, time)
                    ends[POINT] += 1.0
            if ended or age >= length.max_steps or time >= length.steps or stop[0]:
                break
            if world.active == 0 and not (rule.needs_action or update.n_step or update.traces):
                chosen = choose(update, selector, w, visits, to, width, epsilon, half, word)
            s, base, count, a = t, to, width, chosen
            for i in range(world.active):
                here[i] = there[i]
        for i in range(num_active):
            trace[active[i]] = 0.0
        num_active = 0
        if update.by_steps:
            ends[TOTAL_STEPS] = time
        else:
            gap = value_error(world, arrays, w, truth, weight, half) if update.measured else 0.0
            record_episode(ends, sums, length, episode, total, age, gap, not ended)
        ends[AVERAGE] = average
        while is_snapshot_due(ends, length, episode):
            line = snapshots[row, int(ends[SNAPSHOT]) - 1]
            for u in range(len(first) - 1):
                save_values(world, arrays, w, u, half, line)
            line[pairs] = epsilon
        if not abs(pair_value(world, w, base, here, a)) < MAX_VALUE:
            mark_divergence(ends, sums, snapshots[row], length, episode)
            return
        if stop[0] or time >= length.steps:
            return


@inlined
def save_values(world: Any, arrays: TaskArrays, w: Any, s: int, half: int, out: Any) -> None:
    """Write the values of the pairs of a state."""
    if world.is_model:
        for k in range(int(arrays.first[s]), int(arrays.first[s + 1])):
            if world.active == 0:
                out[k] = value_at(w, k, half)
            else:
                total = 0.0
                for i in range(world.active):
                    total += w[arrays.features[s, i] * world.width + k - int(arrays.first[s])]
                out[k] = total


@inlined
def value_error(world: Any, arrays: TaskArrays, w: Any, truth: Any, weight: Any, half: int) -> float:
    """Return the weighted root mean square difference of the values of all pairs to the given ones."""
    total = 0.0
    if world.is_model:
        for s in range(len(arrays.first) - 1):
            for k in range(int(arrays.first[s]), int(arrays.first[s + 1])):
                v = 0.0
                if world.active == 0:
                    v = value_at(w, k, half)
                else:
                    for i in range(world.active):
                        v += w[arrays.features[s, i] * world.width + k - int(arrays.first[s])]
                total += weight[k] * (v - truth[k]) ** 2
    return math.sqrt(total)
