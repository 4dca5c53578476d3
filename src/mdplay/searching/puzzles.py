"""Puzzles too large for a table: the fewest moves to the goal, by iterative deepening A* (Korf 1985).

A puzzle is a game for one without chance and points; its goal is an end that is worth more than endless play, any
end if the game has no results.  ``heuristic`` is minus a lower bound of the moves that are still needed: then no
path is cut off that leads to the goal within the bound, and the first solution has the fewest moves.  Without a
heuristic every path is tried.

A round searches all paths in depth whose moves and heuristic together are within the bound; the next bound is the
least that was beyond it.  Only the path is kept.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import Mask, elements, lowest, nonempty, without_lowest
from mdplay.bridge import Packed, State, kernel, load, native, pack, part, width, words
from mdplay.checking.promises import hold_promises
from mdplay.errors import GameError, LimitError
from mdplay.game import Game, num_players
from mdplay.position import takes_state
from mdplay.rng import Random
from mdplay.running import Show, Watch
from mdplay.searching.result import MoveStatistics, SearchResult, check_open, stopping_after

MOST_MOVES = 1000
STOP_EVERY = 1 << 10  # nodes between two looks at the clock
FOUND, BEYOND, NOTHING, STOPPED = range(4)


@part
def moves_left(game: Game[Any], s: State) -> float:
    """Return a lower bound of the moves to the goal."""
    return max(0.0, -float(game.heuristic(s))) if game.has_heuristic else 0.0


@part
def is_goal(game: Game[Any], s: State) -> bool:
    """Tell whether an end is the goal."""
    return not game.has_result or game.result(s) > game.endless


@part
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
    stop: NDArray[np.uint8],
    progress: NDArray[np.int64],
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
    seconds: float | None = None,
    show: Show | None = None,
    interruptible: bool = False,
) -> SearchResult:
    """Return the shortest way to the goal from a state (default: the start).

    The result's ``depth`` is the number of moves.  Where the seconds run out before, it is not ``proven``: its
    depth is the number of moves that are needed at least, its action the one that looks best.
    """
    check_puzzle(game)
    hold_promises(game, state)
    start, began = state, time.perf_counter()
    check_open(game, start)
    watch = Watch(1, show, interruptible=interruptible)
    rows, path = np.zeros((MOST_MOVES, width(game)), np.uint64), np.zeros(MOST_MOVES, np.int64)
    bound = max(1.0, -float(game.heuristic(start)))
    status, count = BEYOND, 0
    with stopping_after(seconds, watch):
        while status == BEYOND and bound < MOST_MOVES:
            if seconds is not None and time.perf_counter() - began > seconds:
                status = STOPPED
                break
            given = (native(game), words(start), bound, watch.stop, watch.progress, rows, path)
            status, count, further = watch.run([partial(search_within, *given)])[0]
            bound = bound if status in (FOUND, STOPPED) else further
    if status in (NOTHING, BEYOND):
        raise LimitError(f"no way leads from {game.text(start)} to the goal in {MOST_MOVES:,} moves")
    return _result(game, start, path[:count].tolist(), bound, int(watch.progress[0]), time.perf_counter() - began)


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
    moves = tuple(
        MoveStatistics(a, game.move_text(start, a), nodes * (a == path[0]), value, found and a == path[0])
        for a in actions
    )
    depth = len(path) if found else int(bound)
    best = (path[0],)
    return SearchResult(
        path[0], value, found, best, moves, tuple(line), 0, nodes, seconds, depth, actions=tuple(path)
    )


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
        return fewest_moves(self._game, state, seconds=self._seconds, show=show, interruptible=interruptible)

    def act(self, state: State, rng: Random) -> int:
        """Choose the next action of the shortest way."""
        if state not in self._plan:
            s = state
            for action in self.search(state).actions:
                self._plan[s] = action
                s = self._game.step(s, action)
        return self._plan.pop(state)
