"""A user's game: two eat a bar of chocolate; whoever is left with the poisoned corner has lost."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import mdplay.svg as draw
from mdplay import Between, Game


class State(NamedTuple):
    squares: int  # bit r * cols + c: the square is still there; bit 0 is poison
    player: int


@dataclass(frozen=True)
class Chomp(Game[State]):
    """Bite off a square with all to the right of it and below; the corner is poisoned."""

    rows: Annotated[int, Between(1, 7)] = 3
    cols: Annotated[int, Between(1, 9)] = 4

    def initial(self) -> State:
        return State(self.bites[0], 0)

    def legal(self, s: State) -> int:
        return s.squares & ~1

    def step(self, s: State, action: int) -> State:
        return State(s.squares & ~self.bites[action], 1 - s.player)

    def result(self, s: State) -> int:
        return 2 * s.player - 1

    @cached_property
    def bites(self) -> tuple[int, ...]:
        cells = [(r, c) for r in range(self.rows) for c in range(self.cols)]
        return tuple(sum(1 << i for i, (y, x) in enumerate(cells) if y >= r and x >= c) for r, c in cells)

    def move_text(self, s: State, action: int) -> str:
        return "abcdefghi"[action % self.cols] + str(action // self.cols + 1)

    def svg(self, s: State) -> str:
        shapes = [draw.rect(0, 0, 60 * self.cols + 12, 60 * self.rows + 12, "panel", 12)]
        for i in range(self.rows * self.cols):
            x, y = 60 * (i % self.cols) + 8, 60 * (i // self.cols) + 8
            if not s.squares >> i & 1:
                shapes.append(draw.rect(x, y, 56, 56, "hole", 8))
            elif i == 0:
                shapes += draw.rect(x, y, 56, 56, "ink", 8), draw.label(x + 28, y + 28, "poison", "hole", 13)
            else:
                square = draw.rect(x, y, 56, 56, "neutral", 8), draw.rect(x, y, 56, 56, "open", 8)
                shapes.append(draw.move(i, f"square {self.move_text(s, i)}", *square, at=(x + 28, y + 28, 19)))
        return draw.picture(60 * self.cols + 12, 60 * self.rows + 12, shapes, self.board(s))
