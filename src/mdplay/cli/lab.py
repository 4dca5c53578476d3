"""The commands ``bandits``, ``bench``, ``reproduce`` and ``serve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdplay import FormatError
from mdplay.cli.common import (
    Count,
    executor_option,
    json_option,
    print_json,
    progress,
    seed_option,
    threads_option,
)
from mdplay.errors import pluralize

if TYPE_CHECKING:
    from mdplay.bandits.laboratory import Comparison


POLICIES = "greedy,epsilon-greedy,softmax,ucb1,ucb1-tuned,thompson,gradient"


@click.command()
@click.option(
    "--arms",
    default="gaussian:10",
    show_default=True,
    help="0.9,0.8 (Bernoulli), gaussian:10 or gaussian:0,1,drift=0.01.",
)
@click.option(
    "--policies", default=POLICIES, show_default=True, help="Selectors, for example ucb1(c=2),thompson, or all."
)
@click.option("--steps", type=Count(1), default=1000, show_default=True, help="Pulls per run.")
@click.option("--runs", type=Count(1), default=2000, show_default=True, help="Number of runs to average.")
@click.option("--study", metavar="NAME=V,V,...", help="Compare these values of a parameter of each policy.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the curves (png, svg, pdf).")
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False), metavar="FILE", help="Write the curves as a table."
)
@seed_option
@threads_option
@executor_option
@json_option
def bandits_command(
    arms: str,
    policies: str,
    study: str | None,
    plot: str | None,
    csv_file: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare selection rules on a multi-armed bandit.

    \b
    Examples:
      mdplay bandits --arms 0.9,0.8 --policies ucb1,kl-ucb,thompson --plot regret.png
      mdplay bandits --policies ucb1 --study c=0.25,0.5,1,2,4
    """
    from mdplay.bandits.laboratory import compare

    if study is not None:
        _study(arms, policies, study, given, plot, as_json)
        return
    with progress("pulling", given["steps"] * given["runs"]) as show:
        found = compare(arms, policies, show=show, **given)
    if plot is not None:
        from mdplay.bandits.plots import plot_curves

        plot_curves(found, plot)
    if csv_file is not None:
        found.write_curves(csv_file)
    print_json({"arms": arms, **found.document()}) if as_json else _print(found)


def _print(curves: Comparison) -> None:
    click.echo(f"{'policy':28} {'regret':>16} {'reward at end':>16} {'best pulls at end':>18}")
    for curve in curves:
        regret = f"{curve.regret[-1]:.2f} +- {curve.regret_error[-1]:.2f}"
        reward = f"{curve.end_reward:.3f} +- {curve.end_reward_error:.3f}"
        best = f"{curve.end_optimal:.1%} +- {curve.end_optimal_error:.1%}"
        click.echo(f"{curve.name:28} {regret:>16} {reward:>16} {best:>18}")
    speed = sum(int(c.steps[-1]) * c.runs for c in curves) / sum(c.seconds for c in curves)
    click.echo(f"+- one standard error over {pluralize(curves[0].runs, 'run')}; {speed:,.0f} steps/s")
    if (constant := curves.bandit.lower_bound()) is not None:
        click.echo(f"Lai-Robbins: regret grows at least like {constant:.3f} ln(steps)")


def _study(arms: str, policies: str, study: str, given: dict[str, Any], plot: str | None, as_json: bool) -> None:
    """Print, and draw, the mean reward of each policy over a parameter's values."""
    from mdplay.bandits.laboratory import parameter_study

    parameter, _, rest = study.partition("=")
    try:
        values = [float(value) for value in rest.split(",")]
    except ValueError:
        raise FormatError(f"--study {study!r}: write name=value,value,..., as in c=0.5,1,2") from None
    with progress("studying"):
        found = parameter_study(arms, policies, parameter, values, **given)
    if plot is not None:
        from mdplay.bandits.plots import plot_study

        plot_study(found, plot)
    if as_json:
        print_json({name: {str(value): reward for value, reward in row.items()} for name, row in found.items()})
        return
    for name, row in found.items():
        for value, reward in row.items():
            click.echo(f"{name:24} {parameter}={value:<8g} mean reward {reward:.3f}")


@click.command()
@click.argument("groups", nargs=-1)
@click.option("--quick", is_flag=True, help="Use small sizes: compare the answers, not the speed.")
@click.option("--rounds", type=Count(1), default=5, show_default=True, help="Runs of each library.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the results as JSON.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw cost over the work (.png, .svg or .pdf).")
@json_option
def bench_command(
    groups: tuple[str, ...], quick: bool, rounds: int, out: Path | None, plot: Path | None, as_json: bool
) -> None:
    """Compare the speed with installed libraries.

    Groups: mdp, mcts, connect-four, 2048, exact, bandits, learning, environments (default: all). The same work in
    turns, round by round, in processor time; answers are compared. A ratio tells how many times as long as mdplay
    a contender took: below 1 it was faster.

    \b
    Examples:
      mdplay bench mdp mcts --plot cost.png
      mdplay bench --quick --json
      pip install 'mdplay[bench]'
    """
    from mdplay.lab.benchmarks.run import bench

    result = bench(groups, quick=quick, rounds=rounds, report=None if as_json else click.echo)
    if out is not None:
        result.save(out)
    if plot is not None:
        result.plot(plot)
    if as_json:
        print_json(result.document())


@click.command()
@click.argument("systems", nargs=-1, type=Count(1, 5))
@click.option("--quick", is_flag=True, help="Use smaller numbers: about a minute instead of half an hour.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("reproduction"), show_default=True, help="Folder."
)
@seed_option
def reproduce_command(systems: tuple[int, ...], quick: bool, out: Path, seed: int) -> None:
    """Reproduce the five systems: the reports' claims, boards, plots, one HTML page.

    What is finished is kept: a run that was stopped goes on where it was.

    \b
    Examples:
      mdplay reproduce --quick
      mdplay reproduce 1 5 --out report
    """
    from mdplay.lab.reproduction.run import FACTS, PAGE, SYSTEMS, reproduce

    for chapter in reproduce(systems or tuple(SYSTEMS), out, progress, quick=quick, seed=seed):
        click.secho(f"{chapter.number}. {chapter.title}", bold=True)
        click.echo(f"   {chapter.headline}")
    click.echo(f"\nThe page: {out / PAGE}   all figures as JSON: {out / FACTS}")


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME|FILE]...")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 selects a free one."
)
@click.option("--open", "open_browser", is_flag=True, help="Open the web app in the browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--token", help="Access token, required with another host.  [default: random, printed]")
@click.option("--executor", metavar="E", help="Run tree searches on processes, ray or ray:ADDRESS.")
def serve_command(
    games: tuple[str, ...], port: int, open_browser: bool, host: str, token: str | None, executor: str | None
) -> None:
    """Start the web app: play, with the evaluation of every move.  Ctrl-C stops it.

    \b
    Examples:
      mdplay serve --open
      mdplay serve my_game.py connect-four:rows=5,cols=5
      mdplay serve --host 0.0.0.0 --port 8000
      mdplay serve --executor ray:10.0.0.7:6379
    """
    try:
        from mdplay.web.app import serve
    except ModuleNotFoundError as error:
        raise click.ClickException(f"the page needs {error.name}: pip install 'mdplay[web]'") from None

    serve(games, host=host, port=port, token=token, open_browser=open_browser, executor=executor, tell=click.echo)
