"""``mdplay plan`` and ``mdplay respond``."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from mdplay import Game
from mdplay.cli.common import (
    AnyNumber,
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
from mdplay.naming import registry
from mdplay.naming.notation import result_text

if TYPE_CHECKING:
    from mdplay import Responses
    from mdplay.planning import Plan
    from mdplay.planning.grids import Grid
    from mdplay.planning.model import Model
    from mdplay.solving.responses import Response


@click.command()
@click.argument("file", required=False)
@click.option("--mdp", "mdp_file", help="MDP file (the option name of the course CS747).")
@click.option(
    "--method",
    "--algorithm",
    "method",
    default="auto",
    show_default=True,
    help="auto, vi, jacobi, topological, mpi, hpi, ipi, mixed or lp.",
)
@click.option("--policy", help="Evaluate the policy in this file (one action per line).")
@click.option(
    "--criterion",
    help="discounted, total, average (reward per step) or horizon=N (the next N steps).  "
    "[default: discounted if the discount is below 1, else total]",
)
@click.option("--discount", type=AnyNumber(), help="Discount, instead of that of the file.")
@click.option("--reward", metavar="NAME", help="Reward model of a DRN or UMB file.")
@click.option("--minimise", is_flag=True, help="Treat rewards as costs.")
@click.option("--to", "to", metavar="FORMAT", help="Convert to cs747, nested, gymnasium, npz or umb; do not plan.")
@click.option("--out", metavar="FILE", help="With --to: write to this file.  [default: stdout]")
@click.option("--plot", metavar="FILE", help="Draw the plan of a grid (png, svg, pdf; - for characters).")
@click.option(
    "--tolerance", type=AnyNumber(), default=1e-6, show_default=True, help="Maximum proven error of a value."
)
@click.option("--states", metavar="FILE", help="Plan for the player of this states file; FILE is then a game.")
@click.option("--opponent", metavar="FILE", help="The opponent's policy file or uniform; FILE is then a game.")
@click.option("--player", type=Count(1, 2), help="With --opponent uniform: the player who plans.  [default: 1]")
@click.option("--values", metavar="FILE", help="With --states: the output of a planner, instead of --opponent.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["values", "mdp", "policy"]),
    default="values",
    show_default=True,
    help="Print values and actions; with --states also the MDP file or the player's policy file.",
)
@click.option("--bounds", is_flag=True, help="Also print the proven lower and upper bound of each state.")
@threads_option
@executor_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def plan_command(
    file: str | None,
    mdp_file: str | None,
    states: str | None,
    opponent: str | None,
    values: str | None,
    form: str,
    as_json: bool,
    to: str | None,
    out: str | None,
    plot: str | None,
    player: int | None,
    discount: float | None,
    reward: str | None,
    minimise: bool,
    **given: Any,
) -> None:
    """Plan in an MDP file, or in a game against a fixed policy; print the optimal value and action of every state.

    The form of FILE is recognised: CS747, DRN, .tra, UMB, .npz (P and R), JSON, a drawn grid, or
    gymnasium:FrozenLake-v1.

    Methods: auto, vi (Gauss-Seidel value iteration), jacobi, topological, mpi (modified policy iteration),
    hpi (Howard's policy iteration), ipi (inexact policy iteration), mixed (mpi, then ipi),
    lp (linear programming).

    \b
    Examples:
      mdplay plan maze.txt
      mdplay plan --mdp maze.txt --algorithm hpi
      mdplay plan maze.txt --policy actions.txt --bounds
      mdplay plan queue.json --criterion average
      mdplay plan gymnasium:FrozenLake-v1 --discount 0.99 --to umb --out lake.umb
      mdplay plan tic-tac-toe --opponent uniform --criterion horizon=3
      mdplay plan anti-tic-tac-toe --states mine.txt --opponent theirs.txt --format policy
    """
    if (file is None) == (mdp_file is None):
        raise click.UsageError("name one MDP file: mdplay plan FILE, or mdplay plan --mdp FILE")
    if states is not None:
        _plan_game(registry.make(file or ""), states, opponent, values, form, as_json, given)
        return
    if values or form != "values":
        raise click.UsageError("--values and --format need --states")
    if player and opponent != "uniform":
        raise click.UsageError("--player needs --opponent uniform; a policy file names its player")
    from mdplay.planning.formats.files import BINARY, Options, converted, game_model, read_model, write_model

    grid = None
    if opponent is not None:
        model = game_model(registry.make(file or ""), opponent, (player or 1) - 1)
        if minimise or reward or discount not in (None, 1.0):
            raise click.UsageError("--minimise, --reward and --discount do not apply to a game")
    else:
        model, grid = read_model(file or mdp_file or "", Options(reward, discount, minimise))
    if plot is not None and grid is None:
        raise click.UsageError("--plot draws plans of grids; the file is not a drawn grid")
    if out is not None and to is None:
        raise click.UsageError("--out needs --to FORMAT")
    if to is None:
        _print_plan(model, as_json, grid=grid, plot=plot, **given)
    elif out is not None:
        write_model(model, out, to)
    elif to in BINARY:
        raise click.UsageError(f"--to {to} needs --out FILE")
    else:
        click.echo(converted(model, to), nl=False)


def _plan_game(
    game: Game[Any],
    states: str,
    opponent: str | None,
    values: str | None,
    form: str,
    as_json: bool,
    given: dict[str, Any],
) -> None:
    """Plan for one player by the file formats of the course: states, policy, MDP, values and actions."""
    from mdplay.planning.formats.cs747 import decode, encode, parse_mdp, read_policy_file, read_states

    if (opponent is None) == (values is None):
        raise click.UsageError("with --states give either --opponent FILE or --values FILE")
    own = read_states(states, game)
    if values is not None:
        if form != "policy":
            raise click.UsageError("--values needs --format policy")
        click.echo("".join(decode(game, own, values)), nl=False)
        return
    text = "".join(encode(game, own, read_policy_file(opponent or "", game)))
    if form == "mdp":
        click.echo(text, nl=False)
        return
    model = parse_mdp(text.encode(), name=f"{states} against {opponent}")
    if form == "values":
        _print_plan(model, as_json, **given)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "values"
        path.write_text(_lines(_planned(model, **given), False))
        click.echo("".join(decode(game, own, path)), nl=False)


def _planned(model: Model, method: str, policy: str | None, executor: str | None, **given: Any) -> Plan:
    """Return the plan of a model, or the values of a policy file."""
    from mdplay.planning import evaluate_policy, plan
    from mdplay.planning.formats.cs747 import read_policy

    given.pop("bounds")
    with progress("sweeps") as show:
        given["progress"] = lambda sweeps, _: show(sweeps)
        if policy is None:
            return plan(model, method, executor=executor, **given)
        return evaluate_policy(model, read_policy(policy, model), **given)


def _print_plan(
    model: Model, as_json: bool, *, bounds: bool, grid: Grid | None = None, plot: str | None = None, **given: Any
) -> None:
    """Plan and print the values, draw them if that is wanted, and warn of what is not proved."""
    found = _planned(model, bounds=bounds, **given)
    if grid is not None and plot is not None:
        _draw(grid, found, plot)
    if plot == "-":
        pass
    elif as_json:
        facts = {"transitions": model.num_transitions, "discount": model.discount}
        click.echo(json.dumps({**facts, **found.document()}))
    else:
        click.echo(_lines(found, bounds), nl=False)
    _warn(found)


def _draw(grid: Grid, found: Plan, plot: str) -> None:
    from mdplay.planning.grids import draw_plan, paint_plan
    from mdplay.views.charts import save_plot

    if plot == "-":
        click.echo(draw_plan(grid, found.value, found.action), nl=False)
        return
    size = (max(3.0, 0.5 * len(grid.rows[0]) + 1.5), max(2.0, 0.5 * len(grid.rows) + 0.5))
    save_plot(paint_plan(grid, found.value, found.action), plot, size)


def _lines(found: Plan, bounds: bool) -> str:
    """Return the `value action` lines; a terminal state's action is written as 0."""
    columns = [found.value.tolist(), found.action.clip(min=0).tolist()]
    if not bounds:
        return "".join(f"{value:.9f} {action}\n" for value, action in zip(*columns, strict=True))
    columns += [found.lower.tolist(), found.upper.tolist()]
    return "".join(f"{v:.9f} {a} {low!r} {high!r}\n" for v, a, low, high in zip(*columns, strict=True))


def _warn(found: Plan) -> None:
    """Print warnings about the values on stderr."""
    if found.infinite.size:
        click.echo(f"mdplay: {pluralize(found.infinite.size, 'state')} of infinite value", err=True)
    if not found.closed:
        click.echo(
            f"mdplay: the values are proven to {found.gap / 2:.1e}, not to {found.tolerance:.1e}: "
            "doubles allow no more here",
            err=True,
        )


@click.command()
@game_argument
@click.option("--start", default="uniform", show_default=True, metavar="FILE|uniform", help="First policy.")
@click.option("--player", type=Count(1, 2), help="Player of a uniform first policy.  [default: 1]")
@click.option("--win", type=AnyNumber(), default=1.0, show_default=True, help="Value of a win.")
@click.option("--draw", type=AnyNumber(), default=0.0, show_default=True, help="Value of a draw.")
@click.option("--loss", type=AnyNumber(), default=0.0, show_default=True, help="Value of a loss.")
@setting("file", "--out", metavar="DIR", help="Write every policy to this folder.")
@json_option
def respond_command(game: Game[Any], player: int | None, as_json: bool, **given: Any) -> None:
    """Iterate best responses until both policies converge.

    \b
    Examples:
      mdplay respond anti-tic-tac-toe
      mdplay respond anti-tic-tac-toe --start p2_policy.txt --draw 0.5 --out policies
    """
    from mdplay import respond

    tell = None if as_json else lambda number, step: click.echo(_line(number, step))
    with progress("states") as show:
        side = None if player is None else player - 1
        found = respond(game, player=side, progress=show, report=tell, **given)
    print_json(found.document()) if as_json else _print(found)


def _line(number: int, step: Response) -> str:
    """Return the description of one step."""
    if step.value is None:
        return f"start    player {step.player + 1}"
    changed = "first response" if step.changed is None else f"{pluralize(step.changed, 'state')} changed"
    return f"step {number:<3} player {step.player + 1}  value {step.value:.6f}  {changed}"


def _print(found: Responses) -> None:
    """Print the fixed point and the game that it plays."""
    game = found.graph.game
    steps = pluralize(len(found.steps) - 1, "step")
    click.echo(f"\nfixed point after {steps}; the game that it plays: {' '.join(found.moves)}")
    click.echo(game.board(found.graph.state(found.end)))
    if found.result is None:
        click.echo("the most probable outcomes of chance repeat a position")
        return
    if found.endless:
        click.echo("the position repeats: play continues without end")
    click.echo(f"result {found.result:g} for player 1: {result_text(game, found.result)}")
