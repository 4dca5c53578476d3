"""Monte Carlo tree search for any game: the front door.

    result = mcts(ConnectFour(), simulations=10_000)
    result.move, result.value, result.line, result.tree.save("tree.json")
    make_agent(game, "mcts:simulations=10000,selector=ucb1(c=1),expansion=all,solver=no,threads=2")

Walk down the tree by a bandit rule, add a node, play at random to the end, note the result on the way back
(Coulom 2006, Kocsis and Szepesvari 2006).  ``expansion`` says which of two ways (see simulating.py).

Several threads grow trees of their own, whose root statistics are added at the end: equal seeds give equal results
for equal numbers of threads, as long as the budget is simulations.

Tree search in steps: run a while, look at the statistics, run on, stop at any moment.

    search = Search(make("connect-four"))
    while search.simulations < 50_000 and not search.proven:
        search.run(seconds=0.1)
        print(search.result().line)

The same simulations in one step or in many give the same tree.  Another thread may call ``stop`` while a step
runs: the step ends within a few simulations.  Kernels run without the GIL, and the room of the tree is reserved
when the search begins, page by page as it is needed: nothing is ever copied, and no other thread is kept waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from mdplay.checking.contract_checks import check_kept, spot_check
from mdplay.compiling import State, native, word, words
from mdplay.compiling.digest import refresh
from mdplay.errors import (
    ArgumentError,
    GameError,
    LimitError,
    check_integer,
    check_kind,
    check_seconds,
    unknown,
)
from mdplay.evaluating.evaluation import Evaluator
from mdplay.evaluating.leaves import LeafBatches, LeafEvaluator
from mdplay.game import Game
from mdplay.learning.network import Network, check_network, named_network
from mdplay.position import takes_state
from mdplay.rng import Random, stream
from mdplay.runtime.threads import Show, Stopwatch, TaskGroup, WorkSlice, num_threads
from mdplay.searching.by_evaluator import BATCH, leaf_batches, new_leaves, simulate_by_evaluator
from mdplay.searching.by_network import PUCT, simulate_by_network
from mdplay.searching.result import MoveStatistics, Node, SearchResult, check_open, stopping_after
from mdplay.searching.selecting import OPEN, REPEATED
from mdplay.searching.selectors import UCB1, Selector, make_selector
from mdplay.searching.simulating import EXPANSIONS
from mdplay.searching.tree import (
    MOST_NODES,
    NODE,
    GameKind,
    SearchSettings,
    Tree,
    TreeArrays,
    copy_subtree,
    kind_of,
    new_path,
    new_tree,
)
from mdplay.states.game_length import move_limit

SIMULATIONS = 10_000
BY_NETWORK, BY_ROLLOUTS = PUCT(), UCB1()  # made once: to hash a new one takes as long as 500 simulations
MAX_BYTES = 1 << 30
MIN_BYTES = 1 << 20
MOST_SIMULATIONS = 1 << 29  # of a tree: visits are int32, and a tree that is kept has some already
MOST_PLAIN = 10_000  # simulations that may be tried in plain Python first: it never gets through more in time
REUSE_DEPTH = 4  # how far below an old root a position may lie: a move and a reply, each with chance


@takes_state
def mcts(
    game: Game[Any],
    state: State = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    selector: Selector | None = None,
    network: Network | None = None,
    evaluator: LeafEvaluator | Evaluator | None = None,
    batch: int = BATCH,
    expansion: str = "one",
    solver: bool = True,
    knowledge: bool = True,
    seed: int = 0,
    threads: int | None = None,
    max_bytes: int = MAX_BYTES,
    max_moves: int | None = None,
    reuse: SearchResult | None = None,
    watch: TaskGroup | None = None,
    show: Show | None = None,
    interruptible: bool = False,
) -> SearchResult:
    """Search a position (default: the start) within a budget and return the best move found.

    Budget: ``simulations`` (default 10,000), ``seconds``, or whichever ends first.  ``threads``: by default one
    for a budget of simulations, so that a seed gives the same answer everywhere, else one for each core.
    ``network``: value leaves by what was learned, not by random games; then the selector is PUCT.
    ``evaluator``: value leaves by a Python function of at most ``batch`` states, which returns their values for
    the players to move, or values and priors (see ``mdplay.evaluating.leaves``); the selector is PUCT by default,
    and the search runs in one thread.
    ``knowledge``: take what the game knows to be settled as such, and try only the moves that it holds worth it.
    ``max_moves`` truncates random games, by default only if positions repeat.
    ``reuse``: an earlier result, whose tree is kept as far as it leads here.  ``watch``: arrays of the caller to
    stop the search and to see its progress, one thread for each entry; ``show`` is told of the progress.
    ``interruptible``: Ctrl-C ends the search, not the program, and the best move so far is returned.
    """
    s = state
    check_search(game, s, simulations, seconds, expansion, max_bytes)
    spot_check(game, s)
    selector = selector_for(network, selector, evaluator)
    simulator = simulating(game, expansion, network, leaf_batches(game, evaluator, network, batch))
    is_serial = threads is None and (seconds is None or evaluator is not None)
    count = len(watch.progress) if watch else num_threads(1 if is_serial else threads)
    if evaluator is not None and count > 1:
        raise LimitError(f"threads={count}: a search with an evaluator runs in one thread; remove threads")
    watch = watch or TaskGroup(count, show, interruptible=interruptible)
    limit, kind = move_limit(game, max_moves), kind_of(game)
    trees = _kept_trees(reuse, s, selector, count, max_bytes // count, limit)
    for _ in range(count - len(trees)):
        trees.append(new_tree(s, selector, first_span(game, expansion), max_bytes // count, limit, kind))
    budget = simulations or (MOST_SIMULATIONS * count if seconds else SIMULATIONS)
    if budget > MOST_SIMULATIONS * count:
        raise LimitError(f"simulations={budget} are too many; at most {MOST_SIMULATIONS:,} a thread")
    settings = SearchSettings(seed, 0, solver, knowledge, grows=True)
    ready = seconds is not None or budget > MOST_PLAIN
    run = partial(grow, game, partial(simulator, ready=ready), settings)
    if seconds is not None:
        run(trees[0], 0, watch.worker())  # the clock starts when it is compiled
    budgets = [-(-(budget - i) // count) for i in range(count)]
    clock = Stopwatch()
    with stopping_after(seconds, watch):
        watch.run([partial(run, tree, budgets[i], watch.worker(i, count)) for i, tree in enumerate(trees)])
    if not any(tree.done or tree.nodes[0].proof for tree in trees):
        raise LimitError("the search ended before its first random game did; give it more time")
    return summary(Node.root(game, trees), clock.seconds)


def selector_for(
    network: Network | None, selector: Selector | None, evaluator: LeafEvaluator | Evaluator | None = None
) -> Selector:
    """Return the selector of a search: PUCT with a network, else the given one, PUCT with an evaluator, or UCB1.

    Raise ArgumentError if the network or the selector is of another kind.
    """
    if network is not None:
        check_network(network)
    check_kind("selector", selector, Selector, "make_selector('ucb1(c=1)') makes one of a text")
    if selector is not None:
        refresh(selector)
    if network is not None:
        return BY_NETWORK
    return selector or (BY_ROLLOUTS if evaluator is None else BY_NETWORK)


def check_search(
    game: Game[Any], s: State, simulations: int | None, seconds: float | None, expansion: str, size: int
) -> None:
    """Raise MdplayError if a search cannot be made so, or has nothing to choose from."""
    if expansion not in EXPANSIONS:
        raise unknown("expansion", expansion, EXPANSIONS)
    if expansion == "all" and game.has_reward:
        raise GameError("expansion=all counts wins, and this game counts points; use expansion=one")
    if simulations is not None:
        check_integer("simulations", simulations)
    check_seconds(seconds)
    if size < MIN_BYTES:
        raise LimitError(f"a tree of {size} bytes is too small; allow at least {MIN_BYTES}")
    check_open(game, s)


def first_span(game: Game[Any], expansion: str) -> tuple[float, float]:
    """Return the range of values before any is seen: -1 .. 1 where only the result counts, else none.

    ``expansion=all`` counts wins, which need no scale.
    """
    if expansion == "all":
        return 0.0, 0.0
    return (math.inf, -math.inf) if game.has_reward else (-1.0, 1.0)


def simulating(
    game: Game[Any], expansion: str, network: Network | None, leaves: LeafBatches | None
) -> Callable[..., Any]:
    """Return a function of a tree, which returns the function that runs simulations on it.

    ``ready``: the kernels are compiled before they run, without a trial in plain Python.
    """
    if leaves is not None and expansion != "one":
        raise ArgumentError(f"an evaluator values leaves without random games; remove expansion={expansion}")

    def made(tree: Tree, *, ready: bool = False) -> Any:
        if leaves is not None:
            return partial(simulate_by_evaluator, game, leaves, new_leaves(game, leaves.batch), tree)
        kernel = EXPANSIONS[expansion] if network is None else simulate_by_network
        arrays = () if network is None else (network.arrays(),)
        run = kernel.compiled_first if ready else kernel
        return partial(run, native(game), native(tree.selector), words(tree.root), *arrays)

    return made


def grow(
    game: Game[Any],
    simulating: Callable[[Tree], Any],
    settings: SearchSettings,
    tree: Tree,
    simulations: int,
    worker: WorkSlice,
) -> None:
    """Run simulations on a tree until the budget is spent; give it more room whenever it is full."""
    run, arrays = simulating(tree), TreeArrays(tree.nodes, tree.tally, new_path())
    seed = word(stream(settings.seed, worker.first))
    while True:
        run(arrays, settings._replace(seed=seed, simulations=simulations, grows=tree.grows), worker)
        check_kept(game, int(tree.tally[0].broken), int(tree.tally[0].max_moves))
        if tree.done >= simulations or worker.stop[0] or tree.nodes[0].proof:
            return
        tree.grow()


def _kept_trees(
    reuse: SearchResult | None, s: State, selector: Selector, count: int, max_bytes: int, limit: int
) -> list[Tree]:
    """Return what earlier trees know of a position, as trees of their own; a node without moves tells nothing."""
    old = reuse.tree.find(s, REUSE_DEPTH) if reuse is not None and reuse.tree is not None else None
    if old is None:
        return []
    places = [(tree, k) for tree, k in old.places if _is_worth_keeping(tree, k, selector)][:count]
    return [_subtree(tree, k, s, max_bytes, limit) for tree, k in places]


def _is_worth_keeping(tree: Tree, k: int, selector: Selector) -> bool:
    node = tree.nodes[k]
    return bool(tree.selector == selector and node["kids"] and node["pulls"] <= MOST_SIMULATIONS)


def _subtree(tree: Tree, k: int, s: State, max_bytes: int, limit: int) -> Tree:
    tally = tree.tally[0]
    span, kind = (float(tally.low), float(tally.high)), GameKind(bool(tally.repeats), bool(tally.margins))
    kept = new_tree(s, tree.selector, span, max_bytes, limit, kind, room=len(tree.nodes))
    kept.tally[0].nodes = copy_subtree(tree.nodes, k, kept.nodes)
    if kind.repeats:
        proofs = kept.nodes["proof"][: kept.size]
        proofs[proofs == REPEATED] = OPEN  # what came back may lie above the new root
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
        by_limit=sum(int(tree.tally[0].by_limit) for tree in trees),
        tree=root,
    )


# ---------------------------------------------------------------- the agent
class MCTSAgent:
    """Plays by Monte Carlo tree search; with ``reuse`` it keeps of its tree what the game has come to."""

    def __init__(
        self,
        game: Game[Any],
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        selector: str | Selector = "ucb1",
        network: str | None = None,
        evaluator: LeafEvaluator | Evaluator | None = None,
        batch: int = BATCH,
        expansion: str = "one",
        solver: bool = True,
        knowledge: bool = True,
        threads: int | None = None,
        megabytes: int = 1024,
        max_moves: int | None = None,
        reuse: bool = True,
    ) -> None:
        if evaluator is not None and selector == "ucb1":
            selector = BY_NETWORK
        self._game = game
        self._reuse = reuse
        self._last: SearchResult | None = None
        self.options: dict[str, Any] = {
            "simulations": simulations,
            "seconds": seconds,
            "selector": make_selector(selector) if isinstance(selector, str) else selector,
            "network": None if network is None else named_network(network, game),
            "evaluator": evaluator,
            "batch": batch,
            "expansion": expansion,
            "solver": solver,
            "knowledge": knowledge,
            "threads": threads,
            "max_bytes": megabytes << 20,
            "max_moves": max_moves,
        }

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position."""
        last = self._last if self._reuse else None
        self._last = mcts(
            self._game, state, seed=seed, reuse=last, show=show, interruptible=interruptible, **self.options
        )
        return self._last

    def act(self, state: State, rng: Random) -> int:
        """Choose the best action found."""
        return self.search(state, seed=rng.word()).action


STEPWISE_MAX_BYTES = 256 << 20


class Search:
    """A tree search of one position (default: the start) that runs in steps.

    The options are those of ``mcts``.
    """

    @takes_state
    def __init__(
        self,
        game: Game[Any],
        state: State = None,
        *,
        selector: Selector | None = None,
        network: Network | None = None,
        evaluator: LeafEvaluator | Evaluator | None = None,
        batch: int = BATCH,
        expansion: str = "one",
        solver: bool = True,
        knowledge: bool = True,
        seed: int = 0,
        max_bytes: int = STEPWISE_MAX_BYTES,
    ) -> None:
        self.game = game
        self.state = state
        check_search(game, self.state, None, None, expansion, max_bytes)
        spot_check(game, self.state)
        self.seconds = 0.0
        self.stopped = False
        span = first_span(game, expansion)
        most = min(max_bytes // NODE.itemsize, MOST_NODES)
        given = (
            self.state,
            selector_for(network, selector, evaluator),
            span,
            max_bytes,
            move_limit(game),
            kind_of(game),
        )
        tree = new_tree(*given, room=most)
        self._tree = replace(tree, max_nodes=most)  # all the room that it may ever take, given as it is used
        self._step = TaskGroup()  # of the step that runs
        settings = SearchSettings(seed, 0, solver, knowledge, grows=True)
        simulator = simulating(game, expansion, network, leaf_batches(game, evaluator, network, batch))
        self._grow = partial(grow, game, partial(simulator, ready=True), settings, self._tree)

    @property
    def simulations(self) -> int:
        """The number of simulations so far."""
        return self._tree.done

    @property
    def proven(self) -> bool:
        """Whether the value of the position is certain: then there is nothing left to search."""
        return bool(self._tree.nodes[0]["proof"])

    def stop(self) -> None:
        """End the step that runs, and let no other begin; any thread may call it."""
        self.stopped = True
        self._step.stop[0] = 1

    def run(self, simulations: int | None = None, *, seconds: float | None = None) -> None:
        """Search on: so many simulations more, or so long, or whichever ends first."""
        if simulations is not None and simulations < 0:
            raise LimitError(f"simulations={simulations} must be at least 0")
        step = self._step = TaskGroup()
        if self.stopped:  # looked at after the step is there to be stopped
            return
        more = MOST_SIMULATIONS if simulations is None else simulations
        self._grow(0, step.worker())  # compiles: the clock starts after that
        began = time.perf_counter()
        with stopping_after(seconds, step):
            self._grow(min(self.simulations + more, MOST_SIMULATIONS), step.worker())
        self.seconds += time.perf_counter() - began

    def steps(
        self, simulations: int = MOST_SIMULATIONS, *, seconds: float | None = None, every: float = 0.1
    ) -> Iterator[SearchResult]:
        """Search within a budget and yield the result every ``every`` seconds and at the end, at least once.

        The budget counts the simulations, and the seconds without compilation, since the search began.  A proof, a
        full tree and ``stop`` end it earlier.
        """
        self.run(1)
        before = 0
        while self.simulations > before and not (self.proven or self.stopped):
            left = every if seconds is None else min(every, seconds - self.seconds)
            if self.simulations >= simulations or left <= 0:
                break
            before = self.simulations
            self.run(simulations - before, seconds=left)
            yield self.result()
        yield self.result()

    def result(self) -> SearchResult:
        """Return what is known now; raise LimitError before the first simulation."""
        if not (self.simulations or self.proven):
            raise LimitError("the search has not run yet")
        return summary(self.root, self.seconds)

    @property
    def root(self) -> Node:
        """The position as a node of the tree, whose children are to be looked into."""
        return Node.root(self.game, [self._tree])
