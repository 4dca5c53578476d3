"""``mdplay verify``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from mdplay.cli.common import json_option, print_json, progress


@click.command()
@click.argument("game", type=click.Choice(["qubic"]))
@click.argument("book", type=click.Path(path_type=Path))
@json_option
def command(game: str, book: Path, as_json: bool) -> None:
    """Check a book that claims the first player's win, by rules and symmetries of the checker's own.

    The last line is `verified` (exit code 0), or names the first gap (exit code 1).

    \b
    Example:
      mdplay verify qubic book.txt
    """
    from mdplay.solving.qubic_verify import read_rows, verify

    rows = read_rows(book)
    with progress("checking", len(rows)) as show:
        verdict = verify(rows, show=show)
    if as_json:
        print_json({"verified": verdict.verified, **asdict(verdict)})
    else:
        click.echo(f"{verdict.lines:,} lines, {verdict.met:,} positions met, at most {verdict.depth} in one game")
        click.echo(f"{verdict.threats:,} answers left to threats ({verdict.nodes:,} positions looked at)")
        click.echo("verified" if verdict.verified else f"gap: {verdict.gap}")
    if not verdict.verified:
        raise SystemExit(1)
