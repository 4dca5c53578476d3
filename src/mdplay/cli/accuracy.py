"""``mdplay accuracy``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from mdplay.cli.common import (
    Count,
    TextFile,
    TextLines,
    game_argument,
    json_option,
    print_json,
    progress,
    seed_option,
)
from mdplay.errors import MdplayError
from mdplay.game import Game
from mdplay.notation import parse_position
from mdplay.words import counted

MAX_LISTED = 10  # mistakes that are printed


@click.command()
@game_argument
@click.option("--agent", "-a", default="mcts", show_default=True, help="Who is examined.")
@click.option(
    "--oracle",
    default="perfect",
    show_default=True,
    help="Who knows the exact values: an agent, or proof (search).",
)
@click.option("--count", type=Count(1), default=200, show_default=True, help="Positions of random games.")
@click.option("--positions", type=TextFile(), help="A file of positions, one a line, instead.")
@click.option("--side", type=click.IntRange(1, 2), help="Only positions in which this player moves.")
@seed_option
@json_option
def command(
    game: Game[Any],
    agent: str,
    oracle: str,
    count: int,
    positions: Any,
    side: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Count how often an agent's moves are optimal, and list its mistakes.

    \b
    Example:
      mdplay accuracy anti-tic-tac-toe --agent mcts:simulations=10000 --count 500
      mdplay accuracy connect-four --oracle proof --positions positions.txt
    """
    from mdplay.playing.accuracy import accuracy

    texts = None if positions is None else _texts(game, positions)
    with progress("asking"):
        player = None if side is None else side - 1
        found = accuracy(game, agent, oracle, texts, count=count, seed=seed, side=player)
    if as_json:
        print_json({"agent": agent, **found.document()})
        return
    positions = counted(found.positions, "position")
    click.echo(
        f"{agent} plays an optimal move in {found.kept:,} of {positions}: {_share(found.share, found.interval)}"
    )
    critical = f"{found.critical - len(found.lost):,} of {found.critical:,} in which not every move is optimal"
    click.echo(f"  {critical}: {_share(found.critical_share, found.critical_interval)}")
    for mistake in found.lost[:MAX_LISTED]:
        click.echo(f"  {mistake.position}: plays {mistake.move}, optimal: {' '.join(mistake.best)}")
    if len(found.lost) > MAX_LISTED:
        click.echo(f"  and {len(found.lost) - MAX_LISTED:,} more (--json lists all)")


def _texts(game: Game[Any], file: TextLines) -> list[str]:
    """Return the first word of each line of a file; one that is not a position is an error that names the line."""
    found = []
    for number, line in enumerate(file, start=1):
        for text in line.split()[:1]:
            try:
                parse_position(game, text)
            except MdplayError as error:
                raise type(error)(f"{file.name}, line {number}: {error}") from None
            found.append(text)
    return found


def _share(share: float, interval: Sequence[float]) -> str:
    return f"{share:.1%} (95 %: {interval[0]:.1%} to {interval[1]:.1%})"
