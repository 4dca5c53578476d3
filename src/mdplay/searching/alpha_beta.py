"""The kernel of depth-limited search: alpha-beta over a stack of frames, expectation where chance moves.

Values are for player 0: player 0 raises the lower end of the window, player 1 lowers the upper end, after any
number of extra turns.  Chance averages its outcomes, each searched with an open
window, and costs no depth.

Where only the result counts, a guess has a unit of its own; a decided game is then worth result * (WIN + depth
left): beyond all guesses, a quick win above a slow one.  Where points are earned, guesses and results are points,
and so they are where ``plain`` asks for it: once nothing is guessed any more, chance may mix results as they are.

A position that the game has settled (``bounds``), if its knowledge is used, is decided as well, and counts less
than any win that is seen; of the others only the moves worth a search are tried.

The table of positions keeps value, kind of bound and best move of a position for one depth; an entry is used only
for just that depth, so a value means the same wherever it is found.  Positions of chance are kept as well: rows of
chance events repeat so often that without the table they would take far too long.

Chance costs no depth, so the height of the stack is not known beforehand.  A node without room above it ends
the kernel, which says so in ``counters[PLY]``: call it again with a longer stack and it goes on.  A value of the
game that cannot be searched (see broken.py) ends it as well, and is named in ``counters[BROKEN]``.

With ``asks`` a leaf is not guessed by the kernel.  If the table has no entry of depth 0 for it, the kernel ends
with ``counters[ASKED]`` and the ply of the leaf in ``counters[PLY]``; the caller writes the entry and calls it
again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import U64, Mask, covers, lowest, mix, nonempty, without_lowest
from mdplay.checking.contract_checks import BOUNDS_LISTED, LARGEST, NUMBERS, PLAYER, PROBABILITY, SUM_ERROR
from mdplay.compiling import Packed, State, inlined, kernel, load, pack, unchecked_view, unpack
from mdplay.game import Bounds, Game
from mdplay.learning.lookups import NetworkArrays, best_value
from mdplay.runtime.threads import StopFlag
from mdplay.searching.tree import bounds_of, is_settled

WIN = 1e6
LARGEST_GUESS = WIN / 2
MAX, MIN, CHANCE = range(3)
EXACT, AT_LEAST, AT_MOST = range(1, 4)

FRAME_FIELDS = [
    ("alpha", np.float64),
    ("beta", np.float64),
    ("floor", np.float64),  # alpha and beta as the node was given them
    ("ceiling", np.float64),
    ("best", np.float64),  # value so far; at a chance node the average so far
    ("gain", np.float64),  # points to player 0 of the move being tried; at a chance node the probability so far
    ("share", np.float64),  # probability of the outcome being tried
    ("key", np.int64),
    ("guesses", np.int64),  # counted before this node
    ("depth", np.int32),  # moves left
    ("count", np.int32),  # moves to try
    ("tried", np.int32),
    ("kind", np.uint8),
    ("action", np.uint16),  # best so far
]
ENTRY_FIELDS = [
    ("key", np.int64),
    ("best", np.float64),
    ("depth", np.int16),
    ("bound", np.uint8),  # 0: empty
    ("guess", np.uint8),  # 1: the value rests on guesses
    ("action", np.uint16),
]
FRAME, ENTRY = (np.dtype((np.record, np.dtype(fields, align=True))) for fields in (FRAME_FIELDS, ENTRY_FIELDS))
NODES, GUESSES, PLY, BROKEN, ASKED, COUNTERS = range(6)
NONE, UNSORTED = (1 << 16) - 1, -1  # no move is the favourite; nor does the order matter


Table = NDArray[Any]
Counters = NDArray[np.int64]


def new_table(bits: int) -> Table:
    """Return an empty table of 2**bits positions."""
    return np.zeros(1 << bits, ENTRY)


class Stack(NamedTuple):
    """The nodes on the way, one a ply: frames, packed states, moves to try."""

    frames: NDArray[Any]
    states: NDArray[np.uint64]
    moves: NDArray[np.uint16]


class DepthSettings(NamedTuple):
    """The settings of a search for the kernel."""

    depth: int
    knowledge: bool
    plain: bool  # values are results as they are
    max_nodes: int
    asks: bool  # the values of leaves are those of an evaluator, and the table gets them from the caller


def new_stack(plies: int, width: int, size: int) -> Stack:
    """Return frames, states and moves for a search of ``plies`` plies, moves and chance events counted.

    A state has ``width`` words, a mask at most ``size`` elements.
    """
    return Stack(np.zeros(plies, FRAME), np.zeros((plies, width), np.uint64), np.zeros((plies, size), np.uint16))


def longer_stack(stack: Stack) -> Stack:
    """Return a stack of twice as many plies that begins with what a stack holds."""
    plies = len(stack.frames)
    longer = new_stack(2 * plies, stack.states.shape[1], stack.moves.shape[1])
    longer.frames[:plies], longer.states[:plies], longer.moves[:plies] = stack
    return longer


@inlined
def key_of(game: Game[Any], s: State) -> int:
    """Return a hash of a state: 63 bits, which fit an int plain and compiled."""
    packed = pack(game, s)
    h = U64(0)
    for i in range(len(packed)):
        h = mix(h, packed[i] + i)
    return int(h >> 1)


@kernel(plain_first=True, writes=False)
def hash_of(game: Game[Any], start: Packed) -> int:
    """Return a packed state's key in the table."""
    return key_of(game, unpack(game, start))


@kernel(plain_first=True)
def search_value(
    game: Game[Any],
    start: Packed,
    settings: DepthSettings,
    network: NetworkArrays | None,
    table: Table,
    stack: Stack,
    stop: StopFlag,
    counters: Counters,
) -> float:
    """Return the value of a state for player 0 at a depth; count nodes and guesses.

    NaN: it was stopped, has seen ``max_nodes``, needs a longer stack (``counters[PLY]`` is not 0) or the value of
    a leaf (``counters[ASKED]`` is not 0), or met what cannot be searched.
    """
    # All indices are inside: frames, states and moves are of one length, and every ply is below it, which is
    # asked before each push; a row of moves holds the widest mask; keys are masked by the table's length, a power
    # of two.
    table, stack = unchecked_view((table, stack))
    ply = counters[PLY]
    counters[PLY] = 0
    counters[ASKED] = 0
    if ply == 0:
        push(game, unpack(game, start), stack, 0, settings.depth, -math.inf, math.inf)
    while not stop[0] and not counters[BROKEN] and counters[NODES] < settings.max_nodes:
        value = open_node(game, settings, network, table, stack, ply, counters)
        if counters[ASKED]:  # the leaf will be opened again
            counters[PLY] = ply
            counters[NODES] -= 1
            return math.nan
        while not math.isnan(value):  # the node at this ply is done: hand its value to the node above
            if ply == 0:
                return value
            ply -= 1
            value = absorb(stack, ply, value)
            if not math.isnan(value):
                remember(table, stack.frames[ply], counters)
        if ply + 1 >= len(stack.frames):  # none of its moves was tried yet: it will be opened anew
            counters[PLY] = ply
            counters[NODES] -= 1
            return math.nan
        enter(game, stack, ply, counters)
        ply += 1
    return math.nan


@inlined
def push(game: Game[Any], s: State, stack: Stack, ply: int, depth: int, alpha: float, beta: float) -> None:
    """Put a state on the stack, to be searched within a window."""
    packed = pack(game, s)
    for i in range(len(packed)):
        stack.states[ply, i] = packed[i]
    frame = stack.frames[ply]
    frame.depth = depth
    frame.alpha = alpha
    frame.beta = beta


@inlined
def open_node(
    game: Game[Any],
    settings: DepthSettings,
    network: NetworkArrays | None,
    table: Table,
    stack: Stack,
    ply: int,
    counters: Counters,
) -> float:
    """Begin the node at a ply: its value if that is known at once, else NaN with its moves listed."""
    s, frame, moves = load(game, stack.states, ply), stack.frames[ply], stack.moves[ply]
    counters[NODES] += 1
    frame.tried = 0
    frame.guesses = counters[GUESSES]
    frame.floor = frame.alpha
    frame.ceiling = frame.beta
    chance = game.has_outcomes and nonempty(game.outcomes(s))
    mask, bounds = game.legal(s), bounds_of(game, s, settings.knowledge)
    if not chance:
        value = at_once(game, s, mask, bounds, settings, network, frame.depth, counters)
        if not math.isnan(value):
            return value
    frame.key = key_of(game, s)
    known, favourite = recall(table, frame, counters)
    if not math.isnan(known):
        return known
    if settings.asks and frame.depth == 0 and not chance:
        counters[ASKED] = 1
        return math.nan
    if chance:
        frame.kind = CHANCE
        frame.best = 0.0
        frame.gain = 0.0
        frame.count = list_moves(game, s, game.outcomes(s), UNSORTED, moves)
        return math.nan
    player = game.player(s)
    if player != 0 and player != 1:
        counters[BROKEN] = PLAYER
    frame.kind = MIN if player else MAX
    frame.best = math.inf if frame.kind == MIN else -math.inf
    if game.has_bounds and nonempty(bounds.moves):
        if not covers(mask, bounds.moves):
            counters[BROKEN] = BOUNDS_LISTED
            return 0.0
        frame.count = list_moves(game, s, bounds.moves, favourite, moves)
    else:
        frame.count = list_moves(game, s, mask, favourite, moves)
    return math.nan


@inlined
def at_once(
    game: Game[Any],
    s: State,
    mask: Mask,
    bounds: Bounds,
    settings: DepthSettings,
    network: NetworkArrays | None,
    depth: int,
    counters: Counters,
) -> float:
    """Return the value of a state, not one of chance, if the game tells it or the depth ends here; else NaN."""
    if not nonempty(mask):
        return number(float(game.result(s)), counters) * (
            1.0 if game.has_reward or settings.plain else WIN + depth
        )
    if is_settled(bounds):
        return float(bounds.low) * (1.0 if game.has_reward or settings.plain else WIN)
    if depth == 0 and not settings.asks:
        counters[GUESSES] += 1
        return min(max(number(guess(game, network, s), counters), -LARGEST_GUESS), LARGEST_GUESS)
    return math.nan


@inlined
def guess(game: Game[Any], network: NetworkArrays | None, s: State) -> float:
    """Return what a state is held to be worth to player 0: by the game's heuristic, or by a network if given."""
    if network is None:
        return float(game.heuristic(s))
    return float(best_value(game, network.tables, s, network.places))


@inlined
def number(value: float, counters: Counters) -> float:
    """Return a value of the game; one that is NaN or too large to add up ends the search and counts as 0."""
    if abs(value) <= LARGEST:
        return value
    counters[BROKEN] = NUMBERS
    return 0.0


@inlined
def list_moves(game: Game[Any], s: State, mask: Mask, favourite: int, out_moves: NDArray[np.uint16]) -> int:
    """List the elements of a mask: the favourite first, then by the game's order; return how many.

    An insertion sort: there are few, and mostly in order.  The room is that of the widest mask.
    """
    count = 0
    while nonempty(mask):
        action = lowest(mask)
        mask = without_lowest(mask)
        i = count
        if favourite != UNSORTED:
            while i > 0 and comes_before(game, s, action, int(out_moves[i - 1]), favourite):
                out_moves[i] = out_moves[i - 1]
                i -= 1
        out_moves[i] = action
        count += 1
    return count


@inlined
def comes_before(game: Game[Any], s: State, action: int, other: int, favourite: int) -> Any:
    """Return whether an action is to be tried before another, smaller one."""
    if other == favourite:
        return False
    if action == favourite:
        return True
    return game.has_order and game.order(s, action) > game.order(s, other)


@inlined
def enter(game: Game[Any], stack: Stack, ply: int, counters: Counters) -> None:
    """Put the state after the next move of the node at a ply on the stack, which has room for it."""
    s, frame = load(game, stack.states, ply), stack.frames[ply]
    action = int(stack.moves[ply, frame.tried])
    frame.tried += 1
    if frame.kind == CHANCE:
        frame.share = game.probability(s, action)
        frame.gain += frame.share
        last = frame.tried == frame.count
        if not frame.share > 0.0 or not frame.gain <= 1.0 + SUM_ERROR or (last and frame.gain < 1.0 - SUM_ERROR):
            counters[BROKEN] = PROBABILITY
        push(game, game.outcome(s, action), stack, ply + 1, frame.depth, -math.inf, math.inf)
        return
    frame.gain = 0.0
    if game.has_reward:
        points = game.reward(s, action)
        if not abs(points) <= LARGEST:
            counters[BROKEN] = NUMBERS
        frame.gain = -points if frame.kind == MIN else points
    after = game.step(s, action)
    push(game, after, stack, ply + 1, frame.depth - 1, frame.alpha - frame.gain, frame.beta - frame.gain)


@inlined
def absorb(stack: Stack, ply: int, value: float) -> float:
    """Take in the value of the move tried at a ply; return the node's value if it is done, else NaN."""
    frame = stack.frames[ply]
    if frame.kind == CHANCE:
        frame.best += frame.share * value
    else:
        value += frame.gain
        if value > frame.best if frame.kind == MAX else value < frame.best:
            frame.best = value
            frame.action = stack.moves[ply, frame.tried - 1]
        if frame.kind == MAX:
            frame.alpha = max(frame.alpha, value)
        else:
            frame.beta = min(frame.beta, value)
    cut = frame.kind != CHANCE and frame.alpha >= frame.beta
    return float(frame.best) if cut or frame.tried == frame.count else math.nan


@inlined
def remember(table: Table, frame: Any, counters: Counters) -> None:
    """Write a finished node into the table, over whatever was there; one of chance is exact, its window open."""
    entry = table[frame.key & len(table) - 1]
    entry.key = frame.key
    entry.best = frame.best
    entry.depth = frame.depth
    entry.action = frame.action
    entry.guess = counters[GUESSES] > frame.guesses
    if frame.best >= frame.ceiling:
        entry.bound = AT_LEAST
    else:
        entry.bound = AT_MOST if frame.best <= frame.floor else EXACT


@inlined
def recall(table: Table, frame: Any, counters: Counters) -> tuple[float, int]:
    """Return what the table knows: the value if it settles the node, else NaN; the best move or NONE."""
    entry = table[frame.key & len(table) - 1]
    if entry.bound == 0 or entry.key != frame.key:
        return math.nan, NONE
    if entry.depth == frame.depth:
        high_enough = entry.bound == AT_LEAST and entry.best >= frame.beta
        low_enough = entry.bound == AT_MOST and entry.best <= frame.alpha
        if entry.bound == EXACT or high_enough or low_enough:
            counters[GUESSES] += entry.guess
            return float(entry.best), NONE
    return math.nan, int(entry.action)
