"""What advisers, searches and agents tell, as the events of a stream.

What the worker does for the API of games: a function for each kind of request.

Each checks what is given, and returns the work that a stream tells of, or the answer to a question.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mdplay.errors import NotCompiled
from mdplay.naming.registry import extra_names
from mdplay.playing.advising import Advice, Adviser, AdviserAgent, SearchAdviser, Value
from mdplay.playing.agents import choose as choose_action
from mdplay.playing.agents import make_agent
from mdplay.rng import Random
from mdplay.searching.depth_limited import depth_limited
from mdplay.searching.mcts import Search
from mdplay.searching.result import Node
from mdplay.web.games.advisers import Advisers
from mdplay.web.games.asking import Ask
from mdplay.web.games.catalogue import MOST, NEEDS_A_FILE, LearnedAgents, agents_of, agents_that_learned
from mdplay.web.games.words import bound_headline, headline, is_known, kind_of, shown, status
from mdplay.web.numbers import rounded_off
from mdplay.web.safety import Refused
from mdplay.web.work.jobs import Job, notice_of
from mdplay.web.work.worker import Worker


# ---------------------------------------------------------------- values
def tell_values(job: Job, asked: Ask, advisers: Advisers, opponent: str, brief: bool) -> None:
    """Tell what every move is worth, as it becomes known."""
    if not asked.position.actions:
        job.emit("verdict", over_verdict(asked))
        return
    guessing = opponent == "perfect" and not brief
    adviser = _adviser(
        job, asked, advisers, opponent, (lambda made: _guessed(job, asked, made)) if guessing else None
    )

    def work() -> None:
        for advice in adviser.advise(asked.state, brief=brief, show=job.show):
            _tell(job, asked, advice)

    advisers.done(asked, work, {"kind": "advise", "opponent": opponent}, job)


def _tell(job: Job, asked: Ask, advice: Advice) -> None:
    """Tell what has become known."""
    job.check()
    for action, value in advice.moves.items():
        if not asked.puzzle or is_known(value):
            job.emit("move", move_event(asked, action, value))
    if advice.value is not None:
        job.emit("verdict", verdict(asked, advice, advice.value))


def _adviser(
    job: Job,
    asked: Ask,
    advisers: Advisers,
    opponent: str = "perfect",
    meanwhile: Callable[[Future[Adviser]], bool] | None = None,
) -> Adviser:
    """Wait for the adviser of a game, with a notice if it is being made."""
    return advisers.adviser(
        asked.entry, asked.params, opponent, check=job.check, notice=notice_of(job), meanwhile=meanwhile
    )


def _guessed(job: Job, asked: Ask, future: Future[Adviser]) -> bool:
    """Tell what a short tree search thinks meanwhile; False while its kernels are still being compiled."""
    try:
        for advice in SearchAdviser(asked.game).advise(asked.state, show=job.show):
            if future.done():
                break
            _tell(job, asked, _first_guess(advice))
    except NotCompiled:
        return False
    return True


def _first_guess(advice: Advice) -> Advice:
    """Return what a short search says, without what it cannot know: a best move and a line of play."""
    exact = advice.value is not None and advice.value.exact
    return replace(advice, done=False) if exact else replace(advice, done=False, best=(), line=())


def move_event(asked: Ask, action: int, value: Value) -> dict[str, Any]:
    """Return what a move is worth, for the page."""
    return {"action": action, "move": asked.game.move_text(asked.state, action), **shown(asked, value)}


def verdict(asked: Ask, advice: Advice, value: Value) -> dict[str, Any]:
    """Return what the position is worth, for the page."""
    sure = not advice.bound or kind_of(value.value) == "win"
    facts = shown(asked, value) | {"exact": value.exact and sure}
    words = bound_headline(asked, value) if advice.bound else headline(asked, value)
    if asked.puzzle and not is_known(value):
        advice = replace(advice, best=(), line=())
    elif not (value.exact or advice.done or advice.best):
        words = status(asked)  # a first guess
    found = facts | {
        "headline": words,
        "source": advice.source,
        "best": list(advice.best),
        "best_moves": [asked.game.move_text(asked.state, action) for action in advice.best],
        "done": advice.done,
        "over": False,
        "bound": not sure,
    }
    return found | {"line": list(advice.line[:40])} if advice.line else found


def over_verdict(asked: Ask) -> dict[str, Any]:
    """Return the verdict where no player moves; while chance moves there is no value."""
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
TREE_NODES = 120  # of the tree that the page may open
TREE_SECONDS = 0.5  # between two pictures of the tree, which cost more than all the rest
TELL_SECONDS = 0.15
TREE_BYTES = 256 << 20


def tell_search(job: Job, asked: Ask, advisers: Advisers, seconds: float, simulations: int) -> None:
    """Search until the time, the simulations or the client's patience ends; tell it ten times a second."""

    def work() -> None:
        search = Search(asked.game, asked.state, seed=1, max_bytes=TREE_BYTES)
        search.run(1)
        until, grown = time.monotonic() + seconds, 0.0
        while not search.proven and search.simulations < simulations and time.monotonic() < until:
            search.run(simulations - search.simulations, seconds=0.1)
            tree = time.monotonic() - grown > TREE_SECONDS
            grown = time.monotonic() if tree else grown
            job.emit("stats", statistics(asked, search, tree=tree))
        job.emit("stats", statistics(asked, search, tree=True))
        job.emit("done", {"proven": search.proven, "simulations": search.simulations})

    advisers.done(asked, work, {"kind": "search"}, job)


def statistics(asked: Ask, search: Search, *, tree: bool = False) -> dict[str, Any]:
    """Return what a search thinks by now, for the page."""
    found = search.result()
    visits = max(1, sum(move.visits for move in found.moves))
    facts = {
        "simulations": found.simulations,
        "per_second": round(found.simulations_per_second),
        "nodes": found.nodes,
        "seconds": round(found.seconds, 3),
        "value": found.value,
        "proven": found.proven,
        "headline": headline(asked, Value(found.value, found.proven)),
        "best": list(found.best),
        "line": list(found.line[:14]),
        "moves": [
            {"visits": move.visits, "share": move.visits / visits}
            | move_event(asked, move.action, Value(move.value, move.proven))
            for move in found.moves
        ],
    }
    return facts | {"tree": opened(search.root)} if tree else facts


def opened(root: Node) -> dict[str, Any]:
    """Return the most visited nodes of a tree, each below its parent."""
    told = _node(root)
    fringe = [(-root.visits, 0, root, told)]
    count = 1
    while fringe and count < TREE_NODES:
        _, _, node, document = heapq.heappop(fringe)
        for child in node.ranked[: TREE_NODES - count]:
            if child.visits > 1 or node is root:
                entry = _node(child)
                document["children"].append(entry)
                count += 1
                heapq.heappush(fringe, (-child.visits, count, child, entry))
    return told


def _node(node: Node) -> dict[str, Any]:
    return {"move": node.text, "visits": node.visits, "value": node.value, "proven": node.proven, "children": []}


# ---------------------------------------------------------------- agents
def tell_agent(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, seed: int) -> None:
    """Let an agent choose; a tree search shows its thoughts meanwhile."""
    choose = {"mcts": _by_search, "heuristic": _by_looking_ahead, "random": _at_random}.get(agent, _by_agent)
    kinds = {"mcts": "search", "heuristic": "look_ahead", "random": "search"}
    brought = agent in extra_names(asked.game, "agents") and agent not in NEEDS_A_FILE
    task = {"kind": "act", "agent": agent} if brought else {"kind": kinds.get(agent, "search")}
    if choose is _by_agent and not brought:
        choose = _by_adviser

    def work() -> None:
        action = choose(job, asked, advisers, agent, setting, Random(seed))
        job.emit("move", {"action": action, "move": asked.game.move_text(asked.state, action)})

    advisers.done(asked, work, task, job)


def tell_learned(job: Job, asked: Ask, advisers: Advisers, learned: LearnedAgents, agent: str, seed: int) -> None:
    """Let choose what was learned on the page."""

    def work() -> None:
        action = learned.act(agent, asked.state, Random(seed))
        job.emit("move", {"action": action, "move": asked.game.move_text(asked.state, action)})

    advisers.done(asked, work, {"kind": "search"}, job)


def _at_random(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, rng: Random) -> int:
    return rng.pick(asked.game.legal(asked.state))


def _by_search(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, rng: Random) -> int:
    search = Search(asked.game, asked.state, seed=rng.word(), max_bytes=TREE_BYTES)
    search.run(1)
    while search.simulations < setting and not search.proven:
        search.run(setting - search.simulations, seconds=TELL_SECONDS)
        job.emit("stats", statistics(asked, search))
    job.emit("stats", statistics(asked, search))
    return search.result().action


def _by_looking_ahead(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, rng: Random) -> int:
    best = depth_limited(asked.game, asked.state, depth=setting, show=job.show).best
    return best[rng.below(len(best))]


def _by_agent(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, rng: Random) -> int:
    return choose_action(make_agent(asked.game, agent), agent, asked.game, asked.state, rng)


def _by_adviser(job: Job, asked: Ask, advisers: Advisers, agent: str, setting: int, rng: Random) -> int:
    """Play what the adviser of the game holds best, once it has said all."""
    adviser = _adviser(job, asked, advisers)
    return AdviserAgent(adviser, agent, job.show).act(asked.state, rng)


Work = Callable[[Job], None]


def values(worker: Worker, position: dict[str, str], opponent: str, brief: bool) -> Work:
    """Tell what every move is worth."""
    asked = worker.asked(**position)
    if opponent != "perfect" and asked.single:
        raise Refused(422, "a game for one has no opponent")
    return lambda job: tell_values(job, asked, worker.advisers, opponent, brief)


def search(worker: Worker, position: dict[str, str], seconds: float, simulations: int) -> Work:
    """Tell of a tree search while it runs."""
    asked = _with_moves(worker.asked(**position))
    return lambda job: tell_search(job, asked, worker.advisers, seconds, simulations)


def agent(worker: Worker, position: dict[str, str], agent: str, setting: int, seed: int) -> Work:
    """Let an agent choose; setting 0 is the agent's own."""
    asked = _with_moves(worker.asked(**position))
    learned = agents_that_learned(worker.learned.listed(), asked.entry.id, asked.params)
    known = {one["id"]: one for one in [*agents_of(asked.game, asked.entry.solver), *learned]}
    if agent not in known:
        raise Refused(422, "this agent does not play this game")
    number = setting or (known[agent]["setting"] or {}).get("default", 0)
    if number > MOST.get(agent, MOST["mcts"]):
        raise Refused(422, "the setting of this agent is out of range")
    if any(one["id"] == agent for one in learned):
        return lambda job: tell_learned(job, asked, worker.advisers, worker.learned, agent, seed)
    return lambda job: tell_agent(job, asked, worker.advisers, agent, number, seed)


def _with_moves(asked: Ask) -> Ask:
    if not asked.position.actions:
        raise Refused(422, "nobody is to move there")
    return asked


def solvers(worker: Worker) -> dict[str, str]:
    """Answer how the games are advised whose profile does not say so, each in a word."""
    return {entry.id: entry.solver for entry in worker.catalogue.values() if not entry.about.evaluator}


def prepare(worker: Worker) -> list[Any]:
    """Make the advisers of the first games, one after the other, before anybody asks."""
    for entry in worker.catalogue.values():
        if entry.own or entry.about.prepare:
            with suppress(Exception):  # a request for this game gets it
                worker.advisers.adviser(entry)
    return []
