"""Searches that play: ``act(state, rng) -> action`` for matches, ``search(state, ...)`` with the reasons.

mcts:simulations=10000,selector=ucb1(c=1),expansion=all,solver=no,threads=2
heuristic:depth=6          heuristic:seconds=0.5
ida-star:seconds=60        puzzles: the fewest moves to the goal
network=FILE               either of them with a learned network: the values of leaves, the heuristic
network=shipped            with the one that comes with the game
knowledge=no               either of them without what the game knows to be settled (``bounds``)
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from mdplay.bridge import State
from mdplay.game import Game
from mdplay.rng import Random
from mdplay.running import Show
from mdplay.searching.result import SearchResult
from mdplay.searching.selectors import Selector, make_selector


@runtime_checkable
class SearchAgent(Protocol):
    """An agent that can tell why."""

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; interruptible: Ctrl-C ends the search with the best move so far."""

    def act(self, state: State, rng: Random) -> int:
        """Choose an action."""


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
        expansion: str = "one",
        solver: bool = True,
        knowledge: bool = True,
        threads: int | None = None,
        megabytes: int = 1024,
        max_moves: int | None = None,
        reuse: bool = True,
    ) -> None:
        self._game = game
        self._reuse = reuse
        self._last: SearchResult | None = None
        self.options: dict[str, Any] = {
            "simulations": simulations,
            "seconds": seconds,
            "selector": make_selector(selector) if isinstance(selector, str) else selector,
            "network": _learned(network, game),
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
        from mdplay.searching.mcts import mcts

        last = self._last if self._reuse else None
        self._last = mcts(
            self._game, state, seed=seed, reuse=last, show=show, interruptible=interruptible, **self.options
        )
        return self._last

    def act(self, state: State, rng: Random) -> int:
        """Choose the best action found."""
        return self.search(state, seed=rng.word()).action


class HeuristicAgent:
    """Plays by depth-limited search with the game's heuristic; equally good moves are drawn by lot."""

    def __init__(
        self,
        game: Game[Any],
        *,
        depth: int | None = None,
        seconds: float | None = None,
        network: str | None = None,
        knowledge: bool = True,
    ) -> None:
        self._game = game
        self.options: dict[str, Any] = {"depth": depth, "seconds": seconds, "knowledge": knowledge}
        self.options["network"] = _learned(network, game)

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; the seed changes nothing."""
        from mdplay.searching.depth_limited import depth_limited

        return depth_limited(self._game, state, show=show, interruptible=interruptible, **self.options)

    def act(self, state: State, rng: Random) -> int:
        """Choose one of the best actions."""
        best = self.search(state).best
        return best[rng.below(len(best))]


class PuzzleAgent:
    """Solves a puzzle in the fewest moves by iterative deepening A*, once, and then follows the way found."""

    def __init__(self, game: Game[Any], *, seconds: float | None = None) -> None:
        self._game, self._seconds = game, seconds
        self._plan: dict[Any, int] = {}

    def search(
        self, state: State, *, seed: int = 0, show: Show | None = None, interruptible: bool = False
    ) -> SearchResult:
        """Search a position; the seed changes nothing."""
        from mdplay.searching.puzzles import fewest_moves

        return fewest_moves(self._game, state, seconds=self._seconds, show=show, interruptible=interruptible)

    def act(self, state: State, rng: Random) -> int:
        """Choose the next action of the shortest way."""
        if state not in self._plan:
            s = state
            for action in self.search(state).actions:
                self._plan[s] = action
                s = self._game.step(s, action)
        return self._plan.pop(state)


def _learned(file: str | None, game: Game[Any]) -> Any:
    """Return the network of a file, or the shipped one, if one is given."""
    from mdplay.learning.network import named_network

    return None if file is None else named_network(file, game)
