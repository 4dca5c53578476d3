"""The two ways of expansion in Monte Carlo tree search, as kernels over the array of a tree.

one       one descent, one new node, one rollout, one visit to every node on the way; values are means of results,
          so that a draw is half a win; a finished leaf gives its result, and so does one that the game has settled
          (``bounds``) if its knowledge is used; nodes whose value is certain are proven.
all       the descent adds a visit to every node it enters; ALL children of the leaf are made and played out once;
          each result adds a visit and, for the player who moved into the node, 1 for a win.  A finished leaf
          and a repeated one give their visit and nothing else.

Both return when they are done, stopped (but not before one simulation, unless its random game is endless), when
the game broke a promise (``broken`` in the tally), or when the array must grow: call them again and they go on.
Simulation number i has a random stream of its own, so interruptions change nothing.

A position that was met before on its path from the root is worth ``endless``, and nothing below it is searched;
that is no proof, since another path may lead there.

A node is proven (MCTS-Solver, Winands, Bjornsson and Saito 2008) when the game is over or settled there, when a
child is proven to be the best that can be, or when all its children are proven.  A move proven to be the worst is
not tried again.  Games with chance are not proven.  Where results go beyond -1 .. 1 nobody knows the best that can
be: then all children decide.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import covers, nonempty
from mdplay.bridge import borrow, kernel, part, unpack
from mdplay.checking.broken import BOUNDS_LISTED, ENDLESS, LARGEST, NUMBERS
from mdplay.checking.limits import MAX_MOVES
from mdplay.contract import mask_size
from mdplay.game import Bounds
from mdplay.rng import stream
from mdplay.searching.knowledge import bounds_of, is_settled, names_the_move
from mdplay.searching.playouts import rollout
from mdplay.searching.selecting import LOST, OPEN, PROVEN, REPEATED, Scale, learn, reward_arm
from mdplay.searching.tree import BLOCK, MAX_DEPTH, descend, enter, expand, has_room, is_repeated, scale_for


# ---------------------------------------------------------------- the standard form
@kernel(plain_first=True)
def simulate(
    game: Any,
    selector: Any,
    start: Any,
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
    """Run the standard form on a tree, in place."""
    root = unpack(game, start)
    nodes, tally, path = borrow(nodes), borrow(tally), borrow(path)
    while tally[0].done < simulations and not nodes[0].proof:
        s, depth, x = descend(game, selector, nodes, tally, path, root, stream(seed, tally[0].done))
        room = has_room(nodes, tally, max(BLOCK, mask_size(game)))
        if (grows and not room) or tally[0].broken:
            return  # the same descent again when there is more room
        node = int(path[depth].node)
        if is_repeated(game, nodes, tally, path, root, s, depth) or nodes[node].proof:
            value, exact = path[depth].sign * nodes[node].value - path[depth].gain, False
        else:
            bounds = Bounds(0, 1, 0)
            if room and depth < MAX_DEPTH and (nodes[node].pulls or node == 0):
                bounds = bounds_of(game, s, knowledge)
                expand_by(game, selector, nodes, tally, node, s, bounds)
                if nodes[node].kids:
                    depth += 1
                    s = enter(game, nodes, tally, path, depth, s, int(nodes[node].first))
            if names_the_move(bounds):
                value, exact = float(bounds.low) - path[depth].gain, True
            elif is_repeated(game, nodes, tally, path, root, s, depth):
                value, exact = float(game.endless), False
            else:
                value, exact = evaluate(game, tally, s, x, knowledge, stop)
            exact = exact and solver and not game.has_outcomes
            if tally[0].broken:
                return
            note_margin(game, nodes, tally, value)
        back_up(game, selector, nodes, tally, path, depth, value, exact)
        tally[0].done += 1
        progress[thread] += 1
        if stop[0]:
            return


@part
def expand_by(game: Any, selector: Any, nodes: Any, tally: Any, node: int, s: Any, bounds: Any) -> None:
    """Give a node a child for each move worth a search; for each legal move if the game does not know."""
    if game.has_bounds and nonempty(bounds.moves):
        if not covers(game.legal(s), bounds.moves):
            tally[0].broken = BOUNDS_LISTED
            return
        expand(nodes, tally, node, bounds.moves, selector.initial_weight())
    else:
        expand(nodes, tally, node, game.legal(s), selector.initial_weight())


@part
def evaluate(game: Any, tally: Any, s: Any, x: Any, knowledge: bool, stop: Any) -> Any:
    """Return what a leaf is worth to player 0 and whether that is certain: as the game knows, or by a rollout."""
    bounds = bounds_of(game, s, knowledge)
    if is_settled(bounds):
        return float(bounds.low), True
    result, moves, _ = sampled(game, tally, s, x, stop)
    if moves >= 0 and not abs(result) <= LARGEST:
        tally[0].broken = NUMBERS
    return result, moves == 0


@part
def sampled(game: Any, tally: Any, s: Any, x: Any, stop: Any) -> Any:
    """Return the result of a random game, its moves, the random state; called off, it is worth endless play."""
    result, moves, x = rollout(game, s, x, int(tally[0].max_moves), stop)
    if moves < 0:
        note_end(tally, moves)
        result += game.endless
    return result, moves, x


@part
def note_margin(game: Any, nodes: Any, tally: Any, result: float) -> None:
    """Note the first result beyond a win; what was proven because nothing beats a win is open again."""
    if game.has_reward or tally[0].margins or abs(result) <= 1.0:
        return
    tally[0].margins = 1
    for k in range(int(tally[0].nodes)):
        if nodes[k].proof == PROVEN or nodes[k].proof == LOST:
            nodes[k].proof = OPEN


@part
def note_end(tally: Any, moves: int) -> None:
    """Note why a rollout stopped short: called off after its moves, which is no fault, or a broken promise."""
    if moves == -ENDLESS and tally[0].max_moves < MAX_MOVES:
        tally[0].by_limit += 1
    elif moves < 0:
        tally[0].broken = -moves


@part
def back_up(
    game: Any, selector: Any, nodes: Any, tally: Any, path: Any, depth: int, value: float, exact: bool
) -> None:
    """Add the value of a simulation, for player 0, to every node of the path; exact: it is certain."""
    while depth > 0:
        step = path[depth]
        k, sign, parent = int(step.node), int(step.sign), int(path[depth - 1].node)
        value += step.gain
        tally[0].low = min(tally[0].low, value)
        tally[0].high = max(tally[0].high, value)
        if selector.learns:
            learn_at(selector, nodes, parent, k, sign * value, scale_for(sign < 0, tally))
        reward_arm(selector, nodes, k, sign * value)
        if exact:
            lost = is_extreme(game, tally, -sign, value)
            nodes[k].proof = LOST if lost else PROVEN
            nodes[k].value = sign * value
            nodes[k].square = value * value
            exact, value = proof_of(game, nodes, tally, parent, sign, value)
        depth -= 1
    nodes[0].pulls += 1
    if exact:
        nodes[0].proof = PROVEN


@part
def is_extreme(game: Any, tally: Any, sign: int, value: float) -> Any:
    """Tell whether nothing is better for player 0 (sign +1) or for player 1 (sign -1) than the value.

    Points earned on the way hide what is extreme, and so do results of any size: such a game has no such value.
    """
    if game.has_reward or tally[0].margins:
        return False
    return value >= tally[0].high if sign > 0 else value <= tally[0].low


@part
def proof_of(game: Any, nodes: Any, tally: Any, node: int, sign: int, value: float) -> Any:
    """Return whether a node, one of whose children is now proven, is proven too, and its value for player 0.

    A node that is not keeps the value of the simulation.
    """
    if is_extreme(game, tally, sign, value):
        return True, value
    first = int(nodes[node].first)
    best = nodes[first].value
    for k in range(first, first + int(nodes[node].kids)):
        if nodes[k].proof == OPEN or nodes[k].proof == REPEATED:
            return False, value
        best = max(best, nodes[k].value)
    return True, sign * best


@part
def learn_at(selector: Any, nodes: Any, parent: int, k: int, reward: float, scale: Any) -> None:
    """Let the selector learn at a node from the reward of its child k."""
    first = int(nodes[parent].first)
    learn(selector, nodes, first, first + int(nodes[parent].kids), k, reward, scale)


# ---------------------------------------------------------------- expansion=all
@kernel(plain_first=True)
def simulate_all(
    game: Any,
    selector: Any,
    start: Any,
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
    """Run expansion=all on a tree, in place; every rollout is a simulation, a visit to a finished leaf too."""
    root = unpack(game, start)
    nodes, tally, path = borrow(nodes), borrow(tally), borrow(path)
    while tally[0].done < simulations:
        s, depth, x = descend(game, selector, nodes, tally, path, root, stream(seed, tally[0].done))
        room = has_room(nodes, tally, max(BLOCK, mask_size(game)))
        if (grows and not room) or tally[0].broken:
            return  # the same descent again when there is more room
        for d in range(1, depth + 1):
            reward_arm(selector, nodes, int(path[d].node), 0.0)
        count = 1
        again = is_repeated(game, nodes, tally, path, root, s, depth)
        if room and depth < MAX_DEPTH and not again:
            count = play_children(game, selector, nodes, tally, path, depth, root, s, x, stop)
        elif not again:
            result, _, _ = sampled(game, tally, s, x, stop)
            add_result(selector, nodes, tally, path, depth, result)
        if tally[0].broken:
            return
        tally[0].done += count
        progress[thread] += count
        if stop[0]:
            return


@part
def play_children(
    game: Any, selector: Any, nodes: Any, tally: Any, path: Any, depth: int, root: Any, s: Any, x: Any, stop: Any
) -> int:
    """Make all children of the path's last node and play out each of them once; the number of simulations."""
    node = int(path[depth].node)
    expand(nodes, tally, node, game.legal(s), selector.initial_weight())
    first, kids = int(nodes[node].first), int(nodes[node].kids)
    for k in range(first, first + kids):
        child = enter(game, nodes, tally, path, depth + 1, s, k)
        result = float(game.endless)
        if not is_repeated(game, nodes, tally, path, root, child, depth + 1):
            result, _, x = sampled(game, tally, child, x, stop)
        if tally[0].broken:
            return 0
        add_result(selector, nodes, tally, path, depth + 1, result)
    return max(kids, 1)


@part
def add_result(selector: Any, nodes: Any, tally: Any, path: Any, depth: int, result: Any) -> None:
    """Add a visit to every node of the path, and a win where the player who moved into it has won."""
    if not abs(result) <= LARGEST:
        tally[0].broken = NUMBERS
    for d in range(depth, 0, -1):
        k = int(path[d].node)
        won = 1.0 if path[d].sign * result > 0 else 0.0
        if selector.learns:
            learn_at(selector, nodes, int(path[d - 1].node), k, won, Scale(0.0, 1.0))
        reward_arm(selector, nodes, k, won)
    nodes[0].pulls += 1


EXPANSIONS = {"one": simulate, "all": simulate_all}
