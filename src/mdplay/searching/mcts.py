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
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from mdplay.checking.contract_checks import check_kept, spot_check
from mdplay.compiling import State, native, word, words
from mdplay.compiling.digest import refresh
from mdplay.errors import (
    ArgumentError,
    GameError,
    LimitError,
    check_integer,
    check_kind,
    unknown,
)
from mdplay.evaluating.evaluation import Evaluator
from mdplay.evaluating.leaves import LeafEvaluator
from mdplay.game import Game
from mdplay.learning.network import Network, check_network, named_network
from mdplay.position import takes_state
from mdplay.rng import Random, stream
from mdplay.runtime.run import Run, options_and_run
from mdplay.runtime.threads import Show, Stopwatch, TaskGroup, WorkSlice, num_threads
from mdplay.searching.by_evaluator import BATCH, leaf_batches, new_leaves, simulate_by_evaluator
from mdplay.searching.by_network import PUCT, simulate_by_network
from mdplay.searching.result import MethodAgent, MoveStatistics, Node, SearchResult, check_open, stopping_after
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
SETTINGS = ("seconds", "memory", "threads", "progress")
MAX_BYTES = 1 << 30  # of the tree, unless ``memory`` is given
MIN_BYTES = 1 << 20
MAX_SIMULATIONS = 1 << 29  # of a tree: visits are int32, and a tree that is reused has some already
MAX_PLAIN_SIMULATIONS = 10_000  # more simulations are compiled at once: plain Python never ends them in time
REUSE_DEPTH = 4  # maximum distance of a position from an old root: a move and a reply, each with chance


@dataclass(frozen=True)
class MCTS:
    """The options of Monte Carlo tree search; ``MCTS(...)(game)`` is an agent.

    The budget is ``simulations`` (default 10,000), ``seconds`` of the run, or whichever ends first.  Leaves are
    evaluated by random games, by a ``network`` (a file, "shipped" or an object; the selector is then PUCT), or by
    an ``evaluator``: a Python function of at most ``batch`` states, which returns their values for the players to
    move, or values and priors (see ``mdplay.evaluating.leaves``).  With an evaluator the selector is PUCT by
    default, and the search runs in one thread.  ``knowledge``: states that the game knows to be decided count as
    such, and only the moves are tried that it considers worth a search.  ``max_moves`` truncates random games, by
    default only if positions repeat.
    """

    simulations: Annotated[int | None, "Maximum number of simulations; 10,000 without a time limit."] = None
    selector: Annotated[str | Selector | None, "Rule that selects a move, for example ucb1(c=1)."] = None
    network: Annotated[str | Network | None, "Network that evaluates leaves: a file, or shipped."] = None
    evaluator: Annotated[LeafEvaluator | Evaluator | None, "Function that evaluates batches of leaves."] = None
    batch: Annotated[int, "Maximum number of states in one call of the evaluator."] = BATCH
    expansion: Annotated[str, "one: a new node per simulation; all: all children of a leaf."] = "one"
    solver: Annotated[bool, "Prove values where the tree reaches the end of the game."] = True
    knowledge: Annotated[bool, "Use the bounds that the game defines."] = True
    max_moves: Annotated[int | None, "Truncate random games after this number of moves."] = None

    def __call__(self, game: Game[Any], **settings: Any) -> MCTSAgent:
        """Return an agent that searches with these options, and settings of a run."""
        return MCTSAgent(game, **vars(self), **settings)

    def resolved(self, game: Game[Any]) -> MCTS:
        """Return the options with the objects that texts name; raise ArgumentError for other objects."""
        network = named_network(self.network, game) if isinstance(self.network, str) else self.network
        check_network(network)
        selector = make_selector(self.selector) if isinstance(self.selector, str) else self.selector
        check_kind("selector", selector, Selector, "make_selector('ucb1(c=1)') makes one of a text")
        if selector is not None:
            refresh(selector)
        usual = BY_ROLLOUTS if self.evaluator is None else BY_NETWORK
        return replace(self, network=network, selector=BY_NETWORK if network is not None else selector or usual)


@takes_state
def mcts(
    game: Game[Any],
    state: Any = None,
    *,
    seed: int = 0,
    reuse: SearchResult | None = None,
    watch: TaskGroup | None = None,
    interruptible: bool = False,
    run: Run | None = None,
    **options: Any,
) -> SearchResult:
    """Search a position (default: the start) within a budget and return the best move found.

    The options are those of ``MCTS`` and the settings ``seconds``, ``memory`` (of the tree, default 1 GiB),
    ``threads`` and ``progress`` of a ``Run``.  ``threads``: by default one for a budget of simulations, so that a
    seed gives the same answer everywhere, else one for each core.  ``reuse``: an earlier result, whose tree is
    reused as far as it contains the position.  ``watch``: arrays of the caller to stop the search and to see its
    progress, one thread for each entry.  ``interruptible``: Ctrl-C ends the search, not the program, and the best
    move so far is returned.
    """
    method, run = options_and_run("mcts", MCTS, SETTINGS, run, options)
    method, s, seconds, memory = method.resolved(game), state, run.seconds, run.bytes or MAX_BYTES
    simulator = simulating(game, method)
    _check_start(game, s, memory)
    is_serial = run.threads is None and (seconds is None or method.evaluator is not None)
    count = len(watch.progress) if watch else num_threads(1 if is_serial else run.threads)
    if method.evaluator is not None and count > 1:
        raise LimitError(f"threads={count}: a search with an evaluator runs in one thread; remove threads")
    watch = watch or TaskGroup(count, run.progress, interruptible=interruptible)
    trees = _kept_trees(reuse, s, method, count, memory // count, move_limit(game, method.max_moves))
    for _ in range(count - len(trees)):
        trees.append(_first_tree(game, method, s, memory // count))
    budget = method.simulations or (MAX_SIMULATIONS * count if seconds else SIMULATIONS)
    if budget > MAX_SIMULATIONS * count:
        raise LimitError(f"simulations={budget} are too many; at most {MAX_SIMULATIONS:,} a thread")
    settings = SearchSettings(seed, 0, method.solver, method.knowledge, grows=True)
    ready = seconds is not None or budget > MAX_PLAIN_SIMULATIONS
    growing = partial(grow, game, partial(simulator, ready=ready), settings)
    if seconds is not None:
        growing(trees[0], 0, watch.worker())  # the clock starts when it is compiled
    budgets = [-(-(budget - i) // count) for i in range(count)]
    clock = Stopwatch()
    with stopping_after(seconds, watch):
        watch.run([partial(growing, tree, budgets[i], watch.worker(i, count)) for i, tree in enumerate(trees)])
    if not any(tree.done or tree.nodes[0].proof for tree in trees):
        raise LimitError("the search ended before its first random game did; give it more time")
    return summary(Node.root(game, trees), clock.seconds)


def _check_start(game: Game[Any], s: State, memory: int) -> None:
    """Raise MdplayError if there is no move to choose, the rules are broken or memory is too small."""
    if memory < MIN_BYTES:
        raise LimitError(f"a tree of {memory} bytes is too small; allow at least {MIN_BYTES}")
    check_open(game, s)
    spot_check(game, s)


def _first_tree(game: Game[Any], method: MCTS, s: State, memory: int, room: int = 0) -> Tree:
    """Return a tree of one node for options that are resolved."""
    assert isinstance(method.selector, Selector)
    span, limit = first_span(game, method.expansion), move_limit(game, method.max_moves)
    return new_tree(s, method.selector, span, memory, limit, kind_of(game), room)


def first_span(game: Game[Any], expansion: str) -> tuple[float, float]:
    """Return the range of values before any is seen: -1 .. 1 where only the result counts, else none.

    ``expansion=all`` counts wins, which need no scale.
    """
    if expansion == "all":
        return 0.0, 0.0
    return (math.inf, -math.inf) if game.has_reward else (-1.0, 1.0)


def simulating(game: Game[Any], method: MCTS) -> Callable[..., Any]:
    """Return a function of a tree, which returns the function that runs simulations on it.

    ``ready``: the kernels are compiled before they run, without a trial in plain Python.  Raise MdplayError if the
    options do not fit the game or each other.
    """
    if method.expansion not in EXPANSIONS:
        raise unknown("expansion", method.expansion, EXPANSIONS)
    if method.expansion == "all" and game.has_reward:
        raise GameError("expansion=all counts wins, and this game counts points; use expansion=one")
    if method.simulations is not None:
        check_integer("simulations", method.simulations)
    leaves = leaf_batches(game, method.evaluator, method.network, method.batch)
    if leaves is not None and method.expansion != "one":
        raise ArgumentError(
            f"an evaluator values leaves without random games; remove expansion={method.expansion}"
        )

    def made(tree: Tree, *, ready: bool = False) -> Any:
        if leaves is not None:
            return partial(simulate_by_evaluator, game, leaves, new_leaves(game, leaves.batch), tree)
        is_network = isinstance(method.network, Network)
        kernel = simulate_by_network if is_network else EXPANSIONS[method.expansion]
        arrays = (method.network.arrays(),) if isinstance(method.network, Network) else ()
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
    reuse: SearchResult | None, s: State, method: MCTS, count: int, memory: int, limit: int
) -> list[Tree]:
    """Return the parts of earlier trees below a position, as trees of their own; a node without moves has none."""
    old = reuse.tree.find(s, REUSE_DEPTH) if reuse is not None and reuse.tree is not None else None
    if old is None:
        return []
    places = [(tree, k) for tree, k in old.places if _is_worth_keeping(tree, k, method.selector)][:count]
    return [_subtree(tree, k, s, memory, limit) for tree, k in places]


def _is_worth_keeping(tree: Tree, k: int, selector: object) -> bool:
    node = tree.nodes[k]
    return bool(tree.selector == selector and node["kids"] and node["pulls"] <= MAX_SIMULATIONS)


def _subtree(tree: Tree, k: int, s: State, memory: int, limit: int) -> Tree:
    tally = tree.tally[0]
    span, kind = (float(tally.low), float(tally.high)), GameKind(bool(tally.repeats), bool(tally.margins))
    kept = new_tree(s, tree.selector, span, memory, limit, kind, room=len(tree.nodes))
    kept.tally[0].nodes = copy_subtree(tree.nodes, k, kept.nodes)
    if kind.repeats:
        proofs = kept.nodes["proof"][: kept.size]
        proofs[proofs == REPEATED] = OPEN  # a repetition may refer to an ancestor that was cut off
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
class MCTSAgent(MethodAgent):
    """Plays by Monte Carlo tree search; with ``reuse`` it reuses the subtree of the position that is reached."""

    method = MCTS
    settings = ("seconds", "memory", "threads")

    def __init__(self, game: Game[Any], *, reuse: bool = True, run: Run | None = None, **options: Any) -> None:
        super().__init__(game, run=run, **options)
        self._reuse = reuse
        self._last: SearchResult | None = None

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position."""
        last, run = self._last if self._reuse else None, replace(self.run, progress=show)
        given: dict[str, Any] = {"reuse": last, "interruptible": interruptible, "run": run, **vars(self.options)}
        self._last = mcts(self._game, state, seed=seed, **given)
        return self._last

    def act(self, state: State, rng: Random) -> int:
        """Choose the best action found."""
        return self.search(state, seed=rng.word()).action


STEPWISE_MAX_BYTES = 256 << 20


class Search:
    """A tree search of one position (default: the start) that runs in steps.

    The options are those of ``MCTS`` but ``simulations``, and ``memory`` (default 256 MiB).
    """

    @takes_state
    def __init__(
        self, game: Game[Any], state: Any = None, *, seed: int = 0, run: Run | None = None, **options: Any
    ) -> None:
        self.game, self.state, self.seconds, self.stopped = game, state, 0.0, False
        method, run = options_and_run("Search", MCTS, ("memory",), run, options)
        if method.simulations is not None:
            raise ArgumentError(
                "simulations has no effect in Search; give the number to Search.run or Search.steps"
            )
        method, memory = method.resolved(game), run.bytes or STEPWISE_MAX_BYTES
        _check_start(game, state, memory)
        most = min(memory // NODE.itemsize, MOST_NODES)
        tree = _first_tree(game, method, state, memory, room=most)
        self._tree = replace(tree, max_nodes=most)  # all the room that it may ever take, given as it is used
        self._step = TaskGroup()  # of the step that runs
        settings = SearchSettings(seed, 0, method.solver, method.knowledge, grows=True)
        self._grow = partial(grow, game, partial(simulating(game, method), ready=True), settings, self._tree)

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
        """Continue for ``simulations`` simulations or ``seconds`` seconds, whichever ends first."""
        if simulations is not None and simulations < 0:
            raise LimitError(f"simulations={simulations} must be at least 0")
        step = self._step = TaskGroup()
        if self.stopped:  # looked at after the step is there to be stopped
            return
        more = MAX_SIMULATIONS if simulations is None else simulations
        self._grow(0, step.worker())  # compiles: the clock starts after that
        began = time.perf_counter()
        with stopping_after(seconds, step):
            self._grow(min(self.simulations + more, MAX_SIMULATIONS), step.worker())
        self.seconds += time.perf_counter() - began

    def steps(
        self, simulations: int = MAX_SIMULATIONS, *, seconds: float | None = None, every: float = 0.1
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
