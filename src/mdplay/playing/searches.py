"""``search``: any agent that searches, asked about one position."""

from __future__ import annotations

from typing import Any

from mdplay.errors import UnknownName
from mdplay.game import Game
from mdplay.playing.agents import make_agent
from mdplay.position import as_state
from mdplay.running import Show
from mdplay.searching.agents import SearchAgent
from mdplay.searching.result import SearchResult


def search(
    game: Game[Any],
    state: Any = None,
    *,
    agent: str = "mcts",
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    show: Show | None = None,
    interruptible: bool = False,
    **options: Any,
) -> SearchResult:
    """Search a position (default: the start) within a budget and return the best move found.

    ``agent``: a spec such as ``mcts:selector=thompson`` or ``heuristic:depth=6``, or a name whose options are
    keywords: ``search(game, agent="heuristic", depth=6)``.  ``interruptible``: Ctrl-C ends the search, not the
    program, and the best move so far is returned.

    >>> from mdplay import make
    >>> search(make("connect-four"), agent="heuristic", depth=2).depth
    2
    """
    start = as_state(game, state)
    given = {"simulations": simulations, "seconds": seconds, "threads": threads, **options}
    searcher = make_agent(game, agent, **given)
    if not isinstance(searcher, SearchAgent):
        raise UnknownName(f"agent {agent} does not search; choose mcts, heuristic or ida-star")
    return searcher.search(start, seed=seed, show=show, interruptible=interruptible)
