"""Many games of two agents: who is better, and how sure that is.

Games 2k and 2k + 1 have the same opening with sides exchanged, unless the side of the first agent is fixed.
Game i depends on the seed and on i alone, so equal seeds give equal records whatever the number of threads, and
a longer match continues a shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mdplay.compiling.contract import need_game
from mdplay.errors import GameError, pluralize
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, Maker, NamedAgent, check_player
from mdplay.playing.matches.results import Interval, Results, elo_of_score, mean_and_error, score_interval
from mdplay.playing.matches.schedule import MatchOptions, Schedule, first_player
from mdplay.playing.records import Record, plain_number
from mdplay.playing.time_limits import entering
from mdplay.runtime.run import Run, options_and_run

SETTINGS = ("threads", "executor", "file", "progress")


@dataclass(frozen=True)
class Tally:
    """Games won, drawn and lost."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many games there were."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of the points: a win counts 1, a draw 1/2."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    def document(self) -> dict[str, Any]:
        """Return the tally for JSON."""
        counts = {"games": self.games, "wins": self.wins, "draws": self.draws, "losses": self.losses}
        return {**counts, "score": self.score}

    @staticmethod
    def of(results: list[float]) -> Tally:
        """Count results by their sign."""
        return Tally(sum(r > 0 for r in results), sum(r == 0 for r in results), sum(r < 0 for r in results))


@dataclass(frozen=True)
class MatchResult:
    """The games of a match; results and scores are those of the first agent."""

    agents: tuple[str, str]
    openings: str
    seed: int
    records: tuple[Record, ...]
    side: int | None = None  # the player that the first agent always was; None: sides alternated

    def __repr__(self) -> str:
        tally = self.tally
        words = f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"
        return f"<MatchResult {' v '.join(self.agents)}: {words}>"

    @property
    def results(self) -> list[float]:
        """What the first agent got in each game."""
        return [(record.result or 0.0) * (-1 if self._player(record) else 1) for record in self.records]

    @property
    def tally(self) -> Tally:
        """Games won, drawn and lost by the first agent."""
        return Tally.of(self.results)

    @property
    def sides(self) -> tuple[Tally, Tally]:
        """The tallies of the first agent as player 0 and as player 1; one is empty if its side was fixed."""
        results = list(zip(self.records, self.results, strict=True))
        first, second = ([r for record, r in results if self._player(record) == player] for player in (0, 1))
        return Tally.of(first), Tally.of(second)

    def _player(self, record: Record) -> int:
        """Return which player the first agent was in a game."""
        return first_player(record.number, self.side)

    @cached_property
    def distinct(self) -> int:
        """How many games differ from all others in their events or in who played which side."""
        return len({(self._player(record), record.start, record.events) for record in self.records})

    @property
    def by_limit(self) -> int:
        """The number of truncated games."""
        return sum(record.by_limit for record in self.records)

    @property
    def forfeits(self) -> tuple[int, int]:
        """How many games each agent lost because it failed."""
        losers = [record.forfeit ^ self._player(record) for record in self.records if record.forfeit is not None]
        return losers.count(0), losers.count(1)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the score."""
        return score_interval(self.tally.wins, self.tally.draws, self.tally.losses, self.distinct)

    @property
    def elo(self) -> tuple[float, Interval]:
        """The Elo difference and its 95 % interval; infinite where the score is 0 or 1."""
        return elo_of_score(self.tally.score), Interval(*map(elo_of_score, self.interval))

    @property
    def mean(self) -> tuple[float, float]:
        """The mean result of the first agent, and its standard error."""
        return mean_and_error(self.results, self.distinct)

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON; Elo differences that are infinite are null."""
        tally, (mean, error) = self.tally, self.mean
        return {
            "agents": list(self.agents),
            "openings": self.openings,
            "seed": self.seed,
            **({} if self.side is None else {"side": self.side}),
            "distinct": self.distinct,
            "by_limit": self.by_limit,
            "forfeits": list(self.forfeits),
            **tally.document(),
            "interval": list(self.interval),
            "mean": mean,
            "standard_error": error,
            "elo": finite(self.elo[0]),
            "elo_interval": [finite(end) for end in self.elo[1]],
            "sides": [side.document() for side in self.sides],
            "results": [plain_number(result) for result in self.results],
        }

    def _repr_html_(self) -> str:
        """Show the score with its interval, and the games won, drawn and lost on either side."""
        from mdplay.views.html import sentence, table

        first, second = self.agents
        low, high = self.interval
        score = f"{first} against {second}: {self.tally.score:.1%} ({low:.1%} .. {high:.1%})"
        elo, reach = self.elo
        different = pluralize(self.distinct, "different game")
        difference = f"Elo difference {elo:+.0f} ({reach[0]:+.0f} .. {reach[1]:+.0f}); {different}."
        names = (f"{first}, all games", "as player 1", "as player 2")
        tallies = (self.tally, *self.sides)
        rows = [
            (name, f"{t.wins:,}", f"{t.draws:,}", f"{t.losses:,}", f"{t.score:.1%}")
            for name, t in zip(names, tallies, strict=True)
            if t.games
        ]
        words = sentence(score) + sentence(difference)
        failed = sentence(f"Lost because the agent failed: {self.forfeits[0]:,} and {self.forfeits[1]:,}.")
        called_off = sentence(f"{pluralize(self.by_limit, 'game')} truncated.") if self.by_limit else ""
        head = ("", "won", "drawn", "lost", "score")
        return words + table(head, rows, strong=[0]) + (failed if any(self.forfeits) else "") + called_off


def finite(x: float) -> float | None:
    """Return a number for JSON, which knows no infinity."""
    return x if abs(x) < float("inf") else None


def match(
    game: Game[Any],
    a: Agent | Maker | NamedAgent | str,
    b: Agent | Maker | NamedAgent | str,
    *,
    run: Run | None = None,
    **options: Any,
) -> MatchResult:
    """Play a match of two agents and return all its games.

    The options are those of ``MatchOptions`` and the settings ``threads``, ``executor``, ``file`` and ``progress``
    of a ``Run``.  Sides alternate, and each opening is played from both.  ``side=0`` or ``1`` makes the first
    agent player 0 or 1 of every game, as a policy file of one player needs it; then each game has its own opening.

    ``threads`` games are played in parallel (default: one after the other); with an ``executor``
    (mdplay.runtime.executors) it is the number of workers, by default one for each core.  The games are the same.

    ``file`` names an SQLite file to which each game is written as it ends; games that it already has are not
    played again.  A game that is not over after ``max_moves`` moves is truncated: its result is the points earned
    so far plus the value of infinite play (``endless``).  By default only games that repeat positions are
    truncated: as the game says, when deterministic agents reach a position for the third time, or after ten
    times the mean length of random games.  Raise AgentError if an agent raises an exception or chooses an action
    that is not legal.

    ``move_seconds``: an agent whose move takes longer, or that raises, dies or chooses what is not legal, loses
    the game, and the match continues (``MatchResult.forfeits``).  An engine that fails always loses so.
    """
    need_two_players(game)
    given, run = options_and_run("match", MatchOptions, SETTINGS, run, options)
    if given.side is not None:
        check_player(game, given.side, "side")
    with entering(game, (a, b), given.move_seconds) as (first, second):
        return played(game, (first, second), given, run)


def need_two_players(game: Game[Any]) -> None:
    """Raise GameError unless this is a game of two players."""
    need_game(game)
    if num_players(game) != 2:
        raise GameError(
            f"{type(game).__name__} is a single-player game, and a match needs two players; use mdplay evaluate"
        )


def played(
    game: Game[Any],
    agents: tuple[NamedAgent, NamedAgent],
    options: MatchOptions,
    run: Run,
    store: Results | None = None,
) -> MatchResult:
    """Play a match of agents that are entered; ``store`` has the results of other matches too."""
    records = Schedule(game, agents, options).play(run, store)
    return MatchResult((agents[0].name, agents[1].name), options.openings, options.seed, records, options.side)
