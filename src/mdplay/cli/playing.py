"""What the commands that play games share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import (
    SECONDS,
    THREADS,
    Count,
    engine_option,
    json_option,
    options,
    print_json,
    progress,
    seed_option,
)
from mdplay.errors import MdplayError
from mdplay.playing.matches.evaluating import Evaluation
from mdplay.playing.matches.match import MatchResult
from mdplay.playing.matches.results import REUSED
from mdplay.playing.records import Record, save_records
from mdplay.words import counted

if TYPE_CHECKING:  # it needs numpy
    from mdplay.playing.matches.tournament import TournamentResult

games_option = click.option("--games", type=Count(1), default=100, show_default=True, help="How many games.")
openings_option = click.option(
    "--openings",
    metavar="KIND",
    default="random:2",
    show_default=True,
    help="none, random:N (N random moves), or a file with a position a line.",
)
max_moves_option = click.option(
    "--max-moves",
    type=Count(1),
    help="Truncate a game after this number of moves; default: as the game says, else only if positions repeat.",
)
move_seconds_option = click.option(
    "--move-seconds",
    type=SECONDS,
    metavar="T",
    help="A move that takes longer loses the game, and so does an agent that fails; the games go on.",
)
workers_option = click.option(
    "--threads", type=THREADS, help="Games played side by side; default: 1, with an engine one for each core."
)
record_option = click.option(
    "--record", type=click.Path(dir_okay=False), help="Write the games there, one a line of JSON."
)
results_option = click.option(
    "--results",
    type=click.Path(dir_okay=False),
    help="An SQLite file that takes each game as it ends; run again to resume.",
)
match_options = options(  # by the names of the keywords of ``match`` and ``tournament``, but for --record
    games_option,
    openings_option,
    workers_option,
    engine_option,
    max_moves_option,
    move_seconds_option,
    record_option,
    results_option,
    seed_option,
    json_option,
)


@contextmanager
def playing(games: int | None, results: str | None, record: str | None) -> Iterator[Callable[[int], None]]:
    """Give the callback of a live line, and report the games read from ``results``.

    After Ctrl-C or an error, save the finished games and say where they are.
    """
    before = REUSED[str(results)]
    try:
        with progress("games" if games else "played", games) as show:
            yield show
        if reused := REUSED[str(results)] - before:
            played = f"{reused:,} of {counted(games, 'game')}" if games else counted(reused, "game")
            click.echo(f"mdplay: {played} from {results}", err=True)
    except (KeyboardInterrupt, MdplayError) as error:
        finished: tuple[Record, ...] = vars(error).get("records", ())
        if record is not None and finished:
            save_records(record, finished)
            click.echo(f"mdplay: {counted(len(finished), 'finished game')} saved in {record}", err=True)
        if results is not None and (finished or isinstance(error, KeyboardInterrupt)):
            click.echo(f"mdplay: finished games are in {results}; the same command continues from there", err=True)
        raise


def called_off(by_limit: int) -> list[str]:
    """Return a line about truncated games, if there were any."""
    why = "truncated by a third repetition or by the move limit (--max-moves) and counted as infinite play"
    return [f"{counted(by_limit, 'game')} {why}"] if by_limit else []


def forfeited(agent: str, games: int, records: Sequence[Record]) -> list[str]:
    """Return a line about the games that an agent lost because it failed, with what it did first."""
    if not games:
        return []
    lost = (r for r in records if r.forfeit is not None and r.agents[r.forfeit] == agent)
    return [f"{agent} lost {counted(games, 'game')} because it failed, as here: {next(lost).reason}"]


def report(
    found: MatchResult | Evaluation | TournamentResult,
    lines: Callable[[Any], list[str]],
    record: str | None,
    as_json: bool,
) -> None:
    """Write the games to the record, and print the statistics as JSON or as lines for people."""
    if record:
        save_records(record, found.records)
    if as_json:
        print_json(found.document())
    else:
        click.echo("\n".join(lines(found)))
