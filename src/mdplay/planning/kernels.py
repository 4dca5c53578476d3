"""Compiled sweeps over the states ``begin .. end - 1`` of `mdplay.planning.arrays.ChoiceArrays`.

Indices are unsigned: numba would check signed ones for wrap-around, which costs a factor of 2.5 here.  One
gather a transition is the physical limit, so a sweep also finds the change, its extremes and the choices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.compiling import inlined, kernel, prefetch
from mdplay.evaluating.evaluation import TIE
from mdplay.planning.arrays import ChoiceArrays
from mdplay.states.graph_search import Floats, Integers

BLOCK_STATES = 256
AHEAD = np.uint64(16)  # rows asked for before they are copied


@kernel
def bellman_backup(
    first_choice: Integers,
    choices: ChoiceArrays,
    value: Floats,
    begin: int,
    end: int,
    out_q_value: Floats,
    out_value: Floats,
    out_choice: Integers,
) -> tuple[float, float, int]:
    """Do one Bellman sweep; return the smallest and largest change and how many choices have changed.

    The choices of a block of states are valued first and compared afterwards: a comparison that goes against
    the processor's guess would hold up the gathers that follow it.
    """
    low, high, switched = np.inf, -np.inf, 0
    for first in range(begin, end, BLOCK_STATES):
        last = min(first + BLOCK_STATES, end)
        q_values(first_choice, choices, value, first, last, out_q_value)
        found = best(first_choice, out_q_value, value, first, last, out_value, out_choice)
        low, high, switched = min(low, found[0]), max(high, found[1]), switched + found[2]
    return low, high, switched


@kernel
def q_values(
    first_choice: Integers, choices: ChoiceArrays, value: Floats, begin: int, end: int, out_q_value: Floats
) -> None:
    """Find the q value of every choice of some states."""
    first_transition, target, probability, reward, discount = choices
    choice, last = np.uint64(first_choice[begin]), np.uint64(first_choice[end])
    j = np.uint64(first_transition[choice])
    while choice < last:
        row_end = np.uint64(first_transition[choice + np.uint64(1)])
        out_q_value[choice] = reward[choice] + discount * expectation(target, probability, value, j, row_end)
        j = row_end
        choice += np.uint64(1)


@inlined
def expectation(target: Integers, probability: Floats, value: Floats, begin: Any, end: Any) -> float:
    """Return the value that the transitions of a row lead to, on average."""
    total = 0.0
    for entry in range(begin, end):
        total += probability[entry] * value[target[entry]]
    return total


@kernel
def best(
    first_choice: Integers,
    q_value: Floats,
    value: Floats,
    begin: int,
    end: int,
    out_value: Floats,
    out_choice: Integers,
) -> tuple[float, float, int]:
    """Find the values and the best choices of some states; return the extremes of the change, and how many."""
    one = np.uint64(1)
    low, high, switched = np.inf, -np.inf, 0
    choice = np.uint64(first_choice[begin])
    for state in range(np.uint64(begin), np.uint64(end)):
        last = np.uint64(first_choice[state + one])
        if choice == last:
            out_value[state] = 0.0
            continue
        most, chosen = q_value[choice], choice
        choice += one
        while choice < last:
            better = q_value[choice] > most
            chosen = choice if better else chosen
            most = q_value[choice] if better else most
            choice += one
        switched += out_choice[state] != chosen
        out_choice[state] = chosen
        out_value[state] = most
        change = most - value[state]
        low = change if change < low else low
        high = change if change > high else high
    return low, high, switched


@kernel
def list_candidates(
    first_choice: Integers,
    q_value: Floats,
    value: Floats,
    slack: float,
    begin: int,
    end: int,
    out_candidates: Integers,
    out_count: Integers,
) -> int:
    """List the choices whose q value reaches their state's value less the slack; return how many.

    The list begins where the first choice of ``begin`` has its place; there are ``out_count`` of each state.
    No branch depends on a q value: half of them would be taken against the processor's guess.
    """
    one = np.uint64(1)
    start = np.uint64(first_choice[begin])
    to = start
    for state in range(np.uint64(begin), np.uint64(end)):
        before, least = to, value[state] - slack
        for choice in range(np.uint64(first_choice[state]), np.uint64(first_choice[state + one])):
            out_candidates[to] = choice
            to += np.uint64(q_value[choice] >= least)
        out_count[state] = to - before
    return int(to - start)


@kernel
def decide(
    first_choice: Integers,
    q_value: Floats,
    width: float,
    shift: float,
    begin: int,
    end: int,
    out_choice: Integers,
    out_undecided: Integers,
) -> None:
    """Take the first choice that is tied with the best; mark states where the width leaves others open."""
    one = np.uint64(1)
    for state in range(np.uint64(begin), np.uint64(end)):
        first, last = np.uint64(first_choice[state]), np.uint64(first_choice[state + one])
        if first == last:
            continue
        most, second = q_value[first], -np.inf
        chosen: Any = first
        for choice in range(first + one, last):
            found = q_value[choice]
            second = max(second, min(found, most))
            chosen = choice if found > most else chosen
            most = max(most, found)
        margin = TIE * max(1.0, abs(most + shift))
        if most - second - margin <= width:  # seldom
            candidates, doubtful = 0, 0
            for choice in range(first, last):
                loss = most - q_value[choice] - margin
                chosen = min(chosen, choice if loss <= 0.0 else last)
                candidates += loss <= width
                doubtful += abs(loss) <= width
            out_undecided[state] = candidates > 1 and doubtful > 0
        out_choice[state] = chosen


@kernel
def measure(
    listed: Integers, first_choice: Integers | None, first_transition: Integers, out_first: Integers
) -> None:
    """Find where the row of each listed choice begins when they are put together.

    With ``first_choice`` the list has one choice a state, and that of a terminal state means an empty row.
    """
    at = 0
    out_first[0] = 0
    for place in range(len(listed)):
        if first_choice is None or first_choice[place] < first_choice[place + 1]:
            row = listed[place]
            at += first_transition[row + 1] - first_transition[row]
        out_first[place + 1] = at


@inlined
def prefetch_row(choice: Any, first_transition: Integers, target: Integers, probability: Floats) -> None:
    """Ask the memory for both ends of a row: rows with gaps between them are not foreseen by the processor."""
    first, last = first_transition[choice], first_transition[choice + np.uint64(1)] - 1
    prefetch(target, first)
    prefetch(target, last)
    prefetch(probability, first)
    prefetch(probability, last)


@kernel
def extract(
    listed: Integers,
    first: Integers,
    choices: ChoiceArrays,
    begin: int,
    end: int,
    out_target: Integers,
    out_probability: Floats,
    out_reward: Floats,
) -> None:
    """Copy the rows at the places ``begin .. end - 1`` of a list to where they were measured to begin."""
    first_transition, target, probability, reward, _ = choices
    one = np.uint64(1)
    stop = np.uint64(end)
    for place in range(np.uint64(begin), stop):
        ahead = min(place + AHEAD, stop - one)
        if first[ahead] < first[ahead + one]:
            prefetch_row(np.uint64(listed[ahead]), first_transition, target, probability)
        to = np.uint64(first[place])
        size = np.uint64(first[place + one]) - to
        row = np.uint64(listed[place])
        out_reward[place] = reward[row] if size else 0.0
        at = np.uint64(first_transition[row])
        for j in range(size):
            out_target[to + j] = target[at + j]
        for j in range(size):
            out_probability[to + j] = probability[at + j]


@kernel
def step(
    first_choice: Integers | None,
    choices: ChoiceArrays,
    value: Floats,
    begin: int,
    end: int,
    out_value: Floats,
) -> tuple[float, float, int]:
    """Do one Bellman sweep for the values alone; return the smallest and largest change, and 0.

    Without ``first_choice`` there is one row a state, which is empty if the state is terminal.
    """
    first_transition, target, probability, reward, discount = choices
    one = np.uint64(1)
    low, high = np.inf, -np.inf
    choice = np.uint64(begin if first_choice is None else first_choice[begin])
    j = np.uint64(first_transition[choice])
    for state in range(np.uint64(begin), np.uint64(end)):
        last = state + one if first_choice is None else np.uint64(first_choice[state + one])
        most = 0.0 if choice == last else -np.inf
        while choice < last:
            row_end = np.uint64(first_transition[choice + one])
            q_value = reward[choice] + discount * expectation(target, probability, value, j, row_end)
            j = row_end
            most = q_value if q_value > most else most
            choice += one
        out_value[state] = most
        change = most - value[state]
        low = change if change < low else low
        high = change if change > high else high
    return low, high, 0
