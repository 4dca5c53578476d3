"""``mdplay playouts``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import (
    Count,
    game_argument,
    json_option,
    position_option,
    print_json,
    progress,
    seed_option,
    state_of,
    threads_option,
)
from mdplay.cli.playing import max_moves_option
from mdplay.game import Game, num_players
from mdplay.words import counted


@click.command()
@game_argument
@click.option("--games", type=Count(1), default=100_000, show_default=True, help="How many games.")
@position_option
@max_moves_option
@seed_option
@threads_option
@json_option
def command(game: Game[Any], position: str | None, as_json: bool, **given: Any) -> None:
    """Play random games at full speed.

    \b
    Example:
      mdplay playouts connect-four --games 1000000
    """
    from mdplay.searching.playouts import playouts

    with progress("playing", given["games"]) as show:
        found = playouts(game, state_of(game, position), show=show, **given)
    if as_json:
        print_json(found.document())
        return
    click.echo(
        f"{counted(found.games, 'random game')} in {found.seconds:.2f} s ({found.games_per_second:,.0f} games/s)"
    )
    click.echo(f"mean result {found.mean:+.4f} +- {1.96 * found.standard_error:.4f} (95 %) for player 1")
    if num_players(game) == 2:
        click.echo(f"player 1 wins {found.wins:,}, player 2 {found.losses:,}, drawn {found.draws:,}")
    click.echo(f"moves a game {found.mean_length:.2f}, longest {found.longest}")
    if found.by_limit:
        limit = counted(found.max_moves, "move")
        click.echo(f"{counted(found.by_limit, 'game')} called off by the limit of {limit} (--max-moves)")
