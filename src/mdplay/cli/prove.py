"""``mdplay prove``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mdplay.cli.common import THREADS, Number, engine_option, game_argument, json_option, print_json, progress
from mdplay.game import Game
from mdplay.words import counted


@click.command()
@game_argument
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The book to write.")
@click.option("--fresh", is_flag=True, help="Do not go on from the checkpoint of a proof that was stopped.")
@click.option("--save-every", default=10.0, show_default=True, type=Number(0), help="Seconds between checkpoints.")
@engine_option
@click.option("--threads", type=THREADS, help="With an engine, its workers; default: one for each core.")
@json_option
def command(
    game: Game[Any],
    out: Path,
    fresh: bool,
    save_every: float,
    engine: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Prove that the first player wins, and write the strategy as a book that `mdplay verify` checks.

    A proof that was stopped or killed goes on from BOOK.checkpoint; with an engine every answer of the opponent is
    proved by itself, and BOOK.answers keeps those that are.  Exit code 1: no proof was found.

    \b
    Example:
      mdplay prove qubic --out book.txt
      mdplay verify qubic book.txt
    """
    from mdplay.solving.proof.strategies import checkpoint_of, prove_strategy

    checkpoint = checkpoint_of(out, engine)
    if checkpoint.exists() and not fresh and not as_json:
        click.echo(f"going on from {checkpoint}")
    how: dict[str, Any] = {"fresh": fresh, "engine": engine, "threads": threads, "save_seconds": save_every}
    with progress("proving") as show:
        proof = prove_strategy(game, out, **how, pause=None if as_json else _reporter(), show=show)
    if as_json:
        print_json(proof.document())
    else:
        grown = counted(proof.expansions, "expansion")
        statistics = f"{grown}, {counted(proof.threat_nodes, 'threat position')}, {proof.seconds:.1f} s"
        found = counted(len(proof.book), "line") if proof.book is not None else "no book"
        click.echo(f"{proof.proved} of {counted(proof.replies, 'answer')} proved: {found} ({statistics})")
    if proof.book is None:
        raise SystemExit(1)


def _reporter() -> Callable[[int, int], None]:
    """Return a callback that prints a line whenever one more answer is proved."""
    began, last = time.monotonic(), 0

    def report(proved: int, answers: int) -> None:
        nonlocal last
        if proved > last:
            click.echo(f"{proved} of {counted(answers, 'answer')} proved, {time.monotonic() - began:.1f} s")
            last = proved

    return report
