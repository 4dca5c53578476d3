"""The command line: one file a command, imported only when it is called.

The table of commands (commands.py) names every command with its line of help; the command itself is ``command``
in the module of the same name beside this file.  Commands hold no algorithm: they read arguments, call the package
and print.

Nothing is imported up here, so that Ctrl-C finds its handler in place as early as can be.
"""

from __future__ import annotations


def main() -> None:
    """Be the program: run the command line and end the process with its exit code."""
    from mdplay.cli.exit import program

    program()


def run() -> int:
    """Run the command line of ``sys.argv`` in this process and return its exit code."""
    from mdplay.cli.exit import run_watched

    return run_watched()
