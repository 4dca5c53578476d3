"""Proof search aware of chains, for boards of Dots and Boxes that are too large for a table.

The question "is V(s) >= goal?" is answered by a depth-first search with a table of bounds; the value is found by
halving the interval that is left, so a search that runs out of time still has proven bounds.  V has the parity of
the boxes that are left.  What the rules of chains save:

    a box that one line completes is taken at once, except the last two of a chain with an open end and the
    last four of a closed one: there the choice is to take them or to leave them by drawing the line between
                 A --l1-- B --l2-- ...        take l1, or hand out A and B by l2
                 A --l1-- B --l2-- C --l3-- D   (A and D lack one line)     take l1, or hand out all by l2
    if two such are open, one is taken at once, a closed one before a chain: to keep the chain is worth more,
    because 4 + |v + 2| >= 2 + |v + 4| for every value v of the rest
    lines that belong to the same single box are alike: only the first missing one is tried

Lines that let the opponent complete nothing are tried first.  It is for games whose actions are in at most two
scoring sets, of four actions each: lines and boxes; tests compare it with tables wherever both reach.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import elements, lowest, mix, popcount, without_lowest
from mdplay.checking.contract_checks import number_of, spot_check
from mdplay.compiling import get, inlined, kernel, put, unchecked_view
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.runtime.threads import Show, TaskGroup, stopped_after
from mdplay.solving.values import Choice, Cost, Lacking, Question, Solver, StateValue, Table

NOBODY = -1
TABLE_BITS = 22
FAR = 100  # no value is as far from zero
UNKNOWN = 2
LINES, GOAL, UNTRIED, DEFERRED, MOVE, WIDTH = range(6)  # of a frame


class Board(NamedTuple):
    """The lines and boxes as kernels take them."""

    full: int  # all lines
    boxes: NDArray[np.int64]  # the lines of each
    sides: NDArray[np.int64]  # of each line: its two boxes
    alike: NDArray[np.int64]  # of each line: those of the same single box


class BoundsTable(NamedTuple):
    """What was proved of positions, by the slots of their hashes: low and high, each plus FAR."""

    keys: NDArray[np.int64]
    bounds: NDArray[np.int16]


@inlined
def beyond(line: int, box: int, sides: Any) -> Any:
    """Return the box on the other side of a line, or NOBODY; every line has two sides."""
    first = get(sides, 2 * line)
    return get(sides, 2 * line + 1) if first == box else first


@inlined
def forced(lines: int, scoring_sets: Any, num_boxes: int, sides: Any) -> Any:
    """Return the moves worth trying while a box can be completed, as a mask; 0 when none can."""
    kept, kept_out, kept_closed = 0, 0, False  # the chain that may be handed out
    for first in range(num_boxes):
        missing = get(scoring_sets, first) & ~lines
        if popcount(missing) != 1:
            continue
        take, out, box, length, closed = missing, 0, first, 1, False
        while True:
            box = beyond(lowest(missing), box, sides)
            if box == NOBODY:
                break
            further = get(scoring_sets, box) & ~lines & ~missing
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
            return kept if kept_closed else take
        kept, kept_out, kept_closed = take, out, closed
    return kept | kept_out


@inlined
def quiet(lines: int, full: int, scoring_sets: Any, num_boxes: int, alike: Any) -> Any:
    """Return the missing lines worth trying: those that open nothing, and the others."""
    missing, opening = full & ~lines, 0
    left = missing
    while left:
        line = lowest(left)
        left = without_lowest(left)
        if get(alike, line) & missing & (1 << line) - 1:
            missing &= ~(1 << line)
    for box in range(num_boxes):
        lacking = get(scoring_sets, box) & ~lines
        if popcount(lacking) == 2:
            opening |= lacking
    return missing & ~opening, missing & opening


@inlined
def open_boxes(lines: int, scoring_sets: Any, num_boxes: int) -> int:
    """Return how many boxes are not complete."""
    count = 0
    for box in range(num_boxes):
        count += get(scoring_sets, box) & ~lines != 0
    return count


@inlined
def gain_of(line: int, lines: int, scoring_sets: Any, sides: Any) -> int:
    """Return how many boxes a line, the last of these, has completed."""
    gain = 0
    for side in range(2):
        box = get(sides, 2 * line + side)
        gain += box != NOBODY and get(scoring_sets, box) & ~lines == 0
    return gain


@inlined
def note(answer: int, lines: int, goal: int, scoring_sets: Any, keys: Any, bounds: Any) -> None:
    """Keep an answer in the table; a position that is new to its slot gets the bounds that open boxes give."""
    slot = int(mix(lines, 1) & len(keys) - 1)
    if get(keys, slot) != lines + 1:
        left = open_boxes(lines, scoring_sets, len(scoring_sets))
        put(keys, slot, lines + 1)
        put(bounds, 2 * slot, FAR - left)
        put(bounds, 2 * slot + 1, FAR + left)
    if answer:
        put(bounds, 2 * slot, FAR + goal)
    else:
        put(bounds, 2 * slot + 1, FAR + goal - 1)


@kernel
def ask(start: int, goal: int, board: Board, stop: Any, progress: Any, table: BoundsTable, frames: Any) -> int:
    """Return whether the value of a set of lines to its mover is at least the goal; UNKNOWN when stopped.

    A slot is within the mask of the table; every frame draws a line more, so there are at most ``lines + 1``;
    lines and boxes are those that ChainSearch has numbered.
    """
    full, scoring_sets, sides, alike = (
        board.full,
        unchecked_view(board.boxes),
        unchecked_view(board.sides),
        unchecked_view(board.alike),
    )
    keys, bounds, num_boxes = unchecked_view(table.keys), unchecked_view(table.bounds), len(scoring_sets)
    depth, lines, answer = 0, start, UNKNOWN
    frames[0, GOAL] = goal
    while True:
        if answer == UNKNOWN:  # a new state at this depth
            goal, slot = frames[depth, GOAL], int(mix(lines, 1) & len(keys) - 1)
            high = open_boxes(lines, scoring_sets, num_boxes)
            low = -high
            if get(keys, slot) == lines + 1:
                low, high = get(bounds, 2 * slot) - FAR, get(bounds, 2 * slot + 1) - FAR
            if low >= goal or high < goal:
                answer = 1 if low >= goal else 0
            else:
                todo, later = forced(lines, scoring_sets, num_boxes, sides), 0
                if todo == 0:
                    todo, later = quiet(lines, full, scoring_sets, num_boxes, alike)
                frames[depth, LINES], frames[depth, UNTRIED], frames[depth, DEFERRED] = lines, todo, later
                progress[0] += 1
                if stop[0]:
                    return UNKNOWN
        else:  # the answer of the follower at depth + 1
            lines, goal = frames[depth, LINES], frames[depth, GOAL]
            if frames[depth, MOVE] == 0:
                answer = 1 - answer
            if answer == 1 or (frames[depth, UNTRIED] | frames[depth, DEFERRED]) == 0:
                note(answer, lines, goal, scoring_sets, keys, bounds)
            else:
                answer = UNKNOWN
        if answer != UNKNOWN:
            if depth == 0:
                return answer
            depth -= 1
            continue
        if frames[depth, UNTRIED] == 0:
            frames[depth, UNTRIED], frames[depth, DEFERRED] = frames[depth, DEFERRED], 0
        line = lowest(frames[depth, UNTRIED])
        frames[depth, UNTRIED] = without_lowest(frames[depth, UNTRIED])
        lines = frames[depth, LINES] | 1 << line
        gain = gain_of(line, lines, scoring_sets, sides)
        frames[depth, MOVE] = gain
        frames[depth + 1, GOAL] = goal - gain if gain else 1 - goal
        depth += 1


@dataclass(frozen=True)
class ChainBounds:
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
    """Values of positions of one board, proved when they are asked for."""

    def __init__(self, game: Game[Any], *, table_bits: int = TABLE_BITS) -> None:
        spot_check(game)
        lines = game.size().bit_length() - 1
        touching = [[i for i, box in enumerate(game.scoring_sets) if box >> line & 1] for line in range(lines)]
        if (
            not game.has_scoring_sets
            or max(map(len, touching)) > 2
            or {t.bit_count() for t in game.scoring_sets} != {4}
        ):
            raise GameError(
                f"chains are known where boxes have four lines and lines two boxes; {game!r} is not so"
            )
        self.game = game
        boxes = np.array(game.scoring_sets, np.int64)
        sides = np.array([[*pair, NOBODY, NOBODY][:2] for pair in touching], np.int64).ravel()
        alike = np.array([self._same(line, touching) for line in range(lines)], np.int64)
        self._board = Board(game.size() - 1, boxes, sides, alike)
        self._table = BoundsTable(np.zeros(1 << table_bits, np.int64), np.zeros(2 << table_bits, np.int16))
        self._frames: NDArray[np.int64] = np.zeros((lines + 2, WIDTH), np.int64)

    @staticmethod
    def _same(line: int, touching: list[list[int]]) -> int:
        """Return the lines that belong to the same single box as this one."""
        if len(touching[line]) != 1:
            return 0
        return sum(
            1 << i for i, scoring_sets in enumerate(touching) if i != line and scoring_sets == touching[line]
        )

    def prove(self, state: Any = None, *, seconds: float | None = None, show: Show | None = None) -> ChainBounds:
        """Return the value of a position to its mover, or bounds if the seconds do not suffice."""
        lines = number_of(self.game, self.game.initial() if state is None else state)
        began, nodes = time.perf_counter(), 0
        high = sum(box & ~lines != 0 for box in self.game.scoring_sets)
        low = -high
        while low < high:
            left = None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))
            goal = low + 2 * ((high - low + 2) // 4)  # of the parity of low, above it
            answer, count = self._ask(lines, goal, left, show)
            nodes += count
            if answer == UNKNOWN:
                break
            low, high = (goal, high) if answer else (low, goal - 2)
        return ChainBounds(low, high, nodes, time.perf_counter() - began)

    def _ask(self, lines: int, goal: int, seconds: float | None, show: Show | None) -> tuple[int, int]:
        watch = TaskGroup(1, show)
        task = partial(ask, lines, goal, self._board, watch.stop, watch.progress, self._table, self._frames)
        with stopped_after(watch, seconds):
            answer = int(watch.run([task])[0])
        return answer, int(watch.progress[0])


class ChainTable(Table):
    """A chain search as the table of a solution; ``seconds`` is what one position may take, its moves included."""

    method = "chains"
    on_demand = True

    def __init__(self, game: Game[Any], *, seconds: float | None = None, show: Show | None = None) -> None:
        self.game, self.search = game, ChainSearch(game)
        self.seconds, self._show, self._nodes = seconds, show, 0
        self._known: dict[Any, ChainBounds] = {}

    def __len__(self) -> int:
        return self._nodes

    def lookup(self, state: Any, player: int) -> StateValue:
        """Return the value of a position for a player; raise LimitError if the time did not suffice."""
        low, high = self.bounds(state, player)
        if low < high:
            within = "" if self.seconds is None else f" within {self.seconds:g} s"
            raise LimitError(f"{self.game.text(state)} is not solved{within}: its value is {low:g} to {high:g}")
        return StateValue(low, self._lines_left(state))

    def bounds(self, state: Any, player: int) -> tuple[float, float]:
        """Return the lower and upper bound of the value of a position for a player."""
        found = self._proved(state, None if self.seconds is None else self.seconds / 2)
        mine = player == self.game.player(state)
        return (float(found.low), float(found.high)) if mine else (-float(found.high), -float(found.low))

    def choices(self, state: Any) -> list[Choice]:
        """Return every action with what is proved of it; the seconds are shared out between them."""
        game, actions = self.game, elements(self.game.legal(state))
        share = None if self.seconds is None else self.seconds / 2 / max(1, len(actions))
        return [self._choice(state, action, game.step(state, action), share) for action in actions]

    def _choice(self, state: Any, action: int, after: Any, seconds: float | None) -> Choice:
        proved, gain = self._proved(after, seconds), int(self.game.reward(state, action))
        low, high = (proved.low, proved.high) if gain else (-proved.high, -proved.low)
        return Choice(action, float(low + gain), float(high + gain), self._lines_left(state))

    def _proved(self, state: Any, seconds: float | None) -> ChainBounds:
        if state not in self._known:
            self._known[state] = found = self.search.prove(state, seconds=seconds, show=self._show)
            self._nodes += found.nodes
        return self._known[state]

    def _lines_left(self, state: Any) -> int:
        """Return the plies to the end: every line is drawn."""
        return int(self.game.size().bit_length() - 1 - self.game.index(state).bit_count())


class ChainSolver(Solver):
    """The solver that Dots and Boxes brings for boards too large for a table."""

    name = ChainTable.method
    on_demand = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to perfect play; tables come first where they fit."""
        if question.opponent != "perfect" or question.objective != "difference":
            return Lacking("a perfect opponent and the difference of points")
        return Lacking("no file: there is nothing to save") if question.file is not None else 2.9

    def fill(self, question: Question) -> ChainTable:
        """Return a table that proves positions when they are asked for."""
        return ChainTable(question.game, seconds=question.seconds, show=question.show)
