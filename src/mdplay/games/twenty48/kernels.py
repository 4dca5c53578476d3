"""Temporal-difference learning of 2048, compiled: whole episodes of play and update.

After-states: a move is chosen by its points plus V(board before the tile pops up).  Online, the value of the
last after-state is corrected as soon as the next move is chosen:

    error = points of the next move + V(next after-state) - V(last after-state)           0 after the last move

TD spreads alpha * error evenly over the look-ups.  Temporal coherence (TC, Beal and Smith 1999) gives each
weight a rate of its own, |sum of its errors| / sum of their sizes, that falls where errors change their sign;
its V(last) is computed anew before the update: with the value known from the choice, learning with alpha 1
collapses on one seed in four.

Backward, an episode is played to its end and replayed from there, so that V(next) is taken after its own update:

    return = points + (1 - lambda) * V(next) + lambda * return of the next         error = return - V(this)

lambda 0 is TD(0).  Before-states, the boards on which the player moves, are learned in this way: their moves are
chosen by points plus the expectation over every tile that may pop up, and the finished board is worth 0.

Episode number e of a seed has a random stream of its own: an interrupted run goes on as if nothing had happened.
Several threads share the weights without locks (Recht et al. 2011); only one thread repeats to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import U64
from mdplay.compiling import inlined, kernel, prefetch, unchecked_view
from mdplay.game import Compiled
from mdplay.games.twenty48.moves import Evaluator, Games, best_move, greedy_move, largest, pop_up, start, turn
from mdplay.games.twenty48.network import add_to, places_of, total_of
from mdplay.rng import advance, stream
from mdplay.runtime.threads import WorkSlice

MAX_MOVES = 1 << 18  # every tile that pops up adds at least 2 to a board, which holds at most 16 * 32768


@dataclass(frozen=True)
class Rule(Compiled):
    """How to learn: on before-states or after-states, backward or online, with temporal coherence or without."""

    before: bool = False
    backward: bool = False
    coherent: bool = False


class Pace(NamedTuple):
    """How fast to learn: the step of each look-up, and lambda."""

    step: Any
    decay: Any


@inlined
def correct(rule: Any, weights: Any, coherence: Any, places: Any, step: Any, error: Any) -> None:
    """Move the weights at the places by step * error, each at its own rate if the rule is coherent."""
    if not rule.coherent:
        add_to(weights, places, step * error)
        return
    size = abs(error)
    for j in range(len(places)):
        i = places[j]
        total, absolute = coherence[i, 0], coherence[i, 1]
        weights[i] += step * error * (abs(total) / absolute)
        coherence[i, 0] = total + error
        coherence[i, 1] = absolute + size


@inlined
def online_episode(game: Any, evaluator: Evaluator, coherence: Any, step: Any, x: Any, places: Any) -> Any:
    """Play an episode, learning after-states on the way; return the score, the moves and the last board."""
    net, rule, weights, rows = evaluator
    ahead = unchecked_view(coherence.reshape(-1))
    board, x = start(game, x)
    score, moves, value = 0, 0, np.float32(0)
    while True:
        choice = best_move(game, net, weights, rows, board)
        target = choice.total if choice.action >= 0 else np.float32(0)
        if moves > 0:
            known = total_of(net, weights, places) if rule.coherent else value
            correct(rule, weights, coherence, places, step, target - known)
        if choice.action < 0:
            return score, moves, board
        value = choice.total - np.float32(choice.points)
        places_of(net, choice.board, choice.turned, places)
        if rule.coherent:
            for i in range(len(places)):
                prefetch(ahead, 2 * places[i])
        score += choice.points
        moves += 1
        x = advance(x)
        board = pop_up(game, choice.board, x)


@inlined
def played_episode(game: Any, evaluator: Evaluator, x: Any, out_boards: Any, out_points: Any) -> Any:
    """Play an episode and write down its boards and points; return the score, the moves and the last board."""
    board, x = start(game, x)
    score, moves = 0, 0
    while True:
        choice = greedy_move(game, evaluator, board)
        if choice.action < 0:
            return score, moves, board
        out_boards[moves] = int(board) if evaluator.rule.before else int(choice.board)
        out_points[moves] = choice.points
        score += choice.points
        moves += 1
        x = advance(x)
        board = pop_up(game, choice.board, x)


@inlined
def replay(
    evaluator: Evaluator, coherence: Any, pace: Pace, moves: int, boards: Any, points: Any, places: Any
) -> None:
    """Learn an episode from its end.  A move's points count for the board before it, not for the one after."""
    net, rule, weights, _ = evaluator
    step, decay = pace
    following = goal = np.float32(0)
    for t in range(moves - 1, -1, -1):
        if rule.before:
            goal = np.float32(points[t]) + (np.float32(1) - decay) * following + decay * goal
        elif t < moves - 1:
            goal = np.float32(points[t + 1]) + (np.float32(1) - decay) * following + decay * goal
        board = U64(boards[t])
        places_of(net, board, turn(net, board), places)
        correct(rule, weights, coherence, places, step, goal - total_of(net, weights, places))
        following = total_of(net, weights, places)


@kernel
def train(
    game: Any,
    evaluator: Evaluator,
    coherence: Any,
    pace: Pace,
    seed: Any,
    first: int,
    worker: WorkSlice,
    out: Games,
) -> None:
    """Learn every episode from the first on that is the worker's, in place; one entry of ``out`` each."""
    rule = evaluator.rule
    places = np.zeros(evaluator.net.num_lookups, np.uint32)
    size = MAX_MOVES if rule.backward else 1
    boards, points = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    for i in range(worker.first, len(out.scores), worker.stride):
        if worker.stop[0]:
            return
        x = stream(seed, first + i)
        if rule.backward:
            score, moves, last = played_episode(game, evaluator, x, boards, points)
            replay(evaluator, coherence, pace, moves, boards, points, places)
        else:
            score, moves, last = online_episode(game, evaluator, coherence, pace.step, x, places)
        out.scores[i], out.tiles[i], out.moves[i] = score, largest(last), moves
        worker.progress[worker.first] += moves
