"""Monte Carlo tree search whose leaves are valued by a user's evaluator in Python, in batches.

The tree is searched by two kernels.  ``gather`` descends to leaves until a batch is full and adds a virtual loss
(Chaslot, Winands and van den Herik 2008) to each path, so that the next descent goes elsewhere; leaves whose value
follows from the rules are backed up at once.  Then the evaluator is called once for the batch, and
``back_up_leaves`` removes the virtual losses, gives each leaf its children and backs up its value.

The batch ends early if a descent reaches a leaf that is already in it.  With ``batch=1`` there is no virtual loss.

A selector with ``priors = True``, such as PUCT, finds the prior of a child in its weight.  Until a child is
visited its mean is the value of its parent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.checking.contract_checks import LARGEST
from mdplay.compiling import (
    Packed,
    State,
    inlined,
    kernel,
    load,
    native,
    pack,
    unchecked_view,
    unpack,
    width,
    words,
)
from mdplay.compiling.contract import mask_size
from mdplay.errors import ArgumentError, LimitError, check_integer
from mdplay.evaluating.evaluation import Evaluator
from mdplay.evaluating.leaves import LeafBatches, LeafEvaluator
from mdplay.game import Game
from mdplay.learning.lookups import is_over
from mdplay.runtime.threads import WorkSlice
from mdplay.searching.selecting import LOST, PROVEN, Records, reward_arm
from mdplay.searching.selectors import Selector
from mdplay.searching.simulating import back_up, expand_by, known_value, learn_at, note_margin
from mdplay.searching.tree import (
    BLOCK,
    MAX_DEPTH,
    STEP,
    Leaf,
    SearchSettings,
    Tree,
    TreeArrays,
    bounds_of,
    end_simulations,
    enter,
    has_room,
    is_open,
    is_repeated,
    is_settled,
    names_the_move,
    next_leaf,
    scale_for,
)
from mdplay.states.game_length import has_margins

BATCH = 32  # states in one call of an evaluator
MAX_BATCH = 1 << 14  # each state of a batch needs 25 kB for its path


class Leaves(NamedTuple):
    """The leaves of a batch: paths from the root, their depths, packed states, and the virtual losses added.

    Column 0 of ``losses`` is for moves of player 0 and column 1 for moves of player 1.
    """

    paths: Records
    depths: NDArray[np.int64]
    states: NDArray[np.uint64]
    losses: NDArray[np.float64]


def new_leaves(game: Game[Any], batch: int) -> Leaves:
    """Return room for the leaves of a batch."""
    paths, depths = np.zeros((batch, MAX_DEPTH + 2), STEP), np.zeros(batch, np.int64)
    return Leaves(paths, depths, np.zeros((batch, width(game)), np.uint64), np.zeros((batch, 2)))


def leaf_batches(
    game: Game[Any], evaluator: LeafEvaluator | Evaluator | None, network: object, batch: int = BATCH
) -> LeafBatches | None:
    """Return what calls an evaluator, if there is one; raise MdplayError if the arguments do not fit together."""
    check_integer("batch", batch)
    if batch > MAX_BATCH:
        raise LimitError(f"batch={batch} is too large; at most {MAX_BATCH:,} states are evaluated together")
    if evaluator is None:
        return None
    if network is not None:
        raise ArgumentError("a search takes a network or an evaluator, not both; remove one of them")
    limit = LARGEST if game.has_reward or has_margins(game) else 1.0
    return LeafBatches(game, evaluator, limit, batch)


def simulate_by_evaluator(
    game: Game[Any],
    evaluate: LeafBatches,
    leaves: Leaves,
    tree: Tree,
    arrays: TreeArrays,
    settings: SearchSettings,
    worker: WorkSlice,
) -> None:
    """Run simulations on a tree, in place; it returns as the kernel of the standard form does."""
    compiled, start = (native(game), native(tree.selector)), words(tree.root)
    if not settings.simulations:  # compiles
        back_up_leaves(*compiled, arrays, leaves, np.zeros(0), np.zeros((0, 0)), settings.knowledge)
    while count := int(gather(*compiled, start, arrays, leaves, settings, worker)):
        found = evaluate([unpack(game, row) for row in leaves.states[:count].tolist()])
        back_up_leaves(*compiled, arrays, leaves, found.values, found.priors, settings.knowledge)


# ---------------------------------------------------------------- descending
@kernel(plain_first=True)
def gather(
    game: Game[Any],
    selector: Selector,
    start: Packed,
    tree: TreeArrays,
    leaves: Leaves,
    settings: SearchSettings,
    worker: WorkSlice,
) -> int:
    """Run simulations until they have reached a batch of leaves to evaluate; return the number of leaves."""
    root, tree = unpack(game, start), unchecked_view(tree)
    batch, room = len(leaves.depths), max(BLOCK, mask_size(game))
    count = 0
    while count < batch and is_open(tree, settings) and (count == 0 or has_room(tree, (count + 1) * room)):
        leaf = next_leaf(game, selector, tree, root, settings)
        if leaf.depth < 0 or is_gathered(tree, leaves, count, leaf.depth):
            return count
        known, value, exact, depth = value_by_rules(game, selector, tree, root, leaf, settings.knowledge)
        if tree.tally[0].broken:
            return count
        if known:
            back_up(game, selector, tree, depth, value, exact and settings.solver)
        else:
            save_leaf(game, tree, leaves, count, leaf)
            count += 1
            if count < batch:
                add_virtual_loss(selector, tree, leaves, count - 1)
        if end_simulations(tree, worker, 1):
            return count
    return count


@inlined
def is_gathered(tree: TreeArrays, leaves: Leaves, count: int, depth: int) -> bool:
    """Return whether the node at the end of the path is one of the first ``count`` leaves."""
    node = tree.path[depth].node
    for i in range(count):
        if leaves.paths[i, leaves.depths[i]].node == node:
            return True
    return False


@inlined
def value_by_rules(
    game: Game[Any], selector: Selector, tree: TreeArrays, root: State, leaf: Leaf, knowledge: bool
) -> Any:
    """Return whether a leaf needs no evaluation, its value for player 0, whether that is exact, and the depth."""
    s, depth = leaf.state, leaf.depth
    node = int(tree.path[depth].node)
    if is_repeated(game, tree, root, s, depth) or tree.nodes[node].proof:
        return True, known_value(tree, depth), False, depth
    if is_over(game, s):
        result = float(game.result(s))
        note_margin(game, tree, result)
        return True, result, True, depth
    bounds = bounds_of(game, s, knowledge)
    if is_settled(bounds) and node > 0:
        return True, float(bounds.low), True, depth
    if tree.nodes[node].kids or not leaf.room or depth == MAX_DEPTH:
        return True, known_value(tree, depth), False, depth
    if names_the_move(bounds):
        expand_by(game, selector, tree, node, s, bounds)
        enter(game, tree, depth + 1, s, int(tree.nodes[node].first))
        return True, float(bounds.low) - tree.path[depth + 1].gain, True, depth + 1
    return False, 0.0, False, depth


@inlined
def save_leaf(game: Game[Any], tree: TreeArrays, leaves: Leaves, i: int, leaf: Leaf) -> None:
    """Enter the path and the state of a leaf, and the worst values so far as its virtual losses."""
    packed, tally = pack(game, leaf.state), tree.tally
    for j in range(len(packed)):
        leaves.states[i, j] = packed[j]
    for d in range(leaf.depth + 1):
        leaves.paths[i, d] = tree.path[d]
    leaves.depths[i] = leaf.depth
    is_empty = not tally[0].high > tally[0].low
    leaves.losses[i, 0] = 0.0 if is_empty else tally[0].low
    leaves.losses[i, 1] = 0.0 if is_empty else -tally[0].high


@inlined
def add_virtual_loss(selector: Selector, tree: TreeArrays, leaves: Leaves, i: int) -> None:
    """Add a visit with the worst value to every node of the path of a leaf."""
    for d in range(1, int(leaves.depths[i]) + 1):
        step = leaves.paths[i, d]
        reward_arm(selector, tree.nodes, int(step.node), leaves.losses[i, 1 if step.sign < 0 else 0])
    tree.nodes[0].pulls += 1


# ---------------------------------------------------------------- backing up
@kernel(plain_first=True)
def back_up_leaves(
    game: Game[Any],
    selector: Selector,
    tree: TreeArrays,
    leaves: Leaves,
    values: NDArray[np.float64],
    priors: NDArray[np.float64],
    knowledge: bool,
) -> None:
    """Give each leaf its children and back up its value, which is for the player to move in the leaf."""
    tree = unchecked_view(tree)
    for i in range(len(values)):
        s = load(game, leaves.states, i)
        if i + 1 < len(leaves.depths):
            remove_virtual_loss(selector, tree, leaves, i)
        node = int(leaves.paths[i, leaves.depths[i]].node)
        expand_by(game, selector, tree, node, s, bounds_of(game, s, knowledge))
        if selector.priors:
            give_priors(tree.nodes, node, values[i], priors[i])
        back_up_estimate(game, selector, tree, leaves, i, -values[i] if game.player(s) else values[i])


@inlined
def remove_virtual_loss(selector: Selector, tree: TreeArrays, leaves: Leaves, i: int) -> None:
    """Undo ``add_virtual_loss``; a node that was proven meanwhile keeps its exact value."""
    for d in range(1, int(leaves.depths[i]) + 1):
        step = leaves.paths[i, d]
        node, loss = tree.nodes[int(step.node)], leaves.losses[i, 1 if step.sign < 0 else 0]
        node.pulls -= 1
        if node.pulls and node.proof != PROVEN and node.proof != LOST:
            node.value += (node.value - loss) / node.pulls
            if selector.squares:
                node.square += (node.square - loss * loss) / node.pulls
    tree.nodes[0].pulls -= 1


@inlined
def give_priors(nodes: Records, node: int, value: float, priors: NDArray[np.float64]) -> None:
    """Give the children of a node their priors, all equal without any, and the value of the node as their mean."""
    first = int(nodes[node].first)
    last, total = first + int(nodes[node].kids), 0.0
    if len(priors):
        for k in range(first, last):
            total += priors[int(nodes[k].action)]
    for k in range(first, last):
        nodes[k].value = value
        nodes[k].weight = priors[int(nodes[k].action)] / total if total > 0.0 else 1.0 / (last - first)


@inlined
def back_up_estimate(
    game: Game[Any], selector: Selector, tree: TreeArrays, leaves: Leaves, i: int, value: float
) -> None:
    """Add an estimated value for player 0 to every node of the path of a leaf but those that are proven."""
    nodes, tally = tree.nodes, tree.tally
    for d in range(int(leaves.depths[i]), 0, -1):
        step = leaves.paths[i, d]
        k, sign = int(step.node), int(step.sign)
        value += step.gain
        tally[0].low = min(tally[0].low, value)
        tally[0].high = max(tally[0].high, value)
        if selector.learns:
            learn_at(
                selector, nodes, int(leaves.paths[i, d - 1].node), k, sign * value, scale_for(sign < 0, tally)
            )
        if nodes[k].proof == PROVEN or nodes[k].proof == LOST:
            nodes[k].pulls += 1
        else:
            reward_arm(selector, nodes, k, sign * value)
    nodes[0].pulls += 1
