"""``mdplay new``: a starter file for a game, which already keeps the contract."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from mdplay.errors import FormatError

STARTER = '''"""{name}: say here what the game is about.

This is a complete game: two players take one, two or three from a pile; whoever takes the last one wins.
Change it step by step, and run after each step:

    mdplay check {file}
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game


class State(NamedTuple):
    """All that matters for the rest of the game, in whole numbers (int, bool or U64)."""

    pile: int
    player: int  # who moves, 0 or 1; a game for one has no such field


@dataclass(frozen=True)
class {name}(Game[State]):
    """The rules: plain functions of the state, with annotations.  They are compiled when you first use them."""

    pile: Annotated[int, Between(1, 1000)] = 21  # a parameter: {file}:pile=30

    def initial(self) -> State:
        """Return the state in which a game starts."""
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        """Return the legal actions as bits: bit a stands for action a.  No bit: the game is over."""
        return (1 << min(3, s.pile)) - 1

    def step(self, s: State, action: int) -> State:
        """Return the state after an action.  Whoever moves again keeps the turn: leave the player as it is."""
        return State(s.pile - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        """Return what the end is worth to player 0: here, who is to move and cannot has lost."""
        return 2 * s.player - 1

    # ---------------------------------------------------------------- words for people, never compiled
    def move_text(self, s: State, action: int) -> str:
        """Return what people call the action."""
        return str(action + 1)

    def board(self, s: State) -> str:
        """Return a picture in characters."""
        return "o" * s.pile or "(nothing left)"

    # Points on the way:    def reward(self, s: State, action: int) -> int
    # Chance:               outcomes, outcome and probability, as in the game of 2048
    # Positions as text:    def parse(self, text: str) -> State, def text(self, s: State) -> str
    # Speed by knowledge:   symmetries and image; index, state and size; order; heuristic
    # Tables:               @cached_property, a tuple of numbers
'''


def class_name(path: Path) -> str:
    """Return the name of the game's class that a file's name suggests, or raise FormatError."""
    name = "".join(word.capitalize() for word in re.split(r"[^0-9A-Za-z]+", path.stem))
    if path.suffix != ".py" or not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise FormatError(f"{path.name!r} cannot be imported; name the file like a Python module: my_game.py")
    return "MyGame" if name in ("State", "Game", "Between", "Annotated") else name


def write_starter(path: Path) -> None:
    """Write the starter file; a file that exists is left alone."""
    text = STARTER.format(name=class_name(path), file=path.name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FormatError(f"{path} exists already; it was left alone") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror}") from None


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Write a commented starter file for a game of your own.

    \b
    Example:
      mdplay new my_game.py
    """
    write_starter(file)
    click.echo(f"{file} holds a small game that works.  Try it, then change it:")
    for verb in ("check", "show", "playouts"):
        click.echo(f"  mdplay {verb} {file}")
