"""``mdplay bench``."""

from __future__ import annotations

from pathlib import Path

import click

from mdplay.cli.common import Count, json_option, print_json
from mdplay.cli.linear_algebra import ALL_CONTENDERS, one_thread


@click.command()
@click.argument("groups", nargs=-1)
@click.option("--quick", is_flag=True, help="Small sizes: what runs and agrees, not how fast.")
@click.option("--rounds", type=Count(1), default=5, show_default=True, help="How often each contender runs.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the results as JSON.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw cost over the work (.png, .svg or .pdf).")
@json_option
def command(
    groups: tuple[str, ...], quick: bool, rounds: int, out: Path | None, plot: Path | None, as_json: bool
) -> None:
    """Measure speed beside other libraries that are installed.

    Groups: mdp, mcts, connect-four, 2048, exact, bandits, learning, environments (default: all). The same work in
    turns, round by round, in processor time; answers are compared. A ratio tells how many times as long as mdplay
    a contender took: below 1 it was faster.

    \b
    Examples:
      mdplay bench mdp mcts --plot cost.png
      mdplay bench --quick --json
      pip install 'mdplay[bench]'
    """
    one_thread(ALL_CONTENDERS)  # before numpy is imported
    from mdplay.benching.run import bench

    result = bench(groups, quick=quick, rounds=rounds, report=None if as_json else click.echo)
    if out is not None:
        result.save(out)
    if plot is not None:
        result.plot(plot)
    if as_json:
        print_json(result.document())
