"""The commands ``match``, ``tournament`` and ``evaluate``, and the options that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mdplay import Game, MatchOptions, MatchResult, MdplayError, Record, match, save_records
from mdplay.cli.common import (
    executor_option,
    game_argument,
    json_option,
    options,
    options_of,
    print_json,
    progress,
    setting,
)
from mdplay.errors import pluralize
from mdplay.playing.matches.match import Tally
from mdplay.playing.matches.results import REUSED

if TYPE_CHECKING:
    from mdplay import EvaluationResult, TournamentResult


workers_option = setting("threads", help="Games played in parallel.  [default: 1; with an executor one per core]")
record_option = click.option("--record", type=click.Path(dir_okay=False), help="Write the games as JSON lines.")
results_option = setting(
    "file",
    "--results",
    type=click.Path(dir_okay=False),
    help="Save finished games in this SQLite file; the same command resumes.",
)
match_options = options(  # by the names of the keywords of ``match`` and ``tournament``, but for --record
    options_of(MatchOptions, "games", "openings", "seed", "max_moves", "move_seconds"),
    workers_option,
    executor_option,
    record_option,
    results_option,
    json_option,
)


@contextmanager
def playing(games: int | None, results: str | None, record: str | None) -> Iterator[Callable[[int], None]]:
    """Yield a progress callback, and report the games read from ``results``.

    After Ctrl-C or an error, save the finished games and say where they are.
    """
    before = REUSED[str(results)]
    try:
        with progress("games" if games else "played", games) as show:
            yield show
        if reused := REUSED[str(results)] - before:
            played = f"{reused:,} of {pluralize(games, 'game')}" if games else pluralize(reused, "game")
            click.echo(f"mdplay: {played} from {results}", err=True)
    except (KeyboardInterrupt, MdplayError) as error:
        finished: tuple[Record, ...] = vars(error).get("records", ())
        if record is not None and finished:
            save_records(record, finished)
            click.echo(f"mdplay: {pluralize(len(finished), 'finished game')} saved in {record}", err=True)
        if results is not None and (finished or isinstance(error, KeyboardInterrupt)):
            click.echo(f"mdplay: finished games are in {results}; the same command continues from there", err=True)
        raise


def called_off(by_limit: int) -> list[str]:
    """Return a line about truncated games, if there were any."""
    why = "truncated by a third repetition or by the move limit (--max-moves) and counted as infinite play"
    return [f"{pluralize(by_limit, 'game')} {why}"] if by_limit else []


def forfeited(agent: str, games: int, records: Sequence[Record]) -> list[str]:
    """Return a line about the games that an agent lost because it failed, with what it did first."""
    if not games:
        return []
    lost = (r for r in records if r.forfeit is not None and r.agents[r.forfeit] == agent)
    return [f"{agent} lost {pluralize(games, 'game')} because it failed, as here: {next(lost).reason}"]


def report(
    found: MatchResult | EvaluationResult | TournamentResult,
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


@click.command()
@game_argument
@click.argument("a")
@click.argument("b")
@match_options
@click.option(
    "--side",
    type=click.IntRange(1, 2),
    help="Player of A in every game, for example for a policy file.  [default: sides alternate]",
)
def match_command(
    game: Game[Any], a: str, b: str, record: str | None, as_json: bool, side: int | None, **given: Any
) -> None:
    """Play a match of two agents; print the score with a 95 % interval.

    Sides alternate, and each opening is played from both, unless --side is given.

    \b
    Examples:
      mdplay match connect-four random random --games 1000 --record games.jsonl
      mdplay match tic-tac-toe perfect random --openings none --results match.db
      mdplay match anti-tic-tac-toe policy:player2.txt perfect --side 2
    """
    with playing(given["games"], given["file"], record) as show:
        found = match(game, a, b, progress=show, side=None if side is None else side - 1, **given)
    report(found, _lines, record, as_json)


def _lines(found: MatchResult) -> list[str]:
    a, b = found.agents
    (low, high), (mean, error) = found.interval, found.mean
    first, second = found.sides
    lines = [
        f"{a} v {b}: {_words(found.tally)}",
        f"score {found.tally.score:.3f} (95 %: {low:.3f} to {high:.3f}), Elo {_elo(found)}",
        f"{a} " + "; ".join(f"as player {n}: {_words(t)}" for n, t in ((1, first), (2, second)) if t.games),
        f"{pluralize(found.distinct, 'distinct game')} of {found.tally.games:,}",
    ]
    if any(abs(result) not in (0, 1) for result in found.results):
        lines.insert(2, f"mean result {mean:+.3f} +- {1.96 * error:.3f} (95 %)")
    if found.distinct < found.tally.games:
        lines[-1] += "; the intervals count only these"
    for agent, games in zip(found.agents, found.forfeits, strict=True):
        lines += forfeited(agent, games, found.records)
    return lines + called_off(found.by_limit)


def _words(tally: Tally) -> str:
    return f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"


def _elo(found: MatchResult) -> str:
    ends = [f"{end:+.0f}" if math.isfinite(end) else ("-" if end < 0 else "+") + "inf" for end in found.elo[1]]
    middle = found.elo[0]
    shown = f"{middle:+.0f} " if math.isfinite(middle) else ""
    return f"{shown}({ends[0]} to {ends[1]})"


@click.command()
@game_argument
@click.argument("agents", nargs=-1, required=True)
@click.option(
    "--plot", type=click.Path(dir_okay=False), help="Plot the ratings and the cross table (png, svg, pdf)."
)
@match_options
@click.pass_context
def tournament_command(
    ctx: click.Context,
    /,
    game: Game[Any],
    agents: tuple[str, ...],
    plot: str | None,
    record: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Play a round-robin tournament; print the cross table and Elo ratings.

    An agent that fails is withdrawn: its games do not count, and the exit code is 2.

    \b
    Example:
      mdplay tournament tic-tac-toe random perfect --games 100 --results cup.db --plot cup.png
    """
    from mdplay import tournament

    total = given["games"] * len(agents) * (len(agents) - 1) // 2
    with playing(total, given["file"], record) as show:
        found = tournament(game, agents, progress=show, **given)
    if plot:
        from mdplay.playing.matches.tournament import plot_tournament

        plot_tournament(found, plot)
    report(found, _tournament_lines, record, as_json)
    for _, sentence in found.failures:
        click.echo(f"mdplay: withdrawn: {sentence}", err=True)
    ctx.exit(2 if found.failures else 0)


def _tournament_lines(found: TournamentResult) -> list[str]:
    ratings = found.ratings
    width = max((len(rating.agent) for rating in ratings), default=0)
    head = "".join(f"{i + 1:>7}" for i in range(len(ratings)))
    lines = [f"{'':>3} {'':{width}} {'Elo':>6} {'95 %':>7} {'score':>7} {'games':>6}{head}"]
    for i, row in enumerate(ratings):
        cells = "".join(
            f"{found.tallies[row.agent, other.agent].score:7.3f}" if other is not row else f"{'-':>7}"
            for other in ratings
        )
        statistics = f"{row.elo:+6.0f} +-{row.reach:<5.0f} {row.tally.score:7.3f} {row.tally.games:6}"
        lines.append(f"{i + 1:>3} {row.agent:{width}} {statistics}{cells}")
    repeated = sum(one.tally.games - one.distinct for one in found.matches)
    if repeated:
        again = pluralize(repeated, "repetition")
        lines.append(f"{again} of a game move for move; ratings and intervals count each game once")
    for agent, games in found.forfeits.items():
        lines += forfeited(agent, games, found.records)
    return lines + called_off(sum(one.by_limit for one in found.matches))


BAR = 40


@click.command()
@game_argument
@click.option("--agent", default="random", show_default=True, help="Agent.")
@options_of(MatchOptions, "games", "seed", "max_moves")
@setting("threads", help="Number of threads.  [default: one per core if the agent is compiled, else 1]")
@executor_option
@record_option
@results_option
@json_option
def evaluate_command(game: Game[Any], agent: str, record: str | None, as_json: bool, **given: Any) -> None:
    """Evaluate an agent in a single-player game: mean, standard error, distribution.

    \b
    Example:
      mdplay evaluate 2048 --agent random --games 1000
      mdplay evaluate 2048 --agent network:td.safetensors,depth=2 --games 1000
    """
    from mdplay import evaluate

    with playing(None, given["file"], record) as show:
        found = evaluate(game, agent, record=record is not None, progress=show, **given)
    report(found, _evaluate_lines, record, as_json)


def _evaluate_lines(found: EvaluationResult) -> list[str]:
    mean, error = found.mean
    digits = 2 if error == 0 else max(0, 1 - math.floor(math.log10(error)))  # two digits of the standard error
    moves = found.moves / len(found.results)
    quantiles = ", ".join(f"{share:.0%} {result:g}" for share, result in found.quantiles.items())
    return [
        f"{found.agent}: mean {mean:.{digits}f} +- {1.96 * error:.{digits}f} (95 %), "
        f"standard error {error:.{digits}f}",
        f"{pluralize(len(found.results), 'game')}{_distinct(found)}; {moves:,.1f} moves per game, "
        f"{found.moves_per_second:,.0f} moves per second",
        f"quantiles: {quantiles}",
        *called_off(found.by_limit),
        *_bars(found),
        *_shares(found),
    ]


def _distinct(found: EvaluationResult) -> str:
    return "" if found.distinct is None else f", {found.distinct:,} of them distinct"


def _shares(found: EvaluationResult) -> list[str]:
    """Return the shares of games that reached each mark; marks that every game reached are left out."""
    return [
        f"{name} {thing:>8} {share:7.2%}"
        for name, row in found.shares.items()
        for thing, share in row.items()
        if share < 1
    ]


def _bars(found: EvaluationResult) -> list[str]:
    rows = found.histogram()
    most = max(count for *_, count in rows)
    names = [f"{low:.6g}" if low == high else f"{low:.0f} .. {high:.0f}" for low, high, _ in rows]
    width = max(map(len, names))
    return [
        f"{name:>{width}} {count:>6} {'#' * (BAR * count // most)}"
        for name, (*_, count) in zip(names, rows, strict=True)
    ]
