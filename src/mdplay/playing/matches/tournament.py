"""Every agent against every other: the cross table and Elo ratings.

All pairs play the same openings.  An agent that fails (it raises, or chooses what is not legal) is withdrawn and
its games do not count; the games of the others are not touched.  An engine, or one with a limit of time, loses the
game instead and plays on.

The picture of a tournament: ratings with their intervals, and the cross table as colours and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import AgentError, ArgumentError, pluralize
from mdplay.game import Game
from mdplay.playing.agents import Agent, Maker, NamedAgent, leave
from mdplay.playing.matches.match import SETTINGS, MatchResult, Tally, need_two_players, played
from mdplay.playing.matches.results import Results, elo_ratings
from mdplay.playing.matches.schedule import MatchOptions
from mdplay.playing.records import Record
from mdplay.playing.time_limits import entering
from mdplay.runtime.executors import using
from mdplay.runtime.run import Progress, Run, options_and_run
from mdplay.views.charts import save_plot


@dataclass(frozen=True)
class Rating:
    """An agent's Elo rating, half the width of its 95 % interval, and its tally over all games."""

    agent: str
    elo: float
    reach: float
    tally: Tally


@dataclass(frozen=True)
class TournamentResult:
    """The matches of a tournament; ``failures`` names the agents withdrawn, each with what it did."""

    agents: tuple[str, ...]
    matches: tuple[MatchResult, ...]
    failures: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        order = ", ".join(f"{rating.agent} {rating.elo:+.0f}" for rating in self.ratings)
        return f"<TournamentResult of {pluralize(len(self.records), 'game')}: {order or 'no agents'}>"

    @property
    def records(self) -> tuple[Record, ...]:
        """All games, match by match."""
        return tuple(record for one in self.matches for record in one.records)

    @property
    def forfeits(self) -> dict[str, int]:
        """How many games each agent lost because it failed."""
        pairs = [pair for one in self.matches for pair in zip(one.agents, one.forfeits, strict=True)]
        return {agent: sum(lost for name, lost in pairs if name == agent) for agent in self.agents}

    @cached_property
    def tallies(self) -> dict[tuple[str, str], Tally]:
        """What each agent did against each other one."""
        found = {}
        for one in self.matches:
            tally = one.tally
            found[one.agents] = tally
            found[one.agents[::-1]] = Tally(tally.losses, tally.draws, tally.wins)
        return found

    @property
    def points(self) -> NDArray[np.float64]:
        """What agent i scored against agent j, each distinct game once."""
        table = np.zeros((len(self.agents), len(self.agents)))
        for one in self.matches:
            i, j = map(self.agents.index, one.agents)
            table[i, j] = one.tally.score * one.distinct
            table[j, i] = one.distinct - table[i, j]
        return table

    @cached_property
    def ratings(self) -> list[Rating]:
        """The agents, the strongest first."""
        if not self.agents:
            return []
        elo, reach = elo_ratings(self.points)
        found = [
            Rating(a, float(e), float(r), self._tally(a)) for a, e, r in zip(self.agents, elo, reach, strict=True)
        ]
        return sorted(found, key=lambda rating: -rating.elo)

    def _tally(self, agent: str) -> Tally:
        own = [tally for (first, _), tally in self.tallies.items() if first == agent]
        return Tally(sum(t.wins for t in own), sum(t.draws for t in own), sum(t.losses for t in own))

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        return {
            "ratings": [
                {
                    "agent": r.agent,
                    "elo": r.elo,
                    "interval": [r.elo - r.reach, r.elo + r.reach],
                    **r.tally.document(),
                }
                for r in self.ratings
            ],
            "matches": [one.document() for one in self.matches],
            "failures": [{"agent": agent, "error": sentence} for agent, sentence in self.failures],
        }

    def _repr_html_(self) -> str:
        """Show the ratings with the cross table: what the row scored against the column, in percent."""
        from mdplay.views.html import MAX_ROWS, sentence, table

        ratings = self.ratings
        columns = [rating.agent for rating in ratings[:MAX_ROWS]]
        numbers = [str(i + 1) for i in range(len(columns))]
        rows = [
            (f"{i}  {r.agent}", f"{r.elo:+.0f}", f"± {r.reach:.0f}", *(self._percent(r.agent, b) for b in columns))
            for i, r in enumerate(ratings, start=1)
        ]
        about = sentence(f"{pluralize(len(self.records), 'game')}; scores of the row against the column in %.")
        withdrawn = "".join(sentence(f"{agent} was withdrawn: {told}") for agent, told in self.failures)
        return about + table(("agent", "Elo", "95 %", *numbers), rows, things="agents") + withdrawn

    def _percent(self, a: str, b: str) -> str:
        return f"{100 * self.tallies[a, b].score:.0f}" if (a, b) in self.tallies else ""


def tournament(
    game: Game[Any],
    agents: Sequence[Agent | Maker | str],
    *,
    run: Run | None = None,
    **options: Any,
) -> TournamentResult:
    """Let every agent play a match against every other; the options and settings are those of ``match``."""
    need_two_players(game)
    given, run = options_and_run("tournament", MatchOptions, SETTINGS, run, options)
    if given.side is not None:
        raise ArgumentError("side has no effect in a tournament; remove it")
    matches: dict[tuple[str, str], MatchResult] = {}
    failures: dict[str, str] = {}
    with ExitStack() as stack:
        named_agents = stack.enter_context(entering(game, agents, given.move_seconds))
        _check_entered(named_agents)
        store = stack.enter_context(Results(run.file)) if run.file is not None else None
        if run.executor is not None:
            run = replace(run, executor=stack.enter_context(using(run.executor, run.threads)))
        for number, (a, b) in enumerate(combinations(named_agents, 2)):
            if a.name in failures or b.name in failures:
                continue
            try:
                own = replace(run, file=None, progress=_shifted(run.progress, number * given.games))
                matches[a.name, b.name] = played(game, (a, b), given, own, store)
            except AgentError as error:
                failures[error.agent] = str(error)
    names = tuple(one.name for one in named_agents if one.name not in failures)
    sound = tuple(found for pair, found in matches.items() if not set(pair) & set(failures))
    return TournamentResult(names, sound, tuple(failures.items()))


def _check_entered(named_agents: Sequence[NamedAgent]) -> None:
    names = [one.name for one in named_agents]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise AgentError(f"agent {twice} is entered twice; a tournament needs different agents")
    if len(names) < 2:
        raise AgentError(f"a tournament needs two agents or more, not {len(names)}")
    for one in named_agents:
        leave(one.fresh())  # an agent that cannot be made raises before the first game


def _shifted(progress: Progress | None, before: int) -> Progress | None:
    return None if progress is None else lambda done: progress(before + done)


def plot_tournament(found: TournamentResult, path: str | Path) -> None:
    """Write the picture to a file; its ending (png, svg, pdf) tells the format."""
    save_plot(lambda figure: paint_tournament(figure, found), path, (11, 1.6 + 0.5 * len(found.agents)))


def paint_tournament(figure: Any, found: TournamentResult) -> None:
    """Paint the ratings beside the cross table."""
    left, right = figure.subplots(1, 2)
    _draw_ratings(left, found)
    _draw_table(right, found)


def _draw_ratings(axes: Any, found: TournamentResult) -> None:
    ratings = found.ratings
    rows = range(len(ratings))
    axes.errorbar([r.elo for r in ratings], rows, xerr=[r.reach for r in ratings], fmt="o", capsize=4)
    axes.set_yticks(rows, [f"{r.agent}  {i}" for i, r in enumerate(ratings, start=1)])
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("Elo, with 95 % intervals")


def _draw_table(axes: Any, found: TournamentResult) -> None:
    names = [r.agent for r in found.ratings]
    scores = [[found.tallies[a, b].score if a != b else float("nan") for b in names] for a in names]
    axes.imshow(scores, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
    numbers = [str(i + 1) for i in range(len(names))]
    axes.set_xticks(range(len(names)), numbers)
    axes.set_yticks(range(len(names)), numbers)
    size = min(10.0, 100.0 / len(names))  # that the numbers of neighbours do not touch
    for i, row in enumerate(scores):
        for j, score in enumerate(row):
            axes.text(
                j, i, "" if i == j else f"{100 * score:.0f}", ha="center", va="center", size=size, color="black"
            )
    axes.set_xlabel("score of the row against the column, in %")
