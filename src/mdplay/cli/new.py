"""``mdplay new``: a starter file for a game, which already keeps the contract."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from mdplay.cli.starters import KINDS, starter
from mdplay.errors import FormatError


def class_name(path: Path) -> str:
    """Return the name of the game's class that a file's name suggests, or raise FormatError."""
    name = "".join(word.capitalize() for word in re.split(r"[^0-9A-Za-z]+", path.stem))
    if path.suffix != ".py" or not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise FormatError(f"{path.name!r} cannot be imported; name the file like a Python module: my_game.py")
    return "MyGame" if name in ("State", "Game", "Between", "Annotated", "NamedTuple") else name


def write_starter(path: Path, kind: str = "plain") -> None:
    """Write the starter file of a kind of game; a file that exists is left alone."""
    from mdplay.files import creating

    text = starter(kind, class_name(path), path.name)
    with creating(path) as file:
        file.write(text.encode())


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="plain",
    show_default=True,
    help="Two players and nothing else; with dice; with points and another turn; on a board; for one.",
)
def command(file: Path, kind: str) -> None:
    """Write a commented starter file for a game of your own.

    \b
    Examples:
      mdplay new my_game.py
      mdplay new dice.py --kind chance
    """
    write_starter(file, kind)
    click.echo(f"{file} holds a small game that works.  Try it, then change it:")
    for verb in ("check", "show", "playouts"):
        click.echo(f"  mdplay {verb} {file}")
