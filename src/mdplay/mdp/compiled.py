"""Sweeps by compiled kernels on several threads, for large models."""

from __future__ import annotations

import os

import numpy as np

from mdplay.mdp import kernels, krylov
from mdplay.mdp.loops import run, settle
from mdplay.mdp.model import Floats, Integers
from mdplay.mdp.rows import TIE, Change, Decision, Rows
from mdplay.mdp.team import Team

FEW = 0.4  # near choices are put together when no more than this part of all is near,
DECIDED = 1.2  # or when hardly any state has more than one of them left
KRYLOV_LIMIT = 300
RESTARTS = 40


class CompiledSweeps:
    """The compiled machine; see `mdplay.mdp.rows.Sweeps`."""

    def __init__(self, rows: Rows, threads: int | None = None) -> None:
        self.rows = rows
        self._arrays = (rows.first_choice, *rows.choices)
        threads = threads or os.cpu_count() or 1
        self._team = Team(threads, rows.first_choice, rows.first_transition)
        self._comparing = Team(threads, rows.first_choice)  # for kernels that look at choices alone
        self._worth = np.empty(len(rows.reward))  # of every choice, in the last sweep
        self._policy: CompiledPolicy | None = None

    def improve(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Do one Bellman sweep; of equally good choices the first is taken."""
        before = (*self._arrays, self.rows.discount, value)
        return self._team.sweep(kernels.improve, before, self._worth, out_value, out_choice)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Do one Bellman sweep for the values alone."""
        return self._team.sweep(kernels.step, (*self._arrays, self.rows.discount, value), out_value)

    def near(self, value: Floats, slack: float) -> CompiledSweeps | None:
        """Return a machine for the choices that the last sweep found worth the value less the slack, if few."""
        rows, team = self.rows, self._comparing
        near = np.empty(len(rows.reward), dtype=np.uint32)
        count = np.empty(rows.num_states, dtype=rows.first_choice.dtype)
        sizes = team.all(kernels.list_near, (rows.first_choice, self._worth, value, slack), near, count)
        if sum(sizes) > max(FEW * len(near), DECIDED * len(count)):
            return None
        starts = [int(rows.first_choice[begin]) for begin, _ in team.parts]
        listed = np.concatenate([near[at : at + size] for at, size in zip(starts, sizes, strict=True)])
        first = np.zeros_like(rows.first_choice)
        np.cumsum(count, out=first[1:], dtype=first.dtype)
        return CompiledSweeps(put_together(rows, first, listed, team.threads), team.threads)

    def policy(self, choice: Integers) -> CompiledPolicy:
        """Return the rows of one choice a state; the answer before this one is overwritten."""
        if self._policy is None:
            self._policy = CompiledPolicy(self.rows, self._team.threads)
        self._policy.take(choice)
        return self._policy

    def settle(self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""
        arguments = (order, blocks, *self._arrays, self.rows.discount, threshold, limit, out_value)
        sweeps: int = run(settle, 10**9, *arguments)
        return sweeps

    def worths(self, value: Floats) -> Floats:
        """Return what every choice is worth; the next sweep overwrites the answer."""
        self._team.all(kernels.worths, (*self._arrays, self.rows.discount, value), self._worth)
        return self._worth

    def best(self, worth: Floats, value: Floats, out_value: Floats) -> Change:
        """Find what every state is worth if its choices are worth that; return the change from a value."""
        choice = np.empty(self.rows.num_states, dtype=np.uint32)
        return self._comparing.sweep(kernels.best, (self.rows.first_choice, worth, value), out_value, choice)

    def decide(self, worth: Floats, width: float) -> Decision:
        """Choose by the rule for ties; ``width`` is how far the worths of two choices may be off."""
        choice = self.rows.first_actions.copy()
        undecided = np.zeros(self.rows.num_states, dtype=bool)
        self._comparing.all(kernels.decide, (self.rows.first_choice, worth, width, TIE), choice, undecided)
        return Decision(choice, undecided)


def put_together(rows: Rows, first: Integers, listed: Integers, threads: int) -> Rows:
    """Return a copy of the listed choices alone."""
    begins = np.empty(len(listed) + 1, rows.first_transition.dtype)
    kernels.measure(listed, None, rows.first_transition, begins)
    target, probability = np.empty(begins[-1], rows.target.dtype), np.empty(begins[-1])
    reward = np.empty(len(listed))
    Team(threads, begins).all(kernels.extract, (listed, begins, *rows.choices), target, probability, reward)
    return Rows(first, begins, target, probability, reward, rows.discount)


class CompiledPolicy:
    """One row a state in memory of its own, so that sweeps read it from one end to the other."""

    def __init__(self, rows: Rows, threads: int) -> None:
        self._rows = rows
        self._threads = threads
        space = min(len(rows.target), rows.num_states * rows.longest)
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
        before = (choice, self._first, *rows.choices)
        self._team.all(kernels.extract, before, self._target, self._probability, self._reward)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""
        arrays = (self._first, self._target, self._probability, self._reward)
        before = (None, *arrays, self._rows.discount, value)
        return self._team.sweep(kernels.step, before, out_value)

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
        noise = rows.backup_error(x)
        if not left <= max(error, 100.0 * noise) or noise > rows.largest_reward:
            return np.full_like(value, np.nan)
        return x[rank]
