"""The average reward in the long run, and the total reward of a number of steps.

For every vector h and every MDP, with the Bellman sweep T without discount (Odoni 1969),

    min (Th - h)  <=  g*  <=  max (Th - h)        over the states of an end component,

where g* is the best average reward, the gain: the same in all states of a largest end component, as each of its
states can be reached from every other.  `Averages` iterates h <- h + STEP (Th - h - g) in all end components
together.  STEP below 1 makes periodic chains converge.  When the span of Th - h falls slowly, the greedy policy is
evaluated exactly, as in Howard's policy iteration.  The bounds hold whatever h is; rounding is counted.

A policy ends up in one of the end components.  What remains is a total-reward problem: each component may be left,
or else kept, for its gain (`quotient`).  Models with several recurrent classes are handled in this way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdplay.errors import LimitError
from mdplay.planning.arrays import LARGEST, ModelArrays, largest
from mdplay.planning.chain import Chain
from mdplay.planning.methods import backend_for, overflow
from mdplay.planning.model import Model
from mdplay.planning.undiscounted import Backward, EndComponents, end_components
from mdplay.runtime.memory import budget
from mdplay.runtime.run import Run
from mdplay.states.graph_search import Floats, Integers

STEP = 0.9  # of the difference that an iteration adds
MAX_SWEEPS = 300_000
EVALUATE = 30  # sweeps between two evaluations of the greedy policy
MAX_EVALUATED = 20_000  # states of a policy that is evaluated
STALE = 12  # evaluations without progress, after which rounding is assumed to hide it


@dataclass(frozen=True, eq=False)
class Found:
    """What a criterion found for a model of rewards to be maximised; ``choice`` is one for each state."""

    value: Floats
    lower: Floats
    upper: Floats
    choice: Integers
    undecided: Integers
    sweeps: int
    history: tuple[tuple[int, float], ...]
    bias: Floats | None = None
    stages: Integers | None = None


# ---------------------------------------------------------------- a number of steps
def finite_horizon(arrays: ModelArrays, steps: int, run: Run) -> Found:
    """Return the values and choices of the next ``steps`` steps by backward induction.

    ``stages[t]`` are the choices of step t.  A sweep is exact but for rounding, which adds up over the steps.
    """
    size = np.min_scalar_type(len(arrays.reward)).itemsize
    if steps * arrays.num_states * size > budget(run.bytes):
        raise LimitError(f"a policy of {steps:,} steps does not fit into memory; use a smaller horizon")
    backend = backend_for(arrays, run.threads)
    value, error, undecided = np.zeros(arrays.num_states), 0.0, np.zeros(0, np.int64)
    stages = np.zeros((steps, arrays.num_states), np.min_scalar_type(len(arrays.reward)))
    for step in range(steps):
        later = value
        q_value = backend.q_values(later)
        value = np.zeros_like(later)
        backend.best(q_value, later, value)
        if not largest(value) <= LARGEST:
            raise overflow()
        error = arrays.discount * error * (1.0 + 2.0**-50) + arrays.backup_error(later)
        decision = backend.decide(q_value, 2.0 * error)
        stages[steps - 1 - step], undecided = decision.choice, np.flatnonzero(decision.undecided)
        if run.progress is not None:
            run.progress(step + 1, 0.0)
    lower, upper = np.nextafter(value - error, -np.inf), np.nextafter(value + error, np.inf)
    lower[~arrays.live], upper[~arrays.live] = 0.0, 0.0
    choice = stages[0].astype(np.uint32)
    return Found(value, lower, upper, choice, undecided, steps, (), stages=stages)


# ---------------------------------------------------------------- average reward
def average_reward(arrays: ModelArrays, tolerance: float, run: Run, total: Callable[..., Any]) -> Found:
    """Return the best average reward from every state, with bounds, and a policy that earns it.

    ``total`` plans a model of total rewards.
    """
    components = end_components(arrays, np.ones(len(arrays.reward), bool))
    averages = Averages(arrays, components, run)
    averages.iterate(tolerance)
    low, high = averages.low, averages.high
    model, origin = quotient(arrays, components, averages.place, 0.5 * (low + high))
    reached = total(model, tolerance=tolerance, threads=run.threads)
    width = float((high - low).max()) / 2.0 * (1.0 + 2.0**-50) + 2.0**-52 * largest(high)
    place = averages.merged
    least, most = float(low.min()), float(high.max())  # the gain of every policy is between these
    value = np.clip(reached.value[place], least, most)
    lower = np.maximum(np.nextafter(reached.lower[place] - width, -np.inf), least)
    upper = np.minimum(np.nextafter(reached.upper[place] + width, np.inf), most)
    chosen = origin[model.first_choice[:-2] + reached.action[:-1]]
    choice = _policy(arrays, averages, components, chosen)
    if arrays.num_states <= MAX_EVALUATED:
        gain, bias = Chain.of(arrays, choice).average()
        value = np.clip(gain, lower, upper)  # of the policy, closer than the middle of the bounds
    else:
        bias = averages.everywhere()
    undecided = np.flatnonzero(np.isin(place, reached.undecided))
    history = tuple(averages.history)
    return Found(value, lower, upper, choice, undecided, averages.sweeps, history, bias=bias)


class Averages:
    """The iteration of all largest end components of a model together.

    ``states`` are those inside, sorted by component; ``begins`` is where each component begins among them.
    """

    def __init__(self, arrays: ModelArrays, components: EndComponents, run: Run) -> None:
        label = components.label
        inside = np.flatnonzero(label >= 0)
        self.states = inside[np.argsort(label[inside], kind="stable")]
        _, self.begins, self.part = np.unique(label[self.states], return_index=True, return_inverse=True)
        self.place = np.full(arrays.num_states, -1, np.int64)  # component of each state
        self.place[self.states] = self.part
        transient = np.flatnonzero(label < 0)
        self.merged = self.place.copy()  # state of the quotient
        self.merged[transient] = len(self.begins) + np.arange(len(transient))
        self.choices = np.flatnonzero(components.inside & (self.place[arrays.owner] >= 0))
        self.arrays = self._inner(arrays)
        self.backend = backend_for(self.arrays, run.threads)
        self.value = np.zeros(len(self.states))
        self.low = self.high = np.zeros(len(self.begins))
        self.sweeps, self.history, self._run = 0, list[tuple[int, float]](), run

    def _inner(self, arrays: ModelArrays) -> ModelArrays:
        """Return the model of the states inside and the choices that stay there."""
        number = np.zeros(arrays.num_states, np.uint32)
        number[self.states] = np.arange(len(self.states))
        owner = number[arrays.owner[self.choices]]
        self.choices = self.choices[np.argsort(owner, kind="stable")]
        counts = np.bincount(owner, minlength=len(self.states))
        rows = arrays.row_lengths[self.choices]
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows)])
        begin = arrays.first_transition[self.choices].astype(np.int64)
        index = np.arange(first[-1]) + np.repeat(begin - first[:-1], rows)
        return ModelArrays(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(arrays.first_choice.dtype),
            first.astype(arrays.first_transition.dtype),
            number[arrays.target[index]],
            arrays.probability[index],
            arrays.reward[self.choices],
            1.0,
            arrays.reward_error,
        )

    def iterate(self, tolerance: float) -> None:
        """Iterate until the bounds of every component are closed, or as close as rounding allows."""
        self.low, self.high = np.full(len(self.begins), -np.inf), np.full(len(self.begins), np.inf)
        stale, best = 0, np.inf
        while True:
            width, error = self._sweep()
            if width <= 1.8 * tolerance or stale > STALE or width <= 8.0 * error:
                return
            if self.sweeps >= MAX_SWEEPS:
                raise LimitError(
                    f"the average reward is not closed after {self.sweeps} sweeps: {width:.3g} is left"
                )
            if self.sweeps % EVALUATE == 0:
                stale, best = (0, width) if width < 0.9 * best else (stale + 1, best)
                self._evaluate()

    def _sweep(self) -> tuple[float, float]:
        """Sweep once; return the largest width of the bounds, and the error of a difference."""
        other, self.choice = np.zeros_like(self.value), self.arrays.first_actions.copy()
        self.backend.bellman_backup(self.value, other, self.choice)
        error = 2.0 * self.arrays.backup_error(self.value)
        difference = other - self.value
        self.low = np.maximum(self.low, np.minimum.reduceat(difference, self.begins) - error)
        self.high = np.minimum(self.high, np.maximum.reduceat(difference, self.begins) + error)
        middle = 0.5 * (self.low + self.high)
        value = self.value + STEP * (difference - middle[self.part])
        self.value = value - value[self.begins][self.part]
        self.sweeps += 1
        width = float((self.high - self.low).max())
        self.history.append((self.sweeps, 0.5 * width))
        if not np.isfinite(width) or not largest(self.value) <= LARGEST:
            raise overflow()
        if self._run.progress is not None:
            self._run.progress(self.sweeps, width)
        return width, error

    def _evaluate(self) -> None:
        """Replace the values by those of the greedy policy in components where it has one recurrent class."""
        if len(self.states) > MAX_EVALUATED:
            return
        chain = Chain.of(self.arrays, self.choice)
        inside = chain.classes >= 0
        first = np.unique(chain.classes[inside], return_index=True)[1]
        classes = np.bincount(self.part[np.flatnonzero(inside)[first]], minlength=len(self.begins))
        bias = chain.average()[1]
        fits = (classes == 1)[self.part] & np.isfinite(bias)
        self.value = np.where(fits, bias - bias[self.begins][self.part], self.value)

    def everywhere(self) -> Floats:
        """Return the relative values of all states; not a number outside the end components."""
        found = np.full(len(self.place), np.nan)
        found[self.states] = self.value
        return found


def quotient(
    arrays: ModelArrays, components: EndComponents, place: Integers, gain: Floats
) -> tuple[Model, Integers]:
    """Return the total-reward model in which each end component is one state, and the choice behind each action.

    State k stands for component k, and action 0 keeps it for its gain; the other states follow.  The last state
    is terminal.  Choices inside a component are left out.
    """
    count, transient = len(gain), np.flatnonzero(place < 0)
    number = place.copy()
    number[transient] = count + np.arange(len(transient))
    end = count + len(transient)
    kept = np.flatnonzero(~components.inside | (place[arrays.owner] < 0))
    owner = number[arrays.owner[kept]]
    kept = kept[np.argsort(owner, kind="stable")]
    owner = np.sort(owner, kind="stable")
    order = np.argsort(np.concatenate([np.arange(count), owner]), kind="stable")
    owners = np.concatenate([np.arange(count), owner])[order]
    origin = np.concatenate([np.full(count, -1), kept])[order]
    starts = np.searchsorted(owners, np.arange(end + 2))
    rows = np.where(origin < 0, 1, arrays.row_lengths[origin])
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows)])
    begin = np.where(origin < 0, 0, arrays.first_transition[origin].astype(np.int64))
    index = np.arange(first[-1]) + np.repeat(begin - first[:-1], rows)
    stays = np.repeat(origin < 0, rows)
    model = Model(
        first_choice=starts,
        action=np.arange(len(owners)) - starts[owners],
        first_transition=first,
        target=np.where(stays, end, number[arrays.target[np.where(stays, 0, index)]]),
        probability=np.where(stays, 1.0, arrays.probability[np.where(stays, 0, index)]),
        reward=np.where(origin < 0, gain[np.minimum(owners, count - 1)], 0.0),
    )
    return model, origin


def _policy(arrays: ModelArrays, averages: Averages, components: EndComponents, chosen: Integers) -> Integers:
    """Return the choice of every state: keep a component by its greedy policy, or walk to where it is left.

    ``chosen`` are the choices of the states of the quotient, -1 where a component is kept.
    """
    found = chosen[averages.merged]
    inner = averages.backend.decide(averages.backend.q_values(averages.value), 0.0).choice
    keeps = found[averages.states] < 0
    kept = averages.states[keeps]
    leaving = np.setdiff1d(averages.states, kept)
    door = np.zeros(arrays.num_states, bool)
    door[arrays.owner[found[leaving]]] = True
    found[kept] = averages.choices[inner[keeps]]
    if leaving.size:
        _, walk = Backward(arrays).attract(door, components.inside.copy())
        walks = leaving[arrays.owner[found[leaving]] != leaving]
        found[walks] = walk[walks]
    return found.astype(np.uint32)
