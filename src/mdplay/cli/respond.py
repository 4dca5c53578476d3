"""``mdplay respond``: best responses by turns until both players stand still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import AnyNumber, Count, game_argument, json_option, print_json, progress
from mdplay.game import Game
from mdplay.notation import result_text
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.solving.responding import Responses
    from mdplay.solving.responses import Response


@click.command()
@game_argument
@click.option("--start", default="uniform", show_default=True, metavar="FILE|uniform", help="The first policy.")
@click.option("--player", type=Count(1, 2), help="Whose policy a uniform start is; default 1.")
@click.option("--win", type=AnyNumber(), default=1.0, show_default=True, help="What a win is worth.")
@click.option("--draw", type=AnyNumber(), default=0.0, show_default=True, help="What a draw is worth.")
@click.option("--loss", type=AnyNumber(), default=0.0, show_default=True, help="What a loss is worth.")
@click.option("--out", metavar="DIR", help="Write every policy to this folder as a policy file.")
@json_option
def command(
    game: Game[Any],
    start: str,
    player: int | None,
    win: float,
    draw: float,
    loss: float,
    out: str | None,
    as_json: bool,
) -> None:
    """Let each player in turn become the best response to the other's last policy, until neither changes.

    \b
    Examples:
      mdplay respond anti-tic-tac-toe
      mdplay respond anti-tic-tac-toe --start p2_policy.txt --draw 0.5 --out policies
    """
    from mdplay.solving.responding import respond

    tell = None if as_json else lambda number, step: click.echo(_line(number, step))
    with progress("states") as show:
        found = respond(
            game,
            start=start,
            player=None if player is None else player - 1,
            win=win,
            draw=draw,
            loss=loss,
            folder=out,
            show=show,
            report=tell,
        )
    print_json(found.document()) if as_json else _print(found)


def _line(number: int, step: Response) -> str:
    """Return what happened in one step, for a reader."""
    if step.value is None:
        return f"start    player {step.player + 1}"
    changed = "first response" if step.changed is None else f"{counted(step.changed, 'state')} changed"
    return f"step {number:<3} player {step.player + 1}  value {step.value:.6f}  {changed}"


def _print(found: Responses) -> None:
    """Print the fixed point and the game that it plays."""
    game = found.graph.game
    steps = counted(len(found.steps) - 1, "step")
    click.echo(f"\nfixed point after {steps}; the game that it plays: {' '.join(found.moves)}")
    click.echo(game.board(found.graph.state(found.end)))
    if found.result is None:
        click.echo("here the likeliest chance comes back to a position")
        return
    if found.endless:
        click.echo("here it comes back to a position, and goes on so for ever")
    click.echo(f"result {found.result:g} for player 1: {result_text(game, found.result)}")
