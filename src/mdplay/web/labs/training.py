"""Learn: a training, its curve while it grows, and the trained agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mdplay import Game, Learned, learn
from mdplay.errors import pluralize
from mdplay.game import num_players
from mdplay.learning.curves import NO_JUDGE, Found
from mdplay.learning.learned import Actor
from mdplay.learning.learners import learners
from mdplay.naming.specs import parameters
from mdplay.playing.learning import TrainingEvaluator
from mdplay.web.games.catalogue import Entry, LearnedAgents
from mdplay.web.games.evaluators import has_at_most, points_of
from mdplay.web.work.jobs import Deadline, Job, notice_of
from mdplay.web.work.workshop import CompileService

LEARN_SECONDS = 300.0
OPPONENT, GAMES = "random", 100  # whom a learner of a two-player game plays at each point of its curve
POSITIONS = 200  # in which its moves are compared with exact values
EXACT_STATES = 100_000  # of a game whose exact values are computed for that


def methods_of(game: Game[Any]) -> list[str]:
    """Return the ways to learn a game, the one that is taken by itself first."""
    return list(learners(game))


def judges_of(game: Game[Any], method: str, report: Any = None, show: Any = None) -> TrainingEvaluator | None:
    """Return the judges of a learner: games against an opponent and, in small games, exact values.

    None for one player, whose mean result tells, and for methods without a curve.  The result of self-play would
    tell nothing: both players learn.
    """
    takes = {option.name for option in parameters(learners(game)[method])}
    if num_players(game) != 2 or "examine" not in takes:
        return None
    exact = POSITIONS if has_at_most(game, EXACT_STATES, show) else 0
    return TrainingEvaluator(game, OPPONENT, GAMES, exact, report)


def learned_by(
    game: Game[Any],
    method: str,
    episodes: int,
    seed: int,
    report: Any = None,
    show: Any = None,
    examine: Callable[[Actor], Found] | None = None,
) -> Learned:
    """Learn a game by a method, with the options that the learner has for short runs (``short_run``)."""
    short_run = getattr(learners(game)[method], "short_run", None)
    options: dict[str, Any] = {} if short_run is None else short_run(game)
    if examine is not None:
        options["examine"] = examine
    found = learn(game, method=method, episodes=episodes, seed=seed, report=report, progress=show, **options)
    assert isinstance(found, Learned)
    return found


def tell_training(
    job: Job,
    workshop: CompileService,
    agents: LearnedAgents,
    entry: Entry,
    params: str,
    *,
    method: str,
    episodes: int,
    seed: int,
) -> None:
    """Learn a game, tell the curve as it grows, and keep what was learned as an agent."""
    game, deadline = entry.make(params), Deadline(job, LEARN_SECONDS)
    curve, found_last = Curve(game), list[Found]()
    told = 0.0

    def report(line: str) -> None:
        job.emit("line", {"text": line.strip()})
        for episodes, mean in points_of(line):
            curve.add(int(episodes), mean, found_last.pop() if found_last else NO_JUDGE)
            job.emit("curve", curve.document())

    def show(done: int) -> None:
        nonlocal told
        deadline()
        if time.monotonic() - told > 0.25:
            told = time.monotonic()
            job.emit("stats", {"done": int(done)})

    def work() -> Learned:
        judges = judges_of(game, method, report, show)

        def examine(agent: Actor) -> Found:
            assert judges is not None
            deadline()
            found_last.append(judges.examine(agent))
            return found_last[-1]

        return learned_by(game, method, episodes, seed, report, show, examine if judges else None)

    task = {"kind": "learn", "game": entry.told(params), "method": method}
    found = workshop.done(entry.about.title, task, work, check=job.check, notice=notice_of(job))
    title = f"Learned by {method}, {pluralize(episodes, 'game')}"
    name = agents.keep(entry, params, title, found)
    job.emit("learned", {"id": name, "title": title, "text": found.text()[:20_000]})


class Curve:
    """The points of a learning curve: episodes, and the numbers that show what was learned.

    One player: the mean result.  Two players: the score against an opponent and the share of optimal moves, as far
    as there are judges; the mean result of self-play shows neither.
    """

    def __init__(self, game: Game[Any]) -> None:
        self._alone = num_players(game) == 1
        self._share = f"Score against a {OPPONENT} opponent (a draw counts half), and share of optimal moves"
        self._series: dict[str, list[list[float]]] = {}

    def add(self, episodes: int, mean: float, found: Found) -> None:
        """Add a point."""
        examined, kept = found
        if self._alone:
            self._put("mean result", episodes, mean)
        if examined is not None:
            self._put(f"against {examined.opponent}", episodes, examined.score)
        if kept is not None:
            self._put("optimal moves", episodes, kept.share)

    def _put(self, name: str, episodes: int, number: float) -> None:
        self._series.setdefault(name, []).append([episodes, number])

    def document(self) -> dict[str, Any]:
        """Return the curve for the page."""
        series = [{"name": name, "points": points} for name, points in self._series.items()]
        return {"title": "Mean result of an episode" if self._alone else self._share, "series": series}
