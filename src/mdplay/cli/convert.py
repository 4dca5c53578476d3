"""``mdplay convert``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import GameName
from mdplay.errors import FormatError
from mdplay.game import Game


@click.command()
@click.argument("source", type=click.Path(dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--game", type=GameName(), help="Of which game they are, where the file does not say.")
@click.option("--from", "source_format", metavar="FORMAT", help="mdplay, sgf, moves ...; default: by the ending.")
@click.option("--to", "target_format", metavar="FORMAT", help="The same of what is written.")
@click.option("--header", "headers", multiple=True, metavar="NAME=TEXT", help="Add event, date, site, round ...")
def command(
    source: str,
    target: str,
    game: Game[Any] | None,
    source_format: str | None,
    target_format: str | None,
    headers: tuple[str, ...],
) -> None:
    """Convert files of games between mdplay's records and what others use.

    Every move is replayed.  docs/records.md has the formats.

    \b
    Examples:
      mdplay convert games.jsonl games.sgf
      mdplay convert openings.moves games.jsonl --game connect-four --header event=openings
    """
    from mdplay.playing.formats.converting import convert

    found = convert(
        source,
        target,
        game=game,
        source_format=source_format,
        target_format=target_format,
        headers=dict(map(_pair, headers)),
    )
    click.echo(f"{len(found):,} game{'s' if len(found) != 1 else ''} written to {target}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FormatError(f"--header {text!r}: write NAME=TEXT, as in event=Cup")
    return name.strip(), value.strip()
