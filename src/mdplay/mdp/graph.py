"""What a policy can and cannot avoid: end components and almost sure reachability.

An end component is a set of states that some policy never leaves (de Alfaro 1997).  Only the shape of the MDP
counts here: which transitions are possible, not how probable they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mdplay.mdp.loops import attract, components, has_cycle, keep_staying, run
from mdplay.mdp.model import Integers
from mdplay.mdp.rows import Rows

Mask = npt.NDArray[np.bool_]


class EndComponents(NamedTuple):
    """The largest end components: each state's number (-1 for none) and the choices that stay inside."""

    label: Integers
    inside: Mask


def strong_components(rows: Rows, allowed: Mask | None = None) -> tuple[Integers, int]:
    """Return the strongly connected component of each state, numbered from the last ones, and how many."""
    label = np.zeros(rows.num_states, dtype=np.int64)
    if allowed is None:
        first_edge, target = _first_edges(rows), rows.target
    else:
        target = rows.target[np.repeat(allowed, rows.row_lengths)]
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.where(allowed, rows.row_lengths, 0))])
        first_edge = before[rows.first_choice].astype(np.uint64)
    count: int = run(components, 4 * len(target), first_edge, target, label)
    return label, count


def component_order(rows: Rows) -> tuple[Integers, Integers]:
    """Return the states sorted by strongly connected component, last ones first, and where each begins."""
    label, count = strong_components(rows)
    order = np.argsort(label, kind="stable")
    return order.astype(np.uint32), np.searchsorted(label[order], np.arange(count + 1))


def is_acyclic(rows: Rows) -> bool:
    """Say whether no state can be visited twice."""
    return not run(has_cycle, 2 * len(rows.target), _first_edges(rows), rows.target)


def _first_edges(rows: Rows) -> Integers:
    """Return where the transitions of each state begin; all its choices together."""
    edges: Integers = rows.first_transition[rows.first_choice.astype(np.int64)].astype(np.uint64)
    return edges


def end_components(rows: Rows, allowed: Mask) -> EndComponents:
    """Return the largest end components made of allowed choices."""
    allowed = allowed.copy()
    back = Backward(rows)
    while True:
        back.keep_staying(allowed)
        label, _ = strong_components(rows, allowed)
        outside = label[rows.target] != np.repeat(label[rows.owner], rows.row_lengths)
        leaves = allowed & any_transition(rows, outside)
        if not leaves.any():
            break
        allowed &= ~leaves
    inhabited = np.zeros(rows.num_states, dtype=bool)
    inhabited[rows.owner[allowed]] = True
    return EndComponents(np.where(inhabited, label, -1), allowed)


def any_transition(rows: Rows, marked: Mask) -> Mask:
    """Return which choices have a marked transition."""
    if not len(rows.reward):
        return np.zeros(0, dtype=bool)
    return np.asarray(np.logical_or.reduceat(marked, rows.first_transition[:-1].astype(np.intp)))


class Backward:
    """The choices that may lead to each state."""

    def __init__(self, rows: Rows) -> None:
        order = np.argsort(rows.target, kind="stable")
        self._rows = rows
        self._choices = rows.source[order]
        self._first = np.searchsorted(rows.target[order], np.arange(rows.num_states + 1))

    def attract(self, goal: Mask, allowed: Mask) -> tuple[Mask, Integers]:
        """Return the states with a way into the goal by allowed choices, and how a shortest begins."""
        reached = goal.copy()
        choice = self._rows.first_actions.copy()
        arrays = (self._first, self._choices, self._rows.owner, allowed, reached, choice)
        run(attract, 2 * len(self._choices), *arrays)
        return reached, choice

    def keep_staying(self, out_allowed: Mask) -> bool:
        """Forbid choices that do not let a policy stay among allowed ones for ever; say whether any is left."""
        left = np.bincount(self._rows.owner[out_allowed], minlength=self._rows.num_states)
        arrays = (self._first, self._choices, self._rows.owner, out_allowed, left)
        return bool(run(keep_staying, 2 * len(self._choices), *arrays) > 0)

    def surely(self, goal: Mask) -> tuple[Mask, Integers]:
        """Return the states from which some policy reaches the goal with probability 1, and that policy."""
        inside = np.ones(len(goal), dtype=bool)
        while True:
            allowed = ~any_transition(self._rows, ~inside[self._rows.target])
            reached, choice = self.attract(goal, allowed)
            if (reached == inside).all():
                return inside, choice
            inside = reached
