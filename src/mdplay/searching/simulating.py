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

A position that repeats on its path from the root has the value ``endless``, and nothing below it is searched; that
is no proof, since another path may lead there.

A node is proven (MCTS-Solver, Winands, Bjornsson and Saito 2008) when the game is over or settled there, when a
child is proven to have the best possible value, or when all its children are proven.  A move proven to have the
worst possible value is not tried again.  Games with chance are not proven.  If results go beyond -1 .. 1, the best
possible result is unknown: then all children must be proven.
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import covers, nonempty
from mdplay.checking.contract_checks import BOUNDS_LISTED, ENDLESS, LARGEST, NUMBERS
from mdplay.compiling import Packed, State, Word, inlined, kernel, unchecked_view, unpack
from mdplay.game import Bounds, Game
from mdplay.runtime.threads import StopFlag, WorkSlice
from mdplay.searching.playouts import rollout
from mdplay.searching.selecting import LOST, OPEN, PROVEN, REPEATED, Records, Scale, learn, reward_arm
from mdplay.searching.selectors import Selector
from mdplay.searching.tree import (
    MAX_DEPTH,
    Leaf,
    SearchSettings,
    TreeArrays,
    bounds_of,
    end_simulations,
    enter,
    expand,
    is_open,
    is_repeated,
    is_settled,
    names_the_move,
    next_leaf,
    scale_for,
)
from mdplay.states.game_length import MAX_MOVES


def share_done(
    game: Game[Any],
    selector: Selector,
    start: Packed,
    tree: TreeArrays,
    settings: SearchSettings,
    worker: WorkSlice,
) -> float:
    """Return the share of the simulations that is done."""
    return float(tree.tally[0].done / settings.simulations) if settings.simulations else 1.0


# ---------------------------------------------------------------- the standard form
@kernel(plain_first=True, share=share_done)
def simulate(
    game: Game[Any],
    selector: Selector,
    start: Packed,
    tree: TreeArrays,
    settings: SearchSettings,
    worker: WorkSlice,
) -> None:
    """Run the standard form on a tree, in place."""
    root, tree = unpack(game, start), unchecked_view(tree)
    while is_open(tree, settings):
        leaf = next_leaf(game, selector, tree, root, settings)
        if leaf.depth < 0:
            return
        valued = value_leaf(game, selector, tree, root, leaf, settings.knowledge, worker.stop)
        if ends_with(game, selector, tree, valued, settings, worker):
            return


@inlined
def ends_with(
    game: Game[Any], selector: Selector, tree: TreeArrays, valued: Any, settings: SearchSettings, worker: WorkSlice
) -> bool:
    """Back up the value of a leaf, as ``value_leaf`` returns it; return whether to stop."""
    value, exact, depth = valued
    if tree.tally[0].broken:
        return True
    back_up(game, selector, tree, depth, value, exact and settings.solver)
    return end_simulations(tree, worker, 1)


@inlined
def value_leaf(
    game: Game[Any],
    selector: Selector,
    tree: TreeArrays,
    root: State,
    leaf: Leaf,
    knowledge: bool,
    stop: StopFlag,
) -> Any:
    """Return the value of a leaf for player 0, whether it is exact, and the depth: it may get a child."""
    s, depth = leaf.state, leaf.depth
    node = int(tree.path[depth].node)
    if is_repeated(game, tree, root, s, depth) or tree.nodes[node].proof:
        return known_value(tree, depth), False, depth
    bounds = Bounds(0, 1, 0)
    if leaf.room and depth < MAX_DEPTH and (tree.nodes[node].pulls or node == 0):
        bounds = bounds_of(game, s, knowledge)
        expand_by(game, selector, tree, node, s, bounds)
        if tree.nodes[node].kids:
            depth += 1
            s = enter(game, tree, depth, s, int(tree.nodes[node].first))
    if game.has_bounds and names_the_move(bounds):
        value, exact = float(bounds.low) - tree.path[depth].gain, True
    elif is_repeated(game, tree, root, s, depth):
        value, exact = float(game.endless), False
    else:
        value, exact = evaluate(game, tree.tally, s, leaf.x, knowledge, stop)
    note_margin(game, tree, value)
    return value, exact, depth


@inlined
def known_value(tree: TreeArrays, depth: int) -> float:
    """Return the value for player 0 of the node at a depth of the path, without earlier rewards."""
    step = tree.path[depth]
    return float(step.sign * tree.nodes[int(step.node)].value - step.gain)


@inlined
def expand_by(game: Game[Any], selector: Selector, tree: TreeArrays, node: int, s: State, bounds: Bounds) -> None:
    """Give a node a child for each move worth a search; for each legal move if the game does not know."""
    if game.has_bounds and nonempty(bounds.moves):
        if not covers(game.legal(s), bounds.moves):
            tree.tally[0].broken = BOUNDS_LISTED
            return
        expand(tree, node, bounds.moves, selector.initial_weight())
    else:
        expand(tree, node, game.legal(s), selector.initial_weight())


@inlined
def evaluate(game: Game[Any], tally: Records, s: State, x: Word, knowledge: bool, stop: StopFlag) -> Any:
    """Return the value of a leaf for player 0 and whether it is exact: as the game knows, or by a rollout."""
    if game.has_bounds:
        bounds = bounds_of(game, s, knowledge)
        if is_settled(bounds):
            return float(bounds.low), True
    result, moves, _ = sampled(game, tally, s, x, stop)
    if moves >= 0 and not abs(result) <= LARGEST:
        tally[0].broken = NUMBERS
    return result, moves == 0


@inlined
def sampled(game: Game[Any], tally: Records, s: State, x: Word, stop: StopFlag) -> Any:
    """Return the result of a random game, its moves, the random state; the result is ``endless`` if truncated."""
    result, moves, x = rollout(game, s, x, int(tally[0].max_moves), stop)
    if moves < 0:
        note_end(tally, moves)
        result += game.endless
    return result, moves, x


@inlined
def note_margin(game: Game[Any], tree: TreeArrays, result: float) -> None:
    """Note the first result beyond a win; what was proven because nothing beats a win is open again."""
    nodes, tally = tree.nodes, tree.tally
    if game.has_reward or tally[0].margins or abs(result) <= 1.0:
        return
    tally[0].margins = 1
    for k in range(int(tally[0].nodes)):
        if nodes[k].proof == PROVEN or nodes[k].proof == LOST:
            nodes[k].proof = OPEN


@inlined
def note_end(tally: Records, moves: int) -> None:
    """Note why a rollout stopped short: the move limit, which is no fault, or a broken promise."""
    if moves == -ENDLESS and tally[0].max_moves < MAX_MOVES:
        tally[0].by_limit += 1
    elif moves < 0:
        tally[0].broken = -moves


@inlined
def back_up(game: Game[Any], selector: Selector, tree: TreeArrays, depth: int, value: float, exact: bool) -> None:
    """Add the value of a simulation, for player 0, to every node of the path; exact: it is certain."""
    nodes, tally, path = tree
    exact = exact and not game.has_outcomes
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
            exact, value = proof_of(game, tree, parent, sign, value)
        depth -= 1
    nodes[0].pulls += 1
    if exact:
        nodes[0].proof = PROVEN


@inlined
def is_extreme(game: Game[Any], tally: Records, sign: int, value: float) -> bool:
    """Return whether nothing is better for player 0 (sign +1) or for player 1 (sign -1) than the value.

    Points earned on the way hide what is extreme, and so do results of any size: such a game has no such value.
    """
    if game.has_reward or tally[0].margins:
        return False
    return bool(value >= tally[0].high if sign > 0 else value <= tally[0].low)


@inlined
def proof_of(game: Game[Any], tree: TreeArrays, node: int, sign: int, value: float) -> tuple[bool, float]:
    """Return whether a node, one of whose children is now proven, is proven too, and its value for player 0.

    A node that is not keeps the value of the simulation.
    """
    nodes = tree.nodes
    if is_extreme(game, tree.tally, sign, value):
        return True, value
    first = int(nodes[node].first)
    best = nodes[first].value
    for k in range(first, first + int(nodes[node].kids)):
        if nodes[k].proof == OPEN or nodes[k].proof == REPEATED:
            return False, value
        best = max(best, nodes[k].value)
    return True, sign * best


@inlined
def learn_at(selector: Selector, nodes: Records, parent: int, k: int, reward: float, scale: Scale) -> None:
    """Let the selector learn at a node from the reward of its child k."""
    first = int(nodes[parent].first)
    learn(selector, nodes, first, first + int(nodes[parent].kids), k, reward, scale)


# ---------------------------------------------------------------- expansion=all
@kernel(plain_first=True, share=share_done)
def simulate_all(
    game: Game[Any],
    selector: Selector,
    start: Packed,
    tree: TreeArrays,
    settings: SearchSettings,
    worker: WorkSlice,
) -> None:
    """Run expansion=all on a tree, in place; every rollout is a simulation, a visit to a finished leaf too."""
    root, tree = unpack(game, start), unchecked_view(tree)
    while is_open(tree, settings):
        leaf = next_leaf(game, selector, tree, root, settings)
        if leaf.depth < 0:
            return
        count = play_leaf(game, selector, tree, root, leaf, worker.stop)
        if tree.tally[0].broken or end_simulations(tree, worker, count):
            return


@inlined
def play_leaf(
    game: Game[Any], selector: Selector, tree: TreeArrays, root: State, leaf: Leaf, stop: StopFlag
) -> int:
    """Visit the path, make the children of its leaf, play out each of them once; the number of simulations."""
    s, depth = leaf.state, leaf.depth
    for d in range(1, depth + 1):
        reward_arm(selector, tree.nodes, int(tree.path[d].node), 0.0)
    if is_repeated(game, tree, root, s, depth):
        return 1
    if leaf.room and depth < MAX_DEPTH:
        return play_children(game, selector, tree, root, leaf, stop)
    result, _, _ = sampled(game, tree.tally, s, leaf.x, stop)
    add_result(selector, tree, depth, result)
    return 1


@inlined
def play_children(
    game: Game[Any], selector: Selector, tree: TreeArrays, root: State, leaf: Leaf, stop: StopFlag
) -> int:
    """Make all children of a leaf and play out each of them once; the number of simulations."""
    depth, x = leaf.depth + 1, leaf.x
    node = int(tree.path[leaf.depth].node)
    expand(tree, node, game.legal(leaf.state), selector.initial_weight())
    first, kids = int(tree.nodes[node].first), int(tree.nodes[node].kids)
    for k in range(first, first + kids):
        child = enter(game, tree, depth, leaf.state, k)
        result = float(game.endless)
        if not is_repeated(game, tree, root, child, depth):
            result, _, x = sampled(game, tree.tally, child, x, stop)
        if tree.tally[0].broken:
            return 0
        add_result(selector, tree, depth, result)
    return max(kids, 1)


@inlined
def add_result(selector: Selector, tree: TreeArrays, depth: int, result: float) -> None:
    """Add a visit to every node of the path, and a win where the player who moved into it has won."""
    nodes, tally, path = tree
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
