r"""Three Men's Morris: lay three men, then slide them along the lines; three in a row wins.

0 - 1 - 2         actions 0 .. 8 lay a man, action 9 + k slides along line piece k of the table `slides`;
| \ | / |         who cannot move has lost
3 - 4 - 5
| / | \ |
6 - 7 - 8
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mdplay import Game
from mdplay.bits import popcount

ROWS = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
NEIGHBOURS = ((0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8))
DIAGONALS = ((0, 4), (4, 8), (2, 4), (4, 6))


class State(NamedTuple):
    """The men of both, as bits."""

    own: int  # the men of the player to move
    other: int
    player: int


@dataclass(frozen=True)
class ThreeMensMorris(Game[State]):
    """It can go on for ever: positions come back."""

    diagonals: bool = True

    def initial(self) -> State:
        """Return the empty board."""
        return State(0, 0, 0)

    def is_row(self, men: int) -> bool:
        """Tell whether three men stand in a row."""
        for row in ROWS:
            if men & row == row:
                return True
        return False

    def legal(self, s: State) -> int:
        """Lay a man on a free point, or slide one to a free neighbour; none when the other player has a row."""
        if self.is_row(s.other):
            return 0
        free, moves = 0o777 & ~(s.own | s.other), 0
        if popcount(s.own) < 3:
            return free
        for k in range(self.num_slides):
            if s.own >> self.slides[k][0] & 1 and free >> self.slides[k][1] & 1:
                moves |= 1 << 9 + k
        return moves

    def step(self, s: State, action: int) -> State:
        """Lay or slide a man."""
        if action < 9:
            return State(s.other, s.own | 1 << action, 1 - s.player)
        slide = self.slides[action - 9]
        return State(s.other, s.own & ~(1 << slide[0]) | 1 << slide[1], 1 - s.player)

    def result(self, s: State) -> int:
        """Return who won: not the player to move."""
        return 2 * s.player - 1

    @cached_property
    def slides(self) -> tuple[tuple[int, int], ...]:
        """From where to where a man may slide."""
        pieces = NEIGHBOURS + (DIAGONALS if self.diagonals else ())
        return pieces + tuple((to, start) for start, to in pieces)

    @cached_property
    def num_slides(self) -> int:
        """How many there are."""
        return len(self.slides)

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return the point, or from where to where."""
        if action < 9:
            return _point(action)
        start, to = self.slides[action - 9]
        return _point(start) + _point(to)

    def board(self, s: State) -> str:
        """Draw X for player 1 and O for player 2."""
        crosses, noughts = (s.other, s.own) if s.player else (s.own, s.other)
        marks = ["X" if crosses >> i & 1 else "O" if noughts >> i & 1 else "." for i in range(9)]
        return "\n".join(" ".join(marks[r : r + 3]) for r in (0, 3, 6))


def _point(i: int) -> str:
    return "abc"[i % 3] + str(i // 3 + 1)
