"""What a policy can and cannot avoid: end components and almost sure reachability.

An end component is a set of states that some policy never leaves (de Alfaro 1997).  Only the shape of the MDP
counts here: which transitions are possible, not how probable they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.planning.arrays import ModelArrays
from mdplay.planning.loops import spread, strong_components
from mdplay.states.graph_search import Integers, run

Mask = npt.NDArray[np.bool_]


class EndComponents(NamedTuple):
    """The largest end components: each state's number (-1 for none) and the choices that stay inside."""

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
