"""Planning without a discount: what is infinite, what is finite, and bounds for the finite part.

The total reward of a policy that never ends may be infinite or undefined, and then a fixed point of the
Bellman equation proves nothing.  So the shape of the MDP is looked at first:

1. End components whose rewards are all 0 are each merged into one state that may also stop, for nothing:
   a policy may rest there for ever.
2. In every other end component the best average reward is bounded.  Above 0: going round for ever earns
   plus infinity.  Below 0: whoever stays pays minus infinity.  Exactly 0: the total is not defined, refused.
3. States where no policy ends, rests or earns infinity with probability 1 are worth minus infinity; those of
   the others that can reach an infinite income are worth plus infinity.
4. In what remains, some policy ends surely, and a policy that does not end is worth minus infinity.  There
   the Bellman equation has one solution V*, and for all U, L (Bertsekas and Tsitsiklis 1991)

       TU <= U  implies  V* <= U,          TL >= L  implies  L <= V*.

`certify` finds such U = V + d w and L = V - d w around computed values V, where w(s) bounds the time to the
end over all nearly best policies, and proves both inequalities by a sweep with its rounding counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mdplay.errors import LimitError
from mdplay.mdp.bounds import Bounds
from mdplay.mdp.graph import Backward, EndComponents, Mask, any_transition, end_components
from mdplay.mdp.model import Floats, Integers
from mdplay.mdp.rows import Rows, Sweeps, sweeps_over

GAIN_SWEEPS = 20_000
NEAR = (1e-6, 1e-9, 1e-3, 1e-12)  # which choices count as nearly best, relative to the largest value
TIME_SWEEPS = 1_000_000


@dataclass(frozen=True, eq=False)
class Reduction:
    """The finite part of an undiscounted MDP, and the way back.

    ``place[s]`` is the state of ``rows`` that stands for state s, or -1 where ``fixed[s]`` is its infinite
    value.  ``origin[k]`` is the choice that choice k of ``rows`` stands for, or -1 for resting.
    """

    whole: Rows
    rows: Rows
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

    def ending(self, sweeps: Sweeps, choice: Integers, value: Floats) -> Integers:
        """Return the choices if they end surely; else the best ones without regard to ties.

        A step that costs next to nothing is tied with the best way, but taken for ever it is none.
        """
        if self.rows.acyclic or _ends(self.rows, choice):
            return choice
        strict = self.rows.first_actions.copy()
        sweeps.improve(value, np.zeros_like(value), strict)
        return strict if _ends(self.rows, strict) else choice

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
            found = self._towards_the_way_out(found, chosen)
        return found.astype(np.uint32)

    def _towards_the_way_out(self, found: Integers, chosen: Integers) -> Integers:
        """Let the states of a merged component rest, or walk to the one where the way out begins."""
        assert self.rest is not None
        merged = (self.rest.label >= 0) & (self.place >= 0)
        inside = np.flatnonzero(self.rest.inside)
        owners, first = np.unique(self.whole.owner[inside], return_index=True)
        resting = self.whole.first_actions.astype(np.int64)
        resting[owners] = inside[first]
        door = np.zeros(len(found), dtype=bool)
        leaving = merged & (chosen >= 0)
        door[self.whole.owner[chosen[leaving]]] = True
        _, walk = Backward(self.whole).attract(door, self.rest.inside)
        return np.where(merged & ~door, np.where(leaving, walk, resting), found)


def finite_part(whole: Rows) -> Reduction:
    """Return the finite part of an undiscounted MDP."""
    everything = np.arange(whole.num_states)
    if whole.acyclic:
        return _plain(whole, everything, whole.first_actions)
    rest = end_components(whole, whole.reward == 0.0)
    merged = (rest.label >= 0).any()
    if merged:
        rows, place, origin = _merge(whole, rest)
    else:
        rows, place, origin = whole, everything, np.arange(len(whole.reward))
    rich, rich_choice = _rich_states(rows)
    back = Backward(rows)
    good, proper = back.surely(~rows.live | rich)
    if good.all() and not rich.any():
        if not merged:
            return _plain(whole, everything, proper)
        return Reduction(whole, rows, place, origin, proper, np.zeros(whole.num_states), whole.first_actions, rest)
    return _without_infinite(whole, rows, place, origin, rest if merged else None, back, rich, rich_choice, good)


def _plain(whole: Rows, everything: Integers, proper: Integers) -> Reduction:
    """Return the reduction of an MDP that is finite as it stands."""
    origin = np.arange(len(whole.reward))
    fixed = np.zeros(whole.num_states)
    return Reduction(whole, whole, everything, origin, proper, fixed, whole.first_actions, None)


def _merge(whole: Rows, rest: EndComponents) -> tuple[Rows, Integers, Integers]:
    """Return the MDP with one state for each resting component, the states' places, the choices' origins."""
    members = np.flatnonzero(rest.label >= 0)
    labels, first = np.unique(rest.label[members], return_index=True)
    leader = np.arange(whole.num_states)
    leader[members] = members[first][np.searchsorted(labels, rest.label[members])]
    leaders, place = np.unique(leader, return_inverse=True)
    kept = np.flatnonzero(~rest.inside)
    rows, origin = rebuilt(whole, kept, place, len(leaders) + 1, np.unique(place[members]))
    return rows, place, origin


def rebuilt(
    rows: Rows, kept: Integers, place: Integers, num_states: int, resting: Integers | None = None
) -> tuple[Rows, Integers]:
    """Return the kept choices with states renamed; a resting state may also step into the last state.

    The second answer is the former number of each choice, or -1 for resting.
    """
    stops = np.zeros(0, dtype=np.int64) if resting is None else resting
    owner = np.concatenate([place[rows.owner[kept]], stops])
    origin = np.concatenate([kept, np.full(len(stops), -1, dtype=np.int64)])
    order = np.argsort(owner, kind="stable")
    owner, origin = owner[order], origin[order]
    source = np.where(origin < 0, 0, origin)
    counts = (
        (rows.first_transition[source + 1].astype(np.int64) - rows.first_transition[source])
        if len(origin)
        else owner
    )
    counts = np.where(origin < 0, 1, counts)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    entry = np.arange(first[-1]) + np.repeat(rows.first_transition[source].astype(np.int64) - first[:-1], counts)
    stop = np.repeat(origin < 0, counts)
    entry[stop] = 0
    target = np.where(stop, num_states - 1, place[rows.target[entry]]).astype(np.uint32)
    weight = np.where(stop, 1.0, rows.probability[entry])
    reward = np.where(origin < 0, 0.0, rows.reward[source])
    states = np.searchsorted(owner, np.arange(num_states + 1)).astype(np.uint32)
    return Rows(states, _pointers(first), target, weight, reward, rows.discount), origin


def _pointers(first: Integers) -> Integers:
    return first.astype(np.uint32 if first[-1] < 2**32 else np.uint64)


def _rich_states(rows: Rows) -> tuple[Mask, Integers]:
    """Return the states of end components that earn a positive average, and choices that do."""
    rich = np.zeros(rows.num_states, dtype=bool)
    choice = rows.first_actions.copy()
    cycles = end_components(rows, np.ones(len(rows.reward), dtype=bool))
    for label in np.unique(cycles.label[cycles.label >= 0]):
        members = cycles.label == label
        inside = cycles.inside & members[rows.owner]
        if rows.reward[inside].max() <= 0.0:
            continue  # no resting place is left: all that stays pays for ever
        found = _earning_policy(rows, members, inside)
        if found is not None:
            rich |= members
            choice[members] = found
    return rich, choice


def _earning_policy(rows: Rows, members: Mask, inside: Mask) -> Integers | None:
    """Return choices of positive average reward in an end component; None if all averages are negative.

    For any V, min(TV - V) <= best average <= max(TV - V); half steps make the sweeps converge.
    """
    place = np.cumsum(members) - 1
    part, origin = rebuilt(rows, np.flatnonzero(inside), place, int(members.sum()))
    sweeps = sweeps_over(part, 1)
    value, new = np.zeros(part.num_states), np.zeros(part.num_states)
    choice = part.first_actions.copy()
    for _ in range(GAIN_SWEEPS):
        change = sweeps.improve(value, new, choice)
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
        f"state {int(np.flatnonzero(members)[0])} is on a cycle whose rewards average to zero: "
        "without a discount its total is not defined; use a discount below 1"
    )


def _without_infinite(
    whole: Rows,
    rows: Rows,
    place: Integers,
    origin: Integers,
    rest: EndComponents | None,
    back: Backward,
    rich: Mask,
    rich_choice: Integers,
    good: Mask,
) -> Reduction:
    """Return the reduction that leaves out the states of infinite value."""
    allowed = ~any_transition(rows, ~good[rows.target])
    endless, walk = back.attract(rich & good, allowed)
    finite = good & ~endless
    fixed = np.where(endless, np.inf, -np.inf)[place]
    way = np.where(rich, rich_choice, walk)
    infinite_choice = _lifted(whole, origin, way, place)
    renamed = np.where(finite, np.cumsum(finite) - 1, -1)
    kept = np.flatnonzero(allowed & finite[rows.owner])
    smaller, chosen = rebuilt(rows, kept, renamed, max(1, int(finite.sum())))
    _, proper = Backward(smaller).surely(~smaller.live)
    return Reduction(whole, smaller, renamed[place], origin[chosen], proper, fixed, infinite_choice, rest)


def _lifted(whole: Rows, origin: Integers, way: Integers, place: Integers) -> Integers:
    """Return choices of all states where the merged MDP's are the state's own; else the first choice."""
    first = whole.first_actions.astype(np.int64)
    if not origin.size:
        return first
    chosen = origin[np.minimum(way, len(origin) - 1)][place]
    own = (chosen >= 0) & (whole.owner[chosen] == np.arange(whole.num_states))
    return np.where(own, chosen, first)


def _ends(rows: Rows, choice: Integers) -> bool:
    """Say whether a policy ends with probability 1 from every state."""
    chosen = np.zeros(len(rows.reward), dtype=bool)
    chosen[choice[rows.live]] = True
    return bool(Backward(rows).attract(~rows.live, chosen)[0].all())


def certify(sweeps: Sweeps, value: Floats) -> Bounds:
    """Return proven bounds around values of the finite part; infinite ones where nothing could be proven."""
    rows = sweeps.rows
    worth = sweeps.worths(value).copy()  # the sweeps below overwrite it
    best = np.where(rows.live, -np.inf, 0.0)
    np.maximum.at(best, rows.owner, worth)
    step = float(np.abs(best - value).max())
    scale = max(1.0, float(np.abs(value).max()), rows.largest_reward)
    for near in (np.inf,) if rows.acyclic else NEAR:
        times = _times(rows, np.flatnonzero(worth >= best[rows.owner] - near * scale))
        if times is None:
            continue
        shift = 1.25 * (step + 4.0 * rows.backup_error(np.abs(value) + step * times)) * times
        if _proven(sweeps, value - shift, value + shift):
            width = 2.0 * float(shift.max()) + 2.0 * rows.backup_error(value)
            return Bounds(value, value - shift, value + shift, width)
    endless = np.where(rows.live, np.inf, 0.0)
    return Bounds(value, -endless, endless, np.inf)


def _proven(sweeps: Sweeps, lower: Floats, upper: Floats) -> bool:
    """Say whether a sweep raises the lower values and lowers the upper ones, rounding counted."""
    rows = sweeps.rows
    choice, new = rows.first_actions.copy(), np.zeros_like(lower)
    sweeps.improve(lower, new, choice)
    if not (new - rows.backup_error(lower) >= lower)[rows.live].all():
        return False
    sweeps.improve(upper, new, choice)
    return bool((new + rows.backup_error(upper) <= upper)[rows.live].all())


def _times(rows: Rows, near: Integers) -> Floats | None:
    """Return w with w(s) >= 3/4 + E[w] for all near choices, or None if they allow never to end."""
    times = np.zeros(rows.num_states)
    if rows.acyclic:
        clock, (order, blocks) = replace(rows, reward=np.ones(len(rows.reward))), rows.component_order
    else:
        part, _ = rebuilt(rows, near, np.arange(rows.num_states), rows.num_states)
        clock = replace(part, reward=np.ones(len(part.reward)))
        if Backward(clock).keep_staying(np.ones(len(clock.reward), dtype=bool)):
            return None
        order, blocks = clock.component_order
    sweeps = sweeps_over(clock, 1)
    sweeps.settle(order, blocks, times, 0.25, TIME_SWEEPS)
    return times
