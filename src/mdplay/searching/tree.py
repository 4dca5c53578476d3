"""A search tree in one growing array of records, and the descent that both ways of expansion share.

Node 0 is the root.  The children of a node are a stretch of the array, one for each action (or outcome of
chance) in ascending order; they are the arms of a bandit.

    node     0 | 1  2  3  4  5  6  7 | 8  9 10 ...
             ^   children of the root   children of node 3
    first    1 | 0  0  8  0 ...               kids  7 | 0 0 7 0 ...

A node's mean value is for the player who moved into it, so that all children of a node agree, also where a
player moves twice.  The states are not kept: a descent makes the moves again, which is quicker than memory.

What a game knows of a position, for the searches that play.

A game with ``bounds`` settles positions without a search (a forced win, say) and names the moves to search.
In the kernels of games without it nothing is left of this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mdplay.bits import Mask, lowest, nonempty, popcount, without_lowest
from mdplay.checking.contract_checks import DRAW, LARGEST, NUMBERS, PLAYER
from mdplay.compiling import State, Word, inlined, kernel, pack
from mdplay.compiling.contract import mask_size
from mdplay.game import Bounds, Game
from mdplay.rng import advance, scramble, stream
from mdplay.runtime.threads import WorkSlice
from mdplay.searching.selecting import ARM_FIELDS, OPEN, REPEATED, Records, Scale, select
from mdplay.searching.selectors import Selector
from mdplay.states.game_length import has_margins, may_repeat


@inlined
def bounds_of(game: Game[Any], s: State, knowledge: bool) -> Any:
    """Return what the game knows of a state, if that is wanted and a player moves; else bounds that are open."""
    chance = game.has_outcomes and nonempty(game.outcomes(s))
    if game.has_bounds and knowledge and not chance and nonempty(game.legal(s)):
        return game.bounds(s)
    return Bounds(0, 1, 0)


@inlined
def is_settled(bounds: Bounds) -> bool:
    """Return whether the value is known."""
    return bool(bounds.low == bounds.high)


@inlined
def names_the_move(bounds: Bounds) -> bool:
    """Return whether the value is known, and the move that keeps it too: the only one listed."""
    return bool(
        bounds.low == bounds.high and nonempty(bounds.moves) and not nonempty(without_lowest(bounds.moves))
    )


MAX_DEPTH = 1024  # a descent that gets here goes on as a rollout
BLOCK = 128  # room for the children of a node; masks of many words may take more
MOST_NODES = (1 << 31) - 1  # numbers of nodes are int32
FIRST_ROOM = 1 << 12  # more than the root and the elements of any mask

NODE_FIELDS = [
    *ARM_FIELDS,
    ("kids", np.uint16),  # how many children; 0: none yet
    ("action", np.uint16),  # the action, or outcome of chance, that leads into the node
    ("first", np.int32),  # the first child
]
STEP_FIELDS = [
    ("gain", np.float64),  # points to player 0
    ("node", np.int32),  # where the step leads
    ("sign", np.int8),  # who made it: +1 player 0, -1 player 1
]
TALLY_FIELDS = [
    ("nodes", np.int64),  # in use
    ("done", np.int64),  # simulations
    ("low", np.float64),  # the lowest and highest value to player 0 met so far
    ("high", np.float64),
    ("broken", np.int64),  # the promise that the game broke; 0: none
    ("max_moves", np.int64),  # after which a rollout is truncated
    ("by_limit", np.int64),  # rollouts that were
    ("repeats", np.int64),  # whether positions may repeat
    ("margins", np.int64),  # whether there are results beyond -1 .. 1: a win may not be the best that can be
]
NODE, STEP, TALLY = (
    np.dtype((np.record, np.dtype(fields, align=True))) for fields in (NODE_FIELDS, STEP_FIELDS, TALLY_FIELDS)
)


class TreeArrays(NamedTuple):
    """A tree as kernels have it: its nodes, one tally, and the path of a descent."""

    nodes: Records
    tally: Records
    path: Records


class SearchSettings(NamedTuple):
    """The settings of a search for kernels; without ``grows`` the tree has all the room that it will ever have."""

    seed: Word
    simulations: int
    solver: bool
    knowledge: bool
    grows: bool


class Leaf(NamedTuple):
    """Where a descent has ended: the state, its depth, the random state, whether it may have children.

    ``depth`` is negative if the kernel has to return: for more room, or because the game broke a promise.
    """

    state: State
    depth: int
    x: Word
    room: bool


def new_path() -> Records:
    """Return room for one descent and a step beyond; entry 0 stands for the root."""
    return np.zeros(MAX_DEPTH + 2, STEP)


# ---------------------------------------------------------------- one simulation
@inlined
def is_open(tree: TreeArrays, settings: SearchSettings) -> bool:
    """Return whether simulations are left, and something to find out."""
    return bool(tree.tally[0].done < settings.simulations and not tree.nodes[0].proof)


@inlined
def next_leaf(
    game: Game[Any], selector: Selector, tree: TreeArrays, root: State, settings: SearchSettings
) -> Leaf:
    """Begin the next simulation: descend to a leaf."""
    leaf = descend(game, selector, tree, root, stream(settings.seed, tree.tally[0].done))
    if (settings.grows and not leaf.room) or tree.tally[0].broken:
        return Leaf(leaf.state, -1, leaf.x, leaf.room)  # the same descent again when there is more room
    return leaf


@inlined
def end_simulations(tree: TreeArrays, worker: WorkSlice, count: int) -> bool:
    """Count simulations; return whether the search is to stop."""
    tree.tally[0].done += count
    worker.progress[worker.first] += count
    return bool(worker.stop[0])


@inlined
def has_room(tree: TreeArrays, count: int) -> bool:
    """Return whether ``count`` more nodes fit."""
    return bool(tree.tally[0].nodes + count <= len(tree.nodes))


@inlined
def expand(tree: TreeArrays, node: int, mask: Mask, weight: float) -> None:
    """Give a node a child for each element of the mask, for which there is room; none if the mask is empty."""
    nodes, tally = tree.nodes, tree.tally
    size = int(tally[0].nodes)
    nodes[node].first = size
    while nonempty(mask):
        nodes[size].action = lowest(mask)
        nodes[size].weight = weight
        mask = without_lowest(mask)
        size += 1
    nodes[node].kids = size - nodes[node].first
    tally[0].nodes = size


@inlined
def scale_for(player: int, tally: Records) -> Scale:
    """Return how a selector sees the values of a player: low .. high as 0 .. 1; as they are if that is empty."""
    low, high = tally[0].low, tally[0].high
    if not high > low:
        return Scale(0.0, 1.0)
    return Scale(-high if player else low, 1.0 / (high - low))


@inlined
def choose(selector: Selector, tree: TreeArrays, node: int, player: int, x: Word) -> Any:
    """Return the child that a simulation enters: the first without a visit, else the selector's.

    A selector with priors compares children without a visit as well.
    """
    nodes = tree.nodes
    first = int(nodes[node].first)
    last = first + int(nodes[node].kids)
    if nodes[last - 1].pulls == 0 and not selector.priors:
        while nodes[first].pulls:
            first += 1
        return first
    return select(selector, nodes, first, last, int(nodes[node].pulls), scale_for(player, tree.tally), scramble(x))


@inlined
def enter(game: Game[Any], tree: TreeArrays, depth: int, s: State, k: int) -> Any:
    """Note a move into child k at this depth of the path, at most MAX_DEPTH + 1; return the state after it."""
    nodes, tally, path = tree
    action = int(nodes[k].action)
    player = game.player(s)
    if player != 0 and player != 1:
        tally[0].broken = PLAYER
    sign = -1 if player else 1
    path[depth].node = k
    path[depth].sign = sign
    if game.has_reward:
        points = game.reward(s, action)
        if not abs(points) <= LARGEST:
            tally[0].broken = NUMBERS
        path[depth].gain = sign * points
    return game.step(s, action)


@inlined
def enter_by_chance(game: Game[Any], tree: TreeArrays, depth: int, s: State, node: int, x: Word) -> Any:
    """Draw an outcome of chance, note it at this depth of the path and return the state after it."""
    nodes, tally, path = tree
    i = game.draw(s, scramble(x))
    k = int(nodes[node].first)
    last = k + int(nodes[node].kids) - 1
    while nodes[k].action != i and k < last:
        k += 1
    if nodes[k].action != i:
        tally[0].broken = DRAW
        i = int(nodes[k].action)
    path[depth].node = k
    path[depth].sign = 1
    path[depth].gain = 0.0
    return game.outcome(s, i)


@inlined
def descend(game: Game[Any], selector: Selector, tree: TreeArrays, s: State, x: Word) -> Leaf:
    """Walk from the root to a node without children, proven or repeated.

    Chance nodes get their children in passing, while there is room.
    """
    nodes = tree.nodes
    depth, node = 0, 0
    while depth < MAX_DEPTH and not nodes[node].proof:
        chance = game.has_outcomes and nonempty(game.outcomes(s))
        if nodes[node].kids == 0:
            if not (chance and has_room(tree, popcount(game.outcomes(s)))):
                break
            expand(tree, node, game.outcomes(s), 0.0)
        x = advance(x)
        depth += 1
        if chance:
            s = enter_by_chance(game, tree, depth, s, node, x)
        else:
            s = enter(game, tree, depth, s, choose(selector, tree, node, game.player(s), x))
        node = int(tree.path[depth].node)
    return Leaf(s, depth, x, has_room(tree, max(BLOCK, mask_size(game))))


@inlined
def is_repeated(game: Game[Any], tree: TreeArrays, root: State, s: State, depth: int) -> bool:
    """Return whether the state at the end of the path was met on it before; its node is then marked as such.

    Its value is ``endless`` there, because a cycle can be repeated.  A node has one path, so the mark is
    final.  Chance can break a cycle: games with chance have no marks.
    """
    nodes, tally, path = tree
    if game.has_outcomes or not tally[0].repeats:
        return False
    k, wanted, earlier = int(path[depth].node), pack(game, s), root
    for d in range(1, depth + 1):
        if nodes[k].proof == OPEN and pack(game, earlier) == wanted:
            nodes[k].proof = REPEATED
            nodes[k].value = path[depth].sign * (game.endless + path[depth].gain)
        earlier = game.step(earlier, int(nodes[int(path[d].node)].action))
    return bool(nodes[k].proof == REPEATED)


@kernel(plain_first=True)
def copy_subtree(nodes: Records, node: int, out_nodes: Records) -> int:
    """Copy a node with all below it into an empty array with room enough, as its root; return the size.

    Blocks are copied breadth first; until its turn comes a copy's ``first`` still points into the source.
    """
    out_nodes[0] = nodes[node]
    size, k = 1, 0
    while k < size:
        block, kids = int(out_nodes[k].first), int(out_nodes[k].kids)
        out_nodes[k].first = size
        for child in range(block, block + kids):
            out_nodes[size] = nodes[child]
            size += 1
        k += 1
    return size


@dataclass(frozen=True)
class Tree:
    """A tree that grows: the state at its root, its nodes, how many it may ever have."""

    root: State
    selector: Selector
    nodes: Records = field(repr=False)
    tally: Records
    max_nodes: int

    @property
    def size(self) -> int:
        """The number of nodes in use."""
        return int(self.tally[0].nodes)

    @property
    def done(self) -> int:
        """The number of simulations since the search began."""
        return int(self.tally[0].done)

    @property
    def grows(self) -> bool:
        """Whether there may still be more nodes."""
        return len(self.nodes) < self.max_nodes

    def grow(self) -> None:
        """Double the array, in place, up to the limit."""
        self.nodes.resize(min(2 * len(self.nodes), self.max_nodes), refcheck=False)


class GameKind(NamedTuple):
    """What random games show: whether positions may repeat, and whether some wins are better than others."""

    repeats: bool
    margins: bool


def kind_of(game: Game[Any]) -> GameKind:
    """Return what a search has to know of a game."""
    return GameKind(may_repeat(game), not game.has_reward and not game.has_outcomes and has_margins(game))


def new_tree(
    root: State,
    selector: Selector,
    span: tuple[float, float],
    max_bytes: int,
    max_moves: int,
    kind: GameKind,
    room: int = 0,
) -> Tree:
    """Return a tree of one node that stays below ``max_bytes``; its rollouts are truncated after ``max_moves``.

    While the array grows its old self, half as long, may stand beside it.
    """
    max_nodes = min(max(max_bytes * 2 // 3 // NODE.itemsize, FIRST_ROOM), MOST_NODES)
    nodes = np.zeros(max(room, FIRST_ROOM), NODE)
    tally = np.array([(1, 0, *span, 0, max_moves, 0, *kind)], TALLY)
    return Tree(root, selector, nodes, tally, max_nodes)
