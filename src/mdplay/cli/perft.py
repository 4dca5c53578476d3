"""``mdplay perft``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from mdplay.cli.common import Count, game_argument, json_option, position_option, print_json, progress, state_of
from mdplay.game import Game


@click.command()
@game_argument
@click.option("--depth", type=Count(0), required=True, help="How many plies; chance events count.")
@click.option("--symmetry", is_flag=True, help="Count positions that are images of each other once.")
@position_option
@json_option
def command(game: Game[Any], depth: int, symmetry: bool, position: str | None, as_json: bool) -> None:
    """Count paths and positions by depth.

    \b
    Example:
      mdplay perft connect-four --depth 8
    """
    from mdplay.states.perft import perft

    with progress("positions") as show:
        plies = perft(game, state_of(game, position), depth=depth, by_symmetry=symmetry, show=show)
    if as_json:
        print_json([asdict(ply) for ply in plies])
        return
    click.echo(f"{'ply':>4} {'paths':>22} {'positions':>14} {'ended before':>18}")
    for ply in plies:
        click.echo(f"{ply.depth:>4} {ply.paths:>22,} {ply.positions:>14,} {ply.ended:>18,}")
