"""What a format of others is: a text that holds games, read by replaying every move.

    class Moves(ForeignFormat):
        ending = ".moves"

        def dump(self, record): ...      one game as a text
        def load(self, text): ...        all games of a text

A text is data, whoever wrote it: it names no file and nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mdplay.errors import FormatError, MdplayError
from mdplay.game import Game, num_players
from mdplay.playing.records import Record
from mdplay.position import Position

NOBODY = "?"


class ForeignFormat:
    """The texts of one game; ``ending`` is how its files end."""

    ending: ClassVar[str]

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def dump(self, record: Record) -> str:
        """Return a game as a text that ends with a line; raise FormatError if the format cannot hold it."""
        raise NotImplementedError

    def load(self, text: str) -> list[Record]:
        """Return the games of a text, or raise FormatError."""
        raise NotImplementedError

    def replayed(self, place: str, moves: Sequence[str], agents: tuple[str, ...] = ()) -> Record:
        """Return the record of a game by its moves; ``place`` tells in an error where it stands."""
        try:
            end = Position.start(self.game).play_all(moves)
        except MdplayError as error:
            raise FormatError(f"{place}: {error}") from None
        return Record(self.game, agents or (NOBODY,) * num_players(self.game), end.events, end.result)


def from_the_start(record: Record, name: str) -> Record:
    """Return a record, or raise FormatError if it begins elsewhere than the game does."""
    if record.start is not None:
        raise FormatError(f"game {record.number} begins with a position, which the format {name} cannot hold")
    return record
