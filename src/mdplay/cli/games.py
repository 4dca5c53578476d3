"""``mdplay games``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click

from mdplay import __version__, registry, specs
from mdplay.cli.common import json_option, print_json
from mdplay.errors import MdplayError
from mdplay.game import num_players
from mdplay.plugins import plugin_points, source_of, warn_once
from mdplay.words import counted

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
        "source": f"mdplay {__version__}" if name in registry.BUILT_IN else source_of(plugin_points("game")[name]),
        "knows": [word for method, word in KNOWLEDGE.items() if getattr(game, f"has_{method}")],
    }


def _described() -> Iterator[dict[str, Any]]:
    """Yield all games; a package's game that cannot be made is left out with a warning."""
    for name in registry.names():
        try:
            yield describe(name)
        except MdplayError as error:
            if name in registry.BUILT_IN:
                raise
            warn_once(str(error))


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
    games = list(_described())
    if as_json:
        print_json(games)
        return
    for game in games:
        click.secho(game["name"], bold=True)
        click.echo(f"  {game['summary']}")
        if game["name"] not in registry.BUILT_IN:
            click.echo(f"  from {game['source']}")
        click.echo(f"  parameters: {', '.join(game['parameters']) or 'none'}")
        click.echo(f"  {counted(game['players'], 'player')}; {', '.join(game['knows']) or 'rules only'}")
