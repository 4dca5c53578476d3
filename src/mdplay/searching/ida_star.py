"""Puzzles too large for a table: the fewest moves to the goal, by iterative deepening A* (Korf 1985).

A puzzle is a single-player game without chance and rewards.  A goal is a terminal state whose result is higher
than the value of infinite play; without ``result`` every terminal state is one.  ``heuristic`` is minus a lower
bound of the moves that are still needed: then no path is cut off that leads to a goal within the bound, and the
first solution has the fewest moves.  Without a heuristic every path is tried.

A round searches all paths depth-first whose moves and heuristic together are within the bound; the next bound
is the least that was beyond it.  Only the path is stored, so a round visits a state once for each path to it.
When that has taken long, the states are counted by a breadth-first search: a small puzzle, also one without a
solution, ends there.

The fewest moves to a goal are proved; the value is proved only if no goal can have a higher result.
"""

from __future__ import annotations

import math
import time
from collections import deque
from functools import partial
from typing import Any, Unpack

import numpy as np

from mdplay.bits import Mask, elements, lowest, nonempty, without_lowest
from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import Packed, State, inlined, kernel, load, native, pack, width, words
from mdplay.errors import GameError, LimitError, pluralize
from mdplay.game import Game, num_players
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.runtime.threads import Counters, Show, StopFlag, TaskGroup
from mdplay.searching.result import MoveStatistics, SearchResult, check_open, stopping_after
from mdplay.states.game_length import has_margins

MOST_MOVES = 1000
STOP_EVERY = 1 << 10  # nodes between two looks at the clock
FOUND, BEYOND, NOTHING, STOPPED = range(4)
MAX_STATES = 100_000  # of a breadth-first search
MANY_NODES, MANY_NODES_GUIDED = 1 << 20, 1 << 27  # nodes after which it begins: without and with a heuristic
LOOK_EVERY = 1 << 10  # states between two looks at the clock


@inlined
def moves_left(game: Game[Any], s: State) -> float:
    """Return a lower bound of the moves to the goal."""
    return max(0.0, -float(game.heuristic(s))) if game.has_heuristic else 0.0


@inlined
def is_goal(game: Game[Any], s: State) -> bool:
    """Return whether an end is the goal."""
    return not game.has_result or game.result(s) > game.endless


@inlined
def after(mask: Mask, last: int) -> Any:
    """Return the elements of a set beyond the last one."""
    while nonempty(mask) and lowest(mask) <= last:
        mask = without_lowest(mask)
    return mask


@kernel(plain_first=True)
def search_within(
    game: Game[Any],
    start: Packed,
    bound: float,
    stop: StopFlag,
    progress: Counters,
    out_rows: Any,
    out_path: Any,
) -> Any:
    """Search all paths within the bound; return how it went, the moves of the path found, and the next bound.

    Row d of ``out_rows`` is the state after d moves, ``out_path[d]`` the action tried there, -1 for none yet.
    """
    for j in range(len(start)):
        out_rows[0, j] = start[j]
    out_path[0], depth, further = -1, 0, np.inf
    while depth >= 0:
        s = load(game, out_rows, depth)
        mask = after(game.legal(s), out_path[depth])
        if not nonempty(mask):
            depth -= 1
            continue
        action = lowest(mask)
        out_path[depth] = action
        t = game.step(s, action)
        progress[0] += 1
        if progress[0] % STOP_EVERY == 0 and stop[0]:
            return STOPPED, 0, further
        packed, undone = pack(game, t), depth > 0
        for j in range(len(packed)):
            undone = undone and packed[j] == out_rows[depth - 1, j]
        if undone:
            continue
        if not nonempty(game.legal(t)):
            if is_goal(game, t) and depth + 1 <= bound:
                return FOUND, depth + 1, bound
            if is_goal(game, t):
                further = min(further, depth + 1.0)
            continue
        needed = depth + 1 + moves_left(game, t)
        if needed > bound:
            further = min(further, needed)
        elif depth + 2 < len(out_path):
            depth += 1
            for j in range(len(packed)):
                out_rows[depth, j] = packed[j]
            out_path[depth] = -1
    return (NOTHING if further == np.inf else BEYOND), 0, further


def check_puzzle(game: Game[Any]) -> None:
    """Refuse what is no puzzle."""
    if num_players(game) != 1 or game.has_outcomes or game.has_reward:
        raise GameError(f"{type(game).__name__} is no puzzle: one player, no chance, no points on the way")


@takes_state
def fewest_moves(
    game: Game[Any],
    state: Any = None,
    *,
    interruptible: bool = False,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> SearchResult:
    """Return the shortest way to a goal from a state (default: the start).

    ``actions`` of the result is the way and ``depth`` its number of moves, which is the least.  ``proven`` is
    about the value: no goal has a higher result.  If the search takes longer than ``seconds`` seconds,
    ``actions`` is empty, ``depth`` is a lower bound of the moves, and ``action`` the one with the best
    heuristic.  Raise LimitError if no goal can be reached.
    """
    run = run_of("fewest_moves", ("seconds", "progress"), run, settings)
    check_puzzle(game)
    spot_check(game, state)
    seconds, start, began = run.seconds, state, time.perf_counter()
    check_open(game, start)
    watch = TaskGroup(1, run.progress, interruptible=interruptible)
    rows, path = np.zeros((MOST_MOVES, width(game)), np.uint64), np.zeros(MOST_MOVES, np.int64)
    bound = max(1.0, -float(game.heuristic(start)))
    status, count, flooded = BEYOND, 0, False
    many = MANY_NODES_GUIDED if game.has_heuristic else MANY_NODES
    with stopping_after(seconds, watch):
        while status == BEYOND and bound < MOST_MOVES:
            if seconds is not None and time.perf_counter() - began > seconds:
                status = STOPPED
                break
            given = (native(game), words(start), bound, watch.stop, watch.progress, rows, path)
            status, count, further = watch.run([partial(search_within, *given)])[0]
            bound = bound if status in (FOUND, STOPPED) else further
            if status == BEYOND and not flooded and watch.progress[0] > many:
                flooded, way = True, _flood(game, start, math.inf if seconds is None else began + seconds)
                if way is not None:
                    status, count, path[: len(way)] = FOUND, len(way), way
    if status in (NOTHING, BEYOND):
        raise LimitError(f"no way leads from {game.text(start)} to the goal in {MOST_MOVES:,} moves")
    return _result(game, start, path[:count].tolist(), bound, int(watch.progress[0]), time.perf_counter() - began)


def _flood(game: Game[Any], start: Any, until: float) -> list[int] | None:
    """Return a shortest way to a goal by breadth-first search; None if there are too many states or time is up.

    Raise LimitError if no goal can be reached.
    """
    came: dict[Any, tuple[Any, int]] = {start: (start, -1)}
    queue = deque([start])
    while queue:
        s = queue.popleft()
        if len(came) > MAX_STATES or (len(came) % LOOK_EVERY == 0 and time.perf_counter() > until):
            return None
        for action in elements(game.legal(s)):
            t = game.step(s, action)
            if t in came:
                continue
            came[t] = s, action
            queue.append(t)
            if not nonempty(game.legal(t)) and is_goal(game, t):
                way = []
                while t != start:
                    t, action = came[t]
                    way.append(action)
                return way[::-1] if len(way) < MOST_MOVES else None
    raise LimitError(
        f"no goal can be reached from {game.text(start)}: all {pluralize(len(came), 'state')} are known"
    )


def _result(
    game: Game[Any], start: Packed, path: list[int], bound: float, nodes: int, seconds: float
) -> SearchResult:
    """Return the answer; without a path the action that looks best."""
    found, actions = bool(path), elements(game.legal(start))
    if not found:
        path = [max(actions, key=lambda action: game.heuristic(game.step(start, action)))]
    line, s = [], start
    for action in path:
        line.append(game.move_text(s, action))
        s = game.step(s, action)
    value = float(game.result(s)) if found else float(game.endless)
    proven = found and (not game.has_result or (value == 1.0 and not has_margins(game)))
    moves = tuple(
        MoveStatistics(a, game.move_text(start, a), nodes * (a == path[0]), value, proven and a == path[0])
        for a in actions
    )
    depth, way = (len(path), tuple(path)) if found else (int(bound), ())
    told = tuple(line) if found else ()
    return SearchResult(path[0], value, proven, (path[0],), moves, told, 0, nodes, seconds, depth, actions=way)


# ---------------------------------------------------------------- the agent
class PuzzleAgent:
    """Solves a puzzle in the fewest moves by iterative deepening A*, once, and then follows the way found."""

    def __init__(self, game: Game[Any], *, seconds: float | None = None) -> None:
        self._game, self._seconds = game, seconds
        self._plan: dict[Any, int] = {}

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; the seed changes nothing."""
        return fewest_moves(self._game, state, seconds=self._seconds, progress=show, interruptible=interruptible)

    def act(self, state: State, rng: Random) -> int:
        """Choose the next action of the shortest way."""
        if state not in self._plan:
            s, found = state, self.search(state)
            for action in found.actions or (found.action,):
                self._plan[s] = action
                s = self._game.step(s, action)
        return self._plan.pop(state)
