"""Policy iteration against a random opponent, for games that number their states.

    mine[i]      the value of state number i for the player when the player moves there
    theirs[i]    its value for the player when the opponent moves there

A policy is an action for each number.  It is evaluated by sweeps from the last number down to 0 until nothing
changes, then improved in every state; the iteration stops when no action changes.  Two opponents:

    uniform        makes random moves; it moves again whenever the rules allow it
    uniform-once   makes exactly one random move, without rewards, then the player moves

and two objectives:  ``difference``, the player's rewards minus the opponent's, or ``own``, the player's rewards
alone (and the result if it is positive).  Tied actions differ by at most 1e-9 * max(1, |best|); the smallest is
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import has, lowest, nonempty, popcount, without_lowest
from mdplay.checking.contract_checks import diagnose_position, number_of
from mdplay.compiling import State, inlined, kernel, native
from mdplay.errors import GameError, UnknownName, unknown
from mdplay.game import Game
from mdplay.runtime.memory import require
from mdplay.runtime.threads import Counters, Show, StopFlag, TaskGroup
from mdplay.solving.hashed_kernel import final_value
from mdplay.solving.values import Arrays, Question, StateValue, Table, slack
from mdplay.states.graph_search import Floats, Integers
from mdplay.states.keys import no_player

OBJECTIVES = ("difference", "own")
BYTES = 24  # of a state: two values and an action
FINE = -1  # no number: no rule is wrong


@inlined
def my_value(game: Game[Any], s: State, action: int, mine: Floats, theirs: Floats) -> float:
    """Return the value of an action for the player; ``their_value`` has checked the number of the successor."""
    t = game.step(s, action)
    gain = float(game.reward(s, action)) if game.has_reward else 0.0
    follow = mine[game.index(t)] if game.player(t) == game.player(s) else theirs[game.index(t)]
    return gain + float(follow)


@inlined
def their_value(game: Game[Any], s: State, i: int, once: bool, own: bool, mine: Floats, theirs: Floats) -> float:
    """Return the mean value of a random move of the opponent, for the player.

    NaN if an action does not lead to a higher number below the size, or if the player of the successor is not 0 or
    1.
    """
    mask = game.legal(s)
    total, count = 0.0, popcount(mask)
    while nonempty(mask):
        action = lowest(mask)
        mask = without_lowest(mask)
        t = game.step(s, action)
        j = game.index(t)
        if j <= i or j >= len(mine) or no_player(game, t):
            return np.nan
        if game.has_reward:
            points = float(game.reward(s, action))
            if not np.isfinite(points):
                return np.nan
            total -= 0.0 if own else points
        again = game.player(t) == game.player(s) and not once
        total += theirs[j] if again else mine[j]
    return total / count


@kernel(plain_first=True)
def evaluate(
    game: Game[Any],
    once: bool,
    own: bool,
    actions: Integers,
    stop: StopFlag,
    progress: Counters,
    out_mine: Floats,
    out_theirs: Floats,
) -> Any:
    """Sweep once from the last number to 0, in place; return the largest change of a value, and FINE.

    Return the number of the state instead of FINE if a rule is wrong.  ``their_value`` checks all actions of a
    state before the number of a successor is used.
    """
    change = 0.0
    for i in range(len(out_mine) - 1, -1, -1):
        s = game.state(i)
        if nonempty(game.legal(s)):
            new_theirs = their_value(game, s, i, once, own, out_mine, out_theirs)
            if np.isnan(new_theirs) or not has(game.legal(s), int(actions[i])):
                return change, i
            new_mine = my_value(game, s, int(actions[i]), out_mine, out_theirs)
        else:
            end = final_value(game, s)
            new_mine = max(end, 0.0) if own else end
            new_theirs = max(-end, 0.0) if own else -end
        if not (np.isfinite(new_mine) and np.isfinite(new_theirs)) or no_player(game, s):
            return change, i
        change = max(change, abs(new_mine - out_mine[i]), abs(new_theirs - out_theirs[i]))
        out_mine[i], out_theirs[i] = new_mine, new_theirs
        progress[0] += 1
        if stop[0]:
            break
    return change, FINE


@kernel(plain_first=True)
def improve(game: Game[Any], mine: Floats, theirs: Floats, out_actions: Integers) -> int:
    """Set the best action of every state, the smallest of those tied; return the number of changes."""
    changed = 0
    for i in range(len(mine)):
        s = game.state(i)
        mask = game.legal(s)
        best = -np.inf
        while nonempty(mask):
            best = max(best, my_value(game, s, lowest(mask), mine, theirs))
            mask = without_lowest(mask)
        mask = game.legal(s)
        while nonempty(mask) and my_value(game, s, lowest(mask), mine, theirs) < best - slack(best):
            mask = without_lowest(mask)
        if nonempty(mask) and lowest(mask) != out_actions[i]:
            out_actions[i] = lowest(mask)
            changed += 1
    return changed


@dataclass(frozen=True)
class Round:
    """One round of policy iteration: the sweeps of its evaluation and the number of actions that changed."""

    sweeps: int
    changed: int


class OpponentTable(Table):
    """The value of every number for the player, when the player moves and when the opponent moves.

    ``actions`` is the best policy, ``rounds`` are those of policy iteration.
    """

    method = "policy-iteration"

    def __init__(self, game: Game[Any]) -> None:
        self.game, self.rounds = game, list[Round]()
        self.mine: NDArray[np.float64] = np.zeros(game.size())
        self.theirs: NDArray[np.float64] = np.zeros(game.size())
        self.actions: NDArray[np.int64] = first_actions(game)

    def __len__(self) -> int:
        return len(self.mine)

    def lookup(self, state: State, player: int) -> StateValue:
        """Return the value of a state for a player whose opponent moves at random."""
        values = self.mine if player == self.game.player(state) else self.theirs
        return StateValue(float(values[number_of(self.game, state)]), None)

    def arrays(self) -> Arrays:
        """Return all states as arrays, with the actions of the best policy."""
        plays = np.array([self.plays(state) for state in self.states()])
        return {**super().arrays(), "actions": np.where(plays, self.actions, -1)}


def first_actions(game: Game[Any]) -> NDArray[np.int64]:
    """Return the policy to start from: the smallest action of each state, 0 if there is none."""
    legal = (game.legal(game.state(i)) for i in range(game.size()))
    return np.array([lowest(mask) if nonempty(mask) else 0 for mask in legal], np.int64)


def fill(question: Question) -> OpponentTable:
    """Return the value of every number for both players."""
    game, opponent, objective = question.game, question.opponent, question.objective
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, OBJECTIVES)
    if opponent == "uniform-once" and objective != "own":
        raise UnknownName("opponent uniform-once requires objective own: its moves earn no rewards")
    if opponent == "uniform-once" and len({game.player(game.state(i)) for i in range(min(64, game.size()))}) > 1:
        raise GameError("opponent uniform-once requires numbers that do not include the player to move")
    require(BYTES * game.size(), question.run.bytes, f"a table of {game.size():,} states")
    table, changed = OpponentTable(game), 1
    while changed:
        sweeps = _evaluate(game, opponent == "uniform-once", objective == "own", table, question.run.progress)
        changed = int(improve(native(game), table.mine, table.theirs, table.actions))
        table.rounds.append(Round(sweeps, changed))
    return table


def _evaluate(game: Game[Any], once: bool, own: bool, table: OpponentTable, show: Show | None) -> int:
    """Sweep until nothing changes; return the number of sweeps."""
    sweeps, change = 0, 1.0
    while change > 0.0:
        watch = TaskGroup(1, show)
        arguments = (native(game), once, own, table.actions, watch.stop, watch.progress, table.mine, table.theirs)
        change, at = watch.run([partial(evaluate, *arguments)])[0]
        if at != FINE:
            diagnose_position(game, game.state(int(at)))
            raise GameError(
                f"the value of state number {at} is too large, or a rule returns different results there"
            )
        sweeps += 1
    return sweeps
