"""``mdplay show``."""

from __future__ import annotations

from typing import Any, TextIO

import click

from mdplay.cli.common import game_argument, json_option, position_option, print_json
from mdplay.game import Game, num_players
from mdplay.position import Position


def describe(position: Position[Any]) -> dict[str, Any]:
    """Return a position as a document: whose move it is, the points so far, and the moves or outcomes."""
    game, s = position.game, position.state
    return {
        "position": position.text,
        "player": position.player,
        "points": list(position.points),
        "moves": [
            {"move": game.move_text(s, a), "action": a, "reward": game.reward(s, a)} for a in position.actions
        ],
        "outcomes": [{"outcome": name, "probability": chance} for name, chance in position.outcomes.items()],
        "result": position.result,
    }


def _sentence(position: Position[Any]) -> str:
    two = num_players(position.game) == 2
    if position.is_chance:
        return f"Chance moves: {len(position.outcomes)} outcomes."
    if position.player is None:
        return f"The game is over: {position.result:+g} for player 1." if two else "The game is over."
    mover = f"Player {position.player + 1} moves" if two else "Your move"
    return f"{mover}: {', '.join(position.moves)}"


@click.command()
@game_argument
@position_option
@click.option("--svg", type=click.File("w"), metavar="FILE", help="Also write the picture as SVG.")
@json_option
def command(game: Game[Any], position: str | None, svg: TextIO | None, as_json: bool) -> None:
    """Draw a position and list its moves.

    \b
    Example:
      mdplay show connect-four --position 4453
      mdplay show dots-and-boxes --position moves:0,2,6,8
    """
    shown = Position.start(game) if position is None else Position.parse(game, position)
    if svg is not None:
        svg.write(shown.svg)
    if as_json:
        print_json(describe(shown))
        return
    click.echo(f"{shown}\n")
    if game.has_reward and shown.past:
        click.echo(f"Points: {' : '.join(f'{points:g}' for points in shown.points)}")
    click.echo(_sentence(shown))
