"""What the worker does for the API of games: a function for each kind of request.

Each checks what is given, and returns the work that a stream tells of, or the answer to a question.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mdplay.web.games.agents import MOST, agents_of, agents_that_learned
from mdplay.web.games.asking import Ask
from mdplay.web.games.catalogue import AT_ONCE
from mdplay.web.games.telling import tell_agent, tell_learned, tell_search, tell_values
from mdplay.web.refusing import Refused
from mdplay.web.work.jobs import Job
from mdplay.web.work.worker import Worker

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
    return {entry.id: entry.solver for entry in worker.catalogue.values() if not entry.profile.solver}


def prepare(worker: Worker) -> list[Any]:
    """Make the advisers of the first games, one after the other, before anybody asks."""
    for entry in worker.catalogue.values():
        if entry.own or entry.id in AT_ONCE:
            with suppress(Exception):  # a request for this game gets it
                worker.advisers.adviser(entry)
    return []
