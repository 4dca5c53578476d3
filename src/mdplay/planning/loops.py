"""Loops that no array operation expresses, written once for lists and arrays.

`mdplay.states.graph_search.run` calls a loop: in plain Python for small models, compiled for large ones.  A loop
takes arrays or lists, or tuples of them, calls no other function, and writes only into arguments named ``out_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.states.graph_search import Floats, Integers, run

INFINITY = float("inf")
SPLIT = 134217729.0  # 2^27 + 1: splits a double into halves whose products are exact (Dekker 1971),
SMALLEST, LARGEST = 2.0**-900, 2.0**900  # for numbers between these
UNIT = 2.0**-53


def merge(transitions: Any, out_mark: Integers, out_rest: Floats, out_transitions: Any) -> int:
    """Add up the transitions of a row that have the same target; rows must be grouped.

    ``out_mark[t]``, -1 at first, is where the last transition to target t went.  ``out_rest``, 0 at first, takes
    what rounding leaves out of a sum (Knuth 1969), so that a thousand summands are as good as two.  The reward of
    a sum is the mean by probability.  Return how many transitions are left.
    """
    row, target, reward, probability = transitions
    out_row, out_target, out_reward, out_probability = out_transitions
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
            before, more = out_probability[at], probability[i]
            total = before + more
            back = total - before
            out_rest[at] += (before - (total - back)) + (more - back)
            share = more / total
            out_reward[at] = (1.0 - share) * out_reward[at] + share * reward[i]
            out_probability[at] = total
    for at in range(count):
        out_probability[at] += out_rest[at]
    return count


def expect(first: Integers, reward: Floats, probability: Floats, out_expected: Floats, out_sure: Integers) -> None:
    """Find the mean reward of every row, by probability, to the last digits whatever cancels.

    Row k is ``first[k] .. first[k + 1] - 1``.  What rounding takes from products and sums is computed exactly
    and summed on its own (Ogita, Rump and Oishi 2005, Dot2).  ``out_sure`` is False where even so more may be
    lost than the last digits, or where a number is too large or too small for it.
    """
    for k in range(len(first) - 1):
        begin, end = first[k], first[k + 1]
        out_expected[k], out_sure[k] = 0.0, True
        if begin == end:
            continue
        total, total_rest = 0.0, 0.0
        mean, mean_rest, size = 0.0, 0.0, 0.0
        same, exact, fits = True, True, True
        for j in range(begin, end):
            p, r = probability[j], reward[j]
            same = same and r == reward[begin]
            new = total + p
            back = new - total
            total_rest += (total - (new - back)) + (p - back)
            total = new
            if p == 0.0 or r == 0.0:
                continue
            product = p * r
            fits = fits and abs(product) > SMALLEST and abs(r) < LARGEST and p < LARGEST
            size += abs(product)
            p_high, r_high = SPLIT * p - (SPLIT * p - p), SPLIT * r - (SPLIT * r - r)
            p_low, r_low = p - p_high, r - r_high
            lost = p_low * r_low - (((product - p_high * r_high) - p_low * r_high) - p_high * r_low)
            new = mean + product
            back = new - mean
            left = (mean - (new - back)) + (product - back)
            mean = new
            for term in (lost, left):
                new = mean_rest + term
                back = new - mean_rest
                exact = exact and (mean_rest - (new - back)) + (term - back) == 0.0
                mean_rest = new
        mean += mean_rest
        count = float(end - begin)
        clear = 4.0 * count * count * UNIT * size < abs(mean) and abs(mean) > SMALLEST
        out_sure[k] = same or (fits and (clear or (exact and mean == 0.0)))
        out_expected[k] = reward[begin] if same or total == 0.0 else mean / (total + total_rest)


def gauss_seidel(
    order: Integers,
    blocks: Integers,
    first_choice: Integers,
    choices: Any,
    threshold: float,
    limit: int,
    out_value: Floats,
) -> int:
    """Sweep in place through blocks of states, each until it changes by no more than the threshold.

    ``order[blocks[b]:blocks[b + 1]]`` is block b.  A choice that may stay is solved for its own state:
    v = (reward + discount * E[others]) / (1 - discount * stay).  Return the largest number of sweeps of a
    block; ``limit`` ends a block that does not converge.
    """
    first_transition, target, probability, reward, discount = choices
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
                        q_value = (reward[choice] + discount * later) / leave
                    else:  # summed from what leaves, it keeps its digits
                        leave = (1.0 - discount) * stay
                        for j in range(first_transition[choice], first_transition[choice + 1]):
                            if target[j] != state:
                                leave += probability[j]
                        if leave > 0.0:
                            q_value = (reward[choice] + discount * later) / leave
                        else:
                            q_value = reward[choice] + discount * (later + stay * out_value[state])
                    if q_value > best:
                        best = q_value
                change = max(change, abs(best - out_value[state]))
                out_value[state] = best
            if blocks[block + 1] - blocks[block] == 1 and change == 0.0:
                break
        most = max(most, sweeps)
    return most


def components(first_edge: Integers, target: Integers, out_component: Integers) -> int:
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


def spread(
    back: Any, out_queue: Integers, count: int, out_allowed: Integers, out_needed: Integers, out_choice: Integers
) -> int:
    """Add states to those in a queue by the allowed choices that may lead to one of them, breadth first.

    ``back`` is first_back, back_choice and owner: the choices that may lead to state s are
    ``back_choice[first_back[s]:first_back[s + 1]]``.  The first ``count`` of the queue are there to begin with; it
    has room for all.  A state joins when as many of its choices are found as ``out_needed`` says, and gets the
    last of them; a choice that is found is allowed no more.  Return how many states there are.
    """
    first_back, back_choice, owner = back
    done = 0
    while done < count:
        state = out_queue[done]
        done += 1
        for index in range(first_back[state], first_back[state + 1]):
            choice = back_choice[index]
            if out_allowed[choice]:
                out_allowed[choice] = False
                before = owner[choice]
                out_needed[before] -= 1
                if out_needed[before] == 0:
                    out_choice[before] = choice
                    out_queue[count] = before
                    count += 1
    return count


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
