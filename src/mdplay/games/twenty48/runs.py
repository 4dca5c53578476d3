"""Runs of 2048 as text: what chance put; then a line for each move and the tile after it; an empty line ends it.

    2@5 4@10
    L 2@0
    U 2@3

L, R, U and D are the moves; 2@5 is a tile 2 on cell 5, cells counted row by row from 0.
"""

from __future__ import annotations

import re
from typing import ClassVar

from mdplay.errors import FormatError, short
from mdplay.games.twenty48.rules import MOVES
from mdplay.playing.formats.conversion import ForeignFormat, from_the_start
from mdplay.playing.records import Record

LETTERS = {move[0].upper(): move for move in MOVES}


class Runs(ForeignFormat):
    """A move and a tile a line."""

    ending: ClassVar[str] = ".2048"

    def dump(self, record: Record) -> str:
        """Return a game and the empty line that ends it."""
        words = [move if "@" in move else f"\n{move[0].upper()}" for move in from_the_start(record, "runs").moves]
        return " ".join(words).replace(" \n", "\n") + "\n\n"

    def load(self, text: str) -> list[Record]:
        """Return the games of a text."""
        games = [game for game in re.split(r"\n[ \t\r]*\n", text) if game.strip()]
        return [self.replayed(f"game {n}", [_move(n, w) for w in g.split()]) for n, g in enumerate(games, start=1)]


def _move(number: int, word: str) -> str:
    if "@" in word:
        return word
    if word.upper() not in LETTERS:
        raise FormatError(f"game {number}: {short(word)!r} is neither a move, L, R, U or D, nor a tile as 2@5")
    return LETTERS[word.upper()]
