"""The commands with their summaries, and the group that imports a command when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from mdplay import __version__
from mdplay.errors import unknown

GROUPS = {
    "Solve": {
        "solve": "Compute the exact value of a position and of every move.",
        "respond": "Iterate best responses until both policies converge.",
        "plan": "Compute optimal values and actions of an MDP, with proven bounds.",
        "prove": "Prove the result of a game and write the winning strategy.",
        "verify": "Verify a strategy independently of the prover.",
        "book": "Compute an opening book.",
    },
    "Search": {
        "search": "Search for a good move: MCTS, depth-limited search or IDA*.",
        "playouts": "Play random games and print statistics.",
        "bandits": "Compare selection rules on multi-armed bandits.",
    },
    "Learn": {
        "learn": "Train an agent by self-play, with a learning curve.",
    },
    "Play": {
        "play": "Play against an agent in the terminal.",
        "serve": "Start the web app: play, with the evaluation of every move.",
        "match": "Play a match of two agents; print the score with an interval.",
        "tournament": "Play a round-robin tournament; print Elo ratings.",
        "evaluate": "Evaluate an agent in a single-player game.",
        "engine": "Act as a game engine: JSON lines on stdin and stdout.",
        "convert": "Convert records to and from other formats.",
        "accuracy": "Measure the share of optimal moves of an agent.",
    },
    "Games": {
        "games": "List the games with their parameters and features.",
        "show": "Draw a position and list its moves.",
        "new": "Create a template for your own game.",
        "check": "Check the rules of a game.",
        "perft": "Count paths and positions by depth.",
        "states": "List or count the states of a game.",
    },
    "Other": {
        "reproduce": "Reproduce five published systems as one HTML page.",
        "bench": "Compare the speed with installed libraries.",
        "cache": "Show or clear the cache of compiled kernels.",
    },
}
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}
MODULES = {  # commands that are not in a module of their own name
    **dict.fromkeys(("respond",), "plan"),
    **dict.fromkeys(("verify", "book"), "prove"),
    **dict.fromkeys(("perft", "playouts"), "states"),
    **dict.fromkeys(("tournament", "evaluate"), "match"),
    **dict.fromkeys(("engine", "convert", "accuracy"), "play"),
    **dict.fromkeys(("show", "check", "cache"), "games"),
    **dict.fromkeys(("bandits", "reproduce", "bench", "serve"), "lab"),
}


# Linear algebra in more than one thread spins while it waits: on busy cores 100 equations take 0.2 seconds instead
# of a tenth of a millisecond.  The libraries read these variables when numpy is imported.
LIBRARIES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
SINGLE_THREADED = {"plan": LIBRARIES, "bench": (*LIBRARIES, "OMP_NUM_THREADS")}  # other libraries use OpenMP


def use_one_thread(names: Sequence[str]) -> bool:
    """Limit linear algebra to one thread unless the environment sets a number; return False if numpy is loaded."""
    if "numpy" in sys.modules:
        return False
    for name in names:
        os.environ.setdefault(name, "1")
    return True


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
        """Import the command's module and return the command; raise UnknownName with the nearest name."""
        if cmd_name not in COMMANDS:
            raise unknown("command", cmd_name, COMMANDS)
        use_one_thread(SINGLE_THREADED.get(cmd_name, ()))
        module = import_module(f"mdplay.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
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
