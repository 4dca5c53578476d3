"""What every move of a position is worth, told as it becomes known: a quick guess first, facts in its place.

    adviser = adviser_for(make("connect-four"))
    for advice in adviser.advise(state):
        advice.moves     what has become known of moves, by action
        advice.value     what the position is worth, once that is known
        advice.source    where it comes from, in words

Values are for the player to move: what is still to come, points that were earned before left out.  A game may
bring an adviser of its own (``mdplay.naming.registry.register_extras``: ``advisers``); others are advised by their
solution, move by move where that is a proof, or else by tree search, with the network that comes with the game if
there is one.

Whoever asks may cancel: ``show`` is called ten times a second and may raise.  An adviser may be asked from several
threads; they take turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Protocol

from mdplay.bits import elements
from mdplay.errors import GameError, LimitError, NotCompiled, pluralize
from mdplay.game import Game
from mdplay.learning.network import shipped_network
from mdplay.naming.registry import extra_names, extras_of
from mdplay.rng import Random
from mdplay.runtime.threads import Show
from mdplay.searching.mcts import Search
from mdplay.solving.proof.prover import Prover
from mdplay.solving.solution import Solution
from mdplay.solving.solvers import choose_solver, solve
from mdplay.solving.values import TIE, Choice, Question

TABLE_BYTES = 512 << 20
PROOF_BYTES = 128 << 20
TREE_BYTES = 64 << 20
SOLVE_SECONDS = 60.0  # that a table may take to be filled
GLANCE_SECONDS = 0.12  # of search that fills the board while facts are on their way
SEARCH_SECONDS = 1.5  # of search where there are no facts
STEP_SECONDS = 0.25  # between two words of a search
WAIT_SECONDS = 0.05


@dataclass(frozen=True)
class Value:
    """What a move or a position is worth to the player to move, and how that is known."""

    value: float
    exact: bool
    distance: int | None = None  # plies to the end
    score: int | None = None  # where wins are counted by their speed
    expected: bool = False  # a mean over what a random opponent does
    endless: bool = False  # a draw since best play never ends

    @classmethod
    def of(cls, choice: Choice, *, expected: bool = False) -> Value:
        """Return the value of a choice; it is exact unless only bounds are known."""
        value = choice.low if choice.value is None else choice.value
        return cls(float(value), choice.exact, choice.distance, choice.score, expected)

    @property
    def rank(self) -> tuple[float, int]:
        """How good it is: by its value, then the sooner won and the later lost."""
        if self.score is not None:
            return float(self.score), 0
        late = self.distance or 0
        return self.value, late if self.value < 0 else -late


@dataclass(frozen=True)
class Advice:
    """What has become known: of moves, by action, and of the position as a whole."""

    moves: Mapping[int, Value] = field(default_factory=dict)
    value: Value | None = None
    best: tuple[int, ...] = ()
    source: str = ""
    line: tuple[str, ...] = ()
    bound: bool = False  # the position is worth at least this
    done: bool = False


class Adviser(Protocol):
    """Whoever tells what moves are worth."""

    method: str

    def advise(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Advice]:
        """Yield what becomes known of a position in which a player moves; brief: of the position alone."""


Maker = Callable[[Game[Any]], Adviser | None]


def best_of(moves: Mapping[int, Value]) -> tuple[int, ...]:
    """Return the best actions, which win soonest or lose latest, in ascending order."""
    if not moves:
        return ()
    top, late = max(value.rank for value in moves.values())
    slack = TIE * max(1.0, abs(top))
    best = {action: value for action, value in moves.items() if value.rank[0] >= top - slack}
    late = max(value.rank[1] for value in best.values())
    return tuple(sorted(action for action, value in best.items() if value.rank[1] == late))


def adviser_method(game: Game[Any]) -> str:
    """Return how a game will be advised, in a word; nothing is solved or compiled for it."""
    own = extra_names(game, "advisers")
    if own:
        return own[0]
    try:
        name = choose_solver(Question(game, game.initial(), memory=TABLE_BYTES)).name
    except GameError:
        return "search"
    except NotCompiled:  # games are sampled to tell huge tables, where that may be compiled
        return "table"
    return "proof" if name == "proof" else "table"


def adviser_for(
    game: Game[Any], *, opponent: str = "perfect", seconds: float = SOLVE_SECONDS, show: Show | None = None
) -> Adviser:
    """Return the best adviser of a game: tree search where solving takes more than ``seconds``.

    ``show`` is called while the game is solved, and may raise to cancel it.
    """
    if opponent == "perfect":
        for maker in extras_of(game, "advisers").values():
            own: Adviser | None = maker(game)
            if own is not None:
                return own
    try:
        return _by_solution(game, opponent, _Patience(seconds, show))
    except (LimitError, GameError, MemoryError):
        if opponent != "perfect":
            raise
        return SearchAdviser(game)


class _Patience:
    """The ``show`` of a solver that may take so long; what is compiled before the first state does not count."""

    def __init__(self, seconds: float, show: Show | None = None) -> None:
        self._seconds, self._until, self._show = seconds, math.inf, show

    def __call__(self, done: int) -> None:
        if self._show is not None:
            self._show(done)
        if done and self._until == math.inf:
            self._until = time.monotonic() + self._seconds
        if time.monotonic() > self._until:
            raise LimitError(f"solving this takes longer than {self._seconds:g} seconds")


def _by_solution(game: Game[Any], opponent: str, in_time: Show) -> Adviser:
    question = Question(game, game.initial(), opponent, memory=TABLE_BYTES)
    if choose_solver(question).name == "proof":
        from mdplay.solving.proof.book import prover_for

        return ProofAdviser(prover_for(game, memory=PROOF_BYTES, threads=1))
    return SolutionAdviser(solve(game, opponent=opponent, memory=TABLE_BYTES, threads=1, show=in_time))


class AdviserAgent:
    """Play what an adviser holds best, once it has said all; equally good moves are drawn by lot.

    Nobody is called ``perfect`` whose adviser only estimates.
    """

    def __init__(self, adviser: Adviser, name: str = "adviser", show: Show | None = None) -> None:
        if name == "perfect" and adviser.method == SearchAdviser.method:
            raise LimitError("perfect play is not known here: this game is too large to be solved")
        self.adviser, self.name, self._show = adviser, name, show

    def act(self, state: Any, rng: Random) -> int:
        """Return one of the best actions."""
        best: tuple[int, ...] = ()
        for advice in self.adviser.advise(state, show=self._show):
            best = advice.best or best
        return best[rng.below(len(best))]


# ---------------------------------------------------------------- taking turns
class Turns:
    """One at a time: what is proved or looked up is written into shared memory on the way."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def taken(self, show: Show | None) -> Iterator[None]:
        """Wait for one's turn, and tell meanwhile that one waits: ``show`` may raise."""
        while not self._lock.acquire(timeout=WAIT_SECONDS):
            if show is not None:
                show(0)
        try:
            yield
        finally:
            self._lock.release()


# ---------------------------------------------------------------- by a solution
class SolutionAdviser:
    """A table knows everything at once."""

    method = "table"

    def __init__(self, solution: Solution) -> None:
        self.solution, self._turns = solution, Turns()

    def advise(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Advice]:
        """Tell all values."""
        against_random = self.solution.opponent != "perfect"
        with self._turns.taken(show):
            choices, endless = self.solution.choices(state), self.solution.endless(state)
            best = tuple(self.solution.favourites(state, choices))
        moves = {choice.action: Value.of(choice, expected=against_random) for choice in choices}
        value = replace(moves[best[0]], endless=endless)
        yield Advice({} if brief else moves, value, best, self._source, done=True)

    @property
    def _source(self) -> str:
        if self.solution.opponent != "perfect":
            return "the best answer to a random opponent"
        return f"solved table of {pluralize(self.solution.states, 'state')}"


class ProofAdviser:
    """Proof search, move by move: first what is quickly proved, then the rest, the most promising first."""

    method = "proof"

    def __init__(self, prover: Prover) -> None:
        self.prover, self.game, self._turns = prover, prover.game, Turns()
        self.prover.quick(self.game.initial())  # compiles

    def advise(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Advice]:
        """Tell the moves as they are proved; meanwhile estimates, and what the position is worth at least."""
        if brief:
            yield self._brief(state, show)
            return
        moves: dict[int, Value] = {}
        open_moves = self._images(state)
        for alike in self._quick_ones(state, open_moves, show):
            yield Advice(self._proved(state, alike, moves, show))
            open_moves.remove(alike)
        if open_moves:
            guess = glance(self.game, state)
            yield Advice({a: value for a, value in guess.items() if a not in moves})
            open_moves.sort(key=lambda alike: -guess[alike[0]].value if alike[0] in guess else 0.0)
        for number, alike in enumerate(open_moves, start=1):
            news = self._proved(state, alike, moves, show)
            yield self._so_far(state, news, moves) if number < len(open_moves) else Advice(news)
        best = best_of(moves)
        yield Advice({}, moves[best[0]], best, "proof search and opening book", done=True)

    def _brief(self, state: Any, show: Show | None) -> Advice:
        with self._turns.taken(show):
            proof = self.prover.prove(state, seconds=3.0, show=show)
            if not proof.exact:
                return Advice(done=True)
            found = self.prover.lookup(state, self.game.player(state))
        value = Value(float(found.value), True, found.distance, found.score)
        return Advice({}, value, (), "proof search and opening book", done=True)

    def _images(self, state: Any) -> list[list[int]]:
        """Return the actions, those together that lead to images of one position."""
        game, found = self.game, dict[Any, list[int]]()
        for action in elements(game.legal(state)):
            after = game.step(state, action)
            found.setdefault(min(game.image(after, k) for k in range(game.symmetries())), []).append(action)
        return list(found.values())

    def _quick_ones(self, state: Any, open_moves: list[list[int]], show: Show | None) -> list[list[int]]:
        found = []
        for alike in open_moves:
            with self._turns.taken(show):
                if self.prover.quick(self.game.step(state, alike[0])) is not None:
                    found.append(alike)
        return found

    def _proved(
        self, state: Any, alike: list[int], moves: dict[int, Value], show: Show | None
    ) -> dict[int, Value]:
        """Prove one of the moves that are alike, and take it for all of them."""
        with self._turns.taken(show):
            value = Value.of(self.prover.choice(state, alike[0], show=show))
        news = dict.fromkeys(alike, value)
        moves |= news
        return news

    def _so_far(self, state: Any, news: Mapping[int, Value], moves: Mapping[int, Value]) -> Advice:
        """Return what is certain while moves are open: a lower bound, and no more."""
        best = best_of(moves)
        top = moves[best[0]]
        least = Value(top.value, True)
        source = f"proof search, {len(moves)} of {pluralize(len(elements(self.game.legal(state))), 'move')}"
        return Advice(news, least, best if top.value >= 0 else (), source, bound=True)


# ---------------------------------------------------------------- by tree search
def glance(game: Game[Any], state: Any, seconds: float = GLANCE_SECONDS) -> dict[int, Value]:
    """Return what a very short search thinks of the moves that it tried."""
    search = Search(game, state, seed=1, max_bytes=TREE_BYTES)
    search.run(1)
    search.run(seconds=seconds)
    return searched(search)


def searched(search: Search) -> dict[int, Value]:
    """Return the values of the moves that a search has tried."""
    found = search.result()
    return {move.action: Value(move.value, move.proven) for move in found.moves if move.visits or move.proven}


class SearchAdviser:
    """Tree search: estimates, and facts where the tree has come to an end."""

    method = "search"

    def __init__(self, game: Game[Any], *, seconds: float = SEARCH_SECONDS) -> None:
        self.game, self.seconds, self._network = game, seconds, shipped_network(game)

    def advise(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Advice]:
        """Tell estimates that become better."""
        yield from self.estimates(state, {}, seconds=self.seconds / 4 if brief else self.seconds, show=show)

    def estimates(
        self, state: Any, known: Mapping[int, Value], *, seconds: float | None = None, show: Show | None = None
    ) -> Iterator[Advice]:
        """Tell estimates of the moves that are not known, all of them also where the position is proven."""
        seconds = self.seconds if seconds is None else seconds
        begin = partial(Search, self.game, state, network=self._network, seed=1, max_bytes=TREE_BYTES)
        search = begin(solver=not known, knowledge=not known)
        for _ in _steps(search, seconds, show):
            yield self._told(search, known)
        if search.proven:
            plain = begin(solver=False, knowledge=False)
            facts = {action: value for action, value in searched(search).items() if value.exact}
            for _ in _steps(plain, min(seconds, 2 * STEP_SECONDS), show):
                yield Advice({a: v for a, v in searched(plain).items() if a not in facts})
        final = self._told(search, known)
        yield Advice(final.moves, final.value, final.best, final.source, final.line, done=True)

    def _told(self, search: Search, known: Mapping[int, Value]) -> Advice:
        found = search.result()
        moves = {a: v for a, v in searched(search).items() if a not in known and (v.exact or not search.proven)}
        how = "tree search" if self._network is None else "tree search by a learned network"
        source = f"{how}, {pluralize(found.simulations, 'simulation')}"
        return Advice(moves, Value(found.value, found.proven), found.best, source, found.line)


def _steps(search: Search, seconds: float, show: Show | None) -> Iterator[None]:
    """Let a search run for so long, and give word now and then."""
    search.run(1)
    until, told = time.monotonic() + seconds, 0.0
    while not search.proven and time.monotonic() < until:
        search.run(seconds=min(0.1, max(0.01, until - time.monotonic())))
        if show is not None:
            show(search.simulations)
        if time.monotonic() - told > STEP_SECONDS:
            told = time.monotonic()
            yield
