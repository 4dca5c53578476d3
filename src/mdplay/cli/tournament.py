"""``mdplay tournament``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import game_argument
from mdplay.cli.playing import called_off, forfeited, match_options, playing, report
from mdplay.game import Game
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.playing.matches.tournament import TournamentResult


@click.command()
@game_argument
@click.argument("agents", nargs=-1, required=True)
@click.option(
    "--plot", type=click.Path(dir_okay=False), help="Draw ratings and cross table there (png, svg, pdf)."
)
@match_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    game: Game[Any],
    agents: tuple[str, ...],
    plot: str | None,
    record: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Play every agent against every other: cross table and Elo ratings.

    An agent that fails is withdrawn: its games do not count, and the exit code is 2.

    \b
    Example:
      mdplay tournament tic-tac-toe random perfect --games 100 --results cup.db --plot cup.png
    """
    from mdplay.playing.matches.tournament import tournament

    total = given["games"] * len(agents) * (len(agents) - 1) // 2
    with playing(total, given["results"], record) as show:
        found = tournament(game, agents, show=show, **given)
    if plot:
        from mdplay.playing.matches.plots import plot_tournament

        plot_tournament(found, plot)
    report(found, _lines, record, as_json)
    for _, sentence in found.failures:
        click.echo(f"mdplay: withdrawn: {sentence}", err=True)
    ctx.exit(2 if found.failures else 0)


def _lines(found: TournamentResult) -> list[str]:
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
        again = counted(repeated, "repetition")
        lines.append(f"{again} of a game move for move; ratings and intervals count each game once")
    for agent, games in found.forfeits.items():
        lines += forfeited(agent, games, found.records)
    return lines + called_off(sum(one.by_limit for one in found.matches))
