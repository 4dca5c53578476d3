"""``mdplay respond``: best responses by turns until both players stand still."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdplay.cli.common import game_argument, json_option, print_json, progress
from mdplay.errors import FormatError
from mdplay.game import Game

if TYPE_CHECKING:
    from mdplay.mdp.game_graph import GameGraph
    from mdplay.mdp.responses import Step


@click.command()
@game_argument
@click.option("--start", default="uniform", show_default=True, metavar="FILE|uniform", help="The first policy.")
@click.option("--player", type=click.IntRange(1, 2), help="Whose policy a uniform start is; default 1.")
@click.option("--win", type=float, default=1.0, show_default=True, help="What a win is worth.")
@click.option("--draw", type=float, default=0.0, show_default=True, help="What a draw is worth.")
@click.option("--loss", type=float, default=0.0, show_default=True, help="What a loss is worth.")
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
    r"""Let each player in turn become the best response to the other's last policy, until neither changes.

    \b
    Examples:
      mdplay respond anti-tic-tac-toe
      mdplay respond anti-tic-tac-toe --start p2_policy.txt --draw 0.5 --out policies
    """
    from mdplay.mdp.game_graph import Score, explore
    from mdplay.mdp.policies import start_from, write_policy
    from mdplay.mdp.responses import respond

    with progress("states") as show:
        graph = explore(game, show=show)
    score = None if game.has_reward else Score(win, draw, loss)
    steps: list[Step] = []
    for step in respond(graph, start_from(graph, start, None if player is None else player - 1), score):
        steps.append(step)
        if out is not None:
            write_policy(graph, step, Path(out) / f"step-{len(steps) - 1:02d}-player-{step.player + 1}.txt")
        if not as_json:
            click.echo(_line(len(steps) - 1, step))
    _finish(graph, steps, as_json)


def _line(number: int, step: Step) -> str:
    """Return what happened in one step, for a reader."""
    if step.value is None:
        return f"start    player {step.player + 1}"
    changed = "first response" if step.changed is None else f"{step.changed} states changed"
    return f"step {number:<3} player {step.player + 1}  value {step.value:.6f}  {changed}"


def _finish(graph: GameGraph, steps: list[Step], as_json: bool) -> None:
    """Print the fixed point and the game that it plays."""
    from mdplay.mdp.responses import played

    last = {step.player: step for step in steps}
    if set(last) != {0, 1}:
        raise FormatError("best responses need a game for two players")
    edges = played(graph, (last[0].weights, last[1].weights))
    states = [graph.state(int(graph.owner[edge])) for edge in edges]
    moves = [graph.game.move_text(s, int(graph.action[e])) for s, e in zip(states, edges, strict=True)]
    end = int(graph.target[edges[-1]]) if edges else 0
    if as_json:
        document = {
            "steps": [{"player": s.player + 1, "value": s.value, "changed": s.changed} for s in steps],
            "values": {str(p + 1): last[p].value for p in (0, 1)},
            "moves": moves,
            "end": graph.game.text(graph.state(end)),
            "result": float(graph.result[end]),
        }
        print_json(document)
        return
    click.echo(f"\nfixed point after {len(steps) - 1} steps; the game that it plays: {' '.join(moves)}")
    click.echo(graph.game.board(graph.state(end)))
    click.echo(f"result {graph.result[end]:g} for player 1")
