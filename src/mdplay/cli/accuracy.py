"""``mdplay accuracy``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import Count, TextFile, game_argument, json_option, print_json, progress, seed_option
from mdplay.game import Game
from mdplay.words import counted


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
@seed_option
@json_option
def command(
    game: Game[Any], agent: str, oracle: str, count: int, positions: Any, seed: int, as_json: bool
) -> None:
    """Count how often an agent's moves keep the exact value of the position.

    \b
    Example:
      mdplay accuracy anti-tic-tac-toe --agent mcts:simulations=10000 --count 500
      mdplay accuracy connect-four --oracle proof --positions positions.txt
    """
    from mdplay.playing.accuracy import measure_accuracy

    texts = None if positions is None else [line.split()[0] for line in positions if line.strip()]
    with progress("asking"):
        found = measure_accuracy(game, agent, oracle, texts, count=count, seed=seed)
    if as_json:
        print_json({"agent": agent, **found.document()})
        return
    share = f"{found.share:.1%} +- {1.96 * found.standard_error:.1%} (95 %)"
    click.echo(f"{agent} keeps the value in {found.kept:,} of {counted(found.positions, 'position')}: {share}")
    for text in found.lost[:10]:
        click.echo(f"  not in {text}")
