"""Sweeps by compiled kernels on several threads, for large models."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from mdplay.mdp import kernels, krylov
from mdplay.mdp.bounds import enclosure, half_width
from mdplay.mdp.loops import run, settle
from mdplay.mdp.model import Floats, Integers, lengths
from mdplay.mdp.rows import TIE, Change, Decision, Rows

THREAD_TRANSITIONS = 200_000  # below this a second thread costs more than it brings
SINGLE = 1.3  # choices a state, up to which sweeping a policy alone saves nothing
WORTH_FORGETTING = 0.6  # choices are forgotten when no more than this part of them is left
SPREAD = 0.3  # comparing pays when what a choice may lose is below this part of the rewards' spread
NEXT_SLACK = 0.1  # what mpi usually leaves of the slack from one sweep to the next
KRYLOV_LIMIT = 300
RESTARTS = 40
NO_LOSS = np.empty(0, dtype=np.float32)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work as long as the program runs."""
    return ThreadPoolExecutor(threads)


class Team:
    """Threads that share the states of a model among them."""

    def __init__(self, threads: int, first_entry: Integers) -> None:
        """Divide the states so that each part has about as many entries; ``first_entry`` points to them."""
        size, total = len(first_entry) - 1, int(first_entry[-1])
        parts = max(1, min(threads, total // THREAD_TRANSITIONS))
        cuts = np.searchsorted(first_entry, np.linspace(0, total, parts + 1)[1:-1])
        edges = [0, *(int(cut) for cut in cuts), size]
        self._parts = list(pairwise(edges))
        self._pool = _pool(parts - 1) if parts > 1 else None

    def sweep(self, kernel: Callable[..., Any], before: tuple[Any, ...], after: tuple[Any, ...]) -> Change:
        """Run a kernel over all parts; the parts' bounds stand between its other arguments."""
        if self._pool is None:
            return Change(*kernel(*before, *self._parts[0], *after))
        waiting = [self._pool.submit(kernel, *before, *part, *after) for part in self._parts[1:]]
        answers = [kernel(*before, *self._parts[0], *after), *(item.result() for item in waiting)]
        lows, highs, switched = zip(*answers, strict=True)
        return Change(min(lows), max(highs), sum(switched))


class CompiledSweeps:
    """The compiled machine; see `mdplay.mdp.rows.Sweeps`."""

    def __init__(self, rows: Rows, threads: int | None = None) -> None:
        self.rows = rows
        self._threads = threads or os.cpu_count() or 1
        self._origin: Integers | None = None
        self._slack = np.inf
        self._spread = float(rows.reward.max() - rows.reward.min())
        self._use(rows)

    def _use(self, rows: Rows) -> None:
        self._arrays = (rows.first_choice, rows.first_transition, rows.target, rows.probability, rows.reward)
        self._current = rows
        self._team = Team(self._threads, rows.first_transition[rows.first_choice])
        self._policy: CompiledPolicy | None = None
        self.single = len(rows.reward) <= SINGLE * rows.num_states

    def improve(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Do one Bellman sweep; of equally good choices the first is taken."""
        arrays = self._arrays
        if not value.any():  # nothing to gather: rows without transitions say the same
            arrays = (arrays[0], np.zeros_like(arrays[1]), *arrays[2:])
        before = (*arrays, self.rows.discount, value)
        return self._team.sweep(kernels.improve, before, (0, out_value, out_choice, NO_LOSS))

    def narrow(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Do what improve does; forget choices that it proves not to be best, if that saves much.

        A choice is not best if it loses more than g/(1-g) * (max d - min d), d the change of the sweep:
        MacQueen's bounds of the best choice and of this one are then apart.
        """
        if self.rows.discount == 1.0 or self.single:
            return self.improve(value, out_value, out_choice)
        if self._slack > SPREAD * self._spread:
            change = self.improve(value, out_value, out_choice)
            self._slack = NEXT_SLACK * 2.0 * half_width(self.rows, change)
            return change
        loss = np.empty(len(self._current.reward), dtype=np.float32)
        most = int(lengths(self._current.first_choice).max())
        before = (*self._arrays, self.rows.discount, value)
        change = self._team.sweep(kernels.improve, before, (most, out_value, out_choice, loss))
        error = 2.0 * self.rows.backup_error(value)
        low, high = enclosure(self.rows, change, error)
        tie = 2.0 * TIE * max(1.0, float(np.abs(out_value).max()))
        slack = (high - low + tie + 4.0 * error) * (1.0 + 1e-5)  # the losses are single precision
        self._slack = NEXT_SLACK * slack
        choices, transitions = kernels.count_near(self._current.first_transition, loss, slack)
        if choices <= WORTH_FORGETTING * len(loss):
            self._forget(loss, slack, choices, transitions, out_choice)
        return change

    def _forget(self, loss: Any, slack: float, choices: int, transitions: int, out_choice: Integers) -> None:
        """Go over to a model of the choices that lose at most the slack."""
        now = self._current
        origin = np.arange(len(now.reward), dtype=np.uint32) if self._origin is None else self._origin
        first_choice, first_transition = (
            np.empty_like(now.first_choice),
            np.empty(choices + 1, now.first_transition.dtype),
        )
        target, probability = np.empty(transitions, now.target.dtype), np.empty(transitions)
        reward, kept = np.empty(choices), np.empty(choices, dtype=origin.dtype)
        made = (first_choice, first_transition, target, probability, reward, kept)
        kernels.narrow(*self._arrays, origin, loss, slack, *made, out_choice)
        self._origin = kept
        self._use(Rows(first_choice, first_transition, target, probability, reward, now.discount))

    def policy(self, choice: Integers) -> CompiledPolicy:
        """Return the rows of one choice a state; the answer before this one is overwritten."""
        if self._policy is None:
            self._policy = CompiledPolicy(self._current, self._threads)
        self._policy.take(choice)
        return self._policy

    def settle(self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""
        arguments = (order, blocks, *self._arrays, self.rows.discount, threshold, limit, out_value)
        sweeps: int = run(settle, 10**9, *arguments)
        return sweeps

    def worths(self, value: Floats) -> Floats:
        """Return what every choice is worth."""
        worth = np.empty(len(self._current.reward))
        kernels.worths(*self._arrays[1:], self.rows.discount, value, worth)
        return worth

    def decide(self, value: Floats, width: float) -> Decision:
        """Choose by the rule for ties; ``width`` is how far two actions' values may be off."""
        choice = self.rows.first_actions.copy()
        undecided = np.zeros(self.rows.num_states, dtype=bool)
        kernels.decide(self._current.first_choice, self.worths(value), width, TIE, choice, undecided)
        if self._origin is not None:
            live = self.rows.live
            choice[live] = self._origin[choice[live]]
        return Decision(choice, undecided)


class CompiledPolicy:
    """One row a state in memory of its own, so that sweeps read it from one end to the other."""

    def __init__(self, rows: Rows, threads: int) -> None:
        self._rows = rows
        self._threads = threads
        starts = rows.first_choice[:-1][rows.live].astype(np.intp)
        space = int(np.maximum.reduceat(rows.row_lengths, starts).sum())
        self._first = np.empty(rows.num_states + 1, dtype=rows.first_transition.dtype)
        self._target = np.empty(space, dtype=rows.target.dtype)
        self._probability = np.empty(space)
        self._reward = np.empty(rows.num_states)

    def take(self, choice: Integers) -> None:
        """Copy the rows of the choices."""
        rows = self._rows
        self._choice = choice
        kernels.measure(choice, rows.first_choice, rows.first_transition, self._first)
        self._team = Team(self._threads, self._first)
        before = (choice, self._first, rows.first_transition, rows.target, rows.probability, rows.reward)
        self._team.sweep(kernels.extract, before, (self._target, self._probability, self._reward))

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""
        before = (self._first, self._target, self._probability, self._reward, self._rows.discount, value)
        return self._team.sweep(kernels.step, before, (out_value,))

    def solve(self, value: Floats, error: float) -> Floats:
        """Return the policy's value with every residual at most ``error``, starting from a guess.

        Not a number where no method gets there: at discount 1 the policy may never end.
        """
        rows = self._rows
        order = np.argsort(-value).astype(np.uint32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=order.dtype)
        first, middle = np.empty_like(self._first), np.empty_like(order, dtype=self._first.dtype)
        target, weight, own = (
            np.empty_like(self._target),
            np.empty_like(self._probability),
            np.empty(len(order)),
        )
        arranged = (first, middle, target, weight, own)
        given = (rows.first_choice, rows.first_transition, rows.target, rows.probability, rows.discount)
        krylov.arrange(order, rank, self._choice, *given, *arranged)
        x, b = value[order], self._reward[order]
        left = np.inf
        for _ in range(RESTARTS):
            goal = max(error, rows.backup_error(x))  # less than rounding makes is not to be had
            before, left = left, krylov.bicgstab(*arranged, b, goal, KRYLOV_LIMIT, x)
            if left <= goal or not left < 0.5 * before:
                break
        if not left <= max(error, 100.0 * rows.backup_error(x)):
            return np.full_like(value, np.nan)
        return x[rank]
