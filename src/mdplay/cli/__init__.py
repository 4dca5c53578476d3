"""The command line: one file a command, imported only when it is called.

``COMMANDS`` names every command with its line of help; the command itself is ``command`` in the module of
the same name beside this file.  Commands hold no algorithm: they read arguments, call the package and print.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from mdplay import __version__
from mdplay.errors import MdplayError, unknown

COMMANDS = {
    "accuracy": "Count how often an agent's moves keep the exact value.",
    "bandits": "Compare exploration policies on multi-armed bandits.",
    "book": "Prove all positions after some plies: an opening book.",
    "cache": "Show or clear the folder of compiled kernels.",
    "check": "Check that a game keeps its contract.",
    "decode": "Turn a plan into an Anti-Tic-Tac-Toe policy file.",
    "encode": "Turn a player's states and the opponent's policy into an MDP file.",
    "evaluate": "Let an agent play a game for one: mean and distribution.",
    "games": "List the games, their parameters and what they know.",
    "learn": "Learn a game by playing it, with a curve and checkpoints.",
    "match": "Play a match of two agents: the score with an interval.",
    "new": "Write a starter file for a game of your own.",
    "perft": "Count paths and positions by depth.",
    "plan": "Plan in an MDP file: the best value and action of every state.",
    "play": "Play in the terminal.",
    "playouts": "Play random games at full speed.",
    "prove": "Prove a game's result and write the strategy as a book.",
    "reproduce": "Reproduce the five systems: tables, plots, one HTML page.",
    "respond": "Alternate best responses until both players stand still.",
    "search": "Find a good move by tree search or by depth-limited search.",
    "show": "Draw a position and list its moves.",
    "solve": "Solve a game exactly: values of positions and moves.",
    "states": "List the states of a game in which a player moves.",
    "tournament": "Play every agent against every other: cross table and Elo.",
    "verify": "Check a book independently of the prover.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed, so that --help imports nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command's module and return its ``command``; raise UnknownName with the nearest name."""
        if cmd_name not in COMMANDS:
            raise unknown("command", cmd_name, COMMANDS)
        command: click.Command = import_module(f"mdplay.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


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


def main() -> None:
    """Run the command line; a fault of the input is one sentence on stderr and exit code 2."""
    try:
        sys.exit(group.main(prog_name="mdplay", standalone_mode=False))
    except MdplayError as error:
        _leave(str(error), 2)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "mdplay"
        _leave(f"{error.format_message()} Try '{command} --help'.", 2)
    except click.ClickException as error:
        _leave(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        _leave("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has left: say no more
        sys.exit(1)


def _leave(message: str, code: int) -> None:
    click.echo(f"mdplay: {message}", err=True)
    sys.exit(code)
