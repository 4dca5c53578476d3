"""The commands ``states``, ``perft`` and ``playouts``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mdplay import Game, MatchOptions
from mdplay.cli.common import (
    THREADS,
    Count,
    executor_option,
    game_argument,
    json_option,
    options_of,
    position_option,
    print_json,
    progress,
    state_of,
    threads_option,
)
from mdplay.errors import pluralize
from mdplay.game import num_players


@click.command()
@game_argument
@click.option("--player", type=Count(1, 2), help="List the states in which this player is to move.")
@click.option("--count", is_flag=True, help="Count all states with the workers of an executor.")
@executor_option
@click.option("--threads", type=THREADS, help="With --count: number of workers.  [default: one per core]")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="With --count: folder to save to and to resume from."
)
@json_option
def states_command(
    game: Game[Any],
    player: int | None,
    count: bool,
    executor: str | None,
    threads: int | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """List the states in which a player is to move, one per line; or count all states.

    \b
    Example:
      mdplay states anti-tic-tac-toe --player 1
      mdplay states connect-four:rows=4,cols=5 --count --executor processes
    """
    if count:
        _count(game, executor or "serial", threads, folder, as_json)
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


def _count(game: Game[Any], executor: str, threads: int | None, folder: Path | None, as_json: bool) -> None:
    from mdplay.distributed.states import count_states

    begun = folder is not None and any(path.stat().st_size for path in folder.glob("*.rounds"))
    with progress("states") as show:
        found = count_states(game, executor=executor, threads=threads, file=folder, progress=show)
    if begun:
        click.echo(f"mdplay: states read from {folder}", err=True)
    if as_json:
        print_json(
            {"states": len(found), "edges": found.edges, "levels": found.levels, "digest": f"{found.digest:016x}"}
        )
    else:
        sizes = {"state": len(found), "edge": found.edges, "level": len(found.levels)}
        told = ", ".join(pluralize(number, noun) for noun, number in sizes.items())
        click.echo(f"{told}, digest {found.digest:016x}")


@click.command()
@game_argument
@click.option("--depth", type=Count(0), required=True, help="Number of plies; chance events count as plies.")
@click.option("--symmetry", is_flag=True, help="Count symmetric positions once.")
@position_option
@json_option
def perft_command(game: Game[Any], depth: int, symmetry: bool, position: str | None, as_json: bool) -> None:
    """Count paths and positions by depth.

    \b
    Example:
      mdplay perft connect-four --depth 8
    """
    from mdplay import perft

    with progress("positions") as show:
        plies = perft(game, state_of(game, position), depth=depth, by_symmetry=symmetry, show=show)
    if as_json:
        print_json([asdict(ply) for ply in plies])
        return
    click.echo(f"{'ply':>4} {'paths':>22} {'positions':>14} {'ended before':>18}")
    for ply in plies:
        click.echo(f"{ply.depth:>4} {ply.paths:>22,} {ply.positions:>14,} {ply.ended:>18,}")


@click.command()
@game_argument
@click.option("--games", type=Count(1), default=10_000, show_default=True, help="Number of games.")
@position_option
@options_of(MatchOptions, "max_moves", "seed")
@threads_option
@json_option
def playouts_command(game: Game[Any], position: str | None, as_json: bool, **given: Any) -> None:
    """Play random games and print statistics.

    \b
    Example:
      mdplay playouts connect-four --games 1000000
    """
    from mdplay import playouts

    with progress("playing", given["games"]) as show:
        found = playouts(game, state_of(game, position), progress=show, **given)
    if as_json:
        print_json(found.document())
        return
    click.echo(
        f"{pluralize(found.games, 'random game')} in {found.seconds:.2f} s ({found.games_per_second:,.0f} games/s)"
    )
    click.echo(f"mean result {found.mean:+.4f} +- {1.96 * found.standard_error:.4f} (95 %) for player 1")
    if num_players(game) == 2:
        click.echo(f"player 1 wins {found.wins:,}, player 2 {found.losses:,}, drawn {found.draws:,}")
    click.echo(f"moves a game {found.mean_length:.2f}, longest {found.longest}")
    if found.by_limit:
        limit = pluralize(found.max_moves, "move")
        click.echo(f"{pluralize(found.by_limit, 'game')} truncated by the limit of {limit} (--max-moves)")
