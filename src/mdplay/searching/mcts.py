"""Monte Carlo tree search for any game: the front door.

    result = mcts(ConnectFour(), simulations=10_000)
    result.move, result.value, result.line, result.tree.save("tree.json")

Walk down the tree by a bandit rule, add a node, play at random to the end, note the result on the way back
(Coulom 2006, Kocsis and Szepesvari 2006).  ``form`` says which of two ways (see simulating.py).

Several threads grow trees of their own, whose root statistics are added at the end: equal seeds give equal results
for equal numbers of threads, as long as the budget is simulations.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

from mdplay.bridge import native, word, words
from mdplay.errors import GameError, LimitError, unknown
from mdplay.game import Game
from mdplay.rng import stream
from mdplay.running import Show, Watch, num_threads
from mdplay.searching.inspecting import Node
from mdplay.searching.result import MoveStatistics, SearchResult, check_open, stopping_after
from mdplay.searching.selectors import UCB1, Selector
from mdplay.searching.simulating import FORMS
from mdplay.searching.tree import Tree, copy_subtree, new_path, new_tree

SIMULATIONS = 10_000
MAX_BYTES = 1 << 30
MIN_BYTES = 1 << 20
NO_LIMIT = 1 << 62
REUSE_DEPTH = 4  # how far below an old root a position may lie: a move and a reply, each with chance


def mcts(
    game: Game[Any],
    state: Any = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    selector: Selector | None = None,
    form: str = "standard",
    solver: bool = True,
    knowledge: bool = True,
    seed: int = 0,
    threads: int | None = None,
    max_bytes: int = MAX_BYTES,
    reuse: SearchResult | None = None,
    watch: Watch | None = None,
    show: Show | None = None,
    interruptible: bool = False,
) -> SearchResult:
    """Search a position (default: the start) within a budget and return the best move found.

    Budget: ``simulations`` (default 10,000), ``seconds``, or whichever ends first.  ``threads``: by default one
    for a budget of simulations, so that a seed gives the same answer everywhere, else one for each core.
    ``knowledge``: take what the game knows to be settled as such, and try only the moves that it holds worth it.
    ``reuse``: an earlier result, whose tree is kept as far as it leads here.  ``watch``: arrays of the caller to
    stop the search and to see its progress, one thread for each entry; ``show`` is told of the progress.
    ``interruptible``: Ctrl-C ends the search, not the program, and the best move so far is returned.
    """
    s = game.initial() if state is None else state
    _check(game, s, simulations, seconds, form, max_bytes)
    selector = selector or UCB1()
    count = len(watch.progress) if watch else num_threads(1 if threads is None and seconds is None else threads)
    watch = watch or Watch(count, show, interruptible=interruptible)
    trees = _kept_trees(reuse, s, selector, count, max_bytes // count)
    for _ in range(count - len(trees)):
        trees.append(new_tree(s, selector, first_span(game, form), max_bytes // count))
    budget = simulations or (NO_LIMIT if seconds else SIMULATIONS)
    grow = partial(_grow, game, form, seed, solver, knowledge)
    grow(trees[0], 0, 0, watch)  # compiles: the clock starts after that
    began = time.perf_counter()
    with stopping_after(seconds, watch):
        watch.run([partial(grow, tree, -(-(budget - i) // count), i, watch) for i, tree in enumerate(trees)])
    return summary(Node(game, s, tuple((tree, 0) for tree in trees)), time.perf_counter() - began)


def _check(game: Game[Any], s: Any, simulations: int | None, seconds: float | None, form: str, size: int) -> None:
    if form not in FORMS:
        raise unknown("form of MCTS", form, FORMS)
    if form == "report" and game.has_reward:
        raise GameError("the report's form counts wins, and this game counts points; use form=standard")
    if simulations is not None and simulations < 1:
        raise LimitError(f"simulations={simulations} must be at least 1")
    if seconds is not None and not seconds > 0:
        raise LimitError(f"seconds={seconds} must be more than 0")
    if size < MIN_BYTES:
        raise LimitError(f"a tree of {size} bytes is too small; allow at least {MIN_BYTES}")
    check_open(game, s)


def first_span(game: Game[Any], form: str) -> tuple[float, float]:
    """Return the range of values before any is seen: -1 .. 1 where only the result counts, else none.

    The report's form counts wins, which need no scale.
    """
    if form == "report":
        return 0.0, 0.0
    return (math.inf, -math.inf) if game.has_reward else (-1.0, 1.0)


def _grow(
    game: Game[Any],
    form: str,
    seed: int,
    solver: bool,
    knowledge: bool,
    tree: Tree,
    simulations: int,
    thread: int,
    watch: Watch,
) -> None:
    """Run simulations on a tree until the budget is spent; give it more room whenever it is full."""
    run = partial(FORMS[form], native(game), native(tree.selector), words(tree.root))
    path = new_path()
    own_seed = word(stream(seed, thread))
    while True:
        run(
            tree.nodes,
            tree.tally,
            path,
            own_seed,
            simulations,
            solver,
            knowledge,
            tree.grows,
            thread,
            watch.stop,
            watch.progress,
        )
        if tree.done >= simulations or watch.stop[0] or tree.nodes[0].proof:
            return
        tree.grow()


def _kept_trees(reuse: SearchResult | None, s: Any, selector: Selector, count: int, max_bytes: int) -> list[Tree]:
    """Return what earlier trees know of a position, as trees of their own; a node without moves tells nothing."""
    old = reuse.tree.find(s, REUSE_DEPTH) if reuse is not None and reuse.tree is not None else None
    if old is None:
        return []
    places = [(tree, k) for tree, k in old.places if tree.selector == selector and tree.nodes[k]["kids"]][:count]
    return [_subtree(tree, k, s, max_bytes) for tree, k in places]


def _subtree(tree: Tree, k: int, s: Any, max_bytes: int) -> Tree:
    span = float(tree.tally[0].low), float(tree.tally[0].high)
    kept = new_tree(s, tree.selector, span, max_bytes, room=len(tree.nodes))
    kept.tally[0].nodes = copy_subtree(tree.nodes, k, kept.nodes)
    return kept


def summary(root: Node, seconds: float) -> SearchResult:
    """Return the result of a search from the root of its trees."""
    first = root.ranked[0]
    best = [child for child in root.ranked if root.rank(child) == root.rank(first)]
    trees = [tree for tree, _ in root.places]
    return SearchResult(
        action=first.action,
        value=first.value,
        proven=root.proven,
        best=tuple(child.action for child in best),
        moves=tuple(MoveStatistics(c.action, c.text, c.visits, c.value, c.proven) for c in root.children),
        line=root.line(),
        simulations=sum(tree.done for tree in trees),
        nodes=sum(tree.size for tree in trees),
        seconds=seconds,
        tree=root,
    )
