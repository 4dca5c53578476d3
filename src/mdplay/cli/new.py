"""``mdplay new``: a starter file for a game, which already keeps the contract.

The starter files of ``mdplay new``, one for each kind of game; each is a complete game that keeps the contract.

``{name}`` stands for the class, ``{file}`` for the file.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from mdplay.errors import FormatError

HEAD = '''"""{name}: say here what the game is about.

This is a complete game: SUMMARY
Change it step by step, and run after each step:

    mdplay check {file}
"""

'''

PLAIN = '''from dataclasses import dataclass
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

    # Other starters:       mdplay new --kind chance, points, board or puzzle
    # Positions as text:    def parse(self, text: str) -> State, def text(self, s: State) -> str
    # Speed by knowledge:   symmetries and image; index, state and size; order; heuristic
    # Tables:               @cached_property, a tuple of numbers
'''

CHANCE = '''from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game

SMALL, LARGE = 0, 1  # the actions: which die to throw


class State(NamedTuple):
    """All that matters for the rest of the game, in whole numbers (int, bool or U64)."""

    total: int
    faces: int  # of the die in the air; 0: none, the player moves
    player: int  # who moves, 0 or 1; while chance moves it is who threw


@dataclass(frozen=True)
class {name}(Game[State]):
    """The rules: plain functions of the state, with annotations.  They are compiled when you first use them."""

    limit: Annotated[int, Between(1, 1000)] = 21  # a parameter: {file}:limit=30

    def initial(self) -> State:
        """Return the state in which a game starts; chance may move there too."""
        return State(0, 0, 0)

    def legal(self, s: State) -> int:
        """Return the legal actions as bits.  No bit, and no outcome of chance either: the game is over."""
        return 1 << SMALL | 1 << LARGE if s.total <= self.limit else 0

    def step(self, s: State, action: int) -> State:
        """Return the state after an action: a die is in the air, and what happens next is up to chance."""
        return State(s.total, 6 if action == LARGE else 2, s.player)

    def outcomes(self, s: State) -> int:
        """Return the outcomes of chance as bits; 0 wherever a player moves."""
        return (1 << s.faces) - 1

    def outcome(self, s: State, i: int) -> State:
        """Return the state after outcome i: here the face i + 1."""
        return State(s.total + i + 1, 0, 1 - s.player)

    def probability(self, s: State, i: int) -> float:
        """Return the probability of outcome i; over all outcomes they sum to 1."""
        return 1.0 / s.faces

    def result(self, s: State) -> int:
        """Return what the end is worth to player 0: who went beyond the limit, not the one to move, has lost."""
        return 1 - 2 * s.player

    # ---------------------------------------------------------------- words for people, never compiled
    def move_text(self, s: State, action: int) -> str:
        """Return what people call the action."""
        return "large" if action == LARGE else "small"

    def outcome_text(self, s: State, i: int) -> str:
        """Return what people call the outcome."""
        return f"face-{{i + 1}}"

    def board(self, s: State) -> str:
        """Return a picture in characters."""
        return f"{{s.total}} of {{self.limit}}" + (f", a die of {{s.faces}} faces rolls" if s.faces else "")
'''

POINTS = '''from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from mdplay import Between, Game

LEFT, RIGHT = 0, 1  # the actions: which end to take


class State(NamedTuple):
    """All that matters for the rest of the game, in whole numbers (int, bool or U64)."""

    first: int  # the coins first .. last - 1 are still there
    last: int
    player: int  # who moves, 0 or 1


@dataclass(frozen=True)
class {name}(Game[State]):
    """The rules: plain functions of the state, with annotations.  They are compiled when you first use them."""

    count: Annotated[int, Between(1, 60)] = 12  # a parameter: {file}:count=20

    def initial(self) -> State:
        """Return the state in which a game starts.  What was earned is not part of it: points are paid at once."""
        return State(0, self.count, 0)

    def legal(self, s: State) -> int:
        """Return the legal actions as bits: bit a stands for action a.  No bit: the game is over."""
        return 1 << LEFT | 1 << RIGHT if s.first < s.last else 0

    def step(self, s: State, action: int) -> State:
        """Return the state after an action.  For another turn leave the player as it is: a coin of 5 earns one."""
        following = s.player if self.taken(s, action) == 5 else 1 - s.player
        if action == LEFT:
            return State(s.first + 1, s.last, following)
        return State(s.first, s.last - 1, following)

    def reward(self, s: State, action: int) -> int:
        """Return the points that the mover earns by the action."""
        return self.taken(s, action)

    def taken(self, s: State, action: int) -> int:
        """Return the coin at an end: a method of your own, which rules may call."""
        return self.coins[s.first if action == LEFT else s.last - 1]

    @cached_property
    def coins(self) -> tuple[int, ...]:
        """A table: a tuple of numbers, made once.  Here all of Python may be used."""
        return tuple(1 + 7 * i % 5 for i in range(self.count))

    # There is no result: the value of a game is the difference of the points.

    # ---------------------------------------------------------------- words for people, never compiled
    def move_text(self, s: State, action: int) -> str:
        """Return what people call the action."""
        return "right" if action == RIGHT else "left"

    def board(self, s: State) -> str:
        """Return a picture in characters."""
        return " ".join(map(str, self.coins[s.first : s.last])) or "(nothing left)"
'''

BOARD = '''from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from mdplay import Between, Game


class State(NamedTuple):
    """Two sets of cells, as bits: bit r * cols + c is the cell in row r, column c."""

    crosses: int  # the cells of player 0; an int has 63 bits, a U64 has 64
    noughts: int
    player: int  # who moves, 0 or 1


@dataclass(frozen=True)
class {name}(Game[State]):
    """The rules: plain functions of the state, with annotations.  They are compiled when you first use them."""

    rows: Annotated[int, Between(1, 7)] = 3  # parameters: {file}:rows=4,cols=4
    cols: Annotated[int, Between(1, 9)] = 3
    length: Annotated[int, Between(1, 9)] = 3

    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0)

    def legal(self, s: State) -> int:
        """Return the free cells; none when there is a line: the game is over."""
        if self.has_line(s.crosses) or self.has_line(s.noughts):
            return 0
        return self.cells & ~(s.crosses | s.noughts)

    def step(self, s: State, action: int) -> State:
        """Return the board with one more cell taken."""
        if s.player == 0:
            return State(s.crosses | 1 << action, s.noughts, 1)
        return State(s.crosses, s.noughts | 1 << action, 0)

    def result(self, s: State) -> int:
        """Return what the end is worth to player 0: 1, -1, or 0 for a draw."""
        return int(self.has_line(s.crosses)) - int(self.has_line(s.noughts))

    def has_line(self, taken: int) -> bool:
        """Tell whether a set of cells holds a line: a method of your own, which rules may call."""
        for line in self.lines:
            if taken & line == line:
                return True
        return False

    @cached_property
    def cells(self) -> int:
        """All cells of the board."""
        return (1 << self.rows * self.cols) - 1

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """A table: a tuple of numbers, made once.  Here all of Python may be used."""
        steps = ((0, 1), (1, 0), (1, 1), (1, -1))
        starts = [(r, c) for r in range(self.rows) for c in range(self.cols)]
        runs = [[(r + i * y, c + i * x) for i in range(self.length)] for r, c in starts for y, x in steps]
        inside = [run for run in runs if 0 <= run[-1][0] < self.rows and 0 <= run[-1][1] < self.cols]
        return tuple(sum(1 << r * self.cols + c for r, c in run) for run in inside)

    # ---------------------------------------------------------------- words for people, never compiled
    def move_text(self, s: State, action: int) -> str:
        """Return what people call the cell: a1, b1 ..."""
        return "abcdefghi"[action % self.cols] + str(action // self.cols + 1)

    def board(self, s: State) -> str:
        """Return a picture in characters."""
        cells = range(self.rows * self.cols)
        marks = ["X" if s.crosses >> i & 1 else "O" if s.noughts >> i & 1 else "." for i in cells]
        return "\\n".join(" ".join(marks[r * self.cols :][: self.cols]) for r in range(self.rows))

    # Speed by knowledge:   symmetries and image; index, state and size; order; heuristic
'''

PUZZLE = '''from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game
from mdplay.bits import popcount


class State(NamedTuple):
    """All that matters for the rest of the game.  There is no field player: it is a game for one."""

    pegs: int  # bit i: there is a peg in hole i


@dataclass(frozen=True)
class {name}(Game[State]):
    """The rules: plain functions of the state, with annotations.  They are compiled when you first use them."""

    holes: Annotated[int, Between(3, 30)] = 10  # parameters: {file}:holes=12,empty=2
    empty: Annotated[int, Between(0, 29)] = 1  # the hole that is empty at first

    def initial(self) -> State:
        """Return the state in which a game starts."""
        return State(((1 << self.holes) - 1) & ~(1 << self.empty))

    def legal(self, s: State) -> int:
        """Return the legal actions as bits: 2 * i jumps from hole i to the right, 2 * i + 1 to the left."""
        moves = 0
        for i in range(self.holes):
            if s.pegs >> i & 7 == 3 and i + 2 < self.holes:
                moves |= 1 << 2 * i
            if i >= 2 and s.pegs >> i - 2 & 7 == 6:
                moves |= 1 << 2 * i + 1
        return moves

    def step(self, s: State, action: int) -> State:
        """Return the pegs after a jump: one leaves its hole, one is jumped over, one arrives."""
        hole = action // 2 if action % 2 == 0 else action // 2 - 2
        return State(s.pegs ^ 7 << hole)

    def result(self, s: State) -> int:
        """Return what the end is worth: the fewer pegs are left, the better."""
        return -popcount(s.pegs)

    # ---------------------------------------------------------------- words for people, never compiled
    def move_text(self, s: State, action: int) -> str:
        """Return what people call the action: from which hole, and where to."""
        return f"{{action // 2 + 1}}{{'<' if action % 2 else '>'}}"

    def board(self, s: State) -> str:
        """Return a picture in characters."""
        return "".join("o" if s.pegs >> i & 1 else "." for i in range(self.holes))
'''

SUMMARIES = {
    "plain": "two players take one, two or three from a pile; whoever takes the last one wins.",
    "chance": "two players throw a small or a large die and add up; whoever exceeds the limit loses.",
    "points": "two players take coins from the ends of a row; whoever has more at the end wins.",
    "board": "two players take cells of a board in turn; whoever has a line first wins.",
    "puzzle": "a game for one: pegs jump over each other until as few as possible are left.",
}
RULES = {"plain": PLAIN, "chance": CHANCE, "points": POINTS, "board": BOARD, "puzzle": PUZZLE}
KINDS = tuple(RULES)


def starter(kind: str, name: str, file: str) -> str:
    """Return the text of a starter file."""
    return (HEAD.replace("SUMMARY", SUMMARIES[kind]) + RULES[kind]).format(name=name, file=file)


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
    help="Two players and nothing else; with dice; with points and another turn; on a board; for one.",
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
