"""Sweeps in numpy and plain Python, for models too small to be worth a compiler."""

from __future__ import annotations

import numpy as np

from mdplay.mdp.loops import run, settle
from mdplay.mdp.model import Floats, Integers
from mdplay.mdp.rows import TIE, Change, Decision, Rows

DENSE_STATES = 1500  # above this a sparse factorisation
SWEEPS_EXPECTED = 60


class PlainSweeps:
    """The numpy machine; see `mdplay.mdp.rows.Sweeps`."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._row_starts = rows.first_transition[:-1].astype(np.intp)
        self._live = np.flatnonzero(rows.live)
        self._choice_starts = rows.first_choice[:-1][self._live].astype(np.intp)

    def improve(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Do one Bellman sweep; of equally good choices the first is taken."""
        worth = self.worths(value)
        best = self._best(worth)
        chosen = self._first_at_least(worth, best)
        switched = int((chosen != out_choice[self._live]).sum())
        out_choice[self._live] = chosen
        difference = (best - value)[self._live]
        out_value[:] = best
        return _change(difference, switched)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Do one Bellman sweep for the values alone."""
        return self.best(self.worths(value), value, out_value)

    def near(self, value: Floats, slack: float) -> None:
        """Return none: here sweeping over few choices saves nothing."""

    def policy(self, choice: Integers) -> PlainPolicy:
        """Return the rows of one choice a state."""
        return PlainPolicy(self.rows, choice)

    def settle(self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""
        rows = self.rows
        arrays = (rows.first_choice, rows.first_transition, rows.target, rows.probability, rows.reward)
        acyclic = len(blocks) == len(order) + 1
        work = (2 if acyclic else SWEEPS_EXPECTED) * len(rows.target)
        sweeps: int = run(settle, work, order, blocks, *arrays, rows.discount, threshold, limit, out_value)
        return sweeps

    def best(self, worth: Floats, value: Floats, out_value: Floats) -> Change:
        """Find what every state is worth if its choices are worth that; return the change from a value."""
        out_value[:] = self._best(worth)
        return _change((out_value - value)[self._live], 0)

    def decide(self, worth: Floats, width: float) -> Decision:
        """Choose by the rule for ties; ``width`` is how far the worths of two choices may be off."""
        best = self._best(worth)
        tie = TIE * np.maximum(1.0, np.abs(best))
        choice = self.rows.first_actions.copy()
        choice[self._live] = self._first_at_least(worth, best - tie)
        owner = self.rows.owner
        loss = best[owner] - worth - tie[owner]
        candidates = np.bincount(owner[loss <= width], minlength=self.rows.num_states)
        doubtful = np.bincount(owner[np.abs(loss) <= width], minlength=self.rows.num_states)
        return Decision(choice, (candidates > 1) & (doubtful > 0))

    def worths(self, value: Floats) -> Floats:
        """Return what every choice is worth."""
        rows = self.rows
        if not len(rows.reward):
            return np.zeros(0)
        later = np.add.reduceat(rows.probability * value[rows.target], self._row_starts)
        worth: Floats = rows.reward + rows.discount * later
        return worth

    def _best(self, worth: Floats) -> Floats:
        best = np.zeros(self.rows.num_states)
        if len(worth):
            best[self._live] = np.maximum.reduceat(worth, self._choice_starts)
        return best

    def _first_at_least(self, worth: Floats, level: Floats) -> Integers:
        """Return for each live state its first choice that is worth at least the state's level."""
        owner = self.rows.owner
        good = np.flatnonzero(worth >= level[owner])
        new = np.append(True, np.diff(owner[good]) > 0) if len(good) else np.zeros(0, dtype=bool)
        firsts: Integers = good[new].astype(np.uint32)
        return firsts


class PlainPolicy:
    """One row a live state, in numpy."""

    def __init__(self, rows: Rows, choice: Integers) -> None:
        self._discount = rows.discount
        self._num_states = rows.num_states
        self._live = np.flatnonzero(rows.live)
        chosen = choice[self._live].astype(np.int64)
        begin = rows.first_transition[chosen].astype(np.int64)
        counts = rows.first_transition[chosen + 1].astype(np.int64) - begin
        self._starts = np.cumsum(counts) - counts
        index = np.arange(int(counts.sum())) + np.repeat(begin - self._starts, counts)
        self._line = np.repeat(self._live, counts)
        self._target = rows.target[index].astype(np.int64)
        self._probability = rows.probability[index]
        self._reward = rows.reward[chosen]

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Sweep once: out = reward + discount * E[value]."""
        if not len(self._live):
            return Change(0.0, 0.0, 0)
        later = np.add.reduceat(self._probability * value[self._target], self._starts)
        new = self._reward + self._discount * later
        change = _change(new - value[self._live], 0)
        out_value[self._live] = new
        return change

    def solve(self, value: Floats, error: float) -> Floats:
        """Return the policy's value by a factorisation, as exact as doubles allow."""
        wanted = np.zeros(self._num_states)
        wanted[self._live] = self._reward
        weights = -self._discount * self._probability
        if self._num_states > DENSE_STATES:
            return self._solve_sparse(weights, wanted)
        matrix = np.eye(self._num_states)
        np.add.at(matrix, (self._line, self._target), weights)
        try:
            solution = np.linalg.solve(matrix, wanted)
            return solution + np.linalg.solve(matrix, wanted - matrix @ solution)
        except np.linalg.LinAlgError:  # an improper policy at discount 1: worth minus infinity somewhere
            return np.full(self._num_states, np.nan)

    def _solve_sparse(self, weights: Floats, wanted: Floats) -> Floats:
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        shape = (self._num_states, self._num_states)
        matrix = eye_array(self._num_states, format="csc") + csc_array(
            (weights, (self._line, self._target)), shape
        )
        try:
            factors = splu(matrix.tocsc())
        except RuntimeError:
            return np.full(self._num_states, np.nan)
        solution = factors.solve(wanted)
        refined: Floats = solution + factors.solve(wanted - matrix @ solution)
        return refined


def _change(difference: Floats, switched: int) -> Change:
    if not difference.size:
        return Change(0.0, 0.0, switched)
    return Change(float(difference.min()), float(difference.max()), switched)
