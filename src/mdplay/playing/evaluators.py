"""The evaluators of games: solved tables, proof search, tree search, and agents that know values.

    evaluator = evaluator_for(make("connect-four"))
    for evaluation in evaluator.evaluate(state):
        evaluation.moves, evaluation.value, evaluation.best      see mdplay.evaluating.evaluation

A game may register an evaluator of its own (``mdplay.naming.registry.register_extras``: ``evaluators``).  Other
games are evaluated by their solution, move by move if that is a proof, or else by tree search, with the pretrained
network of the game if there is one.

An evaluator may be called from several threads; they take turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from mdplay.bits import elements, nonempty
from mdplay.errors import GameError, LimitError, NotCompiled, UnknownName, pluralize
from mdplay.evaluating.evaluation import Evaluation, Evaluator, MoveEvaluation, best_moves, final_evaluation
from mdplay.game import Game
from mdplay.learning.network import shipped_network
from mdplay.naming.registry import extra_names, extras_of
from mdplay.playing.agents import Agent, blaming, choose, make_agent
from mdplay.rng import Random
from mdplay.runtime.run import Run
from mdplay.runtime.threads import Show
from mdplay.searching.mcts import Search
from mdplay.searching.result import SearchAgent, SearchResult
from mdplay.solving.proof.prover import Prover
from mdplay.solving.solution import Solution
from mdplay.solving.solvers import choose_solver, solve
from mdplay.solving.values import Question

TABLE_BYTES = 512 << 20  # maximum size of a table
PROOF_BYTES = 128 << 20  # maximum size of the transposition table of proof search
TREE_BYTES = 64 << 20  # maximum size of a search tree
SOLVE_SECONDS = 60.0  # time limit of filling a table
GLANCE_SECONDS = 0.12  # time of the search that gives estimates while moves are proved
SEARCH_SECONDS = 1.5  # time of a search where nothing can be proved
LINE_SECONDS = 3.0  # time limit of the line of best play of a proof
STEP_SECONDS = 0.25  # between two evaluations of a search
WAIT_SECONDS = 0.05  # between two calls of ``show`` while a thread waits for its turn
FIRST_SECONDS = 0.4  # until the first evaluation of positions that are solved on demand
ROUND_SECONDS = 2.0  # longest time between two such evaluations
BRIEF_SECONDS = 3.0  # for a value without moves
SEARCH = "search"  # the method of evaluators that only estimate

Maker = Callable[[Game[Any]], Evaluator | None]


# ---------------------------------------------------------------- the evaluator of a game
def evaluator_method(game: Game[Any]) -> str:
    """Return how a game will be evaluated, in a word; nothing is solved or compiled."""
    own = extra_names(game, "evaluators")
    if own:
        return own[0]
    try:
        name = choose_solver(Question(game, game.initial(), run=Run(memory=TABLE_BYTES))).name
    except GameError:
        return SEARCH
    except NotCompiled:  # large tables are recognized by sampled games, which may need compiled kernels
        return "table"
    return "proof" if name == "proof" else "table"


def evaluator_for(
    game: Game[Any], *, opponent: str = "perfect", seconds: float = SOLVE_SECONDS, show: Show | None = None
) -> Evaluator:
    """Return the best evaluator of a game: tree search if solving it takes more than ``seconds``.

    ``show`` is called while the game is solved, and may raise to cancel it.
    """
    if opponent == "perfect":
        for maker in extras_of(game, "evaluators").values():
            own: Evaluator | None = maker(game)
            if own is not None:
                return own
    try:
        return _by_solution(game, opponent, _TimeLimit(seconds, show))
    except (LimitError, GameError, MemoryError):
        if opponent != "perfect":
            raise
        return SearchEvaluator(game)


class _TimeLimit:
    """The ``show`` of a solver with a time limit; compilation before the first state does not count."""

    def __init__(self, seconds: float, show: Show | None = None) -> None:
        self._seconds, self._until, self._show = seconds, math.inf, show

    def __call__(self, done: int) -> None:
        if self._show is not None:
            self._show(done)
        if done and self._until == math.inf:
            self._until = time.monotonic() + self._seconds
        if time.monotonic() > self._until:
            raise LimitError(f"solving this takes longer than {self._seconds:g} seconds")


def _by_solution(game: Game[Any], opponent: str, in_time: Show) -> Evaluator:
    question = Question(game, game.initial(), opponent, run=Run(memory=TABLE_BYTES))
    solver = choose_solver(question)
    if solver.name == "proof":
        from mdplay.solving.proof.book import prover_for

        return ProofEvaluator(prover_for(game, memory=PROOF_BYTES, threads=1))
    if solver.on_demand:
        return OnDemandEvaluator(solve(game, opponent=opponent, memory=TABLE_BYTES))
    return TableEvaluator(solve(game, opponent=opponent, memory=TABLE_BYTES, threads=1, progress=in_time))


# ---------------------------------------------------------------- evaluators and agents
class EvaluatorAgent:
    """Play a best move of the last evaluation; ties are broken at random.

    Raises LimitError if the name is ``perfect`` and the evaluator only estimates.
    """

    def __init__(self, evaluator: Evaluator, name: str = "evaluator", show: Show | None = None) -> None:
        if name == "perfect" and getattr(evaluator, "method", "") == SEARCH:
            raise LimitError("perfect play is not known here: this game is too large to be solved")
        self.evaluator, self.name, self._show = evaluator, name, show

    def act(self, state: Any, rng: Random) -> int:
        """Return one of the best actions."""
        best: tuple[int, ...] = ()
        for evaluation in self.evaluator.evaluate(state, show=self._show):
            best = evaluation.best or best
        return best[rng.below(len(best))]


@runtime_checkable
class LineEvaluator(Protocol):
    """An evaluator that can follow best play."""

    def line(self, state: Any, *, show: Show | None = None) -> list[int]:
        """Return the actions of best play; none if it is not known."""


@runtime_checkable
class ValuedAgent(Protocol):
    """An agent that returns the value of every move; they are exact if it has ``exact = True``."""

    def values(self, state: Any) -> Mapping[int, float]:
        """Return the value of every move for the player to move."""


class AgentEvaluator:
    """The evaluations of an agent: its own, those of its search, or its ``values``.

    Raises UnknownName if the agent has none of them.
    """

    def __init__(self, agent: object, name: str = "agent", *, seed: int = 0) -> None:
        if not isinstance(agent, Evaluator | SearchAgent | ValuedAgent):
            raise UnknownName(f"agent {name} does not evaluate moves")
        self._agent, self._name, self._seed = agent, name, seed

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield the evaluations of the agent."""
        agent = self._agent
        if isinstance(agent, Evaluator):
            yield from agent.evaluate(state, brief=brief, show=show)
        elif isinstance(agent, SearchAgent):
            yield agent.search(state, seed=self._seed, show=show).evaluation
        else:
            exact = bool(getattr(agent, "exact", False))
            moves = {action: MoveEvaluation.of(value, exact) for action, value in agent.values(state).items()}
            best = best_moves(moves)
            yield Evaluation(moves, moves[best[0]], best, self._name, done=True)


def oracle_for(game: Game[Any], oracle: Evaluator | Agent | str) -> Evaluator:
    """Return the evaluator of an oracle: proof search (``proof``), an evaluator, or an agent that knows values.

    Raises UnknownName if the agent does not know the values of all moves; a search does not.
    """
    if oracle == "proof":
        return Prover(game)
    name = oracle if isinstance(oracle, str) else type(oracle).__name__
    agent = make_agent(game, oracle) if isinstance(oracle, str) else oracle
    if not isinstance(agent, Evaluator | ValuedAgent):
        raise UnknownName(f"agent {name} does not know values of moves; choose one that does, such as perfect")
    return AgentEvaluator(agent, name)


def agent_evaluation(agent: Agent, name: str, game: Game[Any], state: Any) -> Evaluation:
    """Return what an agent knows about a position; only its move if it knows no values.

    Raises AgentError if the agent fails.
    """
    try:
        evaluator = AgentEvaluator(agent, name)
    except UnknownName:
        return Evaluation(best=(choose(agent, name, game, state, Random(0)),), source=name, done=True)
    with blaming(name, game, state):
        return final_evaluation(evaluator, state)


# ---------------------------------------------------------------- taking turns
class Turns:
    """A lock for evaluators that write into shared memory while they answer."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def taken(self, show: Show | None) -> Iterator[None]:
        """Wait for the lock and hold it; ``show`` is called while waiting, and may raise."""
        while not self._lock.acquire(timeout=WAIT_SECONDS):
            if show is not None:
                show(0)
        try:
            yield
        finally:
            self._lock.release()


# ---------------------------------------------------------------- by a solution
class TableEvaluator:
    """The evaluations of a solution, for several threads."""

    method = "table"

    def __init__(self, solution: Solution) -> None:
        self.solution, self._turns = solution, Turns()

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield the evaluation of the table."""
        with self._turns.taken(show):
            found = final_evaluation(self.solution, state)
        yield replace(found, moves={}) if brief else found

    def line(self, state: Any, *, show: Show | None = None) -> list[int]:
        """Return the actions of best play to the end, as far as the table has them."""
        with self._turns.taken(show):
            return self.solution.line(state)


class OnDemandEvaluator(TableEvaluator):
    """A solution whose positions are solved on demand: bounds at first, in rounds of growing time, then values.

    Moves whose bounds are still open are shown with the estimates of a short tree search.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution)
        with self._limited(0.0):  # compiles
            solution.bounds()

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """Limit the time of an answer."""
        table, self.solution.table.seconds = self.solution.table, seconds
        try:
            yield
        finally:
            table.seconds = None

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield an evaluation after each round, until the value of every move is known."""
        if brief:
            yield self._brief(state, show)
            return
        seconds, estimates = FIRST_SECONDS, dict[int, MoveEvaluation]()
        while True:
            found = self._round(state, seconds, show)
            open_moves = [action for action, move in found.moves.items() if not move.exact]
            if not open_moves:
                yield found
                return
            estimates = estimates or glance(self.solution.game, state)
            shown = {action: estimates[action] for action in open_moves if action in estimates}
            yield replace(found, moves={**found.moves, **shown})
            if show is not None:
                show(0)
            seconds = min(2.0 * seconds, ROUND_SECONDS)

    def _round(self, state: Any, seconds: float, show: Show | None) -> Evaluation:
        """Return the evaluation after some seconds; its value has the bounds of the position itself."""
        with self._turns.taken(show):
            with self._limited(seconds):
                found = final_evaluation(self.solution, state)
            if all(move.exact for move in found.moves.values()):
                return found
            with self._limited(0.0):
                low, high = self.solution.bounds(state)
        known = {action for action, move in found.moves.items() if move.exact and move.low == low == high}
        value = MoveEvaluation(low, high, low == high)
        return replace(found, value=value, best=tuple(sorted(known)), done=False)

    def _brief(self, state: Any, show: Show | None) -> Evaluation:
        with self._turns.taken(show), self._limited(BRIEF_SECONDS):
            low, high = self.solution.bounds(state)
        value = None if low < high else MoveEvaluation.of(low, True)
        return Evaluation({}, value, source=self.solution.method, done=True)


class ProofEvaluator:
    """Proof search, move by move: first what is quickly proved, then the rest, the most promising first."""

    method = "proof"

    def __init__(self, prover: Prover) -> None:
        self.prover, self.game, self._turns = prover, prover.game, Turns()
        self.prover.quick(self.game.initial())  # compiles

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield an evaluation after each proof: estimates of the open moves, and a lower bound of the value."""
        if brief:
            yield self._brief(state, show)
            return
        proved: dict[int, MoveEvaluation] = {}
        estimates: dict[int, MoveEvaluation] = {}
        open_moves = self._images(state)
        for alike in self._quick_ones(state, open_moves, show):
            self._prove(state, alike, proved, show)
            yield Evaluation(dict(proved))
            open_moves.remove(alike)
        if open_moves:
            estimates = glance(self.game, state)
            yield Evaluation(estimates | proved)
            open_moves.sort(key=lambda alike: -estimates[alike[0]].value if alike[0] in estimates else 0.0)
        for number, alike in enumerate(open_moves, start=1):
            self._prove(state, alike, proved, show)
            if number < len(open_moves):
                yield self._partial(state, estimates, proved)
        best = best_moves(proved, self._endless(state))
        yield Evaluation(proved, proved[best[0]], best, "proof search and opening book", done=True)

    def line(self, state: Any, *, show: Show | None = None) -> list[int]:
        """Return the actions of best play, to the end or as far as they are proved within LINE_SECONDS."""
        found, until = list[int](), time.monotonic() + LINE_SECONDS
        while nonempty(self.game.legal(state)):
            action = self._optimal(state, until, show)
            if action is None:
                break
            found.append(action)
            state = self.game.step(state, action)
        return found

    def _optimal(self, state: Any, until: float, show: Show | None) -> int | None:
        """Return the first action that keeps the value of a position; None if it is not proved in time."""
        proved: dict[int, MoveEvaluation] = {}
        for action in elements(self.game.legal(state)):
            left = until - time.monotonic()
            if left <= 0:
                return None
            with self._turns.taken(show):
                choice = self.prover.choice(state, action, seconds=left, progress=show)
            if not choice.exact:
                return None
            proved[action] = MoveEvaluation.of_choice(choice)
        return best_moves(proved, self._endless(state))[0]

    def _brief(self, state: Any, show: Show | None) -> Evaluation:
        with self._turns.taken(show):
            proof = self.prover.prove(state, seconds=3.0, progress=show)
            if not proof.exact:
                return Evaluation(done=True)
            found = self.prover.lookup(state, self.game.player(state))
        value = MoveEvaluation.of(found.value, True, found.distance, found.score)
        return Evaluation({}, value, (), "proof search and opening book", done=True)

    def _endless(self, state: Any) -> float:
        """Return the value of infinite play for the player to move."""
        return float(-self.game.endless if self.game.player(state) else self.game.endless)

    def _images(self, state: Any) -> list[list[int]]:
        """Return the actions, grouped by those that lead to images of one position."""
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

    def _prove(self, state: Any, alike: list[int], proved: dict[int, MoveEvaluation], show: Show | None) -> None:
        """Prove one of a group of moves, and enter its evaluation for all of them."""
        with self._turns.taken(show):
            value = MoveEvaluation.of_choice(self.prover.choice(state, alike[0], progress=show))
        proved |= dict.fromkeys(alike, value)

    def _partial(
        self, state: Any, estimates: Mapping[int, MoveEvaluation], proved: Mapping[int, MoveEvaluation]
    ) -> Evaluation:
        """Return the evaluation while moves are open: the value is at least that of the best proved move."""
        best = best_moves(proved, self._endless(state))
        top = proved[best[0]].value
        count = pluralize(len(elements(self.game.legal(state))), "move")
        source = f"proof search, {len(proved)} of {count}"
        value = MoveEvaluation(top, math.inf, False)
        return Evaluation({**estimates, **proved}, value, best if top >= 0 else (), source)


# ---------------------------------------------------------------- by tree search
def glance(game: Game[Any], state: Any, seconds: float = GLANCE_SECONDS) -> dict[int, MoveEvaluation]:
    """Return the estimates of a very short search."""
    *_, found = Search(game, state, seed=1, memory=TREE_BYTES).steps(seconds=seconds)
    return dict(found.evaluation.moves)


class SearchEvaluator:
    """Tree search: estimates, and exact values where the tree has reached the end of the game."""

    method = SEARCH

    def __init__(self, game: Game[Any], *, seconds: float = SEARCH_SECONDS) -> None:
        self.game, self.seconds, self._network = game, seconds, shipped_network(game)

    def evaluate(self, state: Any, *, brief: bool = False, show: Show | None = None) -> Iterator[Evaluation]:
        """Yield improving estimates."""
        yield from self.estimates(state, {}, seconds=self.seconds / 4 if brief else self.seconds, show=show)

    def estimates(
        self,
        state: Any,
        known: Mapping[int, MoveEvaluation],
        *,
        seconds: float | None = None,
        show: Show | None = None,
    ) -> Iterator[Evaluation]:
        """Yield estimates of all moves but the known ones, also if the search proves the value of the position."""
        seconds = self.seconds if seconds is None else seconds
        begin = partial(Search, self.game, state, network=self._network, seed=1, memory=TREE_BYTES)
        search = begin(solver=not known, knowledge=not known)
        for result in _steps(search, seconds, show):
            yield self._evaluation(result, known)
        final, others = self._evaluation(search.result(), known), dict[int, MoveEvaluation]()
        if search.proven:  # a proof does not visit all moves: estimate the others without it
            plain = begin(solver=False, knowledge=False)
            for result in _steps(plain, min(seconds, 2 * STEP_SECONDS), show):
                others |= result.evaluation.moves
                yield Evaluation({**others, **final.moves})
        yield replace(final, moves={**others, **final.moves}, done=True)

    def _evaluation(self, found: SearchResult, known: Mapping[int, MoveEvaluation]) -> Evaluation:
        moves = {
            action: move
            for action, move in found.evaluation.moves.items()
            if action not in known and (move.exact or not found.proven)
        }
        how = "tree search" if self._network is None else "tree search by a learned network"
        source = f"{how}, {pluralize(found.simulations, 'simulation')}"
        return replace(found.evaluation, moves={**known, **moves}, source=source, done=False)


def _steps(search: Search, seconds: float, show: Show | None) -> Iterator[SearchResult]:
    """Run a search for a time and yield a result every STEP_SECONDS seconds; ``show`` is called more often."""
    last = 0.0
    for result in search.steps(seconds=seconds):
        if show is not None:
            show(search.simulations)
        if time.monotonic() - last > STEP_SECONDS:
            last = time.monotonic()
            yield result
