"""``mdplay states``: the states of a game, listed or counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mdplay.cli.common import (
    THREADS,
    Count,
    engine_option,
    game_argument,
    json_option,
    print_json,
    progress,
)
from mdplay.game import Game
from mdplay.words import counted


@click.command()
@game_argument
@click.option("--player", type=Count(1, 2), help="List the states in which this player is to move.")
@click.option("--count", is_flag=True, help="Count all states instead, by the workers of an engine.")
@engine_option
@click.option("--threads", type=THREADS, help="With --count, the workers; default: one for each core.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="With --count, where to keep states and go on from."
)
@json_option
def command(
    game: Game[Any],
    player: int | None,
    count: bool,
    engine: str | None,
    threads: int | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """List every state in which a player is to move, one a line; or count all states.

    \b
    Example:
      mdplay states anti-tic-tac-toe --player 1
      mdplay states connect-four:rows=4,cols=5 --count --engine processes
    """
    if count:
        _count(game, engine or "serial", threads, folder, as_json)
    elif player is None:
        raise click.UsageError("say which states: --player 1, --player 2 or --count")
    else:
        _list(game, player)


def _list(game: Game[Any], player: int) -> None:
    from mdplay.states.graph import explore

    with progress("states") as show:
        graph = explore(game, show=show)
    for number in graph.preorder():
        if graph.kind[number] == player - 1:
            click.echo(game.text(graph.state(number)))


def _count(game: Game[Any], engine: str, threads: int | None, folder: Path | None, as_json: bool) -> None:
    from mdplay.states.sharding.driver import count_states

    begun = folder is not None and any(path.stat().st_size for path in folder.glob("*.rounds"))
    with progress("states") as show:
        found = count_states(game, engine, shards=threads, folder=folder, show=show)
    if begun:
        click.echo(f"mdplay: states read from {folder}", err=True)
    if as_json:
        print_json(
            {"states": len(found), "edges": found.edges, "levels": found.levels, "digest": f"{found.digest:016x}"}
        )
    else:
        sizes = {"state": len(found), "edge": found.edges, "level": len(found.levels)}
        told = ", ".join(counted(number, noun) for noun, number in sizes.items())
        click.echo(f"{told}, digest {found.digest:016x}")
