"""Policy iteration against a random opponent, for games that number their states.

    mine[i]      what state number i is worth to me when I move there
    theirs[i]    what it is worth to me when the opponent moves there

A policy is an action for each number.  It is evaluated by sweeps from the last number down to 0 until nothing
changes, then improved in every state; the iteration stops when no action changes.  Two opponents:

    uniform        draws each of its moves at random; an opponent that may move again does so
    uniform-once   draws exactly one move and earns nobody anything by it, then it is my turn

and two objectives: ``difference``, my points less the opponent's, or ``own``, my points alone (and the result as
far as it is in my favour).  Actions that differ by at most 1e-9 * max(1, |best|) are tied; the smallest wins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import lowest, popcount, rest, some
from mdplay.bridge import kernel, native, part
from mdplay.errors import GameError, UnknownName, unknown
from mdplay.game import Game
from mdplay.running import Watch
from mdplay.solving.hashed import final_value
from mdplay.solving.memory import require
from mdplay.solving.solution import Solution
from mdplay.solving.worth import TIE, Worth

OPPONENTS = ("uniform", "uniform-once")
OBJECTIVES = ("difference", "own")
BYTES = 24  # of a state: two values and an action


@part
def my_value(game: Any, s: Any, action: int, mine: Any, theirs: Any) -> float:
    """Return what an action is worth to its maker."""
    t = game.step(s, action)
    gain = float(game.reward(s, action)) if game.has_reward else 0.0
    follow = mine[game.index(t)] if game.player(t) == game.player(s) else theirs[game.index(t)]
    return gain + float(follow)


@part
def their_value(game: Any, s: Any, once: bool, own: bool, mine: Any, theirs: Any) -> float:
    """Return what a random move of the opponent is worth to me, on the average."""
    mask = game.legal(s)
    total, count = 0.0, popcount(mask)
    while some(mask):
        action = lowest(mask)
        mask = rest(mask)
        t = game.step(s, action)
        if game.has_reward and not own:
            total -= game.reward(s, action)
        again = game.player(t) == game.player(s) and not once
        total += theirs[game.index(t)] if again else mine[game.index(t)]
    return total / count


@kernel
def evaluate(
    game: Any, once: bool, own: bool, actions: Any, stop: Any, progress: Any, out_mine: Any, out_theirs: Any
) -> float:
    """Sweep once from the last number to 0, in place; return the largest change of a value."""
    change = 0.0
    for i in range(len(out_mine) - 1, -1, -1):
        s = game.state(i)
        if some(game.legal(s)):
            new_theirs = their_value(game, s, once, own, out_mine, out_theirs)
            new_mine = my_value(game, s, int(actions[i]), out_mine, out_theirs)
        else:
            end = final_value(game, s)
            new_mine = max(end, 0.0) if own else end
            new_theirs = max(-end, 0.0) if own else -end
        change = max(change, abs(new_mine - out_mine[i]), abs(new_theirs - out_theirs[i]))
        out_mine[i], out_theirs[i] = new_mine, new_theirs
        progress[0] += 1
        if stop[0]:
            break
    return change


@kernel
def improve(game: Any, mine: Any, theirs: Any, out_actions: Any) -> int:
    """Give every state its best action, the smallest of those tied; return how many changed."""
    changed = 0
    for i in range(len(mine)):
        s = game.state(i)
        mask = game.legal(s)
        best = -np.inf
        while some(mask):
            best = max(best, my_value(game, s, lowest(mask), mine, theirs))
            mask = rest(mask)
        mask = game.legal(s)
        while some(mask) and my_value(game, s, lowest(mask), mine, theirs) < best - TIE * max(1.0, abs(best)):
            mask = rest(mask)
        if some(mask) and lowest(mask) != out_actions[i]:
            out_actions[i] = lowest(mask)
            changed += 1
    return changed


@dataclass(frozen=True)
class Round:
    """One round of policy iteration: the sweeps of its evaluation and the actions that changed after it."""

    sweeps: int
    changed: int


class OpponentTable:
    """What every number is worth to me, when I move and when the opponent does."""

    def __init__(self, game: Game[Any], method: str) -> None:
        self.game, self.method = game, method
        self.mine: NDArray[np.float64] = np.zeros(game.size())
        self.theirs: NDArray[np.float64] = np.zeros(game.size())
        self.actions: NDArray[np.int64] = first_actions(game)

    def __len__(self) -> int:
        return len(self.mine)

    def worth(self, state: Any, player: int) -> Worth:
        """Return what a state is worth to a player whose opponent moves at random."""
        values = self.mine if player == self.game.player(state) else self.theirs
        return Worth(float(values[self.game.index(state)]), None)


def first_actions(game: Game[Any]) -> NDArray[np.int64]:
    """Return the policy to start from: the smallest action everywhere; 0 where there is none."""
    legal = (game.legal(game.state(i)) for i in range(game.size()))
    return np.array([lowest(mask) if some(mask) else 0 for mask in legal], np.int64)


@dataclass(frozen=True)
class PolicySolution(Solution):
    """The best answer to a random opponent, and the rounds in which policy iteration found it."""

    rounds: tuple[Round, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        """What each number is worth to the player who moves there."""
        return self._numbers.mine

    @property
    def actions(self) -> NDArray[np.int64]:
        """The best action of each number; 0 where the game is over."""
        return self._numbers.actions

    @property
    def _numbers(self) -> OpponentTable:
        assert isinstance(self.table, OpponentTable)
        return self.table


def policy_iteration(
    game: Game[Any], *, opponent: str = "uniform", objective: str = "difference", memory: int | None = None
) -> PolicySolution:
    """Find the best answer to a random opponent in every state of a game that numbers its states."""
    once, own = _flags(game, opponent, objective)
    require(BYTES * game.size(), memory, f"a table of {game.size():,} states")
    began = time.perf_counter()
    table = OpponentTable(game, f"policy iteration against {opponent}")
    rounds, changed = [], 1
    while changed:
        sweeps = _evaluate(game, once, own, table)
        changed = int(improve(native(game), table.mine, table.theirs, table.actions))
        rounds.append(Round(sweeps, changed))
    return PolicySolution(game, table, time.perf_counter() - began, tuple(rounds))


def _evaluate(game: Game[Any], once: bool, own: bool, table: OpponentTable) -> int:
    """Sweep until nothing changes; return the number of sweeps."""
    sweeps, change = 0, 1.0
    while change > 0.0:
        watch = Watch()
        arguments = (native(game), once, own, table.actions, watch.stop, watch.progress, table.mine, table.theirs)
        change = float(watch.run([partial(evaluate, *arguments)])[0])
        sweeps += 1
    return sweeps


def _flags(game: Game[Any], opponent: str, objective: str) -> tuple[bool, bool]:
    """Return whether the opponent moves once and whether own points count alone; refuse what has no meaning."""
    if opponent not in OPPONENTS:
        raise unknown("opponent", opponent, OPPONENTS)
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, OBJECTIVES)
    if not game.has_size or game.has_outcomes:
        raise GameError(
            f"{type(game).__name__} does not number its states, or has chance; policy iteration needs it so"
        )
    if opponent == "uniform-once":
        if objective != "own":
            raise UnknownName("uniform-once earns nobody anything, so only the objective own has a meaning")
        if len({game.player(game.state(i)) for i in range(min(64, game.size()))}) > 1:
            raise GameError("uniform-once needs numbers that do not tell who moves")
    return opponent == "uniform-once", objective == "own"
