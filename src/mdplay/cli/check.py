"""``mdplay check``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from mdplay.cli.common import Count, game_argument, json_option, print_json, seed_option
from mdplay.game import Game
from mdplay.words import counted


@click.command()
@game_argument
@click.option("--games", type=Count(1), default=20, show_default=True, help="Random games to play.")
@seed_option
@json_option
def command(game: Game[Any], games: int, seed: int, as_json: bool) -> None:
    """Check that a game keeps its contract.

    \b
    Example:
      mdplay check my_game.py:MyGame
    """
    from mdplay.checking.check import check_game

    report = check_game(game, games=games, seed=seed)
    if as_json:
        print_json(asdict(report))
        return
    played, met = counted(report.games, "random game"), counted(report.positions, "position")
    click.echo(f"{type(game).__name__} keeps the contract: {played}, {met},")
    click.echo(f"longest {counted(report.longest, 'move')}; compiled and plain rules agree.")
    click.echo(f"understood as: {report.understood}")
    if report.repeats:
        click.echo(f"positions come back: endless play is worth {report.endless} to player 1")
    click.echo(f"checked knowledge: {', '.join(report.knowledge) or 'none'}")
    for warning in report.warnings:
        click.echo(f"warning: {warning}")
