"""``solve``: one question, a list of solvers, one solution.

``auto`` takes the cheapest that applies.  A game may bring solvers and objectives of its own
(mdplay.naming.registry).

    subset            games of scoring sets, a byte a state
    indexed           games that number their states
    hashed            every game that cannot come back to a position
    retrograde        games that come back to positions: whole results at the end, no chance, no points
    value-iteration   games with cycles and chance or rewards: lower and upper bounds that converge
    proof             positions proved when they are asked for
    policy-iteration  the best answer to a random opponent, for games that number their states
    best-response     the best response to any fixed opponent; with cycles by planning

With an executor all of it is done by workers, layer after layer (mdplay.distributed.layers).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mdplay.checking.contract_checks import spot_check
from mdplay.errors import (
    CycleError,
    FormatError,
    GameError,
    HugeError,
    LimitError,
    UnknownName,
    check_seconds,
    short,
    unknown,
)
from mdplay.game import Game, num_players
from mdplay.naming.registry import extras_of, plugins
from mdplay.position import as_state
from mdplay.runtime.executors import Executor, driver
from mdplay.runtime.threads import Show, Stopwatch, num_threads
from mdplay.solving.solution import Solution
from mdplay.solving.values import Opponent, Question, Solver, Table

OPPONENTS = ("perfect", "uniform", "uniform-once")
OBJECTIVES = ("difference", "own", "win")
HUGE = 1e6  # states at one ply: with those of all plies tens of millions and more
MOST_PROVED = 120  # the largest value that proof search keeps
MANY_LINES = 10  # from which on a subset table is worth a kernel of its own


def _against_perfect(question: Question, *objectives: str) -> str | None:
    """Return what is lacking for a solver of perfect play."""
    if question.opponent != "perfect":
        return "a perfect opponent"
    known = question.objective in ("difference", *objectives) or "=" in question.objective
    return None if known else f"another objective than {question.objective}"


class Subset:
    """A byte for every set of actions."""

    name = "subset"

    def applies(self, question: Question) -> float | str:
        """Apply to games of scoring sets whose table fits."""
        from mdplay.solving import subset

        game = question.game
        if lacking := _against_perfect(question):
            return lacking
        if not game.has_scoring_sets or game.size() < subset.BLOCK or len(game.scoring_sets) > subset.MOST_SETS:
            return f"scoring sets, at most {subset.MOST_SETS} over {subset.BLOCK_LINES} or more actions"
        return question.too_large(subset.needed_bytes(game)) or (1.0 if game.size() >> MANY_LINES else 2.5)

    def fill(self, question: Question) -> Table:
        """Return the value of every set."""
        from mdplay.solving import subset

        return subset.fill(question.game, threads=question.threads, memory=question.memory, show=question.show)


class Indexed:
    """A value for every number."""

    name = "indexed"

    def applies(self, question: Question) -> float | str:
        """Apply to games that number their states, if the table fits."""
        from mdplay.solving import indexed

        if lacking := _against_perfect(question):
            return lacking
        if not question.game.has_size:
            return "a game that numbers its states (index, state and size)"
        return question.too_large(indexed.needed_bytes(question.game)) or 2.0

    def fill(self, question: Question) -> Table:
        """Return the value of every number."""
        from mdplay.solving import indexed

        return indexed.fill(question.game, memory=question.memory, show=question.show)


class Hashed:
    """A hash table of all states that can be reached."""

    name = "hashed"

    def applies(self, question: Question) -> float | str:
        """Apply to every game; whether it fits and never comes back shows on the way."""
        return _against_perfect(question) or 3.0

    def fill(self, question: Question) -> Table:
        """Return the values of all states that the start reaches."""
        from mdplay.solving.hashed import HashTable

        table = HashTable(question.game, memory=question.memory, show=question.show, huge=question.huge)
        table.close(question.state)
        return table


class Retrograde:
    """The result and the remoteness of all states that can be reached, cycles or not."""

    name = "retrograde"
    cycles = True

    def applies(self, question: Question) -> float | str:
        """Apply to games without chance and points; whether they fit shows on the way."""
        from mdplay.solving.retrograde import lacking

        return _against_perfect(question) or lacking(question.game) or 4.0

    def fill(self, question: Question) -> Table:
        """Return the table of all states that the start reaches."""
        from mdplay.solving.retrograde import retrograde

        threads = num_threads(question.threads)
        return retrograde(
            question.game, question.state, threads=threads, memory=question.memory, show=question.show
        )


class ValueIteration:
    """Lower and upper bounds of every state's value, closed in on from both sides."""

    name = "value-iteration"
    cycles = True

    def applies(self, question: Question) -> float | str:
        """Apply to every game whose states and edges fit; for files there is nothing to keep."""
        if lacking := _against_perfect(question):
            return lacking
        return "nothing to keep in a file" if question.file is not None else 5.0

    def fill(self, question: Question) -> Table:
        """Return the bounds of all states that the start reaches."""
        from mdplay.solving.stochastic import iterate_values

        return iterate_values(question.game, question.state, threads=question.threads, show=question.show)


class Proof:
    """Positions are proved when they are asked for."""

    name = "proof"

    def applies(self, question: Question) -> float | str:
        """Apply to games for two without chance; first choice for those with a view of their own for it."""
        game = question.game
        if lacking := _against_perfect(question, "win"):
            return lacking
        if num_players(game) == 1 or game.has_outcomes:
            return "two players and no chance"
        if question.file is not None:
            return "nothing to keep in a file"
        return 0.5 if game.has_proof_view else 9.0

    def fill(self, question: Question) -> Table:
        """Return a prover with the game's opening book."""
        from mdplay.learning.network import named_network
        from mdplay.solving.proof.book import prover_for
        from mdplay.solving.proof.prover import MEMORY
        from mdplay.solving.proof.solution import ProofTable

        game, name = question.game, question.network
        network = None if name is None else named_network(str(name), game)
        prover = prover_for(game, memory=question.memory or MEMORY, threads=question.threads, network=network)
        return ProofTable(prover, weak=question.objective == "win", seconds=question.seconds, show=question.show)


class PolicyIteration:
    """The best answer to a random opponent, by policy iteration over all numbers."""

    name = "policy-iteration"

    def applies(self, question: Question) -> float | str:
        """Apply to games for two that number their states, without chance."""
        if question.opponent not in ("uniform", "uniform-once"):
            return "the opponent uniform or uniform-once"
        if not question.game.has_size or question.game.has_outcomes:
            return "a game that numbers its states, without chance"
        return 1.0

    def fill(self, question: Question) -> Table:
        """Return what every number is worth to either player."""
        from mdplay.solving.policies import policy_iteration

        return policy_iteration(
            question.game,
            opponent=str(question.opponent),
            objective=question.objective,
            memory=question.memory,
            show=question.show,
        )


class BestResponse:
    """The best answer to a fixed opponent, over the graph of all states."""

    name = "best-response"

    def applies(self, question: Question) -> float | str:
        """Apply to every fixed opponent who may move again after a point."""
        if question.opponent in ("perfect", "uniform-once"):
            return "a fixed opponent: uniform, a policy file or a function of states"
        return 2.0

    def fill(self, question: Question) -> Table:
        """Return what every state is worth to whoever answers."""
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
    """Return the solvers that may be asked about a game, its own included."""
    added = {**plugins("solver"), **extras_of(game, "solvers")}
    return [*SOLVERS, *(solver() for solver in added.values())]


def solve(
    game: Game[Any],
    state: Any = None,
    *,
    opponent: Opponent = "perfect",
    objective: str = "difference",
    method: str = "auto",
    seconds: float | None = None,
    memory: int | None = None,
    threads: int | None = None,
    file: str | Path | None = None,
    save_seconds: float = 60.0,
    executor: Executor | str | None = None,
    network: str | Path | None = None,
    show: Show | None = None,
) -> Solution:
    """Solve a game: every state that the given one (default: the start) reaches.

    ``opponent``: perfect, uniform (random moves), uniform-once (one random move that earns nobody anything), a
    policy file, or a function from a state to an action or to probabilities by action.  ``objective``: difference
    of points, own points alone, win (who wins, not how soon), or one that the game brings, as tile=N of 2048.
    ``method``: the name of a solver, or auto, which goes on to one for cycles where positions come back.
    ``seconds`` limits each call that proves a position and its moves: then ``Solution.bounds`` has what is proved.
    ``memory`` is a limit in bytes, by default most of what is free; work that would not fit is refused with
    LimitError.  ``file`` keeps the solution: a finished one is read from it, an unfinished one goes on from what
    it has, which is saved every ``save_seconds`` seconds.

    ``network``, a file or "shipped", gives the order in which proof search tries moves.  With an ``executor``
    (mdplay.runtime.executors) its workers solve the game layer after layer, each its share of the states: a game
    without chance, in which no position is met after different numbers of moves.  ``threads`` says how many
    workers, ``memory`` what each may take, and ``file`` names a folder.
    """
    clock = Stopwatch()
    start = as_state(game, state)
    check_seconds(seconds)
    game = with_objective(game, objective)
    start = game.initial() if state is None else start
    spot_check(game, start)
    question = Question(
        game, start, opponent, objective, seconds, memory, threads, file, save_seconds, show, network
    )
    _refuse(question)
    if executor is not None:
        table = _by_executor(question, method, executor)
    else:
        table = _solved(question) if method == "auto" else _filled(question, choose_solver(question, method))
    notes = tuple(dict.fromkeys(question.notes))
    return Solution(game, table, clock.seconds, question.opponent_name, objective, clock.lost, notes)


def _by_executor(question: Question, method: str, executor: Executor | str) -> Table:
    if method not in ("auto", "layered"):
        raise UnknownName(f"an executor solves by the method layered, not {short(method)}; leave out one of them")
    table: Table = driver("solve")(question, executor)
    return table


def _solved(question: Question) -> Table:
    """Return the table of the cheapest solver, or of the next that can what it meets on the way.

    Where positions come back, one for cycles goes on.  Where a table would be huge the position is proved by
    itself; without a limit of time, what does not fit into memory is refused: a proof might go on for ever.
    """
    solver = choose_solver(question)
    prover = _prover(question) if solver.name == "hashed" else None
    try:
        return _filled(replace(question, huge=HUGE) if prover else question, solver)
    except CycleError:
        return _filled(question, choose_solver(question, cycles=True))
    except LimitError as error:
        if prover is None or (question.seconds is None and not isinstance(error, HugeError)):
            raise
        return _filled(question, prover if _has_small_values(question) else solver)


def _filled(question: Question, solver: Solver) -> Table:
    """Return the table that answers, kept in a file if the question names one."""
    if question.file is None:
        return solver.fill(question)
    from mdplay.solving.files import solve_in_file

    return solve_in_file(question, solver)


def with_objective(game: Game[Any], objective: str) -> Game[Any]:
    """Return the game in which an objective is played for: another one where the game brings the objective."""
    kind, _, aim = objective.partition("=")
    own = extras_of(game, "objectives")
    if kind in own and aim:
        made: Game[Any] = own[kind](game, aim)
        return made
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, (*OBJECTIVES, *(f"{name}=N" for name in own)))
    return game


def _refuse(question: Question) -> None:
    """Refuse what no solver could give a meaning."""
    opponent = question.opponent
    if opponent == "perfect":
        if question.objective == "own":
            raise UnknownName("a perfect opponent counts the difference; objective own needs another opponent")
        return
    if question.file is not None:
        raise UnknownName("only solutions against a perfect opponent are kept in a file")
    if num_players(question.game) == 1:
        raise GameError(f"{question.name} is a game for one: it has no opponent")
    if isinstance(opponent, str) and opponent not in OPPONENTS and not Path(opponent).is_file():
        raise FormatError(f"the opponent {opponent} is neither {', '.join(OPPONENTS)} nor a file with a policy")


def _prover(question: Question) -> Solver | None:
    """Return the solver that proves the position by itself, if the game is one for it."""
    from mdplay.solving.hashed import has_whole_values

    prover = next(solver for solver in SOLVERS if solver.name == "proof")
    able = not isinstance(prover.applies(question), str) and has_whole_values(question.game)
    return prover if able else None


def _has_small_values(question: Question) -> bool:
    """Tell whether random games bring no more than proof search can keep."""
    from mdplay.states.sampling import most_seen

    return most_seen(question.game, question.state) <= MOST_PROVED


def choose_solver(question: Question, method: str = "auto", *, cycles: bool = False) -> Solver:
    """Return the solver named, or the cheapest that applies; a refusal names what each lacks.

    ``cycles``: positions come back, which not all solvers bear.
    """
    solvers = [solver for solver in solvers_of(question.game) if not cycles or getattr(solver, "cycles", False)]
    names = [solver.name for solver in solvers]
    if method == "auto":
        answers = [(solver.applies(question), solver) for solver in solvers]
        able = [(cost, number) for number, (cost, _) in enumerate(answers) if not isinstance(cost, str)]
        if able:
            return solvers[min(able)[1]]
        needs = "; ".join(f"{solver.name} needs {lacking}" for lacking, solver in answers)
        raise GameError(f"no solver answers this about {question.name}: {needs}")
    if method not in names:
        raise unknown("method", method, ("auto", *names))
    solver = solvers[names.index(method)]
    lacking = solver.applies(question)
    if isinstance(lacking, str):
        kind = LimitError if "memory" in lacking else GameError
        raise kind(f"{method} needs {lacking}: {question.name} is not so")
    return solver
