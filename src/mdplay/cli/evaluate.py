"""``mdplay evaluate``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import game_argument, json_option, print_json, progress, seed_option
from mdplay.cli.playing import games_option, playing, record_option, report, results_option
from mdplay.game import Game
from mdplay.playing.agents import make_agent
from mdplay.playing.evaluating import Evaluation, evaluate

BAR = 40


@click.command()
@game_argument
@click.option("--agent", default="random", show_default=True, help="Who plays.")
@games_option
@click.option(
    "--threads", type=click.IntRange(1), help="Default: one for each core if the agent is compiled, else one."
)
@record_option
@results_option
@seed_option
@json_option
def command(
    game: Game[Any],
    agent: str,
    games: int,
    threads: int | None,
    record: str | None,
    results: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Let an agent play a game for one: mean, standard error, distribution.

    \b
    Example:
      mdplay evaluate 2048 --agent random --games 1000
      mdplay evaluate 2048 --agent network:td.safetensors,depth=2 --games 1000
    """
    player = make_agent(game, agent)
    if hasattr(player, "evaluate") and not record and not results:  # it plays whole games by compiled code
        with progress("moves") as show:
            fast = player.evaluate(games=games, seed=seed, threads=threads, show=show)
        print_json(fast.as_dict()) if as_json else click.echo(fast.text())
        return
    with playing(games, results) as show:
        found = evaluate(game, agent, games=games, seed=seed, threads=threads or 1, results=results, show=show)
    report(found, _lines, record, as_json)


def _lines(found: Evaluation) -> list[str]:
    mean, error = found.mean
    quantiles = ", ".join(f"{share:.0%} {result:g}" for share, result in found.quantiles.items())
    return [
        f"{found.agent}: mean {mean:.2f} +- {1.96 * error:.2f} (95 %), standard error {error:.2f}",
        f"{found.distinct} distinct games of {len(found.records)}",
        f"quantiles: {quantiles}",
        *_bars(found),
    ]


def _bars(found: Evaluation) -> list[str]:
    rows = found.histogram()
    most = max(count for *_, count in rows)
    return [f"{low:>10.0f} .. {high:<10.0f} {count:>6} {'#' * (BAR * count // most)}" for low, high, count in rows]
