"""``mdplay book``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mdplay.cli.common import (
    GIGABYTES,
    Count,
    engine_option,
    game_argument,
    in_bytes,
    json_option,
    print_json,
    progress,
    threads_option,
)
from mdplay.game import Game
from mdplay.words import counted


@click.command()
@game_argument
@click.option("--plies", type=Count(1), required=True, help="Prove all positions after so many plies.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The file; default: where solve looks."
)
@click.option("--memory", type=GIGABYTES, help="Use at most so many gigabytes.")
@threads_option
@engine_option
@json_option
def command(
    game: Game[Any],
    plies: int,
    out: Path | None,
    memory: float | None,
    threads: int | None,
    engine: str | None,
    as_json: bool,
) -> None:
    """Make an opening book: the scores of all positions after some plies, proved on all cores.

    Stop it with Ctrl-C and start it again: it goes on where it was.

    \b
    Example:
      mdplay book connect-four --plies 4
    """
    from mdplay.solving.proof.book import make_book

    begun = out is not None and out.exists()
    with progress("positions") as show:
        book = make_book(game, plies, out, memory=in_bytes(memory), threads=threads, engine=engine, show=show)
    if begun:
        click.echo(f"mdplay: scores read from {out}", err=True)
    facts = book.document()
    if as_json:
        print_json(facts)
        return
    known, size = counted(facts["positions"], "position"), counted(facts["bytes"], "byte")
    click.echo(f"{known} after {counted(plies, 'ply')}, {size}: {facts['path']}")
