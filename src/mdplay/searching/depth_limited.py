"""Depth-limited search for any game with a heuristic: deeper and deeper, until depth or time is spent.

Each depth searches every move of the position to its exact value at that depth, so that all can be compared; what
one depth has found orders the moves of the next.  A depth that time cut short is not used.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import members
from mdplay.bridge import native, width, words
from mdplay.errors import GameError, LimitError
from mdplay.game import Game, Look
from mdplay.running import Show, Watch
from mdplay.searching.alpha_beta import (
    COUNTERS,
    EXACT,
    GUESSES,
    NODES,
    WIN,
    hash_of,
    new_stack,
    new_table,
    search_value,
)
from mdplay.searching.result import MoveStatistics, SearchResult, check_open, stopping_after

DEPTH = 6
MAX_DEPTH = 1000
TABLE_BITS = 18
TOLERANCE = 1e-9


class Deepening:
    """A position searched deeper and deeper: its table, and the values of its moves at the last whole depth."""

    def __init__(
        self, game: Game[Any], s: Any, depth: int, knowledge: bool, watch: Watch, table_bits: int
    ) -> None:
        self.game, self.state, self.knowledge, self.watch = game, s, knowledge, watch
        look = game.look(s) if knowledge and game.has_look else Look(0, 1, 0)
        self.actions = members(look.moves) or members(game.legal(s))
        self.known = look.low if look.low == look.high and len(self.actions) == 1 else None
        self.table = new_table(table_bits)
        self.values: list[float] = []
        self.nodes: list[int] = []
        self.depth = self.num_nodes = 0
        self.exact = False
        self._stack = new_stack(depth, width(game))

    def deepen(self) -> bool:
        """Search all moves one deeper; return whether that came to its end and more depth would tell more."""
        found, nodes, guesses = [], [], 0
        for action in self.actions:
            counters = np.zeros(COUNTERS, np.int64)
            found.append(self._value(action, self.depth, counters))
            nodes.append(int(counters[NODES]))
            guesses += int(counters[GUESSES])
            self.num_nodes += nodes[-1]
            self.watch.progress[0] = self.num_nodes
        if any(map(math.isnan, found)):
            return False
        self.values, self.nodes, self.exact = found, nodes, guesses == 0
        self.depth += 1
        return not self.exact

    def _value(self, action: int, depth: int, counters: NDArray[np.int64]) -> float:
        """Return the value of a move to its mover: as the game knows, or by a search."""
        game, s = self.game, self.state
        sign = -1 if game.player(s) else 1
        if self.known is not None:
            return sign * self.known * (1.0 if game.has_reward else WIN)
        return float(game.reward(s, action)) + sign * self._search(words(game.step(s, action)), depth, counters)

    def _search(self, start: Any, depth: int, counters: NDArray[np.int64]) -> float:
        """Return the value of a packed state for player 0."""
        run = partial(search_value, native(self.game), start, depth, self.knowledge, self.table, *self._stack)
        return float(run(self.watch.stop, counters))

    def compile(self) -> None:
        """Have the kernels ready."""
        stop, counters, game = np.ones(1, np.uint8), np.zeros(COUNTERS, np.int64), native(self.game)
        search_value(game, words(self.state), 0, self.knowledge, self.table, *self._stack, stop, counters)

    def line(self, action: int) -> tuple[str, ...]:
        """Return a move and the best play after it, as far as the table still knows it; chance ends it."""
        game, s, moves, depth = self.game, self.state, [], self.depth
        while True:
            moves.append(game.move_text(s, action))
            s, depth = game.step(s, action), depth - 1
            if members(game.outcomes(s)) or not members(game.legal(s)):
                return tuple(moves)
            key = int(hash_of(native(game), words(s)))
            entry = self.table[key & len(self.table) - 1]
            if (int(entry["key"]), int(entry["depth"]), int(entry["bound"])) != (key, depth, EXACT):
                return tuple(moves)
            action = int(entry["action"])


def depth_limited(
    game: Game[Any],
    state: Any = None,
    *,
    depth: int | None = None,
    seconds: float | None = None,
    knowledge: bool = True,
    table_bits: int = TABLE_BITS,
    watch: Watch | None = None,
    show: Show | None = None,
    interruptible: bool = False,
) -> SearchResult:
    """Search a position (default: the start) to a depth (default 6) and return the best move.

    With ``seconds`` it goes as deep as time allows, at most to ``depth``.  Depth 1 looks at the positions after
    each move.  A value that is proven is a result; any other is in the unit of the heuristic.
    ``knowledge``: take what the game knows to be settled as such, and try only the moves that it holds worth it.
    ``interruptible``: Ctrl-C ends the search, not the program, and the best move so far is returned.
    """
    s = game.initial() if state is None else state
    _check(game, s, depth, seconds)
    limit = depth or (DEPTH if seconds is None else MAX_DEPTH)
    watch = watch or Watch(1, show, interruptible=interruptible)
    job = Deepening(game, s, limit, knowledge, watch, table_bits)
    job.compile()  # the clock starts after that
    began = time.perf_counter()
    with stopping_after(seconds, watch):
        watch.run([partial(_deepen, job, limit)])
    if not job.values:
        raise LimitError("the search ended before it had looked at even one move; give it more time")
    return _summary(job, time.perf_counter() - began)


def _check(game: Game[Any], s: Any, depth: int | None, seconds: float | None) -> None:
    if not (game.has_heuristic or game.has_reward):
        raise GameError(
            "depth-limited search needs a game with a heuristic (or with points); this one has neither"
        )
    if depth is not None and not 1 <= depth <= MAX_DEPTH:
        raise LimitError(f"depth={depth} must be from 1 to {MAX_DEPTH}")
    if seconds is not None and not seconds > 0:
        raise LimitError(f"seconds={seconds} must be more than 0")
    check_open(game, s)


def _deepen(job: Deepening, limit: int) -> None:
    while job.depth < limit and job.deepen():
        pass


def _summary(job: Deepening, seconds: float) -> SearchResult:
    top = max(job.values)
    tied = [a for a, v in zip(job.actions, job.values, strict=True) if v >= top - TOLERANCE * max(1.0, abs(top))]
    moves = tuple(_statistics(job, *row) for row in zip(job.actions, job.values, job.nodes, strict=True))
    chosen = next(move for move in moves if move.action == tied[0])
    return SearchResult(
        action=chosen.action,
        value=chosen.value,
        proven=chosen.proven,
        best=tuple(tied),
        moves=moves,
        line=job.line(chosen.action),
        simulations=0,
        nodes=job.num_nodes,
        seconds=seconds,
        depth=job.depth,
    )


def _statistics(job: Deepening, action: int, value: float, nodes: int) -> MoveStatistics:
    """Return a move's figures; a value beyond all guesses is a result again."""
    decided = not job.game.has_reward and abs(value) > WIN / 2
    shown = round(value / WIN, 3) if decided else value
    return MoveStatistics(action, job.game.move_text(job.state, action), nodes, shown, decided or job.exact)
