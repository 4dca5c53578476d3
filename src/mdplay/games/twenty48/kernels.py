"""Learning of 2048 from the end of each episode, compiled: what differs from the learner of any game.

The methods td and tc are those of ``mdplay.learning.episodes``, online.  Backward, an episode is played to its end
and replayed from there, so that V(next) is taken after its own update:

    return = points + (1 - lambda) * V(next) + lambda * return of the next         error = return - V(this)

lambda 0 is TD(0).  Before-states, the boards on which the player moves, are learned in this way: their moves are
chosen by points plus the expectation over every tile that may pop up, and the finished board is worth 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mdplay.bits import U64
from mdplay.compiling import inlined, kernel
from mdplay.games.twenty48.moves import Evaluator, greedy_move, largest, pop_up, start
from mdplay.learning.episodes import Episodes, TrainingState, correct
from mdplay.learning.lookups import NetworkArrays, store_places, total
from mdplay.rng import advance, stream
from mdplay.runtime.threads import WorkSlice

MAX_MOVES = 1 << 18  # every tile that pops up adds at least 2 to a board, which holds at most 16 * 32768


@inlined
def played_episode(game: Any, evaluator: Evaluator, x: Any, out_boards: Any, out_points: Any) -> Any:
    """Play an episode and write down its boards and points; return the score, the moves and the last board."""
    board, x = start(game, x)
    score, moves = 0, 0
    while True:
        choice = greedy_move(game, evaluator, board)
        if choice.action < 0:
            return score, moves, board
        out_boards[moves] = int(board) if evaluator.before else int(choice.after.board)
        out_points[moves] = choice.points
        score += int(choice.points)
        moves += 1
        x = advance(x)
        board = pop_up(game, choice.after.board, x)


@inlined
def replay(
    training: TrainingState, before: bool, moves: int, boards: Any, points: Any, places: Any, rates: Any
) -> None:
    """Learn an episode from its end.  A move's points count for the board before it, not for the one after."""
    tables = training.tables
    step, decay = np.float32(training.rule.step), np.float32(training.rule.decay)
    following = target = np.float32(0)
    for t in range(moves - 1, -1, -1):
        if before:
            target = points[t] + (np.float32(1) - decay) * following + decay * target
        elif t < moves - 1:
            target = points[t + 1] + (np.float32(1) - decay) * following + decay * target
        store_places(tables.shape, U64(boards[t]), places)
        correct(training, step, places, target - total(tables, places), rates)
        following = total(tables, places)


@kernel
def train_backward(
    game: Any,
    training: TrainingState,
    network: NetworkArrays,
    before: bool,
    seed: Any,
    first: int,
    worker: WorkSlice,
    out: Episodes,
) -> None:
    """Learn every episode from the first on that is the worker's, in place; one entry of ``out`` each."""
    evaluator, places = Evaluator(network, before), network.places.now
    boards, points = np.zeros(MAX_MOVES, np.uint64), np.zeros(MAX_MOVES, np.float32)
    rates = np.zeros(len(places), np.float32)
    for i in range(worker.first, len(out.scores), worker.stride):
        if worker.stop[0]:
            return
        score, moves, last = played_episode(game, evaluator, stream(seed, first + i), boards, points)
        replay(training, before, moves, boards, points, places, rates)
        out.scores[i], out.highest[i], out.moves[i] = score, largest(last), moves
        worker.progress[worker.first] += moves
