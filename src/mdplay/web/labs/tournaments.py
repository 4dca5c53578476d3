"""Tournament: every agent against every other, the cross table told after each match."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from mdplay.playing.advising import AdviserAgent
from mdplay.playing.matches.match import MatchResult, match
from mdplay.playing.matches.tournament import TournamentResult
from mdplay.web.games.advisers import Advisers
from mdplay.web.games.catalogue import Entry
from mdplay.web.labs.limits import Deadline
from mdplay.web.numbers import plain
from mdplay.web.work.jobs import Job, notice_of

TOURNAMENT_SECONDS = 300.0
ADVISED = frozenset({"perfect", "network"})  # who plays what the game's adviser says, within its limits


def tell_tournament(
    job: Job, advisers: Advisers, entry: Entry, params: str, agents: list[str], games: int, seed: int
) -> None:
    """Let every agent play every other, and tell the cross table after each match."""
    game, deadline = entry.make(params), Deadline(job, TOURNAMENT_SECONDS)
    advised = {name: _advised(job, advisers, entry, params, name) for name in ADVISED & set(agents)}
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
    advisers.workshop.done(entry.profile.title, task, work, check=job.check, notice=notice_of(job))


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
