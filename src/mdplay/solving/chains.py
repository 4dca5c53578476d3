"""Proof search for growing sets too large for a table: Dots and Boxes on larger boards, aware of chains.

The question "is V(s) >= goal?" is answered by a depth-first search with a table of bounds; the value is found by
halving the interval that is left, so a search that runs out of time still has proven bounds.  V has the parity of
the targets that are left.  What the rules of chains save:

    a target that one line completes is taken at once, except the last two of a chain with an open end and the
    last four of a closed one: there the choice is to take them or to leave them by drawing the line between
                 A --l1-- B --l2-- ...        take l1, or hand out A and B by l2
                 A --l1-- B --l2-- C --l3-- D   (A and D lack one line)     take l1, or hand out all by l2
    lines that belong to the same single target are alike: only the first missing one is tried

Lines that let the opponent complete nothing are tried first.  It is for games whose lines touch at most two
targets, of four lines each, as in Dots and Boxes; tests compare it with tables wherever both reach.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, members, mix, popcount, rest
from mdplay.bridge import borrow, get, kernel, part, put
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.running import Show, Watch
from mdplay.solving.hashed import stopped_after

NOBODY = -1
TABLE_BITS = 22
FAR = 100  # no value is as far from zero
UNKNOWN = 2
LINES, GOAL, TODO, LATER, MOVE, WIDTH = range(6)  # of a frame


@part
def beyond(line: int, target: int, sides: Any) -> Any:
    """Return the target on the other side of a line, or NOBODY."""
    first = get(sides, 2 * line)
    return get(sides, 2 * line + 1) if first == target else first


@part
def forced(lines: int, targets: Any, num_targets: int, sides: Any) -> Any:
    """Return the moves worth trying while a target can be completed, as a mask; 0 when none can."""
    kept, kept_out = 0, 0  # the chain that may be handed out
    for first in range(num_targets):
        missing = get(targets, first) & ~lines
        if popcount(missing) != 1:
            continue
        take, out, target, length, closed = missing, 0, first, 1, False
        while True:
            target = beyond(lowest(missing), target, sides)
            if target == NOBODY:
                break
            further = get(targets, target) & ~lines & ~missing
            if popcount(further) > 1:
                break
            length += 1
            closed = further == 0
            if closed:
                break
            if length == 2:
                out = further
            missing = further
        if not ((length == 2 and not closed) or (length == 4 and closed)):
            return take
        if kept != 0 and kept_out != out:
            return take
        kept, kept_out = take, out
    return kept | kept_out


@part
def quiet(lines: int, full: int, targets: Any, num_targets: int, alike: Any) -> Any:
    """Return the missing lines worth trying: those that open nothing, and the others."""
    missing, opening = full & ~lines, 0
    left = missing
    while left:
        line = lowest(left)
        left = rest(left)
        if get(alike, line) & missing & (1 << line) - 1:
            missing &= ~(1 << line)
    for target in range(num_targets):
        lacking = get(targets, target) & ~lines
        if popcount(lacking) == 2:
            opening |= lacking
    return missing & ~opening, missing & opening


@kernel
def ask(
    start: int,
    goal: int,
    full: int,
    targets: Any,
    sides: Any,
    alike: Any,
    stop: Any,
    progress: Any,
    keys: Any,
    bounds: Any,
    frames: Any,
) -> int:
    """Return whether the value of a set of lines to its mover is at least the goal; UNKNOWN when stopped.

    ``keys`` and ``bounds`` are the table, in place: bounds hold low and high, each plus FAR.
    """
    targets, sides, alike = borrow(targets), borrow(sides), borrow(alike)
    keys, bounds, num_targets, last = borrow(keys), borrow(bounds), len(targets), len(keys) - 1
    depth, lines, answer = 0, start, UNKNOWN
    frames[0, GOAL] = goal
    while True:
        if answer == UNKNOWN:  # a new state at this depth
            goal = frames[depth, GOAL]
            slot = int(mix(lines, 1) & last)
            low = high = 0
            for target in range(num_targets):
                high += get(targets, target) & ~lines != 0
            low = -high
            if get(keys, slot) == lines + 1:
                low, high = get(bounds, 2 * slot) - FAR, get(bounds, 2 * slot + 1) - FAR
            if low >= goal or high < goal:
                answer = 1 if low >= goal else 0
            else:
                todo, later = forced(lines, targets, num_targets, sides), 0
                if todo == 0:
                    todo, later = quiet(lines, full, targets, num_targets, alike)
                frames[depth, LINES], frames[depth, TODO], frames[depth, LATER] = lines, todo, later
                progress[0] += 1
                if stop[0]:
                    return UNKNOWN
        else:  # the answer of the follower at depth + 1
            lines, goal = frames[depth, LINES], frames[depth, GOAL]
            if frames[depth, MOVE] == 0:
                answer = 1 - answer
            done = answer == 1 or (frames[depth, TODO] | frames[depth, LATER]) == 0
            if done:
                slot = int(mix(lines, 1) & last)
                if get(keys, slot) != lines + 1:
                    high = 0
                    for target in range(num_targets):
                        high += get(targets, target) & ~lines != 0
                    put(keys, slot, lines + 1)
                    put(bounds, 2 * slot, FAR - high)
                    put(bounds, 2 * slot + 1, FAR + high)
                if answer:
                    put(bounds, 2 * slot, FAR + goal)
                else:
                    put(bounds, 2 * slot + 1, FAR + goal - 1)
            else:
                answer = UNKNOWN
        if answer != UNKNOWN:
            if depth == 0:
                return answer
            depth -= 1
            continue
        if frames[depth, TODO] == 0:
            frames[depth, TODO], frames[depth, LATER] = frames[depth, LATER], 0
        line = lowest(frames[depth, TODO])
        frames[depth, TODO] = rest(frames[depth, TODO])
        lines = frames[depth, LINES] | 1 << line
        gain = 0
        for side in range(2):
            target = get(sides, 2 * line + side)
            gain += target != NOBODY and get(targets, target) & ~lines == 0
        frames[depth, MOVE] = gain
        frames[depth + 1, GOAL] = goal - gain if gain else 1 - goal
        depth += 1


@dataclass(frozen=True)
class Bounds:
    """What was proved of a position: its value to the mover is in low .. high."""

    low: int
    high: int
    nodes: int
    seconds: float

    @property
    def exact(self) -> bool:
        """Whether the search came to its end."""
        return self.low == self.high


class ChainSearch:
    """Values of positions of one game of a growing set, proved when they are asked for."""

    def __init__(self, game: Game[Any], *, table_bits: int = TABLE_BITS) -> None:
        lines = game.size().bit_length() - 1
        touching = [[i for i, target in enumerate(game.targets) if target >> line & 1] for line in range(lines)]
        if not game.has_targets or max(map(len, touching)) > 2 or {t.bit_count() for t in game.targets} != {4}:
            raise GameError(
                f"chains are known where targets have four lines and lines two targets; {game!r} is not so"
            )
        self.game, self._full = game, game.size() - 1
        self._targets = np.array(game.targets, np.int64)
        self._sides = np.array([[*pair, NOBODY, NOBODY][:2] for pair in touching], np.int64).ravel()
        self._alike = np.array([self._same(line, touching) for line in range(lines)], np.int64)
        self._keys: NDArray[np.int64] = np.zeros(1 << table_bits, np.int64)
        self._bounds: NDArray[np.int16] = np.zeros(2 << table_bits, np.int16)
        self._frames: NDArray[np.int64] = np.zeros((lines + 2, WIDTH), np.int64)

    @staticmethod
    def _same(line: int, touching: list[list[int]]) -> int:
        """Return the lines that belong to the same single target as this one."""
        if len(touching[line]) != 1:
            return 0
        return sum(1 << i for i, targets in enumerate(touching) if i != line and targets == touching[line])

    def prove(self, state: Any = None, *, seconds: float | None = None, show: Show | None = None) -> Bounds:
        """Return the value of a position to its mover, or bounds if the seconds do not suffice."""
        lines = self.game.index(self.game.initial() if state is None else state)
        began, nodes = time.perf_counter(), 0
        high = sum(target & ~lines != 0 for target in self.game.targets)
        low = -high
        while low < high:
            left = None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))
            goal = low + 2 * ((high - low + 2) // 4)  # of the parity of low, above it
            answer, count = self._ask(lines, goal, left, show)
            nodes += count
            if answer == UNKNOWN:
                break
            low, high = (goal, high) if answer else (low, goal - 2)
        return Bounds(low, high, nodes, time.perf_counter() - began)

    def _ask(self, lines: int, goal: int, seconds: float | None, show: Show | None) -> tuple[int, int]:
        watch = Watch(1, show)
        known = (self._full, self._targets, self._sides, self._alike, watch.stop, watch.progress)
        task = partial(ask, lines, goal, *known, self._keys, self._bounds, self._frames)
        with stopped_after(watch, seconds):
            answer = int(watch.run([task])[0])
        return answer, int(watch.progress[0])

    def moves(self, state: Any, *, seconds: float | None = None) -> dict[int, Bounds]:
        """Return what is proved of every action, for its maker; the seconds are shared out between them."""
        game, actions = self.game, members(self.game.legal(state))
        found = {}
        for action in actions:
            after, gain = game.step(state, action), int(game.reward(state, action))
            proved = self.prove(after, seconds=None if seconds is None else seconds / len(actions))
            low, high = (proved.low, proved.high) if gain else (-proved.high, -proved.low)
            found[action] = Bounds(low + gain, high + gain, proved.nodes, proved.seconds)
        return found
