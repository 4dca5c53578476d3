"""Tree search in steps: run a while, look at the statistics, run on, stop at any moment.

    search = Search(make("connect-four"))
    while search.simulations < 50_000 and not search.proven:
        search.run(seconds=0.1)
        print(search.result().line)

The same simulations in one step or in many give the same tree.  Another thread may call ``stop`` while a step
runs: the step ends within a few simulations.  Kernels run without the GIL, and the room of the tree is reserved
when the search begins, page by page as it is needed: nothing is ever copied, and no other thread is kept waiting.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

from mdplay.bridge import State
from mdplay.checking.limits import move_limit
from mdplay.checking.promises import hold_promises
from mdplay.errors import LimitError
from mdplay.game import Game
from mdplay.learning.network import Network
from mdplay.position import takes_state
from mdplay.running import Watch
from mdplay.searching.inspecting import Node
from mdplay.searching.mcts import (
    MOST_SIMULATIONS,
    check_search,
    first_span,
    grow,
    selector_for,
    simulating,
    summary,
)
from mdplay.searching.result import SearchResult, stopping_after
from mdplay.searching.selectors import Selector
from mdplay.searching.tree import MOST_NODES, NODE, SearchSettings, kind_of, new_tree

MAX_BYTES = 256 << 20


class Search:
    """A tree search of one position (default: the start) that goes on when it is told to.

    ``network``: value leaves by what was learned, not by random games; then the selector is PUCT.
    """

    @takes_state
    def __init__(
        self,
        game: Game[Any],
        state: State = None,
        *,
        selector: Selector | None = None,
        network: Network | None = None,
        expansion: str = "one",
        solver: bool = True,
        knowledge: bool = True,
        seed: int = 0,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.game = game
        self.state = state
        check_search(game, self.state, None, None, expansion, max_bytes)
        hold_promises(game, self.state)
        self.seconds = 0.0
        self.stopped = False
        span = first_span(game, expansion)
        most = min(max_bytes // NODE.itemsize, MOST_NODES)
        given = (self.state, selector_for(network, selector), span, max_bytes, move_limit(game), kind_of(game))
        tree = new_tree(*given, room=most)
        self._tree = replace(tree, max_nodes=most)  # all the room that it may ever take, given as it is used
        self._step = Watch()  # of the step that runs
        settings = SearchSettings(seed, 0, solver, knowledge, grows=True)
        self._grow = partial(grow, game, simulating(game, expansion, network, ready=True), settings, self._tree)

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
        step = self._step = Watch()
        if self.stopped:  # looked at after the step is there to be stopped
            return
        more = MOST_SIMULATIONS if simulations is None else simulations
        self._grow(0, step.worker())  # compiles: the clock starts after that
        began = time.perf_counter()
        with stopping_after(seconds, step):
            self._grow(min(self.simulations + more, MOST_SIMULATIONS), step.worker())
        self.seconds += time.perf_counter() - began

    def result(self) -> SearchResult:
        """Return what is known now; raise LimitError before the first simulation."""
        if not (self.simulations or self.proven):
            raise LimitError("the search has not run yet")
        return summary(self.root, self.seconds)

    @property
    def root(self) -> Node:
        """The position as a node of the tree, whose children are to be looked into."""
        return Node.root(self.game, [self._tree])
