"""``mdplay learn GAME``: one command a game, each in a file of its own."""

from __future__ import annotations

from importlib import import_module

import click

LEARNERS = {
    "2048": ("learn_2048", "Learn 2048 by an n-tuple network and temporal differences."),
}


class Learners(click.Group):
    """The games that can be learned; their commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the games."""
        return sorted(LEARNERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the game's command."""
        if cmd_name not in LEARNERS:
            return None
        command: click.Command = import_module(f"mdplay.cli.{LEARNERS[cmd_name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of games from the table alone."""
        with formatter.section("Games"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(LEARNERS.items())])


@click.group(cls=Learners)
def command() -> None:
    r"""Learn a game by playing it.

    \b
    Example:
      mdplay learn 2048 --episodes 10000 --method tc --out network.safetensors
    """
