"""``mdplay learn qubic`` and any other game of points: Monte Carlo utilities of points, with heat maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import json_option, print_json, progress, seed_option
from mdplay.game import Game

if TYPE_CHECKING:
    from mdplay.learning.points import PointUtilities


def read_counts(ctx: click.Context, param: click.Parameter, text: str) -> list[int]:
    """Return the numbers of games in a text such as ``1000,10000``."""
    counts = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(count.isdecimal() and int(count) > 0 for count in counts):
        raise click.BadParameter(f"{text!r} is not a list of positive numbers such as 1000,10000,100000.")
    return [int(count) for count in counts]


@click.command()
@click.option(
    "--games",
    "counts",
    default="1000,10000,100000",
    show_default=True,
    callback=read_counts,
    help="Numbers of games; each is learned from scratch.",
)
@click.option(
    "--explore",
    type=click.Choice(["annealed", "always"]),
    default="annealed",
    show_default=True,
    help="Play the best point more and more often, or random points always.",
)
@seed_option
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the layers as heat maps (.png, .svg, .pdf).")
@click.option("--out", type=click.Path(path_type=Path), help="Write the runs as JSON, for the agent points:FILE.")
@json_option
@click.pass_obj
def command(
    game: Game[Any],
    /,
    counts: list[int],
    explore: str,
    seed: int,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Learn how much each point is worth by playing: the share of games won by whoever took it.

    \b
    Example:
      mdplay learn qubic --games 1000,10000,100000 --plot points.png
      mdplay learn qubic --games 100000 --explore always --out points.json
    """
    from mdplay.learning.points import learn

    runs = []
    for count in counts:
        with progress(f"{count:,} games", count) as show:
            runs.append(learn(game, games=count, explore=explore, seed=seed, show=show))
        if not as_json:
            _print_run(game, runs[-1])
    _finish(game, runs, plot, out, as_json)


def _finish(
    game: Game[Any], runs: list[PointUtilities], plot: Path | None, out: Path | None, as_json: bool
) -> None:
    from mdplay.learning.heat_maps import draw
    from mdplay.learning.points import shape_of
    from mdplay.store import replacing

    document = {"runs": [_document(game, run) for run in runs]}
    if plot is not None:
        draw(plot, runs, shape_of(game), f"utility of each point, {runs[0].explore}, seed {runs[0].seed}")
    if out is not None:
        with replacing(out) as file:
            file.write(json.dumps(document).encode())
    if as_json:
        print_json(document)


def _document(game: Game[Any], run: PointUtilities) -> dict[str, Any]:
    from mdplay.learning.points import rich_points, shape_of

    rich = rich_points(game)
    layers = run.utilities.reshape(shape_of(game)).tolist()
    return {**run.as_dict(), "layers": layers, "rich_points": rich, "rich_points_on_top": _on_top(run, rich)}


def _on_top(run: PointUtilities, rich: list[int]) -> int:
    return len(set(run.highest(len(rich))) & set(rich))


def _print_run(game: Game[Any], run: PointUtilities) -> None:
    from mdplay.learning.points import rich_points

    speed = run.num_games / run.seconds
    click.echo(f"{run.num_games:,} games, {run.explore}, seed {run.seed} ({speed:,.0f} games/s)")
    click.echo(f"player 1 won {run.victories:,}, player 2 {run.losses:,}, tied {run.ties:,}\n")
    _print_layers(game, run)
    _print_points(run)
    if rich := rich_points(game):
        lines = max(game.lines_through)  # type: ignore[attr-defined]
        of = len(rich)
        click.echo(f"{_on_top(run, rich)} of the {of} points on {lines} lines are among the {of} highest\n")


def _print_layers(game: Game[Any], run: PointUtilities) -> None:
    from mdplay.learning.points import shape_of

    for z, layer in enumerate(run.utilities.reshape(shape_of(game))):
        if shape_of(game)[0] > 1:
            click.echo(f"layer z = {z}")
        for row in layer:
            click.echo("  " + "  ".join(f"{value:.4f}" for value in row))
    click.echo()


def _print_points(run: PointUtilities) -> None:
    click.echo("point  utility     wins    games")
    for point, (utility, wins, games) in enumerate(zip(run.utilities, run.wins, run.games, strict=True)):
        click.echo(f"{point:>5}  {utility:.5f} {wins:>8,} {games:>8,}")
    click.echo()
