"""Compiled sweeps over the arrays of `mdplay.mdp.rows.Rows`, each over the states ``begin .. end - 1``.

Indices are unsigned: numba would check signed ones for wrap-around, which costs a factor of 2.5 here.  One
gather a transition is the physical limit, so a sweep also finds the change, its extremes and the choices.
"""

from __future__ import annotations

import numpy as np

from mdplay.bridge import kernel, part
from mdplay.mdp.model import Floats, Integers

BLOCK_STATES = 1024


@kernel
def improve(
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    discount: float,
    value: Floats,
    begin: int,
    end: int,
    out_worth: Floats,
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
        fill_worths(
            first_choice, first_transition, target, probability, reward, discount, value, first, last, out_worth
        )
        found = pick_best(first_choice, out_worth, value, first, last, out_value, out_choice)
        low, high, switched = min(low, found[0]), max(high, found[1]), switched + found[2]
    return low, high, switched


@part
def fill_worths(
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    discount: float,
    value: Floats,
    begin: int,
    end: int,
    out_worth: Floats,
) -> None:
    """Find what every choice of some states is worth."""
    choice, last = np.uint64(first_choice[begin]), np.uint64(first_choice[end])
    j = np.uint64(first_transition[choice])
    while choice < last:
        later = 0.0
        row_end = np.uint64(first_transition[choice + np.uint64(1)])
        for entry in range(j, row_end):
            later += probability[entry] * value[target[entry]]
        j = row_end
        out_worth[choice] = reward[choice] + discount * later
        choice += np.uint64(1)


@part
def pick_best(
    first_choice: Integers,
    worth: Floats,
    value: Floats,
    begin: int,
    end: int,
    out_value: Floats,
    out_choice: Integers,
) -> tuple[float, float, int]:
    """Find what some states are worth and their best choices; return the extremes of the change, and how many."""
    one = np.uint64(1)
    low, high, switched = np.inf, -np.inf, 0
    choice = np.uint64(first_choice[begin])
    for state in range(np.uint64(begin), np.uint64(end)):
        last = np.uint64(first_choice[state + one])
        if choice == last:
            out_value[state] = 0.0
            continue
        most, chosen = worth[choice], choice
        choice += one
        while choice < last:
            better = worth[choice] > most
            chosen = choice if better else chosen
            most = worth[choice] if better else most
            choice += one
        switched += out_choice[state] != chosen
        out_choice[state] = chosen
        out_value[state] = most
        change = most - value[state]
        low = change if change < low else low
        high = change if change > high else high
    return low, high, switched


@kernel
def list_near(
    first_choice: Integers,
    first_transition: Integers,
    worth: Floats,
    value: Floats,
    slack: float,
    begin: int,
    end: int,
    out_near: Integers,
    out_count: Integers,
) -> tuple[int, int]:
    """List the choices worth their state's value less the slack; return how many, and their transitions.

    The list begins where the first choice of ``begin`` has its place; there are ``out_count`` of each state.
    No branch depends on a worth: half of them would be taken against the processor's guess.
    """
    one = np.uint64(1)
    start = np.uint64(first_choice[begin])
    to, transitions = start, np.uint64(0)
    for state in range(np.uint64(begin), np.uint64(end)):
        before, least = to, value[state] - slack
        for choice in range(np.uint64(first_choice[state]), np.uint64(first_choice[state + one])):
            near = np.uint64(worth[choice] >= least)
            out_near[to] = choice
            to += near
            transitions += near * np.uint64(first_transition[choice + one] - first_transition[choice])
        out_count[state] = to - before
    return int(to - start), int(transitions)


@kernel
def narrow(
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    near: Integers,
    count: Integers,
    begin: int,
    end: int,
    to: int,
    at: int,
    out_first_choice: Integers,
    out_first_transition: Integers,
    out_target: Integers,
    out_probability: Floats,
    out_reward: Floats,
) -> None:
    """Copy the listed choices: the first one becomes number ``to`` and its row begins ``at``."""
    one = np.uint64(1)
    choices, place, listed = np.uint64(to), np.uint64(at), np.uint64(first_choice[begin])
    for state in range(np.uint64(begin), np.uint64(end)):
        out_first_choice[state] = choices
        choices += np.uint64(count[state])
    out_first_choice[end] = choices
    for other in range(np.uint64(to), choices):
        choice = np.uint64(near[listed])
        listed += one
        out_reward[other] = reward[choice]
        out_first_transition[other] = place
        start = np.uint64(first_transition[choice])
        size = np.uint64(first_transition[choice + one]) - start
        for j in range(size):
            out_target[place + j] = target[start + j]
        for j in range(size):
            out_probability[place + j] = probability[start + j]
        place += size
    out_first_transition[choices] = place


@kernel
def worths(
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    discount: float,
    value: Floats,
    begin: int,
    end: int,
    out_worth: Floats,
) -> None:
    """Find what every choice is worth."""
    fill_worths(
        first_choice, first_transition, target, probability, reward, discount, value, begin, end, out_worth
    )


@kernel
def best(
    first_choice: Integers,
    worth: Floats,
    value: Floats,
    begin: int,
    end: int,
    out_value: Floats,
    out_choice: Integers,
) -> tuple[float, float, int]:
    """Find what every state is worth; return the smallest and the largest change, and how many choices changed."""
    return pick_best(first_choice, worth, value, begin, end, out_value, out_choice)


@kernel
def decide(
    first_choice: Integers,
    worth: Floats,
    width: float,
    tie: float,
    begin: int,
    end: int,
    out_choice: Integers,
    out_undecided: Integers,
) -> None:
    """Take the first choice that is tied with the best; mark states where the width leaves others open."""
    for state in range(begin, end):
        first, last = first_choice[state], first_choice[state + 1]
        if first == last:
            continue
        most = -np.inf
        for choice in range(first, last):
            most = max(most, worth[choice])
        margin = tie * max(1.0, abs(most))
        chosen, candidates, doubtful = last, 0, 0
        for choice in range(first, last):
            loss = most - worth[choice] - margin
            chosen = min(chosen, choice if loss <= 0.0 else last)
            candidates += loss <= width
            doubtful += abs(loss) <= width
        out_choice[state] = chosen
        out_undecided[state] = candidates > 1 and doubtful > 0


@kernel
def measure(choice: Integers, first_choice: Integers, first_transition: Integers, out_first: Integers) -> None:
    """Find where the row of each state begins when the rows of one choice a state are put together."""
    at = 0
    out_first[0] = 0
    for state in range(len(choice)):
        if first_choice[state] < first_choice[state + 1]:
            row = choice[state]
            at += first_transition[row + 1] - first_transition[row]
        out_first[state + 1] = at


@kernel
def extract(
    choice: Integers,
    first: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    begin: int,
    end: int,
    out_target: Integers,
    out_probability: Floats,
    out_reward: Floats,
) -> None:
    """Copy the rows of one choice a state to the measured places; a terminal state has an empty row."""
    at = np.uint64(first[begin])
    for state in range(np.uint64(begin), np.uint64(end)):
        out_reward[state] = 0.0
        row_end = np.uint64(first[state + np.uint64(1)])
        if at < row_end:
            row = np.uint64(choice[state])
            out_reward[state] = reward[row]
            j = np.uint64(first_transition[row])
            while at < row_end:
                out_target[at] = target[j]
                out_probability[at] = probability[j]
                at += np.uint64(1)
                j += np.uint64(1)


@kernel
def step(
    first: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    discount: float,
    value: Floats,
    begin: int,
    end: int,
    out_value: Floats,
) -> tuple[float, float, int]:
    """Sweep once over the rows of a policy; return the smallest and largest change, and 0."""
    low, high = np.inf, -np.inf
    j = np.uint64(first[begin])
    for state in range(np.uint64(begin), np.uint64(end)):
        later = 0.0
        row_end = np.uint64(first[state + np.uint64(1)])
        for entry in range(j, row_end):
            later += probability[entry] * value[target[entry]]
        j = row_end
        new = reward[state] + discount * later
        out_value[state] = new
        change = new - value[state]
        if change < low:
            low = change
        if change > high:
            high = change
    return low, high, 0
