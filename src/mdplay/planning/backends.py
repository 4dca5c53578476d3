"""The backends that sweep over model arrays, and the bounds that a sweep proves for a discount below 1.

numpy sweeps small models, which need no compiler; compiled kernels on several threads sweep large ones.  Both
have the same methods:

    bellman_backup(value, out_value, out_choice)   one sweep: the best reward + discount * E[value] of every state
    step(value, out_value)                         the same for the values alone
    candidates(value, slack)                       action elimination: a backend over the few choices left, or None
    policy(choice)                                 one choice a state, to sweep or solve alone
    gauss_seidel(order, blocks, value, ...)        sweeps in place, block after block
    q_values(value)                                the q value of every choice
    best(q_value, value, out_value)                the value of every state then, and how it differs from another
    decide(q_value, width, shift)                  the actions, by the rule for ties

With d = TV - V over all states, MacQueen (1966) shows for every vector V

    TV + g/(1-g) * min d  <=  V*  <=  TV + g/(1-g) * max d        g the discount, T one Bellman sweep,

a terminal state counting with d = 0.  T is the sweep of the MDP as it was given, before any rounding; the
computed sweep, in doubles and from normalised rows, is off by at most e in every state.  e is added to both
sides, and so is its echo through g/(1-g).  For a discount of 1 see `mdplay.planning.undiscounted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from mdplay.evaluating.evaluation import TIE
from mdplay.planning.arrays import ARRAYS_TINIEST as TINIEST
from mdplay.planning.arrays import Change, Decision, ModelArrays, largest
from mdplay.planning.loops import gauss_seidel
from mdplay.runtime.threads import call_library
from mdplay.states.graph_search import Floats, Integers, run

DENSE_STATES = 1500  # above this a sparse factorisation
SWEEPS_EXPECTED = 60


class Backend:
    """Sweeps over the choices of a model by numpy; `mdplay.planning.compiled_backend` overrides every method."""

    def __init__(self, arrays: ModelArrays) -> None:
        self.arrays = arrays
        self._row_starts = arrays.first_transition[:-1].astype(np.intp)
        self._live = np.flatnonzero(arrays.live)
        self._choice_starts = arrays.first_choice[:-1][self._live].astype(np.intp)

    def bellman_backup(self, value: Floats, out_value: Floats, out_choice: Integers) -> Change:
        """Back up every state once; of equally good choices the first is taken."""
        q_value = self.q_values(value)
        best = self._best(q_value)
        chosen = self._first_at_least(q_value, best)
        switched = int((chosen != out_choice[self._live]).sum())
        out_choice[self._live] = chosen
        difference = (best - value)[self._live]
        out_value[:] = best
        return _change(difference, switched)

    def step(self, value: Floats, out_value: Floats) -> Change:
        """Back up every state once, for the values alone."""
        return self.best(self.q_values(value), value, out_value)

    def candidates(self, value: Floats, slack: float) -> Backend | None:
        """Return a backend of the choices whose q value in the last backup reached the value less the slack.

        None if they are not few, and here, where action elimination saves nothing.  Nothing proves that the best
        choices of all are among them: sweep over all choices in the end.
        """
        return None

    def policy(self, choice: Integers) -> FixedPolicy:
        """Return the policy of one choice a state."""
        return FixedPolicy(self.arrays, choice)

    def gauss_seidel(
        self, order: Integers, blocks: Integers, out_value: Floats, threshold: float, limit: int
    ) -> int:
        """Sweep in place through each block of states until it changes by no more than the threshold."""
        acyclic = len(blocks) == len(order) + 1
        work = (2 if acyclic else SWEEPS_EXPECTED) * len(self.arrays.target)
        arguments = (order, blocks, self.arrays.first_choice, self.arrays.choices, threshold, limit, out_value)
        sweeps: int = run(gauss_seidel, work, *arguments)
        return sweeps

    def best(self, q_value: Floats, value: Floats, out_value: Floats) -> Change:
        """Find the largest q value of every state; return how that differs from a value."""
        out_value[:] = self._best(q_value)
        return _change((out_value - value)[self._live], 0)

    def decide(self, q_value: Floats, width: float, shift: float = 0.0) -> Decision:
        """Choose by the rule for ties; ``width`` bounds the error of the difference of two q values.

        All q values are off by the shift together, which matters only to the rule.
        """
        best = self._best(q_value)
        tie = TIE * np.maximum(1.0, np.abs(best + shift))
        choice = self.arrays.first_actions.copy()
        choice[self._live] = self._first_at_least(q_value, best - tie)
        owner = self.arrays.owner
        loss = best[owner] - q_value - tie[owner]
        candidates = np.bincount(owner[loss <= width], minlength=self.arrays.num_states)
        doubtful = np.bincount(owner[np.abs(loss) <= width], minlength=self.arrays.num_states)
        return Decision(choice, (candidates > 1) & (doubtful > 0))

    def q_values(self, value: Floats) -> Floats:
        """Return the q value of every choice; the next sweep may overwrite the answer."""
        arrays = self.arrays
        if not len(arrays.reward):
            return np.zeros(0)
        later = np.add.reduceat(arrays.probability * value[arrays.target], self._row_starts)
        q_value: Floats = arrays.reward + arrays.discount * later
        return q_value

    def _best(self, q_value: Floats) -> Floats:
        best = np.zeros(self.arrays.num_states)
        if len(q_value):
            best[self._live] = np.maximum.reduceat(q_value, self._choice_starts)
        return best

    def _first_at_least(self, q_value: Floats, level: Floats) -> Integers:
        """Return for each live state its first choice whose q value is at least the state's level."""
        owner = self.arrays.owner
        good = np.flatnonzero(q_value >= level[owner])
        new = np.append(True, np.diff(owner[good]) > 0) if len(good) else np.zeros(0, dtype=bool)
        firsts: Integers = good[new].astype(np.uint32)
        return firsts


class FixedPolicy:
    """One choice a live state, in numpy; `mdplay.planning.compiled_backend` overrides every method."""

    def __init__(self, arrays: ModelArrays, choice: Integers) -> None:
        self._discount = arrays.discount
        self._num_states = arrays.num_states
        self._live = np.flatnonzero(arrays.live)
        chosen = choice[self._live].astype(np.int64)
        begin = arrays.first_transition[chosen].astype(np.int64)
        counts = arrays.first_transition[chosen + 1].astype(np.int64) - begin
        self._starts = np.cumsum(counts) - counts
        index = np.arange(int(counts.sum())) + np.repeat(begin - self._starts, counts)
        self._line = np.repeat(self._live, counts)
        self._target = arrays.target[index].astype(np.int64)
        self._probability = arrays.probability[index]
        self._reward = arrays.reward[chosen]

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
        """Return the policy's value with every residual at most ``error``, starting from a guess.

        Here it is computed by a factorisation, as exact as doubles allow.
        """
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
        except np.linalg.LinAlgError:  # an improper policy at discount 1: of value minus infinity somewhere
            return np.full(self._num_states, np.nan)

    def _solve_sparse(self, weights: Floats, wanted: Floats) -> Floats:
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        shape = (self._num_states, self._num_states)
        matrix = eye_array(self._num_states, format="csc") + csc_array(
            (weights, (self._line, self._target)), shape
        )
        try:
            factors = call_library(lambda: splu(matrix.tocsc()))
        except RuntimeError:
            return np.full(self._num_states, np.nan)
        solution = factors.solve(wanted)
        refined: Floats = solution + factors.solve(wanted - matrix @ solution)
        return refined


def _change(difference: Floats, switched: int) -> Change:
    if not difference.size:
        return Change(0.0, 0.0, switched)
    return Change(float(difference.min()), float(difference.max()), switched)


PLAIN_TRANSITIONS = 60_000  # up to here numpy answers before numba would have been imported


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """Values with a proven enclosure; ``width`` bounds the error of a difference of two actions' values."""

    value: Floats
    lower: Floats
    upper: Floats
    width: float
    shift: float = 0.0  # from the values that were swept to the middle of the bounds

    @property
    def gap(self) -> float:
        """The largest distance between the bounds of a state."""
        return float((self.upper - self.lower).max()) if self.value.size else 0.0


def discounted_bounds(backend: Backend, value: Floats, q_value: Floats) -> ValueBounds:
    """Return bounds around the optimal values from any value vector and its q values."""
    arrays = backend.arrays
    new = np.zeros_like(value)
    change = backend.best(q_value, value, new)
    found = margins(arrays, change, arrays.backup_error(value), largest(new))
    answer, lower, upper = found.around(new)
    if not arrays.endless:
        for array in (answer, lower, upper):
            array[~arrays.live] = 0.0
    return ValueBounds(answer, lower, upper, found.width, found.shift)


class Discounted(Protocol):
    """What bounds ask of a model: its discount, and whether no state is terminal."""

    @property
    def discount(self) -> float:
        """The discount, below 1."""

    @property
    def endless(self) -> bool:
        """Whether no state is terminal."""


class Margins(NamedTuple):
    """How far the optimal values can be from swept ones, rounding included."""

    low: float
    high: float
    width: float  # of the error of a difference of two actions' values
    shift: float  # from the swept values to the middle of the bounds

    def around(self, swept: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the middle of the bounds, the lower and the upper ones."""
        return swept + self.shift, swept + self.low, swept + self.high


def margins(model: Discounted, change: Change, error: float, most: float) -> Margins:
    """Return the margins of a sweep: ``error`` bounds that of a backup, ``most`` the swept values' size."""
    error += 2.0**-53 * most
    low, high = enclosure(model, change, error)
    slack = 2.0**-49 * (most + abs(low) + abs(high)) + 8.0 * TINIEST  # of low, high and the sums with them
    # V* - V = (V* - TV) + (TV - V) is between low / g and high / g; a q value takes g times that.
    # The rule for ties compares at the middle, which is off by less than high - low.
    width = (1.0 + 2.0 * TIE) * (high - low) + 2.0 * (error + slack)
    return Margins(low - slack, high + slack, width, 0.5 * (low + high))


def enclosure(arrays: Discounted, change: Change, error: float = 0.0) -> tuple[float, float]:
    """Return how far below and above the swept values the optimal ones can be."""
    low, high = extremes(arrays, change)
    low, high = low - error, high + error
    factor = arrays.discount / (1.0 - arrays.discount)
    return factor * low - error, factor * high + error


def extremes(arrays: Discounted, change: Change) -> tuple[float, float]:
    """Return the smallest and the largest change of all states, terminal ones too."""
    return (change.low, change.high) if arrays.endless else (min(change.low, 0.0), max(change.high, 0.0))


def span(arrays: Discounted, change: Change) -> float:
    """Return the span of a change: how far apart those of two states are at most."""
    low, high = extremes(arrays, change)
    return high - low


def half_width(arrays: Discounted, change: Change) -> float:
    """Return the proven error of the middle of the bounds, before rounding is counted."""
    low, high = enclosure(arrays, change)
    return 0.5 * (high - low)
