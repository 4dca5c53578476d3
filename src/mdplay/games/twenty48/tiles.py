"""2048 with one aim: the value of a board is the probability of reaching a tile under best play.

The same rules, but a board with the tile ends the game and is worth 1; nothing else is worth anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mdplay.bits import U64
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.games.twenty48.rules import State, Twenty48


@dataclass(frozen=True)
class ReachTile(Twenty48):
    """2048 until there is a tile of 2**exponent."""

    exponent: int = 11

    directions = Twenty48.legal  # the rules of 2048 under names that compiled rules can call
    tiles_to_come = Twenty48.outcomes

    def legal(self, s: State) -> int:
        """Return the directions in which a tile moves; none once the tile is there."""
        return 0 if self.is_reached(s.board) else self.directions(s)

    def outcomes(self, s: State) -> U64:
        """Return the tiles that may pop up; none once the tile is there."""
        return U64(0) if self.is_reached(s.board) else self.tiles_to_come(s)

    def reward(self, s: State, action: int) -> int:
        """Return 0: merges earn nothing here."""
        return 0

    def result(self, s: State) -> int:
        """Return 1 if the tile is there, else 0."""
        return 1 if self.is_reached(s.board) else 0

    def is_reached(self, board: U64) -> bool:
        """Tell whether a tile is at least as large as the one aimed at."""
        for cell in range(self.rows * self.cols):
            if board >> 4 * cell & 15 >= self.exponent:
                return True
        return False


def reach_tile(game: Game[Any], aim: str) -> ReachTile:
    """Return the game of reaching a tile, given as a text, on the board of a game of 2048."""
    tile = int(aim) if aim.isdecimal() and len(aim) < 9 else 0
    if not isinstance(game, Twenty48):
        raise GameError(f"only 2048 has tiles to reach, not {type(game).__name__}")
    if tile < 4 or tile & tile - 1 or tile > 1 << 15:
        raise GameError(f"{aim} is not a tile to reach; choose a power of two, 4 to {1 << 15}")
    return ReachTile(game.rows, game.cols, exponent=tile.bit_length() - 1)
