"""``mdplay evaluate``."""

from __future__ import annotations

import math
from typing import Any

import click

from mdplay.cli.common import THREADS, engine_option, game_argument, json_option, seed_option
from mdplay.cli.playing import (
    called_off,
    games_option,
    max_moves_option,
    playing,
    record_option,
    report,
    results_option,
)
from mdplay.game import Game
from mdplay.playing.matches.evaluating import Evaluation, evaluate
from mdplay.words import counted

BAR = 40


@click.command()
@game_argument
@click.option("--agent", default="random", show_default=True, help="Who plays.")
@games_option
@click.option("--threads", type=THREADS, help="Default: one for each core if the agent is compiled, else one.")
@engine_option
@max_moves_option
@record_option
@results_option
@seed_option
@json_option
def command(game: Game[Any], agent: str, record: str | None, as_json: bool, **given: Any) -> None:
    """Let an agent play a game for one: mean, standard error, distribution.

    \b
    Example:
      mdplay evaluate 2048 --agent random --games 1000
      mdplay evaluate 2048 --agent network:td.safetensors,depth=2 --games 1000
    """
    with playing(None, given["results"], record) as show:
        found = evaluate(game, agent, record=record is not None, show=show, **given)
    report(found, _lines, record, as_json)


def _lines(found: Evaluation) -> list[str]:
    mean, error = found.mean
    digits = 2 if error == 0 else max(0, 1 - math.floor(math.log10(error)))  # two digits of the standard error
    moves = found.moves / len(found.results)
    quantiles = ", ".join(f"{share:.0%} {result:g}" for share, result in found.quantiles.items())
    return [
        f"{found.agent}: mean {mean:.{digits}f} +- {1.96 * error:.{digits}f} (95 %), "
        f"standard error {error:.{digits}f}",
        f"{counted(len(found.results), 'game')}{_distinct(found)}; {moves:,.1f} moves per game, "
        f"{found.moves_per_second:,.0f} moves per second",
        f"quantiles: {quantiles}",
        *called_off(found.by_limit),
        *_bars(found),
        *_shares(found),
    ]


def _distinct(found: Evaluation) -> str:
    return "" if found.distinct is None else f", {found.distinct:,} of them distinct"


def _shares(found: Evaluation) -> list[str]:
    """Return the shares of games that reached something; what every game reached is left out."""
    return [
        f"{name} {thing:>8} {share:7.2%}"
        for name, row in found.shares.items()
        for thing, share in row.items()
        if share < 1
    ]


def _bars(found: Evaluation) -> list[str]:
    rows = found.histogram()
    most = max(count for *_, count in rows)
    names = [f"{low:.6g}" if low == high else f"{low:.0f} .. {high:.0f}" for low, high, _ in rows]
    width = max(map(len, names))
    return [
        f"{name:>{width}} {count:>6} {'#' * (BAR * count // most)}"
        for name, (*_, count) in zip(names, rows, strict=True)
    ]
