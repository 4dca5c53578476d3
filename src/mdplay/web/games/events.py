"""Evaluations, searches and moves of agents as the events of a stream, and the requests for them.

There is one function for each kind of request to the API of games.  It checks the arguments and returns the work
that emits the events of the stream, or the answer.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mdplay import (
    Evaluation,
    Evaluator,
    MoveEvaluation,
    NotCompiled,
    Search,
    SearchResult,
    depth_limited,
    make_agent,
)
from mdplay.bits import elements, nonempty
from mdplay.evaluating.evaluation import rounded_off
from mdplay.evaluating.wording import compare_moves, is_known, kind_of
from mdplay.naming.registry import extra_names
from mdplay.playing.agents import choose as choose_action
from mdplay.playing.evaluators import EvaluatorAgent, LineEvaluator, SearchEvaluator
from mdplay.rng import Random
from mdplay.searching.result import Node
from mdplay.web.games.catalogue import MOST, NEEDS_A_FILE, LearnedAgents, agents_of, agents_that_learned
from mdplay.web.games.evaluators import Evaluators
from mdplay.web.games.requests import Ask, bound_headline, headline, shown, status
from mdplay.web.safety import Refused
from mdplay.web.work.jobs import Job, notice_of
from mdplay.web.work.worker import Worker


# ---------------------------------------------------------------- values
def emit_values(job: Job, asked: Ask, evaluators: Evaluators, opponent: str, brief: bool) -> None:
    """Emit the evaluations of a position as they improve."""
    if not asked.position.actions:
        job.emit("verdict", over_verdict(asked))
        return
    guessing = opponent == "perfect" and not brief
    meanwhile = (lambda made: _estimate(job, asked, made)) if guessing else None
    evaluator = _evaluator(job, asked, evaluators, opponent, meanwhile)

    def work() -> None:
        emitted: dict[int, MoveEvaluation] = {}
        for evaluation in evaluator.evaluate(asked.state, brief=brief, show=job.show):
            _emit(job, asked, evaluation, emitted)

    evaluators.done(asked, work, {"kind": "evaluate", "opponent": opponent}, job)


def _emit(job: Job, asked: Ask, evaluation: Evaluation, emitted: dict[int, MoveEvaluation]) -> None:
    """Emit the moves that are not among the emitted ones, and the value of the position."""
    job.check()
    for action, value in evaluation.moves.items():
        if emitted.get(action) != value and (not asked.puzzle or is_known(value)):
            job.emit("move", move_event(asked, action, value))
    emitted |= evaluation.moves
    if evaluation.value is not None:
        job.emit("verdict", verdict(asked, evaluation, evaluation.value))


def _evaluator(
    job: Job,
    asked: Ask,
    evaluators: Evaluators,
    opponent: str = "perfect",
    meanwhile: Callable[[Future[Evaluator]], bool] | None = None,
) -> Evaluator:
    """Wait for the evaluator of a game, with a notice if it is being made."""
    return evaluators.evaluator(
        asked.entry, asked.params, opponent, check=job.check, notice=notice_of(job), meanwhile=meanwhile
    )


def _estimate(job: Job, asked: Ask, future: Future[Evaluator]) -> bool:
    """Emit the estimates of a short tree search; return False while its kernels are still being compiled."""
    emitted: dict[int, MoveEvaluation] = {}
    try:
        for evaluation in SearchEvaluator(asked.game).evaluate(asked.state, show=job.show):
            if future.done():
                break
            _emit(job, asked, _first_estimate(evaluation), emitted)
    except NotCompiled:
        return False
    return True


def _first_estimate(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation of a short search without its best moves and its line, unless it is exact."""
    exact = evaluation.value is not None and evaluation.value.exact
    return replace(evaluation, done=False) if exact else replace(evaluation, done=False, best=(), line=())


MAX_LINE = 40  # moves of a line that are sent


def emit_line(job: Job, asked: Ask, evaluators: Evaluators, opponent: str, action: int | None) -> None:
    """Emit the line of best play from a position, after ``action`` if it is given; none with chance."""
    evaluator = _evaluator(job, asked, evaluators, opponent)

    def work() -> None:
        first = [] if action is None else [action]
        state = asked.state if action is None else asked.game.step(asked.state, action)
        later: list[int] = []
        if opponent == "perfect" and not asked.game.has_outcomes and nonempty(asked.game.legal(state)):
            later = evaluator.line(state, show=job.show) if isinstance(evaluator, LineEvaluator) else []
        texts, state = [], asked.state
        for played in [*first, *later]:
            texts.append(asked.game.move_text(state, played))
            state = asked.game.step(state, played)
        over = not nonempty(asked.game.legal(state))
        job.emit("line", {"moves": texts[:MAX_LINE], "plies": len(texts), "over": over})

    evaluators.done(asked, work, {"kind": "evaluate", "opponent": opponent}, job)


def move_event(asked: Ask, action: int, value: MoveEvaluation) -> dict[str, Any]:
    """Return the evaluation of a move for the page."""
    return {"action": action, "move": asked.game.move_text(asked.state, action), **shown(asked, value)}


def verdict(asked: Ask, evaluation: Evaluation, value: MoveEvaluation) -> dict[str, Any]:
    """Return the evaluation of the position for the page; a lower bound that is a win counts as exact."""
    at_least = replace(value, high=value.low, exact=True)
    sure = value.exact or (value.is_bound and kind_of(value.low) == "win")
    words = bound_headline(asked, value) if value.is_bound else headline(asked, value)
    if asked.puzzle and not is_known(value):
        evaluation = replace(evaluation, best=(), line=())
    elif not (value.exact or value.is_bound or evaluation.done or evaluation.best):
        words = status(asked)  # a first estimate
    found = shown(asked, at_least if value.is_bound else value) | {
        "exact": sure,
        "headline": words,
        "source": evaluation.source,
        "best": list(evaluation.best),
        "best_moves": [asked.game.move_text(asked.state, action) for action in evaluation.best],
        "done": evaluation.done,
        "over": False,
        "bound": value.is_bound and not sure,
        "why": compare_moves(asked.game, asked.state, evaluation) if evaluation.done and not asked.puzzle else "",
    }
    return found | {"line": list(evaluation.line[:40])} if evaluation.line else found


def over_verdict(asked: Ask) -> dict[str, Any]:
    """Return the verdict of a position in which no player moves; there is no value while chance moves."""
    over = asked.position.is_over
    result = rounded_off(asked.lead + float(asked.game.result(asked.state))) if over else 0.0
    alone = asked.single and not asked.puzzle
    height = asked.points[0] if asked.for_points else result if alone else 0.0
    return {
        "headline": f"{asked.points[0]:,.10g} points" if asked.for_points and over else status(asked).rstrip("."),
        "value": result if over else None,
        "exact": over,
        "kind": "points" if alone else kind_of(result),
        "words": "",
        "source": "the rules",
        "best": [],
        "best_moves": [],
        "height": height if asked.single else (result > 0) - (result < 0),
        "distance": 0 if over else None,
        "done": True,
        "over": over,
        "bound": False,
    }


# ---------------------------------------------------------------- tree search
MAX_TREE_NODES = 120  # nodes of the tree in an event
TREE_SECONDS = 0.5  # between two events with the tree, which are larger than the others
STEP_SECONDS = 0.15  # between two events of an agent that searches
TREE_BYTES = 256 << 20  # maximum size of a search tree


def emit_search(job: Job, asked: Ask, evaluators: Evaluators, seconds: float, simulations: int) -> None:
    """Search within the time and the simulations, or until the client leaves; emit ten events a second."""

    def work() -> None:
        search, last = Search(asked.game, asked.state, seed=1, memory=TREE_BYTES), 0.0
        for found in search.steps(simulations, seconds=seconds):
            has_tree = time.monotonic() - last > TREE_SECONDS
            last = time.monotonic() if has_tree else last
            job.emit("stats", statistics(asked, found, tree=has_tree))
        job.emit("stats", statistics(asked, search.result(), tree=True))
        job.emit("done", {"proven": search.proven, "simulations": search.simulations})

    evaluators.done(asked, work, {"kind": "search"}, job)


def statistics(asked: Ask, found: SearchResult, *, tree: bool = False) -> dict[str, Any]:
    """Return the statistics of a search for the page."""
    visits = max(1, sum(move.visits for move in found.moves))
    facts = {
        "simulations": found.simulations,
        "per_second": round(found.simulations_per_second),
        "nodes": found.nodes,
        "seconds": round(found.seconds, 3),
        "value": found.value,
        "proven": found.proven,
        "headline": headline(asked, MoveEvaluation.of(found.value, found.proven)),
        "best": list(found.best),
        "line": list(found.line[:14]),
        "moves": [
            {"visits": move.visits, "share": move.visits / visits}
            | move_event(asked, move.action, MoveEvaluation.of(move.value, move.proven))
            for move in found.moves
        ],
    }
    return facts | {"tree": opened(found.tree)} if tree else facts


def opened(root: Node) -> dict[str, Any]:
    """Return the most visited nodes of a tree, each below its parent."""
    tree = _node(root)
    fringe = [(-root.visits, 0, root, tree)]
    count = 1
    while fringe and count < MAX_TREE_NODES:
        _, _, node, document = heapq.heappop(fringe)
        for child in node.ranked[: MAX_TREE_NODES - count]:
            if child.visits > 1 or node is root:
                entry = _node(child)
                document["children"].append(entry)
                count += 1
                heapq.heappush(fringe, (-child.visits, count, child, entry))
    return tree


def _node(node: Node) -> dict[str, Any]:
    return {"move": node.text, "visits": node.visits, "value": node.value, "proven": node.proven, "children": []}


# ---------------------------------------------------------------- agents
def emit_agent(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, seed: int) -> None:
    """Emit the move of an agent, and the statistics of a tree search meanwhile."""
    choose = {"mcts": _by_search, "heuristic": _by_looking_ahead, "random": _at_random}.get(agent, _by_agent)
    kinds = {"mcts": "search", "heuristic": "look_ahead", "random": "search"}
    brought = agent in extra_names(asked.game, "agents") and agent not in NEEDS_A_FILE
    task = {"kind": "act", "agent": agent} if brought else {"kind": kinds.get(agent, "search")}
    if choose is _by_agent and not brought:
        choose = _by_evaluator

    def work() -> None:
        action = choose(job, asked, evaluators, agent, setting, Random(seed))
        job.emit("move", {"action": action, "move": asked.game.move_text(asked.state, action)})

    evaluators.done(asked, work, task, job)


def emit_learned(
    job: Job, asked: Ask, evaluators: Evaluators, learned: LearnedAgents, agent: str, seed: int
) -> None:
    """Emit the move of an agent that was trained on the page."""

    def work() -> None:
        action = learned.act(agent, asked.state, Random(seed))
        job.emit("move", {"action": action, "move": asked.game.move_text(asked.state, action)})

    evaluators.done(asked, work, {"kind": "search"}, job)


def _at_random(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, rng: Random) -> int:
    return rng.pick(asked.game.legal(asked.state))


def _by_search(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, rng: Random) -> int:
    search = Search(asked.game, asked.state, seed=rng.word(), memory=TREE_BYTES)
    for found in search.steps(setting, every=STEP_SECONDS):
        job.emit("stats", statistics(asked, found))
    return search.result().action


def _by_looking_ahead(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, rng: Random) -> int:
    best = depth_limited(asked.game, asked.state, depth=setting, progress=job.show).best
    return best[rng.below(len(best))]


def _by_agent(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, rng: Random) -> int:
    return choose_action(make_agent(asked.game, agent), agent, asked.game, asked.state, rng)


def _by_evaluator(job: Job, asked: Ask, evaluators: Evaluators, agent: str, setting: int, rng: Random) -> int:
    """Return a best move of the last evaluation."""
    evaluator = _evaluator(job, asked, evaluators)
    return EvaluatorAgent(evaluator, agent, job.show).act(asked.state, rng)


Work = Callable[[Job], None]


def values(worker: Worker, position: dict[str, str], opponent: str, brief: bool) -> Work:
    """Emit the evaluations of a position."""
    asked = worker.asked(**position)
    if opponent != "perfect" and asked.single:
        raise Refused(422, "a single-player game has no opponent")
    return lambda job: emit_values(job, asked, worker.evaluators, opponent, brief)


def line(worker: Worker, position: dict[str, str], opponent: str, action: int | None) -> Work:
    """Emit the line of best play."""
    asked = _with_moves(worker.asked(**position))
    if action is not None and action not in elements(asked.game.legal(asked.state)):
        raise Refused(422, "that action is not legal here")
    return lambda job: emit_line(job, asked, worker.evaluators, opponent, action)


def search(worker: Worker, position: dict[str, str], seconds: float, simulations: int) -> Work:
    """Emit the statistics of a tree search while it runs."""
    asked = _with_moves(worker.asked(**position))
    return lambda job: emit_search(job, asked, worker.evaluators, seconds, simulations)


def agent(worker: Worker, position: dict[str, str], agent: str, setting: int, seed: int) -> Work:
    """Emit the move of an agent; setting 0 is the default of the agent."""
    asked = _with_moves(worker.asked(**position))
    learned = agents_that_learned(worker.learned.listed(), asked.entry.id, asked.params)
    known = {one["id"]: one for one in [*agents_of(asked.game, asked.entry.solver), *learned]}
    if agent not in known:
        raise Refused(422, "this agent does not play this game")
    number = setting or (known[agent]["setting"] or {}).get("default", 0)
    if number > MOST.get(agent, MOST["mcts"]):
        raise Refused(422, "the setting of this agent is out of range")
    if any(one["id"] == agent for one in learned):
        return lambda job: emit_learned(job, asked, worker.evaluators, worker.learned, agent, seed)
    return lambda job: emit_agent(job, asked, worker.evaluators, agent, number, seed)


def _with_moves(asked: Ask) -> Ask:
    if not asked.position.actions:
        raise Refused(422, "no player is to move there")
    return asked


def solvers(worker: Worker) -> dict[str, str]:
    """Return the methods of evaluation of the games whose profile does not name one."""
    return {entry.id: entry.solver for entry in worker.catalogue.values() if not entry.about.evaluator}


def prepare(worker: Worker) -> list[Any]:
    """Make the evaluators of the first games, one after the other, before the first request."""
    for entry in worker.catalogue.values():
        if entry.own or entry.about.prepare:
            with suppress(Exception):  # a request for this game gets it
                worker.evaluators.evaluator(entry)
    return []
