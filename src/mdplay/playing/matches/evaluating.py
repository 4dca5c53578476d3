"""Many games of one player: how much an agent makes of chance."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, Unpack, runtime_checkable

from mdplay.bits import nonempty
from mdplay.compiling.contract import need_game
from mdplay.errors import GameError, LimitError, pluralize
from mdplay.game import Game, num_players
from mdplay.naming.transfer import GameSpec, rebuild, recipe_of
from mdplay.playing.agents import Agent, Maker, make_agent
from mdplay.playing.matches.match import SETTINGS
from mdplay.playing.matches.results import mean_and_error
from mdplay.playing.matches.schedule import MatchOptions, Schedule
from mdplay.playing.records import Record, plain_number
from mdplay.playing.time_limits import entering
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.run import Progress, Run, RunOptions, run_of
from mdplay.states.game_length import MAX_CHANCE_MOVES, explicit_move_limit

BLOCK = 16  # whole games that are one task of an executor
SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


class PlayedGames(NamedTuple):
    """What an agent that plays whole games by itself brings back."""

    results: tuple[float, ...]
    moves: int
    seconds: float
    shares: Mapping[str, Mapping[int, float]]  # of the games that reached something, as {"tiles": {2048: 0.9}}


@runtime_checkable
class PlaysWholeGames(Protocol):
    """An agent that plays whole games of its game at full speed, without records."""

    def play_games(
        self, *, games: int, seed: int, threads: int | None, show: Progress | None, first: int = 0
    ) -> PlayedGames:
        """Play games ``first`` and on; number i of a seed is the same for any number of threads."""


@dataclass(frozen=True)
class EvaluationResult:
    """The games of one agent: what it got in each, and the games themselves where they were recorded."""

    agent: str
    seed: int
    results: tuple[float, ...]
    moves: int  # of the agent, in all games
    seconds: float = field(compare=False)
    records: tuple[Record, ...] = ()
    shares: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def __repr__(self) -> str:
        mean, error = self.mean
        games = pluralize(len(self.results), "game")
        return f"<EvaluationResult of {self.agent}: mean {mean:g} +- {error:.2g} over {games}>"

    @property
    def mean(self) -> tuple[float, float]:
        """The mean result and its standard error."""
        return mean_and_error(self.results)

    @property
    def distinct(self) -> int | None:
        """How many games differ from all others; None where no games were recorded."""
        return len({record.events for record in self.records}) if self.records else None

    @property
    def by_limit(self) -> int:
        """The number of truncated games."""
        return sum(record.by_limit for record in self.records)

    @property
    def moves_per_second(self) -> float:
        """The speed, all threads together."""
        return self.moves / self.seconds if self.seconds else 0.0

    @property
    def quantiles(self) -> dict[float, float]:
        """Some shares of the games, each with the result that this share does not exceed."""
        ordered = sorted(self.results)
        return {share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in SHARES}

    def histogram(self, bins: int = 10) -> list[tuple[float, float, int]]:
        """Return bins from the worst to the best result, each with its number of games.

        A bin is ``(low, high, count)``.  If there are at most ``bins`` different results, each is a bin of its
        own; otherwise the bins have equal width.
        """
        if len(each := Counter(self.results)) <= bins:
            return [(result, result, each[result]) for result in sorted(each)]
        low, high = min(self.results), max(self.results)
        width = (high - low) / bins
        counts = Counter(min(bins - 1, int((result - low) / width)) for result in self.results)
        return [(low + i * width, low + (i + 1) * width, counts[i]) for i in range(bins)]

    def document(self) -> dict[str, Any]:
        """Return the statistics for JSON."""
        mean, error = self.mean
        return {
            "agent": self.agent,
            "seed": self.seed,
            "games": len(self.results),
            "distinct": self.distinct,
            "by_limit": self.by_limit,
            "mean": mean,
            "standard_error": error,
            "max": plain_number(max(self.results)),
            "moves": self.moves,
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
            "shares": {name: {str(k): share for k, share in row.items()} for name, row in self.shares.items()},
            "quantiles": {str(share): plain_number(result) for share, result in self.quantiles.items()},
            "results": [plain_number(result) for result in self.results],
        }


def evaluate(
    game: Game[Any],
    agent: Agent | Maker | str,
    *,
    games: int = 100,
    seed: int = 0,
    max_moves: int | None = None,
    record: bool = False,
    run: Run | None = None,
    **settings: Unpack[RunOptions],
) -> EvaluationResult:
    """Let an agent play a single-player game many times and return its results.

    An agent that plays whole games in compiled code does so, on all cores unless ``threads`` is given; with
    ``record``, ``file`` (as for a match) or ``max_moves`` (as there) it plays move by move like any other agent,
    so that the games can be saved.  Any other agent is always recorded, and plays in one thread unless ``threads``
    is given.  The settings of the run are those of a match.

    Raise LimitError if a game with chance does not end within 100,000 moves and no ``max_moves`` is given: then
    the mean result of the agent is unknown.
    """
    run = run_of("evaluate", SETTINGS, run, settings)
    need_game(game)
    if num_players(game) != 1:
        raise GameError(
            f"{type(game).__name__} is a two-player game, and evaluate needs one player; use mdplay match"
        )
    with entering(game, (agent,)) as (one,):
        by_itself = run.file is None and not record and max_moves is None
        if by_itself and isinstance(player := one.fresh(), PlaysWholeGames):
            if run.executor is None:
                played = player.play_games(games=games, seed=seed, threads=run.threads, show=run.progress)
            else:
                played = _played_by(run.executor, run, WholeGames(recipe_of(game), one.sent, games, seed))
            return EvaluationResult(
                one.name, seed, played.results, played.moves, played.seconds, shares=played.shares
            )
        began = time.perf_counter()
        options = MatchOptions(games, "none", seed, max_moves)
        records = Schedule(game, (one,), options).play(run)
    seconds = time.perf_counter() - began
    if game.has_outcomes and explicit_move_limit(game, max_moves) is None:
        _check_ended(records)
    found = tuple(record.result or 0.0 for record in records)
    return EvaluationResult(one.name, seed, found, sum(map(_moves_of, records)), seconds, records)


def _check_ended(records: Sequence[Record]) -> None:
    """Raise LimitError if a game was truncated by the automatic limit: its result is not the agent's."""
    moves = pluralize(MAX_CHANCE_MOVES, "move")
    if truncated := sum(record.by_limit and len(record.events) >= MAX_CHANCE_MOVES for record in records):
        games = f"{truncated:,} of {pluralize(len(records), 'game')} did not end within {moves}"
        way = "set max_moves (--max-moves) to count them as infinite play"
        raise LimitError(f"the mean result is unknown, because {games}; {way}")


class WholeGames(NamedTuple):
    """Games of an agent that plays them whole, as plain data."""

    recipe: GameSpec
    agent: str
    games: int
    seed: int


def play_block(number: int, order: WholeGames) -> PlayedGames:
    """Play a block of whole games: the task of an executor."""
    player, first = _player_of(order), number * BLOCK
    games = min(BLOCK, order.games - first)
    return player.play_games(games=games, seed=order.seed, threads=1, show=None, first=first)


@lru_cache(maxsize=1)
def _player_of(order: WholeGames) -> PlaysWholeGames:
    player = make_agent(rebuild(order.recipe), order.agent)
    assert isinstance(player, PlaysWholeGames)
    return player


def _played_by(executor: Executor | str, run: Run, order: WholeGames) -> PlayedGames:
    """Let an executor play the games."""
    moves = 0

    def tell(number: int, played: PlayedGames) -> None:
        nonlocal moves
        blocks[number], moves = played, moves + played.moves
        if run.progress is not None:
            run.progress(moves)

    began, blocks = time.perf_counter(), dict[int, PlayedGames]()
    with using(executor, run.threads) as chosen:
        chosen.run(play_block, range(-(-order.games // BLOCK)), order, done=tell)
    ordered = [blocks[number] for number in sorted(blocks)]
    results = tuple(result for block in ordered for result in block.results)
    return PlayedGames(results, moves, time.perf_counter() - began, _shares(ordered, order.games))


def _shares(blocks: list[PlayedGames], games: int) -> dict[str, dict[int, float]]:
    """Return the shares of all games from those of blocks of them."""
    counts: dict[str, Counter[int]] = {}
    for block in blocks:
        for name, row in block.shares.items():
            reached = {thing: round(share * len(block.results)) for thing, share in row.items()}
            counts.setdefault(name, Counter()).update(reached)
    return {name: {thing: row[thing] / games for thing in sorted(row)} for name, row in counts.items()}


def _moves_of(record: Record) -> int:
    """Return how many of a game's events were moves of the agent, not of chance."""
    game, moves = record.game, 0
    state = game.initial() if record.start is None else record.start
    for event in record.events:
        is_chance = nonempty(game.outcomes(state))
        state = game.outcome(state, event) if is_chance else game.step(state, event)
        moves += not is_chance
    return moves
