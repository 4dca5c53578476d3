"""``mdplay learn 2048``: train an n-tuple network, with a curve and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import json_option, print_json, progress
from mdplay.errors import FormatError

if TYPE_CHECKING:
    from mdplay.games.twenty48 import Twenty48
    from mdplay.learning.training import Training


@click.command("2048")
@click.option("--episodes", default=10_000, show_default=True, type=click.IntRange(1), help="Episodes in all.")
@click.option("--method", help="td (after-states, the default), td-before (before-states) or tc (coherence).")
@click.option("--network", help="Patterns: 4x6 (the default), 5x6, 8x6 ... or cells in hex, as 0123,4567.")
@click.option("--alpha", type=float, help="Rate of learning; 0.1 for td, 1 for tc unless given.")
@click.option("--backward", is_flag=True, default=None, help="Replay each episode from its end.")
@click.option("--lambda", "decay", type=float, help="Returns of TD(lambda); replays backward.")
@click.option("--optimistic", type=float, help="First value of every board (0).")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Only 1 repeats exactly.")
@click.option("--seed", type=int, help="Seed of all random numbers (0).")
@click.option("--out", type=click.Path(path_type=Path), help="File of the network; written every minute.")
@click.option("--resume", is_flag=True, help="Go on from the file; start anew if there is none yet.")
@click.option("--save-every", default=60.0, show_default=True, type=float, help="Seconds between checkpoints.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the curve (.png, .svg, .pdf).")
@click.option("--curve", type=click.Path(path_type=Path), help="Write the curve as CSV.")
@json_option
@click.pass_obj
def command(
    game: Twenty48,
    /,
    episodes: int,
    threads: int,
    out: Path | None,
    resume: bool,
    save_every: float,
    plot: Path | None,
    curve: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Learn 2048 by an n-tuple network and temporal differences.

    Every 1000 episodes: the mean score, the maximum, and for each tile the share of games that reached it.
    Ctrl-C saves and stops; --resume goes on.  One seed and one thread repeat to the last bit, also over kills.

    \b
    Example:
      mdplay learn 2048 --episodes 100000 --seed 1 --out td.safetensors --plot td.png
      mdplay learn 2048 --method tc --threads 2 --episodes 5000 --json
    """
    from mdplay.learning.training import learn

    chosen = {name: value for name, value in given.items() if value is not None}
    training = _training(out, resume, {**chosen, "rows": game.rows, "cols": game.cols})
    report = None if as_json else _report
    with progress("learning") as show:
        learn(training, episodes, threads=threads, out=out, save_seconds=save_every, report=report, show=show)
    _finish(training, plot, curve, as_json)


def _training(out: Path | None, again: bool, given: dict[str, Any]) -> Training:
    """Return a new training, or the one in the file."""
    from mdplay.learning.training import Settings, Training, resume

    if again and out is None:
        raise FormatError("--resume needs --out, the file to go on from")
    if out is not None and out.exists():
        if again:
            return resume(out, given)
        raise FormatError(f"{out} is already there; add --resume to go on with it, or name another file")
    return Training.begin(Settings(**given))


def _report(training: Training) -> None:
    click.echo(training.curve()[-1].line())


def _finish(training: Training, plot: Path | None, curve: Path | None, as_json: bool) -> None:
    from mdplay.learning.curves import draw, write_csv

    if plot is not None:
        draw(plot, {f"{training.settings.method}, seed {training.settings.seed}": training.curve()}, "2048")
    if curve is not None:
        write_csv(curve, training.curve())
    if as_json:
        print_json(training.as_dict())
        return
    speed = training.moves_per_second / 1e6
    click.echo(f"{training.episodes:,} episodes in {training.seconds:,.1f} s, {speed:.2f} M moves per second")
