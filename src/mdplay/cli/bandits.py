"""``mdplay bandits``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import Count, engine_option, json_option, print_json, progress, seed_option, threads_option
from mdplay.errors import FormatError
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.bandits.laboratory import Comparison

POLICIES = "greedy,epsilon-greedy,softmax,ucb1,ucb1-tuned,thompson,gradient"


@click.command()
@click.option(
    "--arms",
    default="gaussian:10",
    show_default=True,
    help="0.9,0.8 (Bernoulli), gaussian:10, gaussian:0,1,drift=0.01.",
)
@click.option(
    "--policies", default=POLICIES, show_default=True, help="Selectors, as in ucb1(c=2),thompson; or all."
)
@click.option("--steps", type=Count(1), default=1000, show_default=True, help="Pulls in a run.")
@click.option("--runs", type=Count(1), default=2000, show_default=True, help="Runs to average over.")
@click.option("--study", metavar="NAME=V,V,...", help="Try a parameter of each policy with these values instead.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the curves (png, svg, pdf).")
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False), metavar="FILE", help="Write the curves as a table."
)
@seed_option
@threads_option
@engine_option
@json_option
def command(
    arms: str,
    policies: str,
    study: str | None,
    plot: str | None,
    csv_file: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare exploration policies on a multi-armed bandit.

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
    click.echo(f"+- one standard error over {counted(curves[0].runs, 'run')}; {speed:,.0f} steps/s")
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
