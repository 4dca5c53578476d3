"""Play by a network: greedy, or looking further ahead by expectimax.

    best(board, 1) = the greedy move's points + value                          0 where no move is left
    best(board, d) = max over the moves of  points + mean over the tiles that pop up of best(next board, d - 1)

The search keeps a stack of levels instead of calling itself.  A level is a board to move on, the move under
trial, and the tiles that chance has not placed yet.  Means are remembered in a table by the board after the move
and the depth still to go; an entry is taken only if both are the same, so the table changes the speed and never
the answer.  Every thread has a table of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import U64, lowest, mix, nonempty, without_lowest
from mdplay.compiling import inlined, kernel, unpack
from mdplay.games.twenty48.moves import BoardNetwork, Games, greedy_move, largest, pop_up, start
from mdplay.learning.lookups import NO_MOVE
from mdplay.rng import advance, stream
from mdplay.runtime.threads import WorkSlice


class Stack(NamedTuple):
    """The levels of a search, the root first; an array each."""

    board: Any  # to move on
    after: Any  # after the move under trial
    left: Any  # outcomes of chance not yet tried there
    mean: Any  # of those tried, weighed by their probability
    action: Any  # under trial
    points: Any  # of that action
    best: Any  # total so far
    chosen: Any  # action with that total, -1 none


class Memory(NamedTuple):
    """A table of means: board after the move, depth still to go, mean."""

    board: Any
    depth: Any
    mean: Any


@inlined
def new_stack(levels: int) -> Any:
    """Return an empty stack."""
    boards = np.zeros((3, levels), np.uint64)
    numbers = np.zeros((3, levels), np.int64)
    values = np.zeros((2, levels), np.float32)
    return Stack(boards[0], boards[1], boards[2], values[0], numbers[0], numbers[1], values[1], numbers[2])


@inlined
def new_memory(bits: int) -> Any:
    """Return an empty table of 2 ** bits entries."""
    return Memory(np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.uint8), np.zeros(1 << bits, np.float32))


@inlined
def slot(memory: Any, after: Any, depth: int) -> Any:
    """Return the place of a board and depth in the table."""
    return mix(after, depth) & len(memory.board) - 1


@inlined
def enter(stack: Any, level: int, board: Any) -> None:
    """Begin a level: no move tried yet."""
    stack.board[level] = int(board)
    stack.action[level] = 0
    stack.best[level] = NO_MOVE
    stack.chosen[level] = -1


@inlined
def back_up(stack: Any, level: int, mean: Any) -> None:
    """End the trial of a move: note it if it is the best so far, and go on to the next."""
    total = np.float32(stack.points[level]) + mean
    if total > stack.best[level]:
        stack.best[level] = total
        stack.chosen[level] = stack.action[level]
    stack.action[level] += 1


@inlined
def try_move(game: Any, memory: Any, stack: Any, level: int, depth: int) -> None:
    """Begin the trial of a level's next move; one that is illegal or in the table is backed up at once."""
    board = U64(stack.board[level])
    pushed, points = game.push(board, stack.action[level])
    if pushed == board:
        stack.action[level] += 1
        return
    stack.points[level] = points
    place = slot(memory, pushed, depth)
    if memory.board[place] == pushed and memory.depth[place] == depth:
        back_up(stack, level, memory.mean[place])
        return
    stack.after[level] = int(pushed)
    stack.left[level] = int(game.outcomes(unpack(game, (pushed, 1))))
    stack.mean[level] = 0


@inlined
def take_outcome(game: Any, memory: Any, stack: Any, level: int, depth: int, value: Any) -> None:
    """Weigh in the value of a level's first outcome left; after the last one remember the mean."""
    after, left = U64(stack.after[level]), U64(stack.left[level])
    chance = np.float32(game.probability(unpack(game, (after, 1)), lowest(left)))
    stack.mean[level] += chance * value
    left = without_lowest(left)
    stack.left[level] = int(left)
    if not nonempty(left):
        place = int(slot(memory, after, depth))
        memory.board[place], memory.depth[place], memory.mean[place] = int(after), depth, stack.mean[level]
        back_up(stack, level, stack.mean[level])


@inlined
def search(
    game: Any, evaluator: BoardNetwork, memory: Memory, stack: Stack, board: Any, depth: int, stop: Any
) -> Any:
    """Return the best move at a depth of two or more, -1 if there is none; its total is ``stack.best[0]``.

    Levels stay below depth - 1, and the stack has depth of them.  Once stopped, its results are invalid.
    """
    enter(stack, 0, board)
    level = 0
    while not stop[0]:
        if nonempty(U64(stack.left[level])):
            s = unpack(game, (U64(stack.after[level]), 1))
            following = game.outcome(s, lowest(U64(stack.left[level]))).board
            if level < depth - 2:
                level += 1
                enter(stack, level, following)
                continue
            choice = greedy_move(game, evaluator, following)
            value = choice.total if choice.action >= 0 else np.float32(0)
            take_outcome(game, memory, stack, level, depth - level, value)
        elif stack.action[level] < 4:
            try_move(game, memory, stack, level, depth - level)
        elif level == 0:
            return stack.chosen[0]
        else:
            value = stack.best[level] if stack.chosen[level] >= 0 else np.float32(0)
            level -= 1
            take_outcome(game, memory, stack, level, depth - level, value)
    return stack.chosen[0]


@inlined
def choose(
    game: Any, evaluator: BoardNetwork, memory: Memory, stack: Stack, board: Any, depth: int, stop: Any
) -> Any:
    """Return the move for a board and its total; -1 where no move is left."""
    if depth > 1:
        action = search(game, evaluator, memory, stack, board, depth, stop)
        return action, stack.best[0]
    choice = greedy_move(game, evaluator, board)
    return choice.action, choice.total


@kernel
def choose_once(
    game: Any, evaluator: BoardNetwork, memory: Memory, board: Any, depth: int, stop: Any, out: Any
) -> Any:
    """Return the move for one board, -1 if there is none; write its total to ``out`` and fill the table."""
    stack = new_stack(max(1, depth))
    action, total = choose(game, evaluator, memory, stack, U64(board), depth, stop)
    out[0] = total
    return action


@kernel
def play_games(
    game: Any, evaluator: BoardNetwork, depth: int, bits: int, seed: Any, first: int, worker: WorkSlice, out: Games
) -> None:
    """Play every game from the first on that is the worker's; one entry of ``out`` each."""
    stack, memory = new_stack(depth), new_memory(bits)
    for i in range(worker.first, len(out.scores), worker.stride):
        board, x = start(game, stream(seed, first + i))
        score, moves = 0, 0
        while True:
            action, _ = choose(game, evaluator, memory, stack, board, depth, worker.stop)
            if worker.stop[0]:
                return
            if action < 0:
                break
            board, points = game.push(board, action)
            score += points
            moves += 1
            worker.progress[worker.first] += 1
            x = advance(x)
            board = pop_up(game, board, x)
        out.scores[i], out.tiles[i], out.moves[i] = score, largest(board), moves
