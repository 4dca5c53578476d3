"""``solve``: ask a question, choose a solver, return a solution.

``auto`` chooses the cheapest solver that applies.  A game may have solvers and objectives of its own
(mdplay.naming.registry).

    subset            games of scoring sets, a byte for each state
    indexed           games that number their states
    hashed            all games without cycles
    retrograde        games with cycles: integer results at the end, no chance, no rewards
    value-iteration   games with cycles and chance or rewards: lower and upper bounds that converge
    proof             single positions, proved when they are asked for
    policy-iteration  the best response to a random opponent, for games that number their states
    best-response     the best response to any fixed opponent; with cycles by planning

With an executor its workers solve the game layer by layer (mdplay.distributed.layers).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

from mdplay.checking.contract_checks import spot_check
from mdplay.compiling import State
from mdplay.compiling.contract import method_hints
from mdplay.errors import ArgumentError, FormatError, GameError, UnknownName, short, unknown
from mdplay.game import Game, num_players
from mdplay.naming.registry import extras_of, load_attribute, plugins
from mdplay.position import as_state
from mdplay.runtime.run import Run, RunOptions, run_of
from mdplay.runtime.threads import Stopwatch
from mdplay.solving.solution import Solution
from mdplay.solving.values import (
    Cost,
    Lacking,
    Opponent,
    Question,
    Solver,
    Table,
    against_perfect,
    has_integer_values,
)

SETTINGS = ("seconds", "memory", "threads", "file", "save_every", "executor", "progress")
OPPONENTS = ("perfect", "uniform", "uniform-once")
OBJECTIVES = ("difference", "own", "win")
HUGE = 1e6  # states at one ply, with those of all plies tens of millions and more: positions are proved instead
MAX_PROVED = 120  # the largest value that proof search supports
MAX_SETS = 127  # scoring sets of the method subset, so that every value fits a byte
MIN_ACTIONS = 6  # of the method subset, which works on blocks of 64 sets (``subset.BLOCK``)
MANY_ACTIONS = 10  # from this many actions on, compiling the kernel of the method subset saves time
NO_FILE = Lacking("no file: there is nothing to save")


class ModuleSolver(Solver):
    """A solver whose module is imported when it is used, not when the solvers are compared."""

    module: ClassVar[str]

    def fill(self, question: Question) -> Table | Lacking:
        """Return the table that the function ``fill`` of the module makes."""
        found: Table | Lacking = load_attribute(f"mdplay.solving.{self.module}:fill")(question)
        return found


class Subset(ModuleSolver):
    """A byte for every set of actions."""

    name = "subset"
    module = "subset"

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to games of scoring sets whose table fits."""
        game = question.game
        if lacking := against_perfect(question):
            return lacking
        if not game.has_scoring_sets or game.size() < 1 << MIN_ACTIONS or len(game.scoring_sets) > MAX_SETS:
            return Lacking(f"scoring sets, at most {MAX_SETS} over {MIN_ACTIONS} or more actions")
        return question.too_large(game.size()) or (1.0 if game.size() >> MANY_ACTIONS else 2.5)


class Indexed(ModuleSolver):
    """A value for every number."""

    name = "indexed"
    module = "indexed"

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to games that number their states, if the table fits."""
        if lacking := against_perfect(question):
            return lacking
        if not question.game.has_size:
            return Lacking("a game that numbers its states (index, state and size)")
        bytes_per_state = 2 if has_integer_values(question.game) else 8
        return question.too_large(bytes_per_state * question.game.size()) or 2.0


class Hashed(ModuleSolver):
    """A hash table of all reachable states."""

    name = "hashed"
    module = "hashed"

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to every game; ``fill`` finds out whether it fits and has no cycles."""
        return against_perfect(question) or 3.0


class Retrograde(ModuleSolver):
    """The result and the remoteness of all reachable states, with or without cycles."""

    name = "retrograde"
    module = "retrograde"
    supports_cycles = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to games without chance and rewards; an unfinished analysis is resumed before all else."""
        game = question.game
        kind = method_hints(type(game), type(game).result)["return"]
        if lacking := against_perfect(question):
            return lacking
        if game.has_outcomes or game.has_reward or (game.has_result and kind not in (int, bool)):
            return Lacking("integer results at the end, no chance and no rewards")
        return 0.0 if question.begun is not None and question.begun.kind == self.name else 4.0


class PolicyIteration(ModuleSolver):
    """The best response to a random opponent, by policy iteration over all numbers."""

    name = "policy-iteration"
    module = "policies"

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to two-player games that number their states, without chance."""
        if question.opponent not in OPPONENTS[1:]:
            return Lacking("the opponent uniform or uniform-once")
        if not question.game.has_size or question.game.has_outcomes:
            return Lacking("a game that numbers its states, without chance")
        return 1.0


class ValueIteration(Solver):
    """Lower and upper bounds of the values of all states, which converge."""

    name = "value-iteration"
    supports_cycles = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to every game whose states and edges fit; the bounds cannot be saved."""
        return against_perfect(question) or (NO_FILE if question.run.file is not None else 5.0)

    def fill(self, question: Question) -> Table:
        """Return the bounds of all states that are reachable from the start."""
        from mdplay.solving.stochastic import iterate_values

        return iterate_values(
            question.game, question.state, threads=question.run.threads, show=question.run.progress
        )


class Proof(Solver):
    """Single positions, proved on demand."""

    name = "proof"
    on_demand = True
    takes_network = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to two-player games without chance; first choice for a game that has a proof view."""
        game = question.game
        if lacking := against_perfect(question, "win"):
            return lacking
        if num_players(game) == 1 or game.has_outcomes:
            return Lacking("two players and no chance")
        return NO_FILE if question.run.file is not None else 0.5 if game.has_proof_view else 9.0

    def fill(self, question: Question) -> Table:
        """Return a prover with the game's opening book."""
        from mdplay.solving.proof.book import table_for

        return table_for(question)


class BestResponse(Solver):
    """The best response to a fixed opponent, over the graph of all states."""

    name = "best-response"
    supports_cycles = True

    def applies(self, question: Question) -> Cost | Lacking:
        """Apply to every fixed opponent who may move again after a reward."""
        if question.opponent in ("perfect", "uniform-once"):
            return Lacking("a fixed opponent: uniform, a policy file or a function of states")
        return 2.0

    def fill(self, question: Question) -> Table:
        """Return the value of every state for the player who responds."""
        from mdplay.solving.responses import answer_to_file, answer_to_policy

        game, opponent = question.game, question.opponent
        if isinstance(opponent, str) and opponent != "uniform":
            return answer_to_file(game, opponent, objective=question.objective)
        return answer_to_policy(game, opponent, objective=question.objective)


SOLVERS: tuple[Solver, ...] = (
    Subset(),
    Indexed(),
    Hashed(),
    Retrograde(),
    ValueIteration(),
    Proof(),
    PolicyIteration(),
    BestResponse(),
)


def solvers_of(game: Game[Any]) -> list[Solver]:
    """Return the solvers that can be used for a game, with its own and those of installed packages."""
    added = {**plugins("solver"), **extras_of(game, "solvers")}
    return [*SOLVERS, *(solver() for solver in added.values())]


def solve(
    game: Game[Any],
    state: State | None = None,
    *,
    opponent: Opponent = "perfect",
    objective: str = "difference",
    method: str = "auto",
    network: str | Path | None = None,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> Solution:
    """Solve a game: every state that is reachable from the given one (default: the start).

    ``opponent``: perfect, uniform (random moves), uniform-once (one random move without rewards), a policy file,
    or a function from a state to an action or to probabilities by action.  ``objective``: difference of rewards,
    own rewards alone, win (who wins, not how soon), or one that the game defines, as tile=N of 2048.  ``method``:
    the name of a solver, or auto, the cheapest that applies.  ``network``, a file or "shipped", gives the order in
    which proof search tries moves.

    The settings are those of a ``Run``.  ``seconds`` limits each call that proves a position and its moves:
    ``Solution.bounds`` then has what is proved.  Without it a position is proved however long that takes, and a
    game whose table would not fit raises LimitError.  ``memory`` limits the table, by default to most of the free
    memory.  ``file`` saves the solution: a finished one is read from it, an unfinished one is resumed, and it is
    saved every ``save_every`` seconds.  With an ``executor`` (mdplay.runtime.executors) its workers solve the game
    layer by layer, each a share of the states: a game without chance, in which no position is reached after
    different numbers of moves.  ``threads`` is then the number of workers, ``memory`` the limit of each, and
    ``file`` names a folder.
    """
    clock = Stopwatch()
    run = run_of("solve", SETTINGS, run, settings)
    start = as_state(game, state)
    game = with_objective(game, objective)
    start = game.initial() if state is None else start
    spot_check(game, start)
    question = Question(game, start, opponent, objective, run, network)
    _refuse(question)
    table = _answer(question, method) if run.executor is None else _by_executor(question, method)
    notes = tuple(dict.fromkeys(question.notes))
    return Solution(game, table, clock.seconds, question.opponent_name, objective, clock.lost, notes)


def _by_executor(question: Question, method: str) -> Table:
    if method not in ("auto", "layered"):
        raise UnknownName(f"an executor solves by the method layered, not {short(method)}; leave out one of them")
    from mdplay.runtime.executors import driver

    table: Table = driver("solve")(question, question.run.executor)
    return table


def _answer(question: Question, method: str) -> Table:
    """Return the finished table of the question's file, or a new one, which is saved there."""
    if method != "auto":
        choose_solver(question, method)  # raises before the file is read
    if question.run.file is not None:
        from mdplay.solving.files import open_file

        question, finished = open_file(question)
        if finished is not None:
            return finished
    begun = None if question.begun is None else question.begun.kind
    if method != "auto" and begun in {solver.name for solver in solvers_of(question.game)} - {method}:
        kept = f"{question.run.file} has an unfinished solution by the method {begun}"
        raise FormatError(f"{kept}; use that method, method='auto' or another file")
    table = _cheapest(question) if method == "auto" else choose_solver(question, method).fill(question)
    if isinstance(table, Lacking):
        raise table.error(table.reason)
    if question.run.file is not None and not table.on_demand:  # otherwise nothing is proved yet
        from mdplay.solving.files import save_table

        save_table(question.run.file, table, game=question.game)
    return table


def _cheapest(question: Question) -> Table | Lacking:
    """Return the table of the cheapest solver, or of the next one if that finds the game to be unsuitable.

    If a table of all states would be huge, the position is proved by itself.  If it does not fit into memory, that
    is done only with a time limit, because a proof may take too long.
    """
    prover = _prover(question)
    found = choose_solver(question).fill(replace(question, huge=HUGE) if prover else question)
    if isinstance(found, Table):
        return found
    if found.cycles:
        question.survey.has_cycles = True
        return choose_solver(question).fill(question)
    if prover is None:
        return found
    if question.run.seconds is None and not found.huge:
        return replace(
            found, reason=f"{found.reason}; with a time limit (seconds, --seconds) the position is proved"
        )
    has_small_values = question.survey.largest_value <= MAX_PROVED
    return (prover if has_small_values else choose_solver(question)).fill(question)


def _prover(question: Question) -> Solver | None:
    """Return a solver that can prove the position by itself."""
    if not question.survey.has_integer_values:
        return None
    provers = (solver for solver in SOLVERS if solver.on_demand)
    return next((solver for solver in provers if not isinstance(solver.applies(question), Lacking)), None)


def choose_solver(question: Question, method: str = "auto") -> Solver:
    """Return the solver with a name, or the cheapest one that applies; otherwise raise what they lack."""
    solvers = solvers_of(question.game)
    if method != "auto":
        names = [solver.name for solver in solvers]
        if method not in names:
            raise unknown("method", method, ("auto", *names))
        solver = solvers[names.index(method)]
        if isinstance(lacking := solver.applies(question), Lacking):
            raise lacking.error(f"method {method} needs {lacking.reason}; use method='auto' for {question.name}")
        _refuse_settings(question, solver)
        return solver
    costs = [solver.applies(question) for solver in solvers]
    able = sorted((cost, number) for number, cost in enumerate(costs) if not isinstance(cost, Lacking))
    for _, number in able:
        solver = solvers[number]
        if solver.supports_cycles or solver.on_demand or not question.survey.has_cycles:
            return solver
    needs = (
        f"{solver.name} needs {cost.reason if isinstance(cost, Lacking) else 'a game without cycles'}"
        for solver, cost in zip(solvers, costs, strict=True)
    )
    raise GameError(f"no solver answers this about {question.name}: {'; '.join(needs)}")


def _refuse_settings(question: Question, solver: Solver) -> None:
    """Raise ArgumentError for a time limit or a network that the chosen method does not use."""
    if question.run.seconds is not None and not solver.on_demand:
        raise ArgumentError(
            f"seconds has no effect with method {solver.name}, which computes all values; remove it"
        )
    if question.network is not None and not solver.takes_network:
        raise ArgumentError(f"network has no effect with method {solver.name}; remove it, or use method='proof'")


def with_objective(game: Game[Any], objective: str) -> Game[Any]:
    """Return the game for an objective: another one if the game defines the objective."""
    kind, _, aim = objective.partition("=")
    own = extras_of(game, "objectives")
    if kind in own and aim:
        made: Game[Any] = own[kind](game, aim)
        return made
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, (*OBJECTIVES, *(f"{name}=N" for name in own)))
    return game


def _refuse(question: Question) -> None:
    """Raise an error for a question that has no meaning."""
    run, opponent = question.run, question.opponent
    if run.file is None and run.save_every != Run().save_every:
        raise ArgumentError("save_every has no effect without a file; name one, or remove save_every")
    if opponent == "perfect":
        if question.objective == "own":
            raise UnknownName("objective own requires another opponent: uniform, uniform-once or a policy file")
        return
    if run.file is not None:
        raise UnknownName("only solutions against a perfect opponent can be saved; leave out the file")
    if num_players(question.game) == 1:
        raise GameError(f"{question.name} is a single-player game; leave out the opponent")
    if isinstance(opponent, str) and opponent not in OPPONENTS and not Path(opponent).is_file():
        raise FormatError(f"the opponent {opponent} is neither {', '.join(OPPONENTS)} nor a file with a policy")
