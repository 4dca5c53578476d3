"""Planning without a discount: what is infinite, what is finite, and bounds for the finite part.

The total reward of a policy that never ends may be infinite or undefined, and then a fixed point of the
Bellman equation proves nothing.  So the graph of the MDP is examined first:

1. End components whose rewards are all 0 are each merged into one state that may also stop, for nothing:
   a policy may rest there for ever.
2. In every other end component the best average reward is bounded.  Above 0: going round for ever earns
   plus infinity.  Below 0: staying there earns minus infinity.  Exactly 0: the total is not defined, refused.
3. States where no policy ends, rests or earns infinity with probability 1 have the value minus infinity;
   those of the others that can reach an infinite income have plus infinity.
4. In what remains, some policy ends surely, and one that does not end has the value minus infinity.  There
   the Bellman equation has one solution V*, and for all U, L (Bertsekas and Tsitsiklis 1991)

       TU <= U  implies  V* <= U,          TL >= L  implies  L <= V*.

`certify` finds such U = V + d w and L = V - d w around computed values V, where w(s) bounds the time to the
end over all policies of candidate choices, and proves both inequalities by a sweep with its rounding counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.errors import LimitError
from mdplay.evaluating.evaluation import TIE
from mdplay.planning.arrays import ModelArrays
from mdplay.planning.backends import DENSE_STATES, PLAIN_TRANSITIONS, Backend, ValueBounds
from mdplay.planning.loops import spread, strong_components
from mdplay.planning.methods import BURST_TRANSITIONS, Goal, SingularPolicy, backend_for, policy_iteration
from mdplay.states.graph_search import Floats, Integers, run

GAIN_SWEEPS = 20_000
ELIMINATION = (1e-6, 1e-9, 1e-3, 1e-12)  # what a candidate loses at most, relative to the largest value
TIME_SWEEPS = 1_000_000
Mask = npt.NDArray[np.bool_]


class EndComponents(NamedTuple):
    """The largest end components: each state's number (-1 for none) and the choices that stay inside.

    An end component is a set of states that some policy never leaves (de Alfaro 1997).  It depends on which
    transitions are possible, not on their probabilities.
    """

    label: Integers
    inside: Mask


def allowed_components(arrays: ModelArrays, allowed: Mask) -> Integers:
    """Return the strongly connected component of each state when only allowed choices are taken."""
    target = arrays.target[np.repeat(allowed, arrays.row_lengths)]
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.where(allowed, arrays.row_lengths, 0))])
    return strong_components(before[arrays.first_choice].astype(np.uint64), target)[0]


def end_components(arrays: ModelArrays, allowed: Mask) -> EndComponents:
    """Return the largest end components made of allowed choices."""
    allowed = allowed.copy()
    back = Backward(arrays)
    while True:
        back.keep_staying(allowed)
        label = allowed_components(arrays, allowed)
        outside = label[arrays.target] != np.repeat(label[arrays.owner], arrays.row_lengths)
        leaves = allowed & any_transition(arrays, outside)
        if not leaves.any():
            break
        allowed &= ~leaves
    inhabited = np.zeros(arrays.num_states, dtype=bool)
    inhabited[arrays.owner[allowed]] = True
    return EndComponents(np.where(inhabited, label, -1), allowed)


def any_transition(arrays: ModelArrays, marked: Mask) -> Mask:
    """Return which choices have a marked transition."""
    if not len(arrays.reward):
        return np.zeros(0, dtype=bool)
    return np.asarray(np.logical_or.reduceat(marked, arrays.first_transition[:-1].astype(np.intp)))


class Backward:
    """The choices that may lead to each state."""

    def __init__(self, arrays: ModelArrays) -> None:
        order = np.argsort(arrays.target, kind="stable")
        self._arrays = arrays
        first = np.searchsorted(arrays.target[order], np.arange(arrays.num_states + 1))
        self._back = (first, arrays.source[order], arrays.owner)
        self._work = 2 * len(order)

    def attract(self, goal: Mask, allowed: Mask, needed: Integers | int = 1) -> tuple[Mask, Integers]:
        """Return the states with a way into the goal by allowed choices, and how a shortest begins.

        A state has one as soon as ``needed`` of its choices lead to states that have one.
        """
        choice, left = self._arrays.first_actions.copy(), np.where(goal, 0, needed).astype(np.int64)
        self._spread(allowed.copy(), left, choice)
        return left <= 0, choice

    def keep_staying(self, out_allowed: Mask) -> bool:
        """Forbid choices that do not let a policy stay among allowed ones for ever; say whether any is left."""
        left = np.bincount(self._arrays.owner[out_allowed], minlength=self._arrays.num_states)
        return self._spread(out_allowed, left, self._arrays.first_actions.copy()) < len(left)

    def _spread(self, out_allowed: Mask, out_needed: Integers, out_choice: Integers) -> int:
        """Let the states that need no more choices take in those that lead to them; return how many there are."""
        found = np.flatnonzero(out_needed == 0)
        queue = np.pad(found, (0, len(out_needed) - len(found)))
        return int(run(spread, self._work, self._back, queue, len(found), out_allowed, out_needed, out_choice))

    def surely(self, goal: Mask) -> tuple[Mask, Integers]:
        """Return the states from which some policy reaches the goal with probability 1, and that policy."""
        inside = np.ones(len(goal), dtype=bool)
        while True:
            allowed = ~any_transition(self._arrays, ~inside[self._arrays.target])
            reached, choice = self.attract(goal, allowed)
            if (reached == inside).all():
                return inside, choice
            inside = reached


@dataclass(frozen=True, eq=False)
class Reduction:
    """The finite part of an undiscounted MDP, and the way back.

    ``place[s]`` is the state of ``arrays`` that stands for state s, or -1 where ``fixed[s]`` is its infinite
    value; there ``infinite_choice[s]`` is the choice that attains it, maybe of another state of a merged
    component, or -1 where all are alike.  ``origin[k]`` is the choice that choice k of ``arrays`` stands for, or
    -1 for resting.
    """

    whole: ModelArrays
    arrays: ModelArrays
    place: Integers
    origin: Integers
    proper: Integers
    fixed: Floats
    infinite_choice: Integers
    rest: EndComponents | None

    def values(self, value: Floats) -> Floats:
        """Return values of all states from values of the finite part."""
        finite = self.place >= 0
        return np.where(finite, value[np.where(finite, self.place, 0)], self.fixed)

    def ending(self, backend: Backend, choice: Integers, value: Floats, width: float) -> Integers:
        """Return choices that end surely: the given ones, but where those go round for ever others as good.

        A step that costs next to nothing is tied with the best way, but taken for ever it is none.
        """
        arrays = self.arrays
        if arrays.acyclic:
            return choice
        back, taken = Backward(arrays), np.zeros(len(arrays.reward), dtype=bool)
        taken[choice[arrays.live]] = True
        ends = back.attract(~arrays.live, taken)[0]
        q_value = backend.q_values(value)
        best = best_values(arrays, q_value)
        tie = TIE * np.maximum(1.0, np.abs(best))
        for slack in (0.0, width, np.inf):
            if ends.all():
                break
            after, way = back.attract(ends, q_value >= (best - tie - slack)[arrays.owner])
            choice = np.where(after & ~ends, way, choice)
            ends = after
        return choice

    def choices(self, choice: Integers) -> Integers:
        """Return the choices of all states from choices of the finite part."""
        finite = self.place >= 0
        if self.origin.size:
            here = choice[np.where(finite, self.place, 0)].astype(np.int64)
            chosen = self.origin[np.minimum(here, len(self.origin) - 1)]  # terminal states have none
        else:
            chosen = np.full(len(finite), -1)
        ended = ~self.whole.live
        found = np.where(finite & ~ended, chosen, self.infinite_choice)
        if self.rest is not None:
            found = self._towards_the_way_out(found)
        return np.where(found < 0, self.whole.first_actions, found).astype(np.uint32)

    def _towards_the_way_out(self, chosen: Integers) -> Integers:
        """Let the states of a merged component rest, or walk to the one where the way out begins."""
        assert self.rest is not None
        merged = self.rest.label >= 0
        inside = np.flatnonzero(self.rest.inside)
        owners, first = np.unique(self.whole.owner[inside], return_index=True)
        resting = self.whole.first_actions.astype(np.int64)
        resting[owners] = inside[first]
        door = np.zeros(len(chosen), dtype=bool)
        leaving = merged & (chosen >= 0)
        door[self.whole.owner[chosen[leaving]]] = True
        _, walk = Backward(self.whole).attract(door, self.rest.inside)
        return np.where(merged & ~door, np.where(leaving, walk, resting), chosen)


def finite_part(whole: ModelArrays) -> Reduction:
    """Return the finite part of an undiscounted MDP."""
    everything = np.arange(whole.num_states)
    if whole.acyclic:
        origin, fixed = np.arange(len(whole.reward)), np.zeros(whole.num_states)
        return Reduction(whole, whole, everything, origin, whole.first_actions, fixed, whole.first_actions, None)
    merged = _merge(whole, end_components(whole, whole.reward == 0.0))
    arrays, place, origin, rest = merged
    rich, rich_choice = _rich_states(arrays)
    back = Backward(arrays)
    good, proper = back.surely(~arrays.live | rich)
    if good.all() and not rich.any():
        fixed = np.zeros(whole.num_states)
        return Reduction(whole, arrays, place, origin, proper, fixed, whole.first_actions, rest)
    return _without_infinite(whole, merged, back, rich, rich_choice, good)


class Merged(NamedTuple):
    """An MDP with one state for each resting component, the states' places and the choices' origins."""

    arrays: ModelArrays
    place: Integers
    origin: Integers
    rest: EndComponents | None


def _merge(whole: ModelArrays, rest: EndComponents) -> Merged:
    """Return the MDP with each resting component made one state."""
    if not (rest.label >= 0).any():
        return Merged(whole, np.arange(whole.num_states), np.arange(len(whole.reward)), None)
    members = np.flatnonzero(rest.label >= 0)
    labels, first = np.unique(rest.label[members], return_index=True)
    leader = np.arange(whole.num_states)
    leader[members] = members[first][np.searchsorted(labels, rest.label[members])]
    leaders, place = np.unique(leader, return_inverse=True)
    kept = np.flatnonzero(~rest.inside)
    arrays, origin = rebuilt(whole, kept, place, len(leaders) + 1, np.unique(place[members]))
    return Merged(arrays, place, origin, rest)


def rebuilt(
    arrays: ModelArrays, kept: Integers, place: Integers, num_states: int, resting: Integers | None = None
) -> tuple[ModelArrays, Integers]:
    """Return the kept choices with states renamed; a resting state may also step into the last state.

    The second answer is the former number of each choice, or -1 for resting.
    """
    stops = np.zeros(0, dtype=np.int64) if resting is None else resting
    owner = np.concatenate([place[arrays.owner[kept]], stops])
    origin = np.concatenate([kept, np.full(len(stops), -1, dtype=np.int64)])
    order = np.argsort(owner, kind="stable")
    owner, origin = owner[order], origin[order]
    source = np.where(origin < 0, 0, origin)
    counts = (
        (arrays.first_transition[source + 1].astype(np.int64) - arrays.first_transition[source])
        if len(origin)
        else owner
    )
    counts = np.where(origin < 0, 1, counts)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    entry = np.arange(first[-1]) + np.repeat(arrays.first_transition[source].astype(np.int64) - first[:-1], counts)
    stop = np.repeat(origin < 0, counts)
    entry[stop] = 0
    target = np.where(stop, num_states - 1, place[arrays.target[entry]]).astype(np.uint32)
    weight = np.where(stop, 1.0, arrays.probability[entry])
    reward = np.where(origin < 0, 0.0, arrays.reward[source])
    states = np.searchsorted(owner, np.arange(num_states + 1)).astype(np.uint32)
    return ModelArrays(
        states, _pointers(first), target, weight, reward, arrays.discount, arrays.reward_error
    ), origin


def _pointers(first: Integers) -> Integers:
    return first.astype(np.uint32 if first[-1] < 2**32 else np.uint64)


def _rich_states(arrays: ModelArrays) -> tuple[Mask, Integers]:
    """Return the states of end components that earn a positive average, and choices that do."""
    rich = np.zeros(arrays.num_states, dtype=bool)
    choice = arrays.first_actions.copy()
    cycles = end_components(arrays, np.ones(len(arrays.reward), dtype=bool))
    for label in np.unique(cycles.label[cycles.label >= 0]):
        members = cycles.label == label
        inside = cycles.inside & members[arrays.owner]
        if arrays.reward[inside].max() <= 0.0:
            continue  # no resting place is left: all that stays pays for ever
        found = _earning_policy(arrays, members, inside)
        if found is not None:
            rich |= members
            choice[members] = found
    return rich, choice


def _earning_policy(arrays: ModelArrays, members: Mask, inside: Mask) -> Integers | None:
    """Return choices of positive average reward in an end component; None if all averages are negative.

    For any V, min(TV - V) <= best average <= max(TV - V); half steps make the sweeps converge.
    """
    place = np.cumsum(members) - 1
    part, origin = rebuilt(arrays, np.flatnonzero(inside), place, int(members.sum()))
    backend = backend_for(part, 1)
    value, new = np.zeros(part.num_states), np.zeros(part.num_states)
    choice = part.first_actions.copy()
    for _ in range(GAIN_SWEEPS):
        change = backend.bellman_backup(value, new, choice)
        error = part.backup_error(value) * 2.0
        if change.high < -error:
            return None
        if change.low > error:
            return origin[choice].astype(np.uint32)
        if change.high - change.low <= error:
            break
        value = 0.5 * (value + new)
        value -= value[0]
    raise LimitError(
        f"state {int(np.flatnonzero(members)[0])} is on a cycle whose rewards average to zero, or to so little "
        "that doubles cannot tell: without a discount its total is not defined; use a discount below 1"
    )


def _without_infinite(
    whole: ModelArrays, merged: Merged, back: Backward, rich: Mask, rich_choice: Integers, good: Mask
) -> Reduction:
    """Return the reduction that leaves out the states of infinite value."""
    arrays, place, origin, rest = merged
    allowed = ~any_transition(arrays, ~good[arrays.target])
    endless, walk = back.attract(rich & good, allowed)
    finite = good & ~endless
    fixed = np.where(endless, np.inf, -np.inf)[place]
    way = np.where(rich, rich_choice, np.where(endless, walk, len(arrays.reward))).astype(np.int64)
    infinite_choice = np.append(origin, -1)[way][place]
    renamed = np.where(finite, np.cumsum(finite) - 1, -1)
    kept = np.flatnonzero(allowed & finite[arrays.owner])
    smaller, chosen = rebuilt(arrays, kept, renamed, max(1, int(finite.sum())))
    _, proper = Backward(smaller).surely(~smaller.live)
    return Reduction(whole, smaller, renamed[place], origin[chosen], proper, fixed, infinite_choice, rest)


def certify(backend: Backend, value: Floats) -> ValueBounds:
    """Return proven bounds around values of the finite part; infinite ones where nothing could be proven."""
    arrays = backend.arrays
    q_value = backend.q_values(value).copy()  # the sweeps below overwrite it
    best = best_values(arrays, q_value)
    step = float(np.abs(best - value).max())
    scale = max(1.0, float(np.abs(value).max()), arrays.largest_reward)
    for loss in (np.inf,) if arrays.acyclic else ELIMINATION:
        times = _times(arrays, np.flatnonzero(q_value >= best[arrays.owner] - loss * scale))
        if times is None:
            continue
        shift = 1.25 * (step + 4.0 * arrays.backup_error(np.abs(value) + step * times)) * times
        if _proven(backend, value - shift, value + shift):
            width = 2.0 * float(shift.max()) + 2.0 * arrays.backup_error(value)
            return ValueBounds(value, value - shift, value + shift, width)
    endless = np.where(arrays.live, np.inf, 0.0)
    return ValueBounds(value, -endless, endless, np.inf)


def best_values(arrays: ModelArrays, q_value: Floats) -> Floats:
    """Return the largest q value of each state, 0 in terminal ones."""
    best = np.where(arrays.live, -np.inf, 0.0)
    np.maximum.at(best, arrays.owner, q_value)
    return best


def _proven(backend: Backend, lower: Floats, upper: Floats) -> bool:
    """Say whether a sweep raises the lower values and lowers the upper ones, rounding counted."""
    arrays = backend.arrays
    choice, new = arrays.first_actions.copy(), np.zeros_like(lower)
    backend.bellman_backup(lower, new, choice)
    if not (new - arrays.backup_error(lower) >= lower)[arrays.live].all():
        return False
    backend.bellman_backup(upper, new, choice)
    return bool((new + arrays.backup_error(upper) <= upper)[arrays.live].all())


def _solved_times(clock: ModelArrays) -> Floats | None:
    """Return the longest times by policy iteration: sweeps take as many as there are steps to the end."""
    try:
        return policy_iteration(backend_for(clock, 1), np.zeros(clock.num_states), Goal(clock, 0.25))
    except SingularPolicy:
        return None


def _times(arrays: ModelArrays, candidates: Integers) -> Floats | None:
    """Return w with w(s) >= 3/4 + E[w] for all candidates, or None if they allow never to end."""
    times = np.zeros(arrays.num_states)
    if arrays.acyclic:
        clock, (order, blocks) = replace(arrays, reward=np.ones(len(arrays.reward))), arrays.component_order
    else:
        part, _ = rebuilt(arrays, candidates, np.arange(arrays.num_states), arrays.num_states)
        clock = replace(part, reward=np.ones(len(part.reward)))
        if Backward(clock).keep_staying(np.ones(len(clock.reward), dtype=bool)):
            return None
        if clock.num_states <= DENSE_STATES and len(clock.target) <= PLAIN_TRANSITIONS:
            return _solved_times(clock)
        order, blocks = clock.component_order
    backend, done = backend_for(clock, 1), 0
    burst = 1 + BURST_TRANSITIONS // max(1, len(clock.target))  # then Python hears Ctrl-C
    while done < TIME_SWEEPS:
        count = backend.gauss_seidel(order, blocks, times, 0.25, min(burst, TIME_SWEEPS))
        done += count
        if count < burst:
            break
    return times
