"""Monte Carlo tree search whose leaves a learned network values, instead of random games.

A node gets all its children when it is first reached, each with the network's value as one visit, and with a
prior: softmax of the values.  PUCT (Rosin 2011, Silver et al. 2017) goes where a child is good or promising:

    mean + c * prior * sqrt(visits of the node) / (1 + visits of the child)

The value of a node is that of its best child.  Finished games count exactly, and what is proven is proven as in
the standard form (simulating.py).  Unlike greedy play, the search does not test whether a reply ends the game: a
visit to a child shows that it loses, and with fifty children the test would take most of the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mdplay.compiling import Packed, State, inlined, kernel, unchecked_view, unpack
from mdplay.game import Game
from mdplay.learning.lookups import (
    NetworkArrays,
    is_over,
    locate,
    value_after,
)
from mdplay.runtime.threads import WorkSlice
from mdplay.searching.selecting import LOST, PROVEN, Records
from mdplay.searching.selectors import Arm, Selector
from mdplay.searching.simulating import ends_with, expand_by, is_extreme, known_value, note_margin, proof_of
from mdplay.searching.tree import (
    MAX_DEPTH,
    Leaf,
    SearchSettings,
    TreeArrays,
    bounds_of,
    enter,
    is_open,
    is_repeated,
    is_settled,
    names_the_move,
    next_leaf,
    scale_for,
)

TEMPERATURE = 0.1  # of the priors, on the scale 0 .. 1 of values


@dataclass(frozen=True)
class PUCT(Selector):
    """Mean plus a bonus for arms with a high prior and few visits; the weight of an arm is its prior."""

    priors: ClassVar[bool] = True
    c: float = 0.5

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the mean and the bonus."""
        return arm.mean + self.c * arm.weight * math.sqrt(total) / (1 + arm.pulls)


@kernel
def simulate_by_network(
    game: Game[Any],
    selector: Selector,
    start: Packed,
    network: NetworkArrays,
    tree: TreeArrays,
    settings: SearchSettings,
    worker: WorkSlice,
) -> None:
    """Run simulations on a tree, in place; it returns as the standard form does."""
    root, tree = unpack(game, start), unchecked_view(tree)
    network = unchecked_view(network)
    while is_open(tree, settings):
        leaf = next_leaf(game, selector, tree, root, settings)
        if leaf.depth < 0:
            return
        valued = value_leaf(game, selector, network, tree, root, leaf, settings.knowledge)
        if ends_with(game, selector, tree, valued, settings, worker):
            return


@inlined
def value_leaf(
    game: Game[Any],
    selector: Selector,
    network: NetworkArrays,
    tree: TreeArrays,
    root: State,
    leaf: Leaf,
    knowledge: bool,
) -> Any:
    """Return the value of a leaf for player 0, whether it is exact, and the depth: of the one move to make."""
    s, depth = leaf.state, leaf.depth
    node = int(tree.path[depth].node)
    if is_repeated(game, tree, root, s, depth) or tree.nodes[node].proof:
        return known_value(tree, depth), False, depth
    if is_over(game, s):
        result = float(game.result(s))
        note_margin(game, tree, result)
        return result, True, depth
    bounds = bounds_of(game, s, knowledge)
    if is_settled(bounds) and node > 0:
        return float(bounds.low), True, depth
    if tree.nodes[node].kids or not leaf.room or depth == MAX_DEPTH:
        return known_value(tree, depth), False, depth
    expand_by(game, selector, tree, node, s, bounds)
    if tree.tally[0].broken:
        return 0.0, False, depth
    if names_the_move(bounds):
        value_children(game, network, tree, node, s)
        enter(game, tree, depth + 1, s, int(tree.nodes[node].first))
        return float(bounds.low) - tree.path[depth + 1].gain, True, depth + 1
    value, exact = value_children(game, network, tree, node, s)
    return value, exact, depth


@inlined
def value_children(
    game: Game[Any], network: NetworkArrays, tree: TreeArrays, node: int, s: State
) -> tuple[float, bool]:
    """Give the children of a node their values and priors; return the node's value for player 0, and its proof."""
    nodes, tally, tables, places = tree.nodes, tree.tally, network.tables, network.places
    sign = -1 if game.player(s) else 1
    first = int(nodes[node].first)
    last = first + int(nodes[node].kids)
    best, exact = -math.inf, False
    locate(game, tables, s, places)
    for k in range(first, last):
        action = int(nodes[k].action)
        after = game.step(s, action)
        value = float(value_after(game, tables, s, action, after, places))
        nodes[k].value = sign * value
        nodes[k].square = value * value
        nodes[k].pulls = 1
        best = max(best, sign * value)
        if game.has_reward or abs(value) > 1.0:
            tally[0].low, tally[0].high = min(tally[0].low, value), max(tally[0].high, value)
        if not game.has_outcomes and is_over(game, after):
            nodes[k].proof = LOST if is_extreme(game, tally, -sign, value) else PROVEN
            if not exact:
                exact, proven = proof_of(game, tree, node, sign, value)
                best = max(best, sign * proven) if exact else best
    give_priors(nodes, first, last, best, scale_for(sign < 0, tally).factor)
    return sign * best, exact


@inlined
def give_priors(nodes: Records, first: int, last: int, best: float, factor: float) -> None:
    """Make the priors of children: softmax of their values."""
    total = 0.0
    for k in range(first, last):
        nodes[k].weight = math.exp((nodes[k].value - best) * factor / TEMPERATURE)
        total += nodes[k].weight
    for k in range(first, last):
        nodes[k].weight /= total
