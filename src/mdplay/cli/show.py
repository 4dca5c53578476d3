"""``mdplay show``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import Count, GameName, json_option, position_option, print_json
from mdplay.errors import UnknownName
from mdplay.game import Game, num_players
from mdplay.notation import result_text
from mdplay.playing.records import Record, load_records
from mdplay.position import Position
from mdplay.words import counted


def _sentence(position: Position[Any]) -> str:
    two = num_players(position.game) == 2
    if position.is_chance:
        return f"Chance moves: {counted(len(position.outcomes), 'outcome')}."
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
@click.option("--svg", type=click.Path(), metavar="FILE", help="Also write the picture as SVG.")
@click.option("--record", type=click.Path(dir_okay=False), help="Show a recorded game instead of a position.")
@click.option("--number", type=Count(0), help="Which game of the record, by its number.")
@json_option
def command(
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
    from mdplay.files import write

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
            f"the record has no game {number}; it has {counted(len(records), 'game')}, from {records[0].number} on"
        )
    if as_json:
        print_json([record.document() for record in chosen])
    elif len(chosen) == 1:
        click.echo(_story(chosen[0]))
    else:
        click.echo("\n".join(map(_summary, chosen)))


def _summary(record: Record) -> str:
    moves = counted(len(record.events), "move")
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
