"""Sweeps by compiled kernels on several threads, for large models."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import wait
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mdplay.planning import kernels, krylov
from mdplay.planning.arrays import Change, ChoiceArrays, Decision, ModelArrays, largest
from mdplay.planning.backends import Backend, FixedPolicy
from mdplay.planning.loops import gauss_seidel
from mdplay.runtime.threads import in_thread
from mdplay.states.graph_search import Floats, Integers, run

THREAD_TRANSITIONS = 200_000  # below this number of transitions a second thread costs more than it saves


class Pool:
    """Threads that share the states of a model among them."""

    def __init__(self, threads: int, *pointers: Integers) -> None:
        """Divide the states so that each part has about as many entries.

        The first array points from the states to their entries in the next one, and so on; the entries of the
        last count.
        """
        self.threads = threads
        total = int(pointers[-1][-1])
        parts = max(1, min(threads, total // THREAD_TRANSITIONS))
        cuts = [_place(pointers, total * i // parts) for i in range(1, parts)]
        self.parts = list(pairwise([0, *cuts, len(pointers[0]) - 1]))

    def all(self, kernel: Callable[..., Any], before: tuple[Any, ...], *after: Any) -> list[Any]:
        """Run a kernel over all parts at once: its arguments before the part's bounds, and those after them."""
        tasks = [partial(kernel, *before, *part, *after) for part in self.parts]
        others = [in_thread(task) for task in tasks[1:]]
        try:
            own = tasks[0]()
        finally:
            wait(others)
        return [own, *(future.result() for future in others)]

    def sweep(self, kernel: Callable[..., Any], before: tuple[Any, ...], *after: Any) -> Change:
        """Run a kernel that tells how it changed the values."""
        found = self.all(kernel, before, *after)
        if len(found) == 1:
            return Change(*found[0])
        lows, highs, switched = zip(*found, strict=True)
        return Change(min(lows), max(highs), sum(switched))


def _place(pointers: tuple[Integers, ...], entry: int) -> int:
    """Return the state of an entry."""
    for array in reversed(pointers):
        entry = int(np.searchsorted(array, entry))
    return entry


FEW = 0.4  # candidates are copied together when no more than this part of all choices is left,
DECIDED = 1.2  # or when hardly any state has more than one of them
RESTARTS = 40


class CompiledBackend(Backend):
    """Sweeps by compiled kernels on several threads."""

    def __init__(self, arrays: ModelArrays, threads: int | None = None) -> None:
        self.arrays = arrays
        self._arrays = (arrays.first_choice, arrays.choices)
        threads = threads or os.cpu_count() or 1
        self._pool = Pool(threads, arrays.first_choice, arrays.first_transition)
        self._comparing = Pool(threads, arrays.first_choice)  # for kernels that read no transitions
        self._q_value = np.empty(len(arrays.reward))  # of every choice, in the last backup
        self._policy: CompiledPolicy | None = None

    def bellman_backup(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Back up every state once; of equally good choices the first is taken."""
        before = (*self._arrays, value)
        return self._pool.sweep(kernels.bellman_backup, before, self._q_value, out_value, out_choice)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Back up every state once, for the values alone."""
        return self._pool.sweep(kernels.step, (*self._arrays, value), out_value)

    def candidates(self, value: Floats, slack: float) -> CompiledBackend | None:
        """Return a backend over the choices whose q value reached the value less the slack, if they are few."""
        arrays, pool = self.arrays, self._comparing
        candidates = np.empty(len(arrays.reward), dtype=np.uint32)
        count = np.empty(arrays.num_states, dtype=arrays.first_choice.dtype)
        sizes = pool.all(
            kernels.list_candidates, (arrays.first_choice, self._q_value, value, slack), candidates, count
        )
        if sum(sizes) > max(FEW * len(candidates), DECIDED * len(count)):
            return None
        starts = [int(arrays.first_choice[begin]) for begin, _ in pool.parts]
        listed = np.concatenate([candidates[at : at + size] for at, size in zip(starts, sizes, strict=True)])
        first = np.zeros_like(arrays.first_choice)
        np.cumsum(count, out=first[1:], dtype=first.dtype)
        return CompiledBackend(put_together(arrays, first, listed, pool.threads), pool.threads)

    def policy(self, choice: Integers) -> CompiledPolicy:
        """Return the policy of one choice a state; the answer before this one is overwritten."""
        if self._policy is None:
            self._policy = CompiledPolicy(self.arrays, self._pool.threads)
        self._policy.take(choice)
        return self._policy

    def gauss_seidel(
        self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int
    ) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""
        arguments = (order, blocks, *self._arrays, threshold, limit, out_value)
        sweeps: int = run(gauss_seidel, 10**9, *arguments)
        return sweeps

    def q_values(self, value: Floats) -> Floats:
        """Return the q value of every choice; the next sweep overwrites the answer."""
        self._pool.all(kernels.q_values, (*self._arrays, value), self._q_value)
        return self._q_value

    def best(self, q_value: Floats, value: Floats, out_value: Floats) -> Change:
        """Find the largest q value of every state; return how that differs from a value."""
        choice = np.empty(self.arrays.num_states, dtype=np.uint32)
        return self._comparing.sweep(kernels.best, (self.arrays.first_choice, q_value, value), out_value, choice)

    def decide(self, q_value: Floats, width: float, shift: float = 0.0) -> Decision:
        """Choose by the rule for ties; ``width`` is how far the difference of two q values may be off."""
        choice = self.arrays.first_actions.copy()
        undecided = np.zeros(self.arrays.num_states, dtype=bool)
        before = (self.arrays.first_choice, q_value, width, shift)
        self._comparing.all(kernels.decide, before, choice, undecided)
        return Decision(choice, undecided)


def put_together(arrays: ModelArrays, first: Integers, listed: Integers, threads: int) -> ModelArrays:
    """Return a copy of the listed choices alone."""
    begins = np.empty(len(listed) + 1, arrays.first_transition.dtype)
    kernels.measure(listed, None, arrays.first_transition, begins)
    target, probability = np.empty(begins[-1], arrays.target.dtype), np.empty(begins[-1])
    reward = np.empty(len(listed))
    Pool(threads, begins).all(kernels.extract, (listed, begins, arrays.choices), target, probability, reward)
    return ModelArrays(first, begins, target, probability, reward, arrays.discount, arrays.reward_error)


class CompiledPolicy(FixedPolicy):
    """One choice a state, in memory of its own, so that sweeps read it from one end to the other."""

    def __init__(self, arrays: ModelArrays, threads: int) -> None:
        self._arrays = arrays
        self._threads = threads
        space = min(len(arrays.target), arrays.num_states * arrays.longest)
        self._first = np.empty(arrays.num_states + 1, dtype=arrays.first_transition.dtype)
        self._target = np.empty(space, dtype=arrays.target.dtype)
        self._probability = np.empty(space)
        self._reward = np.empty(arrays.num_states)

    def take(self, choice: Integers) -> None:
        """Copy the rows of the choices."""
        arrays = self._arrays
        self._choice = choice
        kernels.measure(choice, arrays.first_choice, arrays.first_transition, self._first)
        self._pool = Pool(self._threads, self._first)
        before = (choice, self._first, arrays.choices)
        self._pool.all(kernels.extract, before, self._target, self._probability, self._reward)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""
        rows = (self._first, self._target, self._probability, self._reward)
        before = (None, ChoiceArrays(*rows, self._arrays.discount), value)
        return self._pool.sweep(kernels.step, before, out_value)

    def solve(self, value: Floats, error: float) -> Floats:
        """Return the policy's value with every residual at most ``error``, starting from a guess.

        Not a number where no method gets there: at discount 1 the policy may never end.
        """
        arrays = self._arrays
        order = np.argsort(-value).astype(np.uint32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=order.dtype)
        rows = (self._choice, arrays.first_choice, arrays.choices)
        split = krylov.arranged(order, rank, *rows, size=int(self._first[-1]))
        scale = _scale(arrays.largest_reward, largest(value))
        x, b = scale * value[order], scale * self._reward[order]
        system = krylov.System(split, b)
        noise, left = 0.0, np.inf
        for _ in range(RESTARTS):
            noise = arrays.rounding * (scale * arrays.largest_reward + 2.0 * largest(x))
            goal = max(scale * error, noise)  # less than rounding makes is not to be had
            before, left = left, system.solve(x, goal)
            if left <= goal or not left < 0.5 * before:
                break
        noise = arrays.rounding * (scale * arrays.largest_reward + 2.0 * largest(x))
        if not left <= max(scale * error, 100.0 * noise) or noise > scale * arrays.largest_reward:
            return np.full_like(value, np.nan)
        return x[rank] / scale


def _scale(*sizes: float) -> float:
    """Return a power of two that brings numbers to about 1, so that no square of one overflows or vanishes."""
    return 2.0 ** -min(max(math.frexp(max(sizes))[1], -1000), 1000)
