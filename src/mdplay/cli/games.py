"""The commands ``games``, ``check``, ``cache`` and ``show``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from mdplay import Game, MdplayError, Position, Record, UnknownName, __version__, load_records
from mdplay.cli.common import (
    Count,
    GameName,
    Number,
    game_argument,
    json_option,
    position_option,
    print_json,
    seed_option,
)
from mdplay.errors import pluralize
from mdplay.game import num_players
from mdplay.naming import registry, specs
from mdplay.naming.about import built_in_games
from mdplay.naming.notation import result_text
from mdplay.naming.registry import plugin_points, source_of, warn_once

KNOWLEDGE = {
    "outcomes": "chance",
    "reward": "rewards",
    "size": "numbered states",
    "symmetries": "symmetries",
    "heuristic": "heuristic",
    "order": "move order",
    "bounds": "settled positions",
    "cell": "cells",
}


def describe(name: str) -> dict[str, Any]:
    """Return the facts about a registered game as a JSON document."""
    maker = registry.maker(name)
    game = registry.make(name)
    return {
        "name": name,
        "summary": _first_line(maker if inspect.isfunction(maker) else inspect.getmodule(maker)),
        "players": num_players(game),
        "parameters": [str(parameter) for parameter in specs.parameters(maker)],
        "source": f"mdplay {__version__}" if name in built_in_games() else source_of(plugin_points("game")[name]),
        "knows": [word for method, word in KNOWLEDGE.items() if getattr(game, f"has_{method}")],
    }


def _described() -> Iterator[dict[str, Any]]:
    """Yield all games; skip a game of a package that cannot be created, with a warning."""
    for name in registry.names():
        try:
            yield describe(name)
        except MdplayError as error:
            if name in built_in_games():
                raise
            warn_once(str(error))


def _first_line(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


@click.command()
@json_option
def games_command(as_json: bool) -> None:
    """List the games with their parameters and features.

    \b
    Example:
      mdplay games
    """
    games = list(_described())
    if as_json:
        print_json(games)
        return
    for game in games:
        click.secho(game["name"], bold=True)
        click.echo(f"  {game['summary']}")
        if game["name"] not in built_in_games():
            click.echo(f"  from {game['source']}")
        click.echo(f"  parameters: {', '.join(game['parameters']) or 'none'}")
        click.echo(f"  {pluralize(game['players'], 'player')}; {', '.join(game['knows']) or 'rules only'}")


@click.command()
@game_argument
@click.option("--games", type=Count(1), default=20, show_default=True, help="Number of random games.")
@seed_option
@json_option
def check_command(game: Game[Any], games: int, seed: int, as_json: bool) -> None:
    """Check the rules of a game: contract, compiled code, symmetries, hooks.

    \b
    Example:
      mdplay check my_game.py:MyGame
    """
    from mdplay import check_game

    report = check_game(game, games=games, seed=seed)
    if as_json:
        print_json(asdict(report))
        return
    played, met = pluralize(report.games, "random game"), pluralize(report.positions, "position")
    click.echo(f"{type(game).__name__} keeps the contract: {played}, {met},")
    click.echo(f"longest {pluralize(report.longest, 'move')}; compiled and plain rules agree.")
    click.echo(f"understood as: {report.understood}")
    if report.repeats:
        click.echo(f"the game has cycles: infinite play has the value {report.endless} for player 1")
    click.echo(f"checked knowledge: {', '.join(report.knowledge) or 'none'}")
    for warning in report.warnings:
        click.echo(f"warning: {warning}")


@click.command()
@click.option("--clear", is_flag=True, help="Remove all compiled kernels.")
@click.option("--prune", "days", type=Number(0), help="Remove kernels unused for this number of days.")
@json_option
def cache_command(clear: bool, days: float | None, as_json: bool) -> None:
    """Show or clear the cache of compiled kernels.

    \b
    Example:
      mdplay cache --clear
    """
    from mdplay.compiling.cache import entries, kernels_folder, prune

    days = -1.0 if clear else days
    removed = prune(days) if days is not None else 0
    files = list(entries())
    size = sum(path.stat().st_size for path in files)
    if as_json:
        print_json({"folder": str(kernels_folder()), "kernels": len(files), "bytes": size, "removed": removed})
        return
    if days is not None:
        click.echo(f"removed {pluralize(removed, 'compiled kernel')}")
    click.echo(f"{kernels_folder()}: {pluralize(len(files), 'compiled kernel')}, {size / 1e6:.1f} MB")


def _sentence(position: Position[Any]) -> str:
    two = num_players(position.game) == 2
    if position.is_chance:
        return f"Chance moves: {pluralize(len(position.outcomes), 'outcome')}."
    if position.player is None:
        return f"The game is over: {result_text(position.game, position.total)}." if two else "The game is over."
    mover = f"Player {position.player + 1} moves" if two else "Your move"
    return f"{mover}: {', '.join(position.moves)}"


def report(position: Position[Any]) -> str:
    """Return the picture, the points earned so far and the moves."""
    lines = [position.board, ""]
    if position.game.has_reward and position.past:
        lines.append(f"Points: {' : '.join(f'{points:g}' for points in position.points)}")
    return "\n".join([*lines, _sentence(position)])


@click.command()
@click.argument("game", type=GameName(), required=False)
@position_option
@click.option("--svg", type=click.Path(), metavar="FILE", help="Write the picture as SVG.")
@click.option("--record", type=click.Path(dir_okay=False), help="Show a recorded game instead of a position.")
@click.option("--number", type=Count(0), help="Number of the game in the record.")
@json_option
def show_command(
    game: Game[Any] | None,
    position: str | None,
    svg: str | None,
    record: str | None,
    number: int | None,
    as_json: bool,
) -> None:
    """Draw a position and list its moves, or show a recorded game.

    \b
    Examples:
      mdplay show connect-four --position 4453
      mdplay show dots-and-boxes --position moves:0,2,6,8
      mdplay show --record games.jsonl --number 3
    """
    if record is not None:
        show_records(load_records(record, game), number, as_json)
        return
    if game is None:
        raise click.UsageError("Missing argument 'GAME'.")
    shown = Position.start(game) if position is None else Position.parse(game, position)
    if svg is not None:
        write_svg(svg, shown.svg)
    if as_json:
        print_json(shown.document())
        return
    click.echo(report(shown))


def write_svg(path: str, picture: str) -> None:
    """Write a picture to a file, or to the standard output (-)."""
    from mdplay.storage.files import write

    if path == "-":
        click.echo(picture, nl=False)
    else:
        write(path, picture)


# ---------------------------------------------------------------- recorded games
def show_records(records: list[Record], number: int | None, as_json: bool) -> None:
    """Show the game with a number, or the only one, or a list of all."""
    chosen = records if number is None else [record for record in records if record.number == number]
    if not chosen:
        raise UnknownName(
            f"the record has no game {number}; it has {pluralize(len(records), 'game')}, beginning with number "
            f"{records[0].number}"
        )
    if as_json:
        print_json([record.document() for record in chosen])
    elif len(chosen) == 1:
        click.echo(_story(chosen[0]))
    else:
        click.echo("\n".join(map(_summary, chosen)))


def _summary(record: Record) -> str:
    moves = pluralize(len(record.events), "move")
    return f"game {record.number}: {' v '.join(record.agents)}, {moves}, {_result(record)}"


def _result(record: Record) -> str:
    if record.result is None:
        return "not finished"
    return result_text(record.game, record.result)


def _story(record: Record) -> str:
    end = record.replay()
    opening, moves = end.played[: record.opening], end.played[record.opening :]
    given = f"opening: {' '.join(opening)}\n" if opening else ""
    return f"{_summary(record)}\n{given}moves: {' '.join(moves)}\n\n{end.board}"
