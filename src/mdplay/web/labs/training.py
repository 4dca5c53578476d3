"""Learn: a training told as it goes; what was learned becomes an agent of the page."""

from __future__ import annotations

import time
from typing import Any

from mdplay.game import Game
from mdplay.learning.learned import Learned
from mdplay.learning.learners import learners
from mdplay.playing.learning import learn
from mdplay.specs import parameters
from mdplay.web.games.catalogue import Entry
from mdplay.web.games.learned import LearnedAgents
from mdplay.web.labs.limits import Deadline
from mdplay.web.numbers import points_of
from mdplay.web.work.jobs import Job, notice_of
from mdplay.web.work.workshop import Workshop
from mdplay.words import counted

LEARN_SECONDS = 300.0


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
    agents: LearnedAgents,
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
    found = workshop.done(entry.profile.title, task, work, check=job.check, notice=notice_of(job))
    title = f"Learned by {method}, {counted(episodes, 'game')}"
    name = agents.keep(entry, params, title, found)
    job.emit("learned", {"id": name, "title": title, "text": found.text()[:20_000]})
