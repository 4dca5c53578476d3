"""``mdplay engine``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import game_argument
from mdplay.game import Game


@click.command()
@game_argument
@click.option("--agent", "-a", default="mcts", show_default=True, help="Who chooses the moves.")
def command(game: Game[Any], agent: str) -> None:
    """Be an engine: lines of JSON on stdin and stdout, in the manner of UCI.

    docs/engine.md has the protocol.  Other programs play by it with the agent engine:COMMAND.

    \b
    Examples:
      mdplay engine connect-four
      mdplay match connect-four "engine:python my_bot.py" random
    """
    from mdplay.playing.engine.server import serve_engine

    serve_engine(game, agent)
