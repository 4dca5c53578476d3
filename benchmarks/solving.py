"""Speed of exact solving on games that a user might write.

Run ``python benchmarks/solving.py``.  Each game is solved twice; the second time, with the kernels compiled, is reported: CPU seconds of one thread.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game, make, solve


class Piles(NamedTuple):
    """Three piles and who moves."""

    a: int
    b: int
    c: int
    player: int


@dataclass(frozen=True)
class ThreePiles(Game[Piles]):
    """Take one, two or three from one of three piles; who cannot move has lost."""

    height: int = 80

    def initial(self) -> Piles:
        """Return three full piles."""
        return Piles(self.height, self.height, self.height, 0)

    def legal(self, s: Piles) -> int:
        """Return 3 * pile + (taken - 1)."""
        return self.some_of(s.a) | self.some_of(s.b) << 3 | self.some_of(s.c) << 6

    def some_of(self, pile: int) -> int:
        """Return how many may be taken, as a mask."""
        return (1 << min(3, pile)) - 1

    def step(self, s: Piles, action: int) -> Piles:
        """Take from a pile."""
        pile, taken = action // 3, action % 3 + 1
        return Piles(
            s.a - taken if pile == 0 else s.a,
            s.b - taken if pile == 1 else s.b,
            s.c - taken if pile == 2 else s.c,
            1 - s.player,
        )

    def result(self, s: Piles) -> int:
        """Return who has won."""
        return 2 * s.player - 1


@dataclass(frozen=True)
class SortedPiles(ThreePiles):
    """The same game told that its piles may change places."""

    def symmetries(self) -> int:
        """Return the six orders of three piles."""
        return 6

    def image(self, s: Piles, k: int) -> Piles:
        """Turn the piles round k % 3 times; swap two of them for k of 3 and more."""
        a, b, c = s.a, s.b, s.c
        if k >= 3:
            a, b = b, a
        if k % 3 == 1:
            a, b, c = b, c, a
        if k % 3 == 2:
            a, b, c = c, a, b
        return Piles(a, b, c, s.player)


def measure(name: str, game: Game[Piles]) -> None:
    """Print states, seconds and speed of the second solve."""
    solve(game, method="hashed")
    began, wall = time.process_time(), time.perf_counter()
    solution = solve(game, method="hashed")
    seconds, wall = time.process_time() - began, time.perf_counter() - wall
    speed = solution.states / seconds / 1e6
    print(
        f"{name:28} {solution.method:8} {solution.states:>10,} {seconds:7.2f} s CPU {wall:7.2f} s {speed:6.2f} M states/s"
    )


def main() -> None:
    measure("three piles of 80", ThreePiles())
    measure("the same with symmetries", SortedPiles())
    for name in ("connect-four:rows=4,cols=5", "2048:rows=2,cols=3", "tic-tac-toe:rows=4,cols=4,length=4"):
        measure(name, make(name))


if __name__ == "__main__":
    main()
