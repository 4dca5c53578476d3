"""``mdplay states``: the states of a game in which a player moves."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import Count, game_argument, progress
from mdplay.game import Game


@click.command()
@game_argument
@click.option("--player", type=Count(1, 2), required=True, help="The player to move.")
def command(game: Game[Any], player: int) -> None:
    """List every state in which a player is to move, one a line.

    \b
    Example:
      mdplay states anti-tic-tac-toe --player 1
    """
    from mdplay.states.graph import explore

    with progress("states") as show:
        graph = explore(game, show=show)
    for number in graph.preorder():
        if graph.kind[number] == player - 1:
            click.echo(game.text(graph.state(number)))
