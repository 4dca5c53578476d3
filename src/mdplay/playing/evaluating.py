"""Many games of one player: how much an agent makes of chance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, entrant
from mdplay.playing.figures import mean_and_error
from mdplay.playing.plan import Plan, Show
from mdplay.playing.records import Record, plain_number

SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Evaluation:
    """The games of one agent."""

    agent: str
    seed: int
    records: tuple[Record, ...]

    @property
    def results(self) -> list[float]:
        """What the agent got in each game."""
        return [record.result or 0.0 for record in self.records]

    @property
    def mean(self) -> tuple[float, float]:
        """The mean result and its standard error."""
        return mean_and_error(self.results)

    @property
    def distinct(self) -> int:
        """How many games differ from all others."""
        return len({record.events for record in self.records})

    @property
    def quantiles(self) -> dict[float, float]:
        """Some shares of the games, each with the result that so many do not exceed."""
        ordered = sorted(self.results)
        return {share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in SHARES}

    def histogram(self, bins: int = 10) -> list[tuple[float, float, int]]:
        """Return bins of equal width from the worst to the best result, each with its number of games."""
        low, high = min(self.results), max(self.results)
        width = (high - low) / bins or 1.0
        counts = Counter(min(bins - 1, int((result - low) / width)) for result in self.results)
        return [(low + i * width, low + (i + 1) * width, counts[i]) for i in range(bins)]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        mean, error = self.mean
        return {
            "agent": self.agent,
            "seed": self.seed,
            "games": len(self.records),
            "distinct": self.distinct,
            "mean": mean,
            "standard_error": error,
            "quantiles": {str(share): plain_number(result) for share, result in self.quantiles.items()},
            "results": [plain_number(result) for result in self.results],
        }


def evaluate(
    game: Game[Any],
    agent: Agent | str,
    *,
    games: int = 100,
    seed: int = 0,
    threads: int = 1,
    results: str | Path | None = None,
    show: Show | None = None,
) -> Evaluation:
    """Let an agent play a game for one many times, and return all the games; ``results`` as for a match."""
    if num_players(game) != 1:
        raise GameError("evaluate needs a game for one; use match for a game for two")
    one = entrant(game, agent)
    return Evaluation(one.name, seed, Plan(game, (one,), games, "none", seed).play(threads, results, show))
