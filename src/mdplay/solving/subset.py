"""Games of scoring sets, solved by a special kernel: Dots and Boxes with 2**31 states in a minute or two.

A state is a set of lines; action j adds line j; the mover earns a point for each *scoring set* of lines
(``Game.scoring_sets``) that it completes, and moves again if there is one.  The value of a state takes one byte:

    V(all lines) = 0        V(s) = max over j not in s of   g + V(s + j)  if g > 0,  else  -V(s + j)

where g counts the scoring sets that j completes.  The table is halved recursively:

    solve(base, j):   solve(base + 2**(j-1), j-1)       the upper half: line j-1 is drawn
                      apply(base, j-1)                  the lower half takes line j-1 as one vector operation
                      solve(base, j-1)

This is a loop over blocks of 64 states from the last to the first: before block b is finished inside, the line of
its lowest zero bit is applied to all blocks that differ from b below that bit.  Slabs, given by the highest lines,
are solved in parallel: slabs with k of these lines drawn need only those with k + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mdplay.checking.contract_checks import check_scoring_sets, number_of
from mdplay.compiling import State, get, inlined, kernel, put, unchecked_view
from mdplay.game import Game
from mdplay.runtime.threads import Counters, StopFlag, TaskGroup, num_threads
from mdplay.solving.indexed import check_size
from mdplay.solving.values import Arrays, Question, StateValue, Table
from mdplay.states.graph_search import Integers

BLOCK_LINES = 6
BLOCK = 1 << BLOCK_LINES
SLAB_LINES = 5  # the highest lines, which number the slabs
LOWEST = -127
NOTHING = 1 << 62  # a mask that no set contains
TRIALS = 200  # random positions in which the scoring sets are checked against the rules


@inlined
def apply(
    values: Integers, to: int, source: int, size: int, line: int, masks: Integers, holds: Integers, gains: Integers
) -> None:
    """Update ``size`` states from ``to`` on by the line that leads to those from ``source`` on."""
    for at in range(0, size, BLOCK):
        earns = False
        for k in range(masks.shape[1]):
            high = masks[line, k] & -BLOCK
            if (to + at) & high == high:
                low = masks[line, k] & BLOCK - 1
                for x in range(BLOCK):
                    put(gains, x, np.int8((get(gains, x) if earns else 0) + get(holds, low * BLOCK + x)))
                earns = True
        if earns:
            for x in range(BLOCK):
                gain, value, old = get(gains, x), get(values, source + at + x), get(values, to + at + x)
                new = np.int8(gain + value) if gain > 0 else np.int8(-value)
                put(values, to + at + x, new if new > old else old)
        else:
            for x in range(BLOCK):
                new, old = np.int8(-get(values, source + at + x)), get(values, to + at + x)
                put(values, to + at + x, new if new > old else old)


@inlined
def finish_block(values: Integers, base: int, masks: Integers, holds: Integers, gains: Integers) -> None:
    """Apply the lowest lines inside one block, one after the other; ``gains`` has room for a row for each line."""
    for line in range(BLOCK_LINES):
        for x in range(BLOCK):
            put(gains, line * BLOCK + x, 0)
        for k in range(masks.shape[1]):
            high = masks[line, k] & -BLOCK
            if base & high == high:
                low = masks[line, k] & BLOCK - 1
                for x in range(BLOCK):
                    put(
                        gains,
                        line * BLOCK + x,
                        np.int8(get(gains, line * BLOCK + x) + get(holds, low * BLOCK + x)),
                    )
    for x in range(BLOCK - 1, -1, -1):
        best = get(values, base + x)
        for line in range(BLOCK_LINES):
            if not x >> line & 1:
                gain, value = get(gains, line * BLOCK + x), get(values, base + x + (1 << line))
                new = np.int8(gain + value) if gain > 0 else np.int8(-value)
                best = new if new > best else best
        put(values, base + x, best)


@kernel
def solve_slab(
    out_values: Integers,
    slab: int,
    inner: int,
    masks: Integers,
    holds: Integers,
    gains: Integers,
    stop: StopFlag,
    progress: Counters,
) -> bool:
    """Fill the slab of 2**inner states whose highest lines are the bits of ``slab``; return False if stopped.

    Every set of lines is below ``2**lines``, the length of the table; a line is added only if its bit is free.
    ``masks`` has a row for each line, ``gains`` a row of a block for each of the lowest lines, ``holds`` one for
    each mask of them.
    """
    lines = len(masks)
    values, masks, holds, gains = unchecked_view((out_values, masks, holds, gains))
    base, size = slab << inner, 1 << inner
    for line in range(inner, lines):
        if not slab >> line - inner & 1:
            apply(values, base, base + (1 << line), size, line, masks, holds, gains)
    for block in range(size // BLOCK - 1, -1, -1):
        line = BLOCK_LINES
        while block >> line - BLOCK_LINES & 1:
            line += 1
        if line < inner:
            to = base + (block * BLOCK >> line << line)
            apply(values, to, to + (1 << line), 1 << line, line, masks, holds, gains)
        finish_block(values, base + block * BLOCK, masks, holds, gains)
        if block & 1023 == 0:
            progress[0] += min(size, 1024 * BLOCK)
            if stop[0]:
                return False
    return True


class SubsetTable(Table):
    """The value of every set of lines, one byte each."""

    method = kind = "subset"
    array_types: ClassVar = {"values": "int8"}

    def __init__(self, game: Game[Any], values: NDArray[np.int8]) -> None:
        self.game, self.values = game, values
        self._lines = game.size().bit_length() - 1

    def __len__(self) -> int:
        return 1 << self._lines

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player; every line that is left is one ply."""
        lines = number_of(self.game, state)
        value = int(self.values[lines])
        return StateValue(
            float(value if player == self.game.player(state) else -value), self._lines - lines.bit_count()
        )

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the values, by number."""
        return {"values": self.values}, {}

    @classmethod
    def from_arrays(cls, game: Game[Any], arrays: Arrays, facts: Mapping[str, Any]) -> SubsetTable:
        """Return the table of a file."""
        check_size(game, arrays["values"])
        return cls(game, arrays["values"])


def fill(question: Question) -> Table:
    """Return the value of every set."""
    game = question.game
    check_scoring_sets(game, TRIALS)
    lines = game.size().bit_length() - 1
    values = np.full(game.size(), LOWEST, np.int8)
    values[-1] = 0
    inner = max(BLOCK_LINES, lines - SLAB_LINES)
    watch = TaskGroup(num_threads(question.run.threads), question.run.progress)
    slabs = sorted(range(1 << lines - inner), key=lambda slab: (-slab.bit_count(), slab))
    for _, independent in groupby(slabs, int.bit_count):
        run = partial(_solve_slabs, watch, values, inner, _masks(game, lines), list(independent))
        watch.run([partial(run, thread) for thread in range(len(watch.progress))])
    return SubsetTable(game, values)


def _solve_slabs(
    watch: TaskGroup,
    values: NDArray[np.int8],
    inner: int,
    masks: NDArray[np.int64],
    slabs: list[int],
    thread: int,
) -> None:
    """Solve the slabs thread, thread + threads, ... of a list."""
    gains, progress = np.zeros(BLOCK_LINES * BLOCK, np.int8), watch.progress[thread : thread + 1]
    for slab in slabs[thread :: len(watch.progress)]:
        solve_slab(values, slab, inner, masks, _holds(), gains, watch.stop, progress)


def _masks(game: Game[Any], lines: int) -> NDArray[np.int64]:
    """Return for each line the scoring sets that it may complete, without the line."""
    found = [[found & ~(1 << line) for found in game.scoring_sets if found >> line & 1] for line in range(lines)]
    most = max(map(len, found))
    return np.array([row + [NOTHING] * (most - len(row)) for row in found], np.int64)


def _holds() -> NDArray[np.int8]:
    """Return whether an index in a block contains a mask: a row for each mask, a column for each index."""
    places = np.arange(BLOCK)
    holds: NDArray[np.int8] = ((places & places[:, None]) == places[:, None]).astype(np.int8).ravel()
    return holds
