"""Monte Carlo tree search whose leaves a learned network values, instead of random games.

A node gets all its children when it is first reached, each with the network's value as one visit, and with a
prior: softmax of the values.  PUCT (Rosin 2011, Silver et al. 2017) goes where a child is good or promising:

    mean + c * prior * sqrt(visits of the node) / (1 + visits of the child)

The node itself is worth what its best child is.  Finished games count exactly, and what is proven is proven as in
the standard form (simulating.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mdplay.bridge import borrow, kernel, part, unpack
from mdplay.learning.look_ups import borrowed, borrowed_places, is_answered, is_over, locate, move_value
from mdplay.rng import stream
from mdplay.searching.knowledge import bounds_of, is_settled, names_the_move
from mdplay.searching.selecting import LOST, PROVEN
from mdplay.searching.selectors import Arm, Selector
from mdplay.searching.simulating import back_up, expand_by, is_extreme, note_margin, proof_of
from mdplay.searching.tree import BLOCK, MAX_DEPTH, descend, enter, has_room, is_repeated, scale_for

TEMPERATURE = 0.1  # of the priors, on the scale 0 .. 1 of values


@dataclass(frozen=True)
class PUCT(Selector):
    """Mean plus a bonus for what has a high prior and few visits; an arm's weight is its prior."""

    c: float = 0.5

    def score(self, arm: Arm, total: int, coin: float, dice: float) -> float:
        """Return the mean and the bonus."""
        return arm.mean + self.c * arm.weight * math.sqrt(total) / (1 + arm.pulls)


@kernel
def simulate_by_network(
    game: Any,
    selector: Any,
    start: Any,
    tables: Any,
    places: Any,
    nodes: Any,
    tally: Any,
    path: Any,
    seed: Any,
    simulations: int,
    solver: bool,
    knowledge: bool,
    grows: bool,
    thread: int,
    stop: Any,
    progress: Any,
) -> None:
    """Run simulations on a tree, in place; it returns as the standard form does."""
    root = unpack(game, start)
    tables, places = borrowed(tables), borrowed_places(places)
    nodes, tally, path = borrow(nodes), borrow(tally), borrow(path)
    while tally[0].done < simulations and not nodes[0].proof:
        s, depth, _ = descend(game, selector, nodes, tally, path, root, stream(seed, tally[0].done))
        room = has_room(nodes, tally, BLOCK)
        if (grows and not room) or tally[0].broken:
            return  # the same descent again when there is more room
        node = int(path[depth].node)
        if is_repeated(game, nodes, tally, path, root, s, depth) or nodes[node].proof:
            value, exact = path[depth].sign * nodes[node].value - path[depth].gain, False
        elif is_over(game, s):
            value, exact = float(game.result(s)), True
            note_margin(game, nodes, tally, value)
        else:
            bounds = bounds_of(game, s, knowledge)
            if is_settled(bounds) and node > 0:
                value, exact = float(bounds.low), True
            elif nodes[node].kids == 0 and room and depth < MAX_DEPTH:
                expand_by(game, selector, nodes, tally, node, s, bounds)
                if tally[0].broken:
                    return
                value, exact = value_children(game, tables, places, nodes, tally, node, s)
                if names_the_move(bounds):
                    depth += 1
                    s = enter(game, nodes, tally, path, depth, s, int(nodes[node].first))
                    value, exact = float(bounds.low) - path[depth].gain, True
            else:
                value, exact = path[depth].sign * nodes[node].value - path[depth].gain, False
        back_up(game, selector, nodes, tally, path, depth, value, exact and solver and not game.has_outcomes)
        tally[0].done += 1
        progress[thread] += 1
        if stop[0]:
            return


@part
def value_children(game: Any, tables: Any, places: Any, nodes: Any, tally: Any, node: int, s: Any) -> Any:
    """Give the children of a node their values and priors; return the node's value for player 0, and its proof."""
    sign = -1 if game.player(s) else 1
    first = int(nodes[node].first)
    last = first + int(nodes[node].kids)
    best, exact = -math.inf, False
    locate(game, tables, s, places)
    for k in range(first, last):
        action = int(nodes[k].action)
        value = float(move_value(game, tables, s, action, places))
        nodes[k].value = sign * value
        nodes[k].square = value * value
        nodes[k].pulls = 1
        best = max(best, sign * value)
        if game.has_reward or abs(value) > 1.0:
            tally[0].low, tally[0].high = min(tally[0].low, value), max(tally[0].high, value)
        if not game.has_outcomes and is_decided(game, tables, s, game.step(s, action)):
            nodes[k].proof = LOST if is_extreme(game, tally, -sign, value) else PROVEN
            if not exact:
                exact, proven = proof_of(game, nodes, tally, node, sign, value)
                best = max(best, sign * proven) if exact else best
    give_priors(nodes, first, last, best, scale_for(sign < 0, tally).factor)
    return sign * best, exact


@part
def is_decided(game: Any, tables: Any, s: Any, after: Any) -> Any:
    """Tell whether the value of a move is certain: it ends the game, or the reply does."""
    return is_over(game, after) or (tables.ahead and is_answered(game, s, after))


@part
def give_priors(nodes: Any, first: int, last: int, best: float, factor: float) -> None:
    """Make the priors of children: softmax of their values."""
    total = 0.0
    for k in range(first, last):
        nodes[k].weight = math.exp((nodes[k].value - best) * factor / TEMPERATURE)
        total += nodes[k].weight
    for k in range(first, last):
        nodes[k].weight /= total
