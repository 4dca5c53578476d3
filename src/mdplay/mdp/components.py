"""Strongly connected components of a graph given as arrays."""

from __future__ import annotations

import numpy as np

from mdplay.mdp.loops import components
from mdplay.states.walks import Integers, run


def strong_components(first_edge: Integers, target: Integers) -> tuple[Integers, int]:
    """Return the strongly connected component of each state, numbered from the last ones, and how many."""
    label = np.zeros(len(first_edge) - 1, dtype=np.int64)
    count: int = run(components, 4 * len(target), first_edge, target, label)
    return label, count


def component_order(first_edge: Integers, target: Integers) -> tuple[Integers, Integers]:
    """Return the states sorted by strongly connected component, last ones first, and where each begins."""
    label, count = strong_components(first_edge, target)
    order = np.argsort(label, kind="stable")
    return order.astype(np.uint32), np.searchsorted(label[order], np.arange(count + 1))
