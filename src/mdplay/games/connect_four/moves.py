"""Connect Four games as strings of columns, ``4453``: a digit a move, from 1 at the left, a game a line.

It is how the solvers on the web take positions and how their test files write them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mdplay.errors import FormatError
from mdplay.game import Game
from mdplay.playing.formats.foreign import ForeignFormat, from_the_start
from mdplay.playing.records import Record

MOST_COLUMNS = 9  # that a digit tells


class MoveStrings(ForeignFormat):
    """A line of digits for each game."""

    ending: ClassVar[str] = ".moves"

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        if getattr(game, "cols", 0) > MOST_COLUMNS:
            raise FormatError(f"a digit tells at most {MOST_COLUMNS} columns")

    def dump(self, record: Record) -> str:
        """Return the columns of a game."""
        return "".join(from_the_start(record, "moves").moves) + "\n"

    def load(self, text: str) -> list[Record]:
        """Return the games of all lines that are not empty."""
        lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
        return [self.replayed(f"line {number}", list(line)) for number, line in lines if line]
