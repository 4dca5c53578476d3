"""The worker's side of the pages beyond games: planning, bandits, tournaments, training, reproduction.

There is one function for each kind of request, as in ``web/games/events.py``.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

import mdplay
from mdplay import Game, MatchOptions, MatchResult, MdplayError, Plan, Record, TournamentResult
from mdplay.bandits.laboratory import Bandit, Curve, run_bandit
from mdplay.game import num_players
from mdplay.planning.formats.cs747 import parse_mdp
from mdplay.playing.evaluators import EvaluatorAgent
from mdplay.playing.matches.schedule import Schedule
from mdplay.playing.time_limits import entering
from mdplay.web.games.catalogue import MOST, Entry, agents_of, spec_of
from mdplay.web.games.evaluators import Evaluators
from mdplay.web.labs.reproduction import tell_system
from mdplay.web.labs.training import methods_of, tell_training
from mdplay.web.safety import Refused
from mdplay.web.work.jobs import Deadline, Job, notice_of
from mdplay.web.work.worker import Worker
from mdplay.web.work.workshop import CompileService

BATCHES = 12  # in which the runs of a bandit are reported
CURVE_POINTS = 200


def tell_bandits(
    job: Job, workshop: CompileService, bandit: Bandit, policies: list[str], steps: int, runs: int, seed: int
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
    workshop.done("the bandits", task, work, check=job.check, notice=notice_of(job))


def mean_curve(policy: str, parts: list[Curve]) -> dict[str, Any]:
    """Return the mean of curves over all their runs, at as many points as a picture has."""
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


MAX_STATES = 100_000
PLAN_SECONDS = 60.0
NAME = "the text"  # of the MDP in messages
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def tell_plan(job: Job, workshop: CompileService, body: bytes, method: str, tolerance: float) -> None:
    """Plan in an MDP of the text form and tell values, actions, bounds and residuals."""
    try:
        model = parse_mdp(body, name=NAME, max_states=MAX_STATES)
    except MdplayError as error:
        message = QUOTED.sub("that", str(error)).removeprefix(f"{NAME}, ")  # the line, not what stands in it
        job.emit("failed", {"message": message[:300]})
        return
    deadline = Deadline(job, PLAN_SECONDS)

    def show(sweeps: int, distance: float) -> None:
        deadline()
        job.emit("stats", {"sweeps": int(sweeps), "residual": plain(distance)})

    def work() -> Plan:
        return mdplay.plan(model, method, tolerance=tolerance, threads=1, progress=show)

    task = {"kind": "plan", "text": body.decode("utf-8", "replace"), "method": method}
    found = workshop.done("the planner", task, work, check=job.check, notice=notice_of(job))
    job.emit("plan", plan_document(model, found))


def plan_document(model: Any, found: Plan) -> dict[str, Any]:
    """Return a plan for the page; ``answer`` is the text that ``mdplay plan`` prints.

    The reason is why ``auto`` chose the method.  It speaks of the states of finite value, so it is left out where
    others are infinite.
    """
    actions, infinite = found.action.clip(min=0).tolist(), len(found.infinite)
    return {
        "states": int(model.num_states),
        "transitions": int(model.num_transitions),
        "discount": float(model.discount),
        "terminal": np.flatnonzero(model.terminal).tolist(),
        "method": found.method,
        "reason": "" if infinite or found.reason == "as asked" else found.reason,
        "infinite": infinite,
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


TOURNAMENT_SECONDS = 300.0
TELL_SECONDS = 1.0  # between two tables while a match is played
BY_EVALUATOR = frozenset({"perfect", "network"})  # agents that play the best moves of the game's evaluator
Player = EvaluatorAgent | str


def tell_tournament(
    job: Job, evaluators: Evaluators, entry: Entry, params: str, agents: list[str], games: int, seed: int
) -> None:
    """Let every agent play every other, and report the cross table about once a second and after each match."""
    game, deadline = entry.make(params), Deadline(job, TOURNAMENT_SECONDS)
    by_evaluator = {
        name: _by_evaluator(job, evaluators, entry, params, name) for name in BY_EVALUATOR & set(agents)
    }
    total = games * len(agents) * (len(agents) - 1) // 2

    def work() -> None:
        matches: list[MatchResult] = []
        told = -math.inf
        for a, b in combinations(agents, 2):
            pair = by_evaluator.get(a, a), by_evaluator.get(b, b)
            for played in _match(game, pair, games, seed, lambda: job.stopped.is_set()):
                deadline()
                done = len(matches) * games + len(played.records)
                job.emit("stats", {"done": done, "total": total, "limit": TOURNAMENT_SECONDS})
                if len(played.records) == games:
                    matches.append(played)
                    job.emit("table", table_document(agents, matches, total))
                elif time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    job.emit("table", table_document(agents, [*matches, played], total))

    others = [name for name in agents if name not in by_evaluator]
    task = {"kind": "tournament", "game": entry.told(params), "agents": others}
    evaluators.workshop.done(entry.about.title, task, work, check=job.check, notice=notice_of(job))


def _match(
    game: Game[Any], pair: tuple[Player, Player], games: int, seed: int, stopped: Callable[[], bool]
) -> Iterator[MatchResult]:
    """Play the games of ``match`` one after the other, and yield the result after each."""
    with entering(game, pair, None) as (first, second):
        schedule = Schedule(game, (first, second), MatchOptions(games=games, seed=seed))
        openings, records = schedule.make_openings(), list[Record]()
        for number in range(games):
            records.append(schedule.play_one(openings, number, stopped))
            yield MatchResult((first.name, second.name), schedule.options.openings, seed, tuple(records))


def _by_evaluator(job: Job, evaluators: Evaluators, entry: Entry, params: str, name: str) -> EvaluatorAgent:
    evaluator = evaluators.evaluator(entry, params, check=job.check, notice=notice_of(job))
    return EvaluatorAgent(evaluator, name, job.show)


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


Work = Callable[[Job], None]
MAX_AGENTS = 6  # of a tournament


def plan(worker: Worker, text: str, method: str, tolerance: float) -> Work:
    """Plan in the MDP of a text."""
    body = text.encode("utf-8", "surrogateescape")
    return lambda job: tell_plan(job, worker.evaluators.workshop, body, method, tolerance)


def bandits(
    worker: Worker, kind: str, means: list[float], arms: int, policies: list[str], steps: int, runs: int, seed: int
) -> Work:
    """Play policies on a bandit."""

    def work(job: Job) -> None:
        bandit = Bandit(kind, tuple(means), arms)
        tell_bandits(job, worker.evaluators.workshop, bandit, policies, steps, runs, seed)

    return work


def methods(worker: Worker, game: str, params: str) -> list[str]:
    """Answer by which ways a game can be learned."""
    return methods_of(worker.catalogue[game].make(params))


def learn(worker: Worker, game: str, params: str, method: str, episodes: int, seed: int) -> Work:
    """Learn a game, and keep who learned it."""
    entry = worker.catalogue[game]
    if method not in methods(worker, game, params):
        raise Refused(422, "this game cannot be learned so; /learn/methods lists how")
    return lambda job: tell_training(
        job, worker.evaluators.workshop, worker.learned, entry, params, method=method, episodes=episodes, seed=seed
    )


def tournament(worker: Worker, game: str, params: str, agents: str, games: int, seed: int) -> Work:
    """Let agents play each other."""
    entry = worker.catalogue[game]
    specs = _specs(entry, params, agents)
    return lambda job: tell_tournament(job, worker.evaluators, entry, params, specs, games, seed)


def reproduce(worker: Worker, number: int) -> Work:
    """Compute one of the five systems."""
    return lambda job: tell_system(job, number)


def _specs(entry: Entry, params: str, agents: str) -> list[str]:
    """Return the specs of agents of the list; nothing else of the text is used."""
    made = entry.make(params)
    if num_players(made) != 2:
        raise Refused(422, "a tournament needs a game for two")
    known = {one["id"]: one["setting"] for one in agents_of(made, entry.solver)}
    found = []
    for text in dict.fromkeys(agents.split(",")):
        name, _, setting = text.partition(":")
        if name not in known:
            raise Refused(422, "such an agent does not play this game")
        number = int(setting) if setting.isdigit() and len(setting) < 9 else (known[name] or {}).get("default", 0)
        if not 0 <= number <= MOST.get(name, MOST["mcts"]):
            raise Refused(422, "the setting of an agent is out of range")
        found.append(spec_of(name, number))
    if not 2 <= len(set(found)) == len(found) <= MAX_AGENTS:
        raise Refused(422, f"a tournament is for 2 to {MAX_AGENTS} different agents")
    return found


def plain(number: float) -> float | str:
    """Return a number as JSON can hold it: what is infinite or none as a text."""
    return float(number) if math.isfinite(number) else str(float(number))


def plain_list(numbers: Iterable[float]) -> list[float | str]:
    """Return numbers as JSON can hold them."""
    return [plain(number) for number in numbers]
