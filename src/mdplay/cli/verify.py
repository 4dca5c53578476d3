"""``mdplay verify``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mdplay.cli.common import THREADS, engine_option, game_argument, json_option, print_json, progress
from mdplay.game import Game
from mdplay.words import counted


@click.command()
@game_argument
@click.argument("book", type=click.Path(path_type=Path))
@engine_option
@click.option("--threads", type=THREADS, help="With an engine, its workers; default: one for each core.")
@json_option
def command(game: Game[Any], book: Path, engine: str | None, threads: int | None, as_json: bool) -> None:
    """Check a book that claims the first player's win, by rules and symmetries of the checker's own.

    The last line is `verified` (exit code 0), or names the first gap (exit code 1).

    \b
    Example:
      mdplay verify qubic book.txt
    """
    from mdplay.solving.proof.strategies import verify_strategy

    with progress("checking") as show:
        verdict = verify_strategy(game, book, engine=engine, threads=threads, show=show)
    if as_json:
        print_json({"verified": verdict.verified, **asdict(verdict)})
    else:
        lines, met = counted(verdict.lines, "line"), counted(verdict.met, "position")
        click.echo(f"{lines}, {met} met, at most {verdict.depth} in one game")
        answers, nodes = counted(verdict.threats, "answer"), counted(verdict.nodes, "position")
        click.echo(f"{answers} left to threats ({nodes} looked at)")
        click.echo("verified" if verdict.verified else f"gap: {verdict.gap}")
    if not verdict.verified:
        raise SystemExit(1)
