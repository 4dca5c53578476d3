"""The commands ``prove``, ``verify`` and ``book``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mdplay import Game
from mdplay.cli.common import (
    Count,
    executor_option,
    game_argument,
    json_option,
    print_json,
    progress,
    setting,
    threads_option,
)
from mdplay.errors import pluralize

workers_option = setting("threads", help="Workers of the executor.  [default: one per core]")


@click.command()
@game_argument
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File of the strategy."
)
@click.option("--fresh", is_flag=True, help="Ignore the checkpoint of an interrupted proof.")
@setting("save_every")
@executor_option
@workers_option
@json_option
def prove_command(game: Game[Any], out: Path, fresh: bool, as_json: bool, **given: Any) -> None:
    """Prove that the first player wins, and write the strategy for `mdplay verify`.

    An interrupted proof is resumed from BOOK.checkpoint.  With an executor, each reply of the opponent is a task,
    and BOOK.answers holds the replies that are proved.  Exit code 1: no proof was found.

    \b
    Example:
      mdplay prove qubic --out book.txt
      mdplay verify qubic book.txt
    """
    from mdplay.solving.proof.book import checkpoint_of, prove_strategy

    checkpoint = checkpoint_of(out, given["executor"])
    if checkpoint.exists() and not fresh and not as_json:
        click.echo(f"resuming from {checkpoint}")
    with progress("proving") as show:
        pause = None if as_json else _reporter()
        proof = prove_strategy(game, out, fresh=fresh, pause=pause, progress=show, **given)
    if as_json:
        print_json(proof.document())
    else:
        grown = pluralize(proof.expansions, "expansion")
        statistics = f"{grown}, {pluralize(proof.threat_nodes, 'threat position')}, {proof.seconds:.1f} s"
        found = pluralize(len(proof.book), "line") if proof.book is not None else "no book"
        click.echo(f"{proof.proved} of {pluralize(proof.replies, 'answer')} proved: {found} ({statistics})")
    if proof.book is None:
        raise SystemExit(1)


def _reporter() -> Callable[[int, int], None]:
    """Return a callback that prints a line for each proved reply."""
    began, last = time.monotonic(), 0

    def report(proved: int, answers: int) -> None:
        nonlocal last
        if proved > last:
            click.echo(f"{proved} of {pluralize(answers, 'answer')} proved, {time.monotonic() - began:.1f} s")
            last = proved

    return report


@click.command()
@game_argument
@click.argument("book", type=click.Path(path_type=Path))
@executor_option
@workers_option
@json_option
def verify_command(game: Game[Any], book: Path, as_json: bool, **given: Any) -> None:
    """Verify a strategy with an independent implementation of the rules and symmetries.

    The last line is `verified` (exit code 0), or names the first gap (exit code 1).

    \b
    Example:
      mdplay verify qubic book.txt
    """
    from mdplay.solving.proof.book import verify_strategy

    with progress("checking") as show:
        verdict = verify_strategy(game, book, progress=show, **given)
    if as_json:
        print_json({"verified": verdict.verified, **asdict(verdict)})
    else:
        lines, met = pluralize(verdict.lines, "line"), pluralize(verdict.met, "position")
        click.echo(f"{lines}, {met} met, at most {verdict.depth} in one game")
        answers, nodes = pluralize(verdict.threats, "answer"), pluralize(verdict.nodes, "position")
        click.echo(f"{answers} left to threats ({nodes} looked at)")
        click.echo("verified" if verdict.verified else f"gap: {verdict.gap}")
    if not verdict.verified:
        raise SystemExit(1)


@click.command()
@game_argument
@click.option("--plies", type=Count(1), required=True, help="Number of plies of the book.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the book.  [default: the folder that solve reads]",
)
@setting("memory")
@threads_option
@executor_option
@json_option
def book_command(
    game: Game[Any],
    plies: int,
    out: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compute an opening book: the exact scores of all positions after N plies.

    Stop it with Ctrl-C and start it again: it goes on where it was.

    \b
    Example:
      mdplay book connect-four --plies 4
    """
    from mdplay.solving.proof.book import make_book

    begun = out is not None and out.exists()
    with progress("positions") as show:
        book = make_book(game, plies, out, progress=show, **given)
    if begun:
        click.echo(f"mdplay: scores read from {out}", err=True)
    facts = book.document()
    if as_json:
        print_json(facts)
        return
    known, size = pluralize(facts["positions"], "position"), pluralize(facts["bytes"], "byte")
    click.echo(f"{known} after {pluralize(plies, 'ply')}, {size}: {facts['path']}")
