"""Agents that know Qubic: one that sees forced wins, and one that, moving first, always wins.

threats                    wins by threats, lets no such win happen if it can, else builds and breaks lines
threats:simulations=10000  the same, but Monte Carlo tree search chooses among the safe moves
perfect                    the book of the proof, and threats where the book ends

The evaluations of moves in Qubic come from the book of the proof and from forced wins by threats, else from tree
search.  Values of the book and of threats are exact, also for the images of a move under the symmetries of the
position; a forced win has an upper bound of its plies, not their number.  If the value of the position is exact,
moves without an exact value are left out: an estimate beside a proof would seem to contradict it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mdplay.bits import elements, lowest, nonempty
from mdplay.errors import GameError, pluralize
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.game import Game
from mdplay.games.qubic.book import StrategyBook, shipped_book
from mdplay.games.qubic.rules import Qubic, State
from mdplay.games.qubic.threats import ThreatSearch
from mdplay.playing.evaluators import SearchEvaluator, Turns
from mdplay.rng import Random
from mdplay.runtime.threads import Show
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
        """Return whether the opponent finds no forced win after the cell."""
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


NODES = 20_000  # of the search for a forced win of the player to move
REPLY_NODES = 2_000  # of the search for the opponent's, after each move
MAX_LINE_PLIES = 40  # plies of a forced win in the line of an evaluation
BOOK = "the book of the proof"  # source of an evaluation
WIN, LOSS = MoveEvaluation.of(1.0, True), MoveEvaluation.of(-1.0, True)


class BookEvaluator:
    """The book of the proof, threats, and tree search where neither has a value."""

    method = "book"

    def __init__(self, game: Game[Any], book: StrategyBook | None = None) -> None:
        assert isinstance(game, Qubic)
        self.game, self.book = game, book or shipped_book()
        self.threats, self._turns = ThreatSearch(game), Turns()
        self.search = SearchEvaluator(game)
        self.forced(game.initial())  # compiles

    def evaluate(self, state: State, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield the exact values at once; if the value of the position is not exact, then estimates."""
        with self._turns.taken(show):
            known, first = self._certain(state)
            if not brief:
                known |= self._images_of(state, known)
                known |= self._lost_moves(state, known, show)
        if first is not None:
            wins = tuple(sorted(action for action, value in known.items() if value == WIN))
            yield replace(first, moves=known, best=wins or first.best, done=True)
            return
        if known and not brief:
            yield Evaluation(known)
        seconds = self.search.seconds / 4 if brief else None
        for guess in self.search.estimates(state, known, seconds=seconds, show=show):
            yield replace(guess, moves={}) if brief else guess

    def _certain(self, state: State) -> tuple[dict[int, MoveEvaluation], Evaluation | None]:
        """Return the winning move that is known, and the evaluation of the position that follows from it."""
        win = self.forced(state)
        if win is not None:
            line = self.forced_line(state)
            source = f"forced by threats, within {pluralize(len(line), 'ply')}"
            return {win: WIN}, Evaluation({}, WIN, (win,), source, line)
        if state.player == 0:
            cell = self.book_move(state)
            return ({}, None) if cell is None else ({cell: WIN}, Evaluation({}, WIN, (cell,), BOOK))
        return {}, Evaluation({}, LOSS, (), BOOK) if self._is_lost(state) else None

    def _images_of(self, state: State, known: Mapping[int, MoveEvaluation]) -> dict[int, MoveEvaluation]:
        """Return the moves that lead to an image of the position after a known one, with its value."""
        game, found = self.game, dict[int, MoveEvaluation]()
        for action, value in known.items():
            after = game.step(state, action)
            images = {game.image(after, k) for k in range(game.symmetries())}
            found |= {a: value for a in elements(game.legal(state)) if game.step(state, a) in images}
        return found

    def book_move(self, state: State) -> int | None:
        """Return what the book plays for the first player, if it knows the position."""
        if not state.mine | state.theirs:
            return FIRST_CELL
        return self.book.move(state.mine, state.theirs)

    def forced(self, state: State, nodes: int = NODES) -> int | None:
        """Return the first move of a forced win, if one is found."""
        return self.threats.win(state.mine, state.theirs, nodes=nodes).action

    def forced_line(self, state: State) -> tuple[str, ...]:
        """Return the threats and the answers that they force, to the end."""
        game, line = self.game, list[str]()
        while nonempty(game.legal(state)) and len(line) < MAX_LINE_PLIES:
            ends = game.completing(state.mine, state.theirs)
            action = lowest(ends) if nonempty(ends) else self.forced(state)
            if action is None:
                break
            line.append(game.move_text(state, action))
            state = game.step(state, action)
            stops = game.completing(state.theirs, state.mine)
            if nonempty(game.legal(state)) and nonempty(stops):
                line.append(game.move_text(state, lowest(stops)))
                state = game.step(state, lowest(stops))
        return tuple(line)

    def _is_lost(self, state: State) -> bool:
        """Return whether the first player has a forced win, or an answer in the book, to every move."""
        after = (self.game.step(state, action) for action in elements(self.game.legal(state)))
        return all(self.forced(s, REPLY_NODES) is not None or self.book_move(s) is not None for s in after)

    def _lost_moves(
        self, state: State, known: Mapping[int, MoveEvaluation], show: Show | None
    ) -> dict[int, MoveEvaluation]:
        """Return the moves after which the opponent has a forced win, or the book knows how to win."""
        found = {}
        for action in elements(self.game.legal(state)):
            if show is not None:
                show(0)
            after = self.game.step(state, action)
            if action not in known and self._wins(after):
                found[action] = LOSS
        return found

    def _wins(self, state: State) -> bool:
        booked = state.player == 0 and self.book_move(state) is not None
        return booked or self.forced(state, REPLY_NODES) is not None
