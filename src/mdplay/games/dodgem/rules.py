"""Dodgem: cars drive forward or sidestep, and leave the board on the far side; who cannot move has won.

Player 1's cars start in the first column and drive to the right, off the last one; player 2's start in the lowest
row and drive up, off the top.  A player without cars wins, and so does a player who cannot move: no player may
block the other for good.  Cells are numbered row by row, from the top.  On 3 x 3, with > and ^ as cars:

    > . .        0 1 2
    > . .        3 4 5
    . ^ ^        6 7 8

Action d * n * n + c moves the car on cell c: forward (d = 0), to its left (1), to its right (2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay.boards import masks_of, render
from mdplay.errors import PositionError
from mdplay.game import Between, Game

CELL = 64
MARKS = ".>^"


class State(NamedTuple):
    """Bit c of a player's cars is cell c."""

    across: int  # player 0's
    up: int
    player: int


@dataclass(frozen=True)
class Dodgem(Game[State]):
    """``side`` x ``side`` cells, one car fewer for each player."""

    side: Annotated[int, Between(2, 4)] = 3

    def initial(self) -> State:
        """Return the cars in their first column and lowest row; the corner between them is free."""
        n = self.side
        across, up = 0, 0
        for i in range(n - 1):
            across |= 1 << n * i
            up |= 1 << n * (n - 1) + i + 1
        return State(across, up, 0)

    def legal(self, s: State) -> int:
        """Return the moves of the mover's cars onto free cells or off the board."""
        cells, found = self.side * self.side, 0
        mine, taken = (s.up if s.player else s.across), s.across | s.up
        for way in range(3):
            for c in range(cells):
                to = self.goals[s.player][way * cells + c]
                if mine >> c & 1 and (to == cells or (to >= 0 and not taken >> to & 1)):
                    found |= 1 << way * cells + c
        return found

    def step(self, s: State, action: int) -> State:
        """Move a car."""
        cells = self.side * self.side
        to = self.goals[s.player][action]
        change = 1 << action % cells | (0 if to == cells else 1 << to)
        return State(s.across, s.up ^ change, 0) if s.player else State(s.across ^ change, s.up, 1)

    def result(self, s: State) -> int:
        """Return +1 if player 0 has won: the player to move cannot."""
        return 1 - 2 * s.player

    @cached_property
    def goals(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where each action of either player leads; side * side is off the board, -1 not allowed."""
        ways = (((1, 0), (0, -1), (0, 1)), ((0, -1), (-1, 0), (1, 0)))
        cells = self.side * self.side
        first, second = (
            tuple(self._goal(player, c, *step) for step in ways[player] for c in range(cells)) for player in (0, 1)
        )
        return first, second

    def _goal(self, player: int, cell: int, right: int, down: int) -> int:
        n = self.side
        y, x = divmod(cell, n)
        x, y = x + right, y + down
        if 0 <= x < n and 0 <= y < n:
            return n * y + x
        return n * n if (x == n and player == 0) or (y < 0 and player == 1) else -1

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the cells row by row as ``.>^`` and then the player to move, as ``>..>...^^,>``."""
        cells, comma, mover = text.strip().partition(",")
        n = self.side
        if len(cells) != n * n or set(cells) - set(MARKS) or not comma or mover not in (">", "^"):
            raise PositionError(f"{text!r} is not a position: give {n * n} of .>^ and then ,> or ,^")
        across, up = masks_of(cells, ">^")
        if max(across.bit_count(), up.bit_count()) >= n:
            raise PositionError(f"{text!r} cannot be reached: each player has {n - 1} cars")
        return State(across, up, 1 if mover == "^" else 0)

    def text(self, s: State) -> str:
        """Return what ``parse`` reads."""
        return f"{''.join(self._marks(s))},{'>^'[s.player]}"

    def move_text(self, s: State, action: int) -> str:
        """Return the cell and where it goes: f(orward), l(eft), r(ight)."""
        cells = self.side * self.side
        return f"{action % cells}{'flr'[action // cells]}"

    def _marks(self, s: State) -> list[str]:
        return [MARKS[(s.across >> c & 1) + 2 * (s.up >> c & 1)] for c in range(self.side * self.side)]

    def board(self, s: State) -> str:
        """Draw the cars; free cells show their number."""
        marks = self._marks(s)
        return render([str(c) if mark == "." else mark for c, mark in enumerate(marks)], self.side)

    def svg(self, s: State) -> str:
        """Draw cars as wedges; click where one shall go."""
        n, cells = self.side, self.side * self.side
        width = n * CELL + 60
        shapes = [draw.rect(0, 0, width, width, "panel", 10)]
        for c, mark in enumerate(self._marks(s)):
            x, y = c % n * CELL + 10, c // n * CELL + 50
            shapes.append(draw.rect(x, y, CELL - 6, CELL - 6, "hole", 7))
            middle = (x + CELL / 2 - 3, y + CELL / 2 - 3)
            if mark == ">":
                shapes.append(draw.polygon(_wedge(*middle, 1, 0), "first"))
            elif mark == "^":
                shapes.append(draw.polygon(_wedge(*middle, 0, -1), "second"))
        for action in range(3 * cells):
            if self.legal(s) >> action & 1:
                shapes.append(self._svg_move(s, action))
        return draw.picture(width, width, shapes, self.board(s))

    def _svg_move(self, s: State, action: int) -> str:
        n, cells = self.side, self.side * self.side
        ways = (((1, 0), (0, -1), (0, 1)), ((0, -1), (-1, 0), (1, 0)))
        right, down = ways[s.player][action // cells]
        y, x = divmod(action % cells, n)
        at = (x + 0.5 + 0.55 * right) * CELL + 7, (y + 0.5 + 0.55 * down) * CELL + 47
        return draw.move(action, f"car {self.move_text(s, action)}", draw.circle(*at, 13, "open"))


def _wedge(x: float, y: float, right: int, down: int) -> list[tuple[float, float]]:
    """Return the corners of a car that points somewhere."""
    r = 20
    return [
        (x + r * right, y + r * down),
        (x - r * right - r * down, y - r * down - r * right),
        (x - r * right + r * down, y - r * down + r * right),
    ]
