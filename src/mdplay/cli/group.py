"""The group of all commands, each imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from mdplay import __version__
from mdplay.cli.commands import COMMANDS, GROUPS
from mdplay.errors import unknown


class Stopped(BaseException):
    """Ctrl-C or SIGTERM has ended the command."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed, so that --help imports nothing."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse arguments that no shell can give and no file name can have."""
        for argument in args:
            if "\0" in argument:
                raise click.UsageError(f"The argument {argument!r} contains a NUL character.", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command's module and return its ``command``; raise UnknownName with the nearest name."""
        if cmd_name not in COMMANDS:
            raise unknown("command", cmd_name, COMMANDS)
        command: click.Command = import_module(f"mdplay.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C goes past click, which would print an empty line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Stopped from interrupt

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by verb, from the table alone."""
        width = max(map(len, COMMANDS))
        for verb, commands in GROUPS.items():
            with formatter.section(verb):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mdplay")
def group() -> None:
    """Write a game once, in plain Python; solve it, search it, learn it, play it.

    \b
    Examples:
      mdplay games
      mdplay show connect-four --position 4453
      mdplay playouts connect-four --games 100000
    """
