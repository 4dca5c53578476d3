"""Agents that know Qubic: one that sees forced wins, and one that, moving first, always wins.

threats                    wins by threats, lets no such win happen if it can, else builds and breaks lines
threats:simulations=10000  the same, but Monte Carlo tree search chooses among the safe moves
perfect                    the book of the proof, and threats where the book ends
"""

from __future__ import annotations

from typing import Any

from mdplay.bits import elements
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.games.qubic.book import StrategyBook, shipped_book
from mdplay.games.qubic.rules import Qubic, State
from mdplay.games.qubic.threats import ThreatSearch
from mdplay.rng import Random
from mdplay.searching.mcts import mcts

WEIGHTS = ((1, 10, 40, 10_000), (2, 3, 14, 1_000))  # of a cell on a line: mine only, theirs only, by its marks
FIRST_CELL = 0  # where the book begins


class ThreatsAgent:
    """Win by an unbroken sequence of threats if there is one; else keep the opponent from it."""

    def __init__(self, game: Game[Any], *, nodes: int = 20_000, simulations: int = 0) -> None:
        self.game, self.nodes, self.simulations = _qubic(game), nodes, simulations
        self.threats = ThreatSearch(self.game)

    def act(self, state: State, rng: Random) -> int:
        """Return a winning cell, or one of the best safe ones."""
        win = self.threats.win(state.mine, state.theirs, nodes=self.nodes).action
        if win is not None:
            return win
        score = self._visits(state, rng) if self.simulations else self._scores(state)
        safe = [cell for cell in score if self.is_safe(state, cell)] or list(score)
        most = max(score[cell] for cell in safe)
        best = [cell for cell in safe if score[cell] == most]
        return best[rng.below(len(best))]

    def is_safe(self, state: State, cell: int) -> bool:
        """Tell whether the opponent finds no forced win after the cell."""
        after = self.game.step(state, cell)
        return self.threats.win(after.mine, after.theirs, nodes=self.nodes).action is None

    def _visits(self, state: State, rng: Random) -> dict[int, int]:
        found = mcts(self.game, state, simulations=self.simulations, seed=rng.word())
        return {move.action: move.visits for move in found.moves}

    def _scores(self, state: State) -> dict[int, int]:
        """Return what each free cell builds and breaks."""
        return {cell: self._score(state, cell) for cell in elements(self.game.legal(state))}

    def _score(self, state: State, cell: int) -> int:
        total = 0
        for line in self.game.lines:
            if line >> cell & 1:
                mine, theirs = (line & state.mine).bit_count(), (line & state.theirs).bit_count()
                if not (mine and theirs):
                    total += WEIGHTS[theirs > 0][mine or theirs]
        return total


class QubicPerfectAgent:
    """Moving first, win every game: by the book of the proof, and by threats where the book ends.

    Moving second, or in a position that the strategy does not reach, it plays as ``threats`` does.
    """

    def __init__(self, game: Game[Any], book: StrategyBook | None = None) -> None:
        self.other = ThreatsAgent(game)
        self.book = book or shipped_book()

    def act(self, state: State, rng: Random) -> int:
        """Return a winning cell where one is known."""
        if not state.mine | state.theirs:
            return FIRST_CELL
        known = self.book.move(state.mine, state.theirs) if state.player == 0 else None
        return self.other.act(state, rng) if known is None else known


def _qubic(game: Game[Any]) -> Qubic:
    if not isinstance(game, Qubic):
        raise GameError("this agent plays qubic only")
    return game
