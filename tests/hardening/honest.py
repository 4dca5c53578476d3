"""Small honest games, which tests let break their promises one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game
from mdplay.bits import U64
from mdplay.game import Bounds


class State(NamedTuple):
    n: int
    player: int


@dataclass(frozen=True)
class Count(Game[State]):
    """Add one, two or three until sixteen are there."""

    def initial(self) -> State:
        return State(0, 0)

    def legal(self, s: State) -> int:
        return 7 if s.n < 16 else 0

    def step(self, s: State, action: int) -> State:
        return State(s.n + action + 1, 1 - s.player)

    def player(self, s: State) -> int:
        return s.player

    def reward(self, s: State, action: int) -> float:
        return float(action * (s.n % 3))

    def result(self, s: State) -> float:
        return 1.0 - 2.0 * s.player


@dataclass(frozen=True)
class Numbered(Count):
    """The same with numbers for the states."""

    def index(self, s: State) -> int:
        return 2 * s.n + s.player

    def state(self, i: int) -> State:
        return State(i >> 1, i & 1)

    def size(self) -> int:
        return 40


@dataclass(frozen=True)
class Known(Count):
    """The same with much knowledge, and no rewards."""

    def symmetries(self) -> int:
        return 2

    def image(self, s: State, k: int) -> State:
        return s

    def key(self, s: State) -> U64:
        return U64(2 * s.n + s.player)

    def order(self, s: State, action: int) -> int:
        return action

    def heuristic(self, s: State) -> float:
        return 0.5

    def reward(self, s: State, action: int) -> float:
        return 0.0

    def bounds(self, s: State) -> Bounds:
        if s.n < 16:
            return Bounds(-1, 1, U64(7))
        return Bounds(1 - 2 * s.player, 1 - 2 * s.player, U64(0))


@dataclass(frozen=True)
class Dice(Count):
    """Chance moves after each player."""

    def legal(self, s: State) -> int:
        return 3 if s.n < 40 and s.n % 4 == 0 else 0

    def step(self, s: State, action: int) -> State:
        return State(s.n + 1 + action, 1 - s.player)

    def outcomes(self, s: State) -> int:
        return 3 if s.n % 4 else 0

    def outcome(self, s: State, i: int) -> State:
        return State(s.n // 4 * 4 + 4 * (i + 1), s.player)

    def probability(self, s: State, i: int) -> float:
        return 0.25 + 0.5 * i

    def draw(self, s: State, word: U64) -> int:
        return 0 if int(U64(word) >> 62) == 0 else 1
