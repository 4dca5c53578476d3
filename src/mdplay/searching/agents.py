"""Searches that play: ``act(state, rng) -> action`` for matches, ``search(state, ...)`` with the reasons.

mcts:simulations=10000,selector=ucb1(c=1),form=report,solver=no,threads=2
heuristic:depth=6          heuristic:seconds=0.5
knowledge=no               either of them without what the game knows to be settled (``look``)
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from mdplay.game import Game
from mdplay.rng import Random
from mdplay.running import Show
from mdplay.searching.result import SearchResult
from mdplay.searching.selectors import make_selector


@runtime_checkable
class SearchAgent(Protocol):
    """An agent that can tell why."""

    def search(
        self, state: Any, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; interruptible: Ctrl-C ends the search with the best move so far."""

    def act(self, state: Any, rng: Random) -> int:
        """Choose an action."""


class MCTSAgent:
    """Plays by Monte Carlo tree search; with ``reuse`` it keeps of its tree what the game has come to."""

    def __init__(
        self,
        game: Game[Any],
        *,
        simulations: int = 0,
        seconds: float = 0.0,
        selector: str = "ucb1",
        form: str = "standard",
        solver: bool = True,
        knowledge: bool = True,
        threads: int = 0,
        megabytes: int = 1024,
        reuse: bool = True,
    ) -> None:
        self._game = game
        self._reuse = reuse
        self._last: SearchResult | None = None
        self._options: dict[str, Any] = {
            "simulations": simulations or None,
            "seconds": seconds or None,
            "selector": make_selector(selector),
            "form": form,
            "solver": solver,
            "knowledge": knowledge,
            "threads": threads or None,
            "max_bytes": megabytes << 20,
        }

    def search(
        self, state: Any, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position."""
        from mdplay.searching.mcts import mcts

        last = self._last if self._reuse else None
        self._last = mcts(
            self._game, state, seed=seed, reuse=last, show=show, interruptible=interruptible, **self._options
        )
        return self._last

    def act(self, state: Any, rng: Random) -> int:
        """Choose the best action found."""
        return self.search(state, seed=rng.word()).action


class HeuristicAgent:
    """Plays by depth-limited search with the game's heuristic; equally good moves are drawn by lot."""

    def __init__(self, game: Game[Any], *, depth: int = 0, seconds: float = 0.0, knowledge: bool = True) -> None:
        self._game = game
        self._options: dict[str, Any] = {
            "depth": depth or None,
            "seconds": seconds or None,
            "knowledge": knowledge,
        }

    def search(
        self, state: Any, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; the seed changes nothing."""
        from mdplay.searching.depth_limited import depth_limited

        return depth_limited(self._game, state, show=show, interruptible=interruptible, **self._options)

    def act(self, state: Any, rng: Random) -> int:
        """Choose one of the best actions."""
        best = self.search(state).best
        return best[rng.below(len(best))]
