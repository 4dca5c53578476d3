"""Compiled sweeps over the arrays of `mdplay.mdp.rows.Rows`, each over the states ``begin .. end - 1``.

Indices are unsigned: numba would check signed ones for wrap-around, which costs a factor of 2.5 here.  One
gather a transition is the physical limit, so a sweep also finds the change, its extremes and the choices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.bridge import kernel
from mdplay.mdp.model import Floats, Integers


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
    most: int,
    out_value: Floats,
    out_choice: Integers,
    out_loss: Any,
) -> tuple[float, float, int]:
    """Do one Bellman sweep; return the smallest and largest change and how many choices have changed.

    If ``out_loss`` has room for it, find also how much worse than the best each choice is; ``most`` is then
    the largest number of choices of a state.
    """
    one = np.uint64(1)
    compare = len(out_loss) > 0
    worths = np.empty(most)
    low, high, switched = np.inf, -np.inf, 0
    choice = np.uint64(first_choice[begin])
    j = np.uint64(first_transition[choice])
    for state in range(np.uint64(begin), np.uint64(end)):
        first = choice
        end_choice = np.uint64(first_choice[state + one])
        if choice == end_choice:
            out_value[state] = 0.0
            continue
        best, chosen = -np.inf, choice
        while choice < end_choice:
            later = 0.0
            row_end = np.uint64(first_transition[choice + one])
            for entry in range(j, row_end):
                later += probability[entry] * value[target[entry]]
            j = row_end
            worth = reward[choice] + discount * later
            if compare:
                worths[choice - first] = worth
            if worth > best:
                best, chosen = worth, choice
            choice += one
        if compare:
            for other in range(first, end_choice):
                out_loss[other] = best - worths[other - first]
        switched += out_choice[state] != chosen
        out_choice[state] = chosen
        out_value[state] = best
        change = best - value[state]
        if change < low:
            low = change
        if change > high:
            high = change
    return low, high, switched


@kernel
def count_near(first_transition: Integers, loss: Any, slack: float) -> tuple[int, int]:
    """Return how many choices lose at most the slack, and how many transitions they have."""
    choices, transitions = 0, 0
    for choice in range(len(loss)):
        if loss[choice] <= slack:
            choices += 1
            transitions += first_transition[choice + 1] - first_transition[choice]
    return choices, transitions


@kernel
def narrow(
    first_choice: Integers,
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    origin: Integers,
    loss: Any,
    slack: float,
    out_first_choice: Integers,
    out_first_transition: Integers,
    out_target: Integers,
    out_probability: Floats,
    out_reward: Floats,
    out_origin: Integers,
    out_choice: Integers,
) -> None:
    """Copy the choices that lose at most the slack; ``out_choice`` goes over to their new numbers."""
    one = np.uint64(1)
    to, at = np.uint64(0), np.uint64(0)
    out_first_choice[0] = 0
    out_first_transition[0] = 0
    for state in range(np.uint64(len(first_choice) - 1)):
        chosen = out_choice[state]
        for choice in range(np.uint64(first_choice[state]), np.uint64(first_choice[state + one])):
            if loss[choice] <= slack:
                if choice == chosen:
                    out_choice[state] = to
                out_reward[to] = reward[choice]
                out_origin[to] = origin[choice]
                for j in range(np.uint64(first_transition[choice]), np.uint64(first_transition[choice + one])):
                    out_target[at] = target[j]
                    out_probability[at] = probability[j]
                    at += one
                to += one
                out_first_transition[to] = at
        out_first_choice[state + one] = to


@kernel
def worths(
    first_transition: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats,
    discount: float,
    value: Floats,
    out_worth: Floats,
) -> None:
    """Find what every choice is worth."""
    j = np.uint64(0)
    for choice in range(len(reward)):
        later = 0.0
        row_end = np.uint64(first_transition[choice + 1])
        for entry in range(j, row_end):
            later += probability[entry] * value[target[entry]]
        j = row_end
        out_worth[choice] = reward[choice] + discount * later


@kernel
def decide(
    first_choice: Integers,
    worth: Floats,
    width: float,
    tie: float,
    out_choice: Integers,
    out_undecided: Integers,
) -> None:
    """Take the first choice that is tied with the best; mark states where the width leaves others open."""
    for state in range(len(out_choice)):
        best = -np.inf
        for choice in range(first_choice[state], first_choice[state + 1]):
            best = max(best, worth[choice])
        margin = tie * max(1.0, abs(best))
        candidates = 0
        doubtful = 0
        found = False
        for choice in range(first_choice[state], first_choice[state + 1]):
            loss = best - worth[choice]
            if loss <= margin and not found:
                out_choice[state] = choice
                found = True
            candidates += loss - margin <= width
            doubtful += abs(loss - margin) <= width
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
) -> tuple[float, float, int]:
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
    return 0.0, 0.0, 0


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
