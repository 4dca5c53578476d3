"""``mdplay games``."""

from __future__ import annotations

import inspect
from typing import Any

import click

from mdplay import registry, specs
from mdplay.cli.common import json_option, print_json
from mdplay.game import num_players

KNOWLEDGE = {
    "outcomes": "chance",
    "reward": "rewards",
    "size": "numbered states",
    "symmetries": "symmetries",
    "heuristic": "heuristic",
    "order": "move order",
    "bounds": "settled positions",
    "cell": "cells",
}


def describe(name: str) -> dict[str, Any]:
    """Return what there is to say about a registered game."""
    maker = registry.maker(name)
    game = registry.make(name)
    return {
        "name": name,
        "summary": _first_line(maker if inspect.isfunction(maker) else inspect.getmodule(maker)),
        "players": num_players(game),
        "parameters": [str(parameter) for parameter in specs.parameters(maker)],
        "knows": [word for method, word in KNOWLEDGE.items() if getattr(game, f"has_{method}")],
    }


def _first_line(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the games, their parameters and what they know.

    \b
    Example:
      mdplay games
    """
    games = [describe(name) for name in registry.names()]
    if as_json:
        print_json(games)
        return
    for game in games:
        click.secho(game["name"], bold=True)
        click.echo(f"  {game['summary']}")
        click.echo(f"  parameters: {', '.join(game['parameters']) or 'none'}")
        click.echo(
            f"  {game['players']} player{'s'[: game['players'] - 1]}; {', '.join(game['knows']) or 'rules only'}"
        )
