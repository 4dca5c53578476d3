"""``mdplay show``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.bits import members, some
from mdplay.cli.common import game_argument, json_option, position_option, print_json, state_of
from mdplay.game import Game, num_players


def describe(game: Game[Any], s: Any) -> dict[str, Any]:
    """Return a position as a document: whose move it is, and the moves or outcomes."""
    chance = some(game.outcomes(s))
    moves = [] if chance else members(game.legal(s))
    over = not chance and not moves
    return {
        "position": game.text(s),
        "player": None if chance or over else game.player(s),
        "moves": [{"move": game.move_text(s, a), "action": a, "reward": game.reward(s, a)} for a in moves],
        "outcomes": [
            {"outcome": game.outcome_text(s, i), "probability": game.probability(s, i)}
            for i in members(game.outcomes(s))
        ],
        "result": game.result(s) if over else None,
    }


def _sentence(game: Game[Any], facts: dict[str, Any]) -> str:
    if facts["outcomes"]:
        return f"Chance moves: {len(facts['outcomes'])} outcomes."
    if facts["player"] is None:
        return (
            f"The game is over: {facts['result']:+g} for player 1."
            if num_players(game) == 2
            else "The game is over."
        )
    mover = f"Player {facts['player'] + 1} moves" if num_players(game) == 2 else "Your move"
    return f"{mover}: {', '.join(move['move'] for move in facts['moves'])}"


@click.command()
@game_argument
@position_option
@json_option
def command(game: Game[Any], position: str | None, as_json: bool) -> None:
    """Draw a position and list its moves.

    \b
    Example:
      mdplay show connect-four --position 4453
    """
    s = state_of(game, position)
    facts = describe(game, s)
    if as_json:
        print_json(facts)
        return
    click.echo(game.board(s))
    click.echo()
    click.echo(_sentence(game, facts))
