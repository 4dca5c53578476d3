"""Tournament: every agent against every other, and the cross table while it fills."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from mdplay.game import Game
from mdplay.playing.advising import AdviserAgent
from mdplay.playing.engine.limits import entering
from mdplay.playing.matches.match import OPENINGS, MatchResult
from mdplay.playing.matches.schedule import Schedule
from mdplay.playing.matches.tournament import TournamentResult
from mdplay.playing.records import Record
from mdplay.web.games.advisers import Advisers
from mdplay.web.games.catalogue import Entry
from mdplay.web.labs.limits import Deadline
from mdplay.web.numbers import plain
from mdplay.web.work.jobs import Job, notice_of

TOURNAMENT_SECONDS = 300.0
TELL_SECONDS = 1.0  # between two tables while a match is played
ADVISED = frozenset({"perfect", "network"})  # who plays what the game's adviser says, within its limits
Player = AdviserAgent | str


def tell_tournament(
    job: Job, advisers: Advisers, entry: Entry, params: str, agents: list[str], games: int, seed: int
) -> None:
    """Let every agent play every other, and report the cross table about once a second and after each match."""
    game, deadline = entry.make(params), Deadline(job, TOURNAMENT_SECONDS)
    advised = {name: _advised(job, advisers, entry, params, name) for name in ADVISED & set(agents)}
    total = games * len(agents) * (len(agents) - 1) // 2

    def work() -> None:
        matches: list[MatchResult] = []
        told = -math.inf
        for a, b in combinations(agents, 2):
            pair = advised.get(a, a), advised.get(b, b)
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

    others = [name for name in agents if name not in advised]
    task = {"kind": "tournament", "game": entry.told(params), "agents": others}
    advisers.workshop.done(entry.profile.title, task, work, check=job.check, notice=notice_of(job))


def _match(
    game: Game[Any], pair: tuple[Player, Player], games: int, seed: int, stopped: Callable[[], bool]
) -> Iterator[MatchResult]:
    """Play the games of ``match`` one after the other, and yield the result after each."""
    with entering(game, pair, None) as (first, second):
        schedule = Schedule(game, (first, second), games, OPENINGS, seed)
        openings, records = schedule.make_openings(), list[Record]()
        for number in range(games):
            records.append(schedule.play_one(openings, number, stopped))
            yield MatchResult((first.name, second.name), OPENINGS, seed, tuple(records))


def _advised(job: Job, advisers: Advisers, entry: Entry, params: str, name: str) -> AdviserAgent:
    adviser = advisers.adviser(entry, params, check=job.check, notice=notice_of(job))
    return AdviserAgent(adviser, name, job.show)


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
