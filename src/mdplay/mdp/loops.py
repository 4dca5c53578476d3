"""Loops that no array operation expresses, written once: plain Python for small models, compiled for large.

Every function takes arrays or lists alike, calls no other, and writes only into arguments named ``out_``.
`run` calls the version for a size: up to `PLAIN_WORK` steps nothing is compiled and numba is not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

PLAIN_WORK = 300_000
INFINITY = float("inf")


def run(function: Callable[..., Any], work: int, *arguments: Any) -> Any:
    """Call one of this module's functions, compiled if the work is worth it."""
    if work > PLAIN_WORK:
        return _compiled(function)(*arguments)
    lists = [item.tolist() if isinstance(item, np.ndarray) else item for item in arguments]
    result = function(*lists)
    for name, array, filled in zip(signature(function).parameters, arguments, lists, strict=True):
        if name.startswith("out_"):
            array[:] = filled
    return result


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from mdplay.bridge import kernel

    return kernel(function)


def merge(
    row: Any,
    target: Any,
    reward: Any,
    probability: Any,
    out_mark: Any,
    out_row: Any,
    out_target: Any,
    out_reward: Any,
    out_probability: Any,
) -> int:
    """Add up the transitions of a row that have the same target; rows must be grouped.

    ``out_mark[t]``, -1 at first, is where the last transition to target t went.  The reward of a sum is the
    mean by probability.  Return how many transitions are left.
    """
    count = 0
    begin = 0
    for i in range(len(row)):
        if count and out_row[count - 1] != row[i]:
            begin = count
        t = target[i]
        at = out_mark[t]
        if at < begin:
            out_mark[t] = count
            out_row[count] = row[i]
            out_target[count] = t
            out_reward[count] = reward[i]
            out_probability[count] = probability[i]
            count += 1
        else:
            total = out_probability[at] + probability[i]
            share = probability[i] / total
            out_reward[at] += share * (reward[i] - out_reward[at])
            out_probability[at] = total
    return count


def settle(
    order: Any,
    blocks: Any,
    first_choice: Any,
    first_transition: Any,
    target: Any,
    probability: Any,
    reward: Any,
    discount: float,
    threshold: float,
    limit: int,
    out_value: Any,
) -> int:
    """Sweep in place through blocks of states, each until it changes by no more than the threshold.

    ``order[blocks[b]:blocks[b + 1]]`` is block b.  A choice that may stay is solved for its own state:
    v = (reward + discount * E[others]) / (1 - discount * stay).  Return the largest number of sweeps of a
    block; ``limit`` ends a block that does not settle.
    """
    most = 0
    for block in range(len(blocks) - 1):
        sweeps = 0
        change = INFINITY
        while change > threshold and sweeps < limit:
            sweeps += 1
            change = 0.0
            for index in range(blocks[block], blocks[block + 1]):
                state = order[index]
                if first_choice[state] == first_choice[state + 1]:
                    continue
                best = -INFINITY
                for choice in range(first_choice[state], first_choice[state + 1]):
                    later = 0.0
                    stay = 0.0
                    for j in range(first_transition[choice], first_transition[choice + 1]):
                        if target[j] == state:
                            stay += probability[j]
                        else:
                            later += probability[j] * out_value[target[j]]
                    leave = 1.0 - discount * stay
                    if leave > 1e-9:
                        worth = (reward[choice] + discount * later) / leave
                    else:
                        worth = reward[choice] + discount * (later + stay * out_value[state])
                    if worth > best:
                        best = worth
                change = max(change, abs(best - out_value[state]))
                out_value[state] = best
            if blocks[block + 1] - blocks[block] == 1 and change == 0.0:
                break
        most = max(most, sweeps)
    return most


def components(first_edge: Any, target: Any, out_component: Any) -> int:
    """Find the strongly connected components (Tarjan 1972), each after all those that it leads to.

    The edges of state s are ``target[first_edge[s]:first_edge[s + 1]]``.  Return how many there are.
    """
    size = len(first_edge) - 1
    seen = np.zeros(size, np.int64)  # 0 = not yet; else the order of discovery from 1
    low = np.zeros(size, np.int64)
    edge = np.zeros(size, np.int64)
    open_states = np.zeros(size, np.int64)
    path = np.zeros(size, np.int64)
    num_open = 0
    count = 0
    found = 0
    for state in range(size):
        out_component[state] = -1
    for root in range(size):
        if seen[root]:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            state = path[depth]
            if seen[state] == 0:
                count += 1
                seen[state] = count
                low[state] = count
                edge[state] = first_edge[state]
                open_states[num_open] = state
                num_open += 1
            deeper = False
            while edge[state] < first_edge[state + 1]:
                other = target[edge[state]]
                if seen[other] == 0:
                    depth += 1
                    path[depth] = other
                    deeper = True
                    break
                if out_component[other] < 0:
                    low[state] = min(low[state], low[other])
                edge[state] += 1
            if deeper:
                continue
            if low[state] == seen[state]:
                while True:
                    num_open -= 1
                    member = open_states[num_open]
                    out_component[member] = found
                    if member == state:
                        break
                found += 1
            depth -= 1
    return found


def has_cycle(first_edge: Any, target: Any) -> bool:
    """Say whether some state can be visited twice; a search in depth that stops at the first cycle."""
    size = len(first_edge) - 1
    colour = np.zeros(size, np.uint8)  # 0 new, 1 on the path, 2 done
    edge = np.zeros(size, np.int64)
    path = np.zeros(size, np.int64)
    for root in range(size):
        if colour[root]:
            continue
        depth = 0
        path[0] = root
        colour[root] = 1
        edge[root] = first_edge[root]
        while depth >= 0:
            state = path[depth]
            if edge[state] == first_edge[state + 1]:
                colour[state] = 2
                depth -= 1
                continue
            other = target[edge[state]]
            edge[state] += 1
            if colour[other] == 1:
                return True
            if colour[other] == 0:
                depth += 1
                path[depth] = other
                colour[other] = 1
                edge[other] = first_edge[other]
    return False


def preorder(first_edge: Any, target: Any, out_order: Any) -> int:
    """List the states as a walk in depth from state 0 meets them, first edge first; return how many."""
    size = len(first_edge) - 1
    met = np.zeros(size, np.uint8)
    edge = np.zeros(size, np.int64)
    path = np.zeros(size, np.int64)
    met[0] = 1
    edge[0] = first_edge[0]
    out_order[0] = 0
    count = 1
    depth = 0
    while depth >= 0:
        state = path[depth]
        if edge[state] == first_edge[state + 1]:
            depth -= 1
            continue
        other = target[edge[state]]
        edge[state] += 1
        if not met[other]:
            met[other] = 1
            edge[other] = first_edge[other]
            out_order[count] = other
            count += 1
            depth += 1
            path[depth] = other
    return count


def keep_staying(first_back: Any, back: Any, owner: Any, out_allowed: Any, out_left: Any) -> int:
    """Forbid choices that may lead to a state without allowed choices, until no more are found.

    ``out_left[s]`` is the number of allowed choices of state s.  Return how many states have some left.
    """
    size = len(first_back) - 1
    queue = np.zeros(size, np.int64)
    count = 0
    for state in range(size):
        if out_left[state] == 0:
            queue[count] = state
            count += 1
    done = 0
    while done < count:
        state = queue[done]
        done += 1
        for index in range(first_back[state], first_back[state + 1]):
            choice = back[index]
            if out_allowed[choice]:
                out_allowed[choice] = False
                before = owner[choice]
                out_left[before] -= 1
                if out_left[before] == 0:
                    queue[count] = before
                    count += 1
    return size - count


def attract(first_back: Any, back: Any, owner: Any, allowed: Any, out_reached: Any, out_choice: Any) -> int:
    """Extend the reached states by all that have an allowed choice with a way into them, breadth first.

    The choices that may lead to state s are ``back[first_back[s]:first_back[s + 1]]``.  A state that joins
    gets the choice by which it does.  Return how many states are reached.
    """
    size = len(first_back) - 1
    queue = np.zeros(size, np.int64)
    count = 0
    for state in range(size):
        if out_reached[state]:
            queue[count] = state
            count += 1
    done = 0
    while done < count:
        state = queue[done]
        done += 1
        for index in range(first_back[state], first_back[state + 1]):
            choice = back[index]
            before = owner[choice]
            if allowed[choice] and not out_reached[before]:
                out_reached[before] = True
                out_choice[before] = choice
                queue[count] = before
                count += 1
    return count
