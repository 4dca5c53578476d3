"""What the page can start beyond games: plans, bandits, trainings, tournaments; each told as it goes."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from itertools import combinations
from typing import Any

import numpy as np

from mdplay.bandits.laboratory import Bandit, Curve, run_bandit
from mdplay.errors import LimitError, MdplayError
from mdplay.game import Game
from mdplay.learning.learned import Learned
from mdplay.learning.learners import learn, learners
from mdplay.mdp.formats.cs747 import parse_mdp
from mdplay.mdp.planning.planner import plan
from mdplay.mdp.result import Plan
from mdplay.playing.advising import AdviserAgent
from mdplay.playing.matches.match import MatchResult, match
from mdplay.playing.matches.tournament import TournamentResult
from mdplay.rng import Random
from mdplay.specs import parameters
from mdplay.web.catalogue import Entry
from mdplay.web.figures import plain, plain_list, points_of
from mdplay.web.jobs import Job
from mdplay.web.knowing import Knowledge
from mdplay.web.workshop import Workshop

MAX_STATES = 100_000  # of a plan
PLAN_SECONDS = 60.0
BATCHES = 12  # in which the runs of a bandit are told
CURVE_POINTS = 200
LEARN_SECONDS = 300.0
KEPT_LEARNED = 8
TOURNAMENT_SECONDS = 300.0
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Deadline:
    """The ``show`` of a job that may take so long and no more."""

    def __init__(self, job: Job, seconds: float) -> None:
        self._job, self._until, self._seconds = job, time.monotonic() + seconds, seconds

    def __call__(self, *_: Any) -> None:
        """Raise when the client has gone or the time is up."""
        self._job.check()
        if time.monotonic() > self._until:
            raise LimitError(f"this takes longer than the {self._seconds:.0f} seconds that the page allows")


def _notice(job: Job) -> Any:
    return lambda text: job.emit("notice", {"text": text})


# ---------------------------------------------------------------- plan
def tell_plan(job: Job, workshop: Workshop, body: bytes, method: str, tolerance: float) -> None:
    """Plan in an MDP of the text form and tell values, actions, bounds and residuals."""
    try:
        model = parse_mdp(body, name="the MDP", max_states=MAX_STATES)
    except MdplayError as error:
        job.emit("failed", {"message": QUOTED.sub("that", str(error))[:300]})  # the line, not what stands in it
        return
    deadline = Deadline(job, PLAN_SECONDS)

    def show(sweeps: int, distance: float) -> None:
        deadline()
        job.emit("stats", {"sweeps": int(sweeps), "residual": plain(distance)})

    def work() -> Plan:
        return plan(model, method, tolerance=tolerance, threads=1, show=show)

    task = {"kind": "plan", "text": body.decode("utf-8", "replace"), "method": method}
    found = workshop.done("the planner", task, work, check=job.check, notice=_notice(job))
    job.emit("plan", plan_document(model, found))


def plan_document(model: Any, found: Plan) -> dict[str, Any]:
    """Return a plan for the page; ``answer`` is the text that ``mdplay plan`` prints."""
    actions = found.action.clip(min=0).tolist()
    return {
        "states": int(model.num_states),
        "transitions": int(model.num_transitions),
        "discount": float(model.discount),
        "terminal": np.flatnonzero(model.terminal).tolist(),
        "method": found.method,
        "reason": found.reason,
        "iterations": int(found.iterations),
        "seconds": found.seconds,
        "tolerance": found.tolerance,
        "gap": plain(found.gap),
        "closed": bool(found.closed),
        "undecided": found.undecided.tolist(),
        "history": [[int(sweep), plain(residual)] for sweep, residual in found.history[-500:]],
        "value": plain_list(found.value),
        "action": found.action.tolist(),
        "lower": plain_list(found.lower),
        "upper": plain_list(found.upper),
        "answer": "".join(f"{v:.9f} {a}\n" for v, a in zip(found.value.tolist(), actions, strict=True)),
    }


# ---------------------------------------------------------------- bandits
def tell_bandits(
    job: Job, workshop: Workshop, bandit: Bandit, policies: list[str], steps: int, runs: int, seed: int
) -> None:
    """Play policies on a bandit, some runs at a time, and tell their curves as they become smoother."""

    def work() -> None:
        totals: dict[str, list[Curve]] = {policy: [] for policy in policies}
        sizes = [len(part) for part in np.array_split(np.arange(runs), min(BATCHES, runs))]
        for number, size in enumerate(sizes):
            for policy in policies:
                found = run_bandit(
                    bandit, policy, steps=steps, runs=size, seed=seed + number, threads=1, show=job.show
                )
                totals[policy].append(found)
            job.emit("curve", {"curves": [mean_curve(name, parts) for name, parts in totals.items()]})

    bound = bandit.lower_bound()
    job.emit(
        "bandit",
        {"arms": bandit.size, "means": list(bandit.means), "bound": None if bound is None else plain(bound)},
    )
    task = {"kind": "bandits", "policies": policies}
    workshop.done("the bandits", task, work, check=job.check, notice=_notice(job))


def mean_curve(policy: str, parts: list[Curve]) -> dict[str, Any]:
    """Return the mean of curves over all their runs, at so many points as a picture has."""
    weights = np.array([part.runs for part in parts], np.float64)
    every = np.linspace(0, len(parts[0].steps) - 1, min(CURVE_POINTS, len(parts[0].steps))).astype(int)

    def mean(name: str) -> list[float]:
        rows = np.array([getattr(part, name)[every] for part in parts])
        return [round(float(x), 6) for x in np.average(rows, axis=0, weights=weights)]

    return {
        "policy": policy,
        "runs": int(weights.sum()),
        "steps": parts[0].steps[every].tolist(),
        "regret": mean("regret"),
        "optimal": mean("optimal"),
        "reward": mean("reward"),
    }


# ---------------------------------------------------------------- learn
class School:
    """What was learned on the page, to be played with: the newest few, by ids of our own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._learned: OrderedDict[str, tuple[str, str, str, Learned]] = OrderedDict()

    def keep(self, entry: Entry, params: str, title: str, learned: Learned) -> str:
        """Keep what was learned and return its id."""
        with self._lock:
            self._count += 1
            name = f"learned-{self._count}"
            self._learned[name] = entry.id, params, title, learned
            while len(self._learned) > KEPT_LEARNED:
                self._learned.popitem(last=False)
        return name

    def agents(self, game: str, params: str) -> list[dict[str, Any]]:
        """Return the agents that learned a game."""
        found = [(name, kept) for name, kept in self._learned.items() if kept[:2] == (game, params)]
        return [{"id": name, "title": kept[2], "setting": None} for name, kept in found]

    def act(self, name: str, state: Any, rng: Random) -> int:
        """Let what was learned choose an action."""
        return int(self._learned[name][3].agent().act(state, rng))


def methods_of(game: Game[Any]) -> list[str]:
    """Return the ways to learn a game, the one that is taken by itself first."""
    return list(learners(game))


def learned_by(
    game: Game[Any], method: str, episodes: int, seed: int, report: Any = None, show: Any = None
) -> Learned:
    """Learn a game by a method; where patterns can be chosen, by small ones, which learn soon."""
    small: dict[str, Any] = {}
    takes = {option.name for option in parameters(learners(game)[method])}
    if "network" in takes and getattr(game, "rows", 0) == getattr(game, "cols", 1) == 4 and game.view == "tiles":
        small = {"network": "4x5"}
    return learn(game, method=method, episodes=episodes, seed=seed, report=report, show=show, **small)


def tell_training(
    job: Job,
    workshop: Workshop,
    school: School,
    entry: Entry,
    params: str,
    *,
    method: str,
    episodes: int,
    seed: int,
) -> None:
    """Learn a game, tell the curve as it grows, and keep what was learned as an agent."""
    game, deadline, points = entry.make(params), Deadline(job, LEARN_SECONDS), list[list[float]]()
    told = 0.0

    def report(line: str) -> None:
        points.extend(points_of(line))
        job.emit("line", {"text": line.strip()})
        if points:
            job.emit("curve", {"points": points})

    def show(done: int) -> None:
        nonlocal told
        deadline()
        if time.monotonic() - told > 0.25:
            told = time.monotonic()
            job.emit("stats", {"done": int(done)})

    def work() -> Learned:
        return learned_by(game, method, episodes, seed, report, show)

    task = {"kind": "learn", "game": entry.told(params), "method": method}
    found = workshop.done(entry.look.title, task, work, check=job.check, notice=_notice(job))
    title = f"Learned by {method}, {episodes:,} games"
    name = school.keep(entry, params, title, found)
    job.emit("learned", {"id": name, "title": title, "text": found.text()[:20_000]})


# ---------------------------------------------------------------- tournaments
ADVISED = frozenset({"perfect", "network"})  # who plays what the game's adviser says, within its limits


def tell_tournament(
    job: Job, knowledge: Knowledge, entry: Entry, params: str, agents: list[str], games: int, seed: int
) -> None:
    """Let every agent play every other, and tell the cross table after each match."""
    game, deadline = entry.make(params), Deadline(job, TOURNAMENT_SECONDS)
    advised = {name: _advised(job, knowledge, entry, params, name) for name in ADVISED & set(agents)}
    total = games * len(agents) * (len(agents) - 1) // 2

    def work() -> None:
        matches: list[MatchResult] = []
        for a, b in combinations(agents, 2):
            before = len(matches) * games

            def show(done: int, before: int = before) -> None:
                deadline()
                job.emit("stats", {"done": before + int(done), "total": total})

            pair = [advised.get(name, name) for name in (a, b)]
            matches.append(match(game, *pair, games=games, seed=seed, show=show))
            job.emit("table", table_document(agents, matches, total))

    others = [name for name in agents if name not in advised]
    task = {"kind": "tournament", "game": entry.told(params), "agents": others}
    knowledge.workshop.done(entry.look.title, task, work, check=job.check, notice=_notice(job))


def _advised(job: Job, knowledge: Knowledge, entry: Entry, params: str, name: str) -> AdviserAgent:
    future = knowledge.adviser(entry, params)
    while not future.done():
        job.check()
        job.stopped.wait(0.05)
    return AdviserAgent(future.result(), name, job.show)


def table_document(agents: list[str], matches: list[MatchResult], total: int) -> dict[str, Any]:
    """Return the cross table of the matches so far."""
    seen = tuple(agent for agent in agents if any(agent in one.agents for one in matches))
    result = TournamentResult(seen, tuple(matches))
    return {
        "agents": agents,
        "done": sum(len(one.records) for one in matches),
        "total": total,
        "cells": [
            {"agents": list(one.agents), "distinct": one.distinct, **one.tally.document()} for one in matches
        ],
        "ratings": [
            {"agent": r.agent, "elo": plain(r.elo), "reach": plain(r.reach), **r.tally.document()}
            for r in result.ratings
        ],
    }
