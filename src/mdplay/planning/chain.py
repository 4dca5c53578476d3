"""A policy as a Markov chain: simulation, long-run shares, visits, hitting times and absorption.

    chain = policy_chain(mdp, plan(mdp).action)
    chain.simulate(100, start=0, seed=1).states      states of one run
    chain.stationary(start=0)                        share of the time spent in each state in the long run
    chain.hitting_times([3])                         expected number of steps until a state is reached
    chain.absorption()                               probability of ending up in each recurrent class

The linear equations are solved in double precision by factorisation: by numpy up to ``MAX_DENSE`` states, and by
SuperLU beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.loops import strong_components
from mdplay.planning.model import Model
from mdplay.planning.policies import induced
from mdplay.runtime.threads import call_library
from mdplay.states.graph_search import Floats, Integers, lengths, run

MAX_DENSE = 500  # states of equations that numpy solves
MAX_SIMULATED = 1 << 28  # states of all runs together
STEP_WORK = 20  # of a simulated step, compared to other loops
Mask = npt.NDArray[np.bool_]


def walk(first: Any, target: Any, cumulative: Any, uniform: Any, out_states: Any) -> None:
    """Continue runs from their first states; ``out_states`` has a run after the other, -1 after a terminal state.

    ``cumulative`` has the sums of the probabilities of each row up to each transition; ``uniform`` a number
    between 0 and 1 for each step of all runs.
    """
    runs = len(out_states) - len(uniform)
    steps = len(uniform) // runs
    for i in range(runs):
        begin = i * (steps + 1)
        for t in range(steps):
            state = out_states[begin + t]
            if state < 0 or first[state] == first[state + 1]:
                break
            low, high = first[state], first[state + 1] - 1
            number = uniform[i * steps + t] * cumulative[high]
            while low < high:
                middle = (low + high) // 2
                if cumulative[middle] > number:
                    high = middle
                else:
                    low = middle + 1
            out_states[begin + t + 1] = target[low]


class Simulation(NamedTuple):
    """Simulated runs: ``states[run, step]``, -1 after a terminal state, and the expected reward of each step."""

    states: Integers
    rewards: Floats


@dataclass(frozen=True, eq=False)
class Chain:
    """A Markov chain: state s leads to ``target[j]`` with ``probability[j]``, j in first[s] .. first[s + 1] - 1.

    ``reward[s]`` is the expected reward of a step from s.  A state without transitions is terminal.
    """

    first: Integers
    target: Integers
    probability: Floats
    reward: Floats

    @classmethod
    def of(cls, arrays: ModelArrays, choice: Integers) -> Chain:
        """Return the chain of one choice for each state that has any."""
        live = np.flatnonzero(arrays.live)
        chosen = choice[live].astype(np.int64)
        counts = np.zeros(arrays.num_states, np.int64)
        counts[live] = arrays.row_lengths[chosen]
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        begin = arrays.first_transition[chosen].astype(np.int64)
        index = np.arange(first[-1]) + np.repeat(begin - first[live], counts[live])
        reward = np.zeros(arrays.num_states)
        reward[live] = arrays.reward[chosen]
        return cls(first, arrays.target[index].astype(np.int64), arrays.probability[index], reward)

    @property
    def num_states(self) -> int:
        """The number of states."""
        return len(self.first) - 1

    @cached_property
    def terminal(self) -> Mask:
        """True where a state has no transition."""
        return np.asarray(lengths(self.first) == 0)

    @cached_property
    def source(self) -> Integers:
        """The state of every transition."""
        return np.repeat(np.arange(self.num_states), lengths(self.first))

    @cached_property
    def classes(self) -> Integers:
        """The number of each state's recurrent class, -1 for transient states; a terminal state is a class."""
        label = np.asarray(strong_components(self.first.astype(np.uint64), self.target.astype(np.uint32))[0])
        is_open = np.zeros(int(label.max(initial=-1)) + 1, bool)
        is_open[label[self.source[label[self.source] != label[self.target]]]] = True
        found = np.where(is_open[label], -1, label)
        _, number = np.unique(found[found >= 0], return_inverse=True)
        found[found >= 0] = number
        return np.asarray(found, dtype=np.int64)

    def solved(self, earned: Floats, known: Mask, values: Floats) -> Floats:
        """Return x = earned + P x in the states that are not ``known``, and x = values in those that are.

        ``earned`` and ``values`` may have several columns.  Known states must be reached with probability 1.
        """
        found = np.array(np.broadcast_to(values, earned.shape), dtype=np.float64)
        free = np.flatnonzero(~known)
        if free.size:
            found[~known] = 0.0
            rows = self._rows(free)
            found[free] = _equations(rows[:, free], earned[free] + rows @ found)
        return found

    def _rows(self, states: Integers) -> Any:
        from scipy.sparse import csr_array

        shape = (self.num_states, self.num_states)
        return csr_array((self.probability, self.target, self.first), shape=shape)[states]

    # ---------------------------------------------------------------- where the chain ends up
    def absorption(self) -> Floats:
        """Return the probability of ending up in each recurrent class: ``[state, class]``."""
        inside = self.classes >= 0
        member = np.eye(int(self.classes.max()) + 1)[np.where(inside, self.classes, 0)]
        return self.solved(np.zeros_like(member), inside, member)

    def hitting_probabilities(self, targets: Sequence[int]) -> Floats:
        """Return the probability of reaching one of the target states, from every state."""
        goal = self._marked(targets)
        reaches = self._reaching(goal)
        return self.solved(np.zeros(self.num_states), goal | ~reaches, goal.astype(np.float64))

    def hitting_times(self, targets: Sequence[int]) -> Floats:
        """Return the expected number of steps until a target is reached; infinite if that is not certain."""
        goal = self._marked(targets)
        uncertain = self._reaching(~self._reaching(goal), goal)
        times = self.solved(np.ones(self.num_states), goal | uncertain, np.zeros(self.num_states))
        return np.where(uncertain, np.inf, times)

    def _marked(self, targets: Sequence[int]) -> Mask:
        found = np.zeros(self.num_states, bool)
        for target in targets:
            if not 0 <= target < self.num_states:
                raise FormatError(f"there is no state {target}; use 0 to {self.num_states - 1}")
            found[target] = True
        return found

    def _reaching(self, goal: Mask, stopped: Mask | None = None) -> Mask:
        """Return the states from which the goal can be reached without passing ``stopped`` states."""
        found = goal.copy()
        while True:
            more = found.copy()
            more[self.source[found[self.target]]] = True
            if stopped is not None:
                more &= ~stopped | goal
            if (more == found).all():
                return found
            found = more

    # ---------------------------------------------------------------- how often states are visited
    def _start(self, start: int | npt.ArrayLike) -> Floats:
        """Return the distribution of the first state."""
        given = np.asarray(start)
        if given.ndim == 0:
            return self._marked([int(given)]).astype(np.float64)
        shares = given.astype(np.float64)
        if shares.shape != (self.num_states,) or (shares < 0).any() or abs(shares.sum() - 1.0) > 1e-6:
            raise FormatError(f"a start is a state or {self.num_states} probabilities that sum to 1")
        return shares

    def stationary(self, start: int | npt.ArrayLike | None = None) -> Floats:
        """Return the share of the time spent in each state in the long run.

        ``start`` is a state or a distribution of states; it matters if there are several recurrent classes.
        """
        count = int(self.classes.max()) + 1
        if start is None and count > 1:
            raise FormatError(f"the chain has {count} recurrent classes; name the state in which it starts")
        weights = np.ones(1) if start is None else self._start(start) @ self.absorption()
        found = np.zeros(self.num_states)
        for number in range(count):
            members = np.flatnonzero(self.classes == number)
            visits: Floats = self._between_visits(members)
            found[members] = weights[number] * visits / visits.sum()
        return found

    def _between_visits(self, members: Integers) -> Floats:
        """Return the expected visits of each state of a recurrent class between two visits of its first."""
        inner = self._rows(members)[:, members]
        rest = np.arange(1, len(members))
        visits = _equations(inner[rest][:, rest].T, inner[[0]][:, rest].toarray()[0])
        return np.asarray(np.concatenate([np.ones(1), visits]))

    def occupancy(self, start: int | npt.ArrayLike, *, steps: int | None = None, discount: float = 1.0) -> Floats:
        """Return the expected number of visits of each state, those of step t counted ``discount**t`` times.

        ``steps`` counts the first state and the steps after it, without limit by default; without limit and
        discount the visits of recurrent states are infinite.  Terminal states are visited once.
        """
        now = self._start(start)
        if steps is None:
            return self._all_visits(now, discount)
        total: Floats = np.zeros(self.num_states)
        weight = 1.0
        for _ in range(steps):
            total += weight * now
            now = np.asarray(self._after(now))
            weight *= discount
        return total

    def _after(self, shares: Floats) -> Any:
        """Return the distribution one step later."""
        return np.bincount(self.target, self.probability * shares[self.source], self.num_states)

    def _all_visits(self, start: Floats, discount: float) -> Floats:
        if not 0.0 <= discount <= 1.0:
            raise FormatError(f"the discount is {discount}; it must be between 0 and 1")
        endless = (self.classes >= 0) & ~self.terminal & (discount == 1.0)
        free = np.flatnonzero(~endless)
        rows = self._rows(np.arange(self.num_states))
        found = np.zeros(self.num_states)
        found[free] = _equations(discount * rows[free][:, free].T, start[free])
        entered = start + self._after(found)
        visited = self._reaching_from(entered > 0.0)
        return np.where(endless & visited, np.inf, found)

    def _reaching_from(self, begin: Mask) -> Mask:
        """Return the states that can be reached from a set of states."""
        found = begin.copy()
        while True:
            more = found.copy()
            more[self.target[found[self.source]]] = True
            if (more == found).all():
                return found
            found = more

    # ---------------------------------------------------------------- average reward
    def average(self) -> tuple[Floats, Floats]:
        """Return the average reward from every state, and the bias: 0 in the first state of each class.

        The bias h and the gain g satisfy h(s) = reward(s) - g(s) + sum of P(s, t) h(t).
        """
        inside = self.classes >= 0
        references = np.zeros(self.num_states, bool)
        references[self._references()] = True
        zero = np.zeros(self.num_states)
        inner = ~references & inside
        both = np.stack([self.reward, np.ones(self.num_states)], axis=1)
        until = self.solved(np.where(inner[:, None], both, 0.0), ~inner, np.zeros_like(both))
        after = both + self._rows(np.arange(self.num_states)) @ until
        gain = np.divide(after[:, 0], after[:, 1], out=zero.copy(), where=references)
        by_class = gain[self._references()]
        known = np.where(inside, by_class[np.where(inside, self.classes, 0)], 0.0)
        gain = self.solved(zero, inside, known)
        bias = self.solved(self.reward - gain, references, zero)
        return gain, bias

    def _references(self) -> Integers:
        """Return the first state of each recurrent class."""
        inside = np.flatnonzero(self.classes >= 0)
        return inside[np.unique(self.classes[inside], return_index=True)[1]]

    # ---------------------------------------------------------------- simulation
    def simulate(self, steps: int, *, start: int | npt.ArrayLike = 0, runs: int = 1, seed: int = 0) -> Simulation:
        """Return simulated runs of a number of steps; equal seeds give equal runs."""
        if steps < 1 or runs < 1 or runs * (steps + 1) > MAX_SIMULATED:
            raise FormatError(
                f"{runs} runs of {steps} steps: use at least one, and at most {MAX_SIMULATED:,} states"
            )
        rng = np.random.default_rng(seed)
        states = np.full((runs, steps + 1), -1, dtype=np.int64)
        states[:, 0] = rng.choice(self.num_states, size=runs, p=self._start(start))
        sums = np.concatenate([np.zeros(1), np.cumsum(self.probability)])
        cumulative = sums[1:] - np.repeat(sums[self.first[:-1]], lengths(self.first))
        flat, uniform = states.ravel(), rng.random(runs * steps)
        run(walk, STEP_WORK * runs * steps, self.first, self.target, cumulative, uniform, flat)
        states = flat.reshape(runs, steps + 1)
        rewards = np.where(states[:, :-1] >= 0, self.reward[states[:, :-1]], 0.0)
        return Simulation(states, rewards)


def _equations(matrix: Any, right: Floats) -> Floats:
    """Return the solution of x = matrix x + right, refined once."""
    size = matrix.shape[0]
    if not size:
        return np.zeros_like(right)
    if size <= MAX_DENSE:
        dense = np.eye(size) - matrix.toarray()
        found = np.linalg.solve(dense, right)
        return np.asarray(found + np.linalg.solve(dense, right - dense @ found))
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    whole = csc_array(eye_array(size, format="csc") - matrix)
    factors = call_library(lambda: splu(whole))
    found = factors.solve(right)
    return np.asarray(found + factors.solve(right - whole @ found))


def policy_chain(mdp: Model, policy: npt.ArrayLike) -> Chain:
    """Return the Markov chain of a policy: one action a state, or the probabilities ``[state, action]``."""
    model, _ = induced(mdp, policy)
    owner = model.owners()
    reward = np.zeros(model.num_states)
    reward[owner] = model.reward
    first = model.first_transition[model.first_choice].astype(np.int64)
    return Chain(first, model.target.astype(np.int64), model.probability, reward)
