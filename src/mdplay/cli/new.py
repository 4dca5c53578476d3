"""``mdplay new``: write a starter file for a game.

The folder ``starters`` has one template for each kind of game; each is a complete game that satisfies the
contract.  ``{name}`` stands for the class, ``{file}`` for the file.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from mdplay import FormatError

STARTERS = Path(__file__).with_name("starters")
KINDS = ("plain", "chance", "points", "board", "puzzle")


def starter(kind: str, name: str, file: str) -> str:
    """Return the text of a starter file."""
    return (STARTERS / f"{kind}.txt").read_text(encoding="utf-8").format(name=name, file=file)


def class_name(path: Path) -> str:
    """Return the name of the game's class that a file's name suggests, or raise FormatError."""
    name = "".join(word.capitalize() for word in re.split(r"[^0-9A-Za-z]+", path.stem))
    if path.suffix != ".py" or not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise FormatError(f"{path.name!r} cannot be imported; name the file like a Python module: my_game.py")
    return "MyGame" if name in ("State", "Game", "Between", "Annotated", "NamedTuple") else name


def write_starter(path: Path, kind: str = "plain") -> None:
    """Write the starter file of a kind of game; a file that exists is left alone."""
    from mdplay.storage.files import creating

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
    help="Two players only; with dice; with points and extra turns; on a board; a single-player puzzle.",
)
def new_command(file: Path, kind: str) -> None:
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
