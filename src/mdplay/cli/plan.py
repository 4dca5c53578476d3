"""``mdplay plan``: an MDP file in, one `value action` line a state out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import THREADS, AnyNumber, engine_option, progress
from mdplay.cli.linear_algebra import one_thread
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.mdp import Plan


@click.command()
@click.argument("file", required=False)
@click.option("--mdp", "mdp_file", help="The MDP file, as the course's planner takes it.")
@click.option(
    "--method", "--algorithm", "method", default="auto", show_default=True, help="auto, vi, hpi, lp, ..."
)
@click.option("--policy", help="Evaluate the policy in this file (one action a line) instead.")
@click.option(
    "--tolerance", type=AnyNumber(), default=1e-7, show_default=True, help="The error of a value, proven."
)
@click.option("--bounds", is_flag=True, help="Print the proven lower and upper bound of each state too.")
@click.option("--threads", type=THREADS, help="The number of threads; default all cores.")
@engine_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def command(
    file: str | None,
    mdp_file: str | None,
    method: str,
    policy: str | None,
    bounds: bool,
    engine: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Plan in an MDP of the CS747 text form; print the best value and action of every state.

    Methods: auto, vi (Gauss-Seidel value iteration), jacobi, topological, mpi (modified policy iteration),
    hpi (Howard's policy iteration), ipi (inexact policy iteration), lp (linear programming).

    \b
    Examples:
      mdplay plan maze.txt
      mdplay plan --mdp maze.txt --algorithm hpi
      mdplay plan maze.txt --policy actions.txt --bounds
    """
    if (file is None) == (mdp_file is None):
        raise click.UsageError("name one MDP file: mdplay plan FILE, or mdplay plan --mdp FILE")
    one_thread()  # before numpy is imported
    from mdplay.mdp import MDP, evaluate_policy, plan
    from mdplay.mdp.formats.cs747 import read_policy

    model = MDP.from_cs747(file or mdp_file or "")
    with progress("sweeps") as show:
        given["show"] = lambda sweeps, _: show(sweeps)
        if policy is None:
            found = plan(model, method, engine=engine, **given)
        else:
            found = evaluate_policy(model, read_policy(policy, model), **given)
    if as_json:
        facts = {"transitions": model.num_transitions, "discount": model.discount}
        click.echo(json.dumps({**facts, **found.document()}))
    else:
        click.echo(_lines(found, bounds), nl=False)
    _warn(found)


def _lines(found: Plan, bounds: bool) -> str:
    """Return the `value action` lines; a terminal state's action is written as 0."""
    columns = [found.value.tolist(), found.action.clip(min=0).tolist()]
    if not bounds:
        return "".join(f"{value:.9f} {action}\n" for value, action in zip(*columns, strict=True))
    columns += [found.lower.tolist(), found.upper.tolist()]
    return "".join(f"{v:.9f} {a} {low!r} {high!r}\n" for v, a, low, high in zip(*columns, strict=True))


def _warn(found: Plan) -> None:
    """Say on stderr what a reader of the values must know."""
    if found.infinite.size:
        click.echo(f"mdplay: {counted(found.infinite.size, 'state')} of infinite value", err=True)
    if not found.closed:
        click.echo(
            f"mdplay: the values are proven to {found.gap / 2:.1e}, not to {found.tolerance:.1e}: "
            "doubles allow no more here",
            err=True,
        )
