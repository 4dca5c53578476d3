"""``mdplay learn``: one command a game, each in a file of its own."""

from __future__ import annotations

from importlib import import_module

import click

from mdplay import registry

LEARNERS = {
    "2048": ("learn_2048", "An n-tuple network and temporal differences."),
    "qubic": ("learn_points", "Utilities of points by Monte Carlo."),
    "GAME": ("learn_points", "The same for any game whose actions are points, each played once."),
}
ANY = "GAME"


class Learners(click.Group):
    """The games that can be learned; the game itself, with its parameters, is the context's object."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the games."""
        return sorted(LEARNERS.keys() - {ANY})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command of a game, given as ``name:parameter=value,...``; the rule is a game of points."""
        ctx.obj = registry.make(cmd_name)
        module, _ = LEARNERS.get(cmd_name.partition(":")[0], LEARNERS[ANY])
        command: click.Command = import_module(f"mdplay.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of games from the table alone."""
        with formatter.section("Games"):
            formatter.write_dl([(name, text) for name, (_, text) in LEARNERS.items()])


@click.group(cls=Learners, no_args_is_help=False, subcommand_metavar="GAME ...")
def command() -> None:
    """Learn a game by playing it.

    \b
    Examples:
      mdplay learn 2048 --episodes 10000 --method tc --out network.safetensors
      mdplay learn 2048:rows=3,cols=3 --episodes 100000
      mdplay learn qubic --games 1000,10000,100000 --plot points.png
      mdplay learn tic-tac-toe --games 10000
    """
