"""Take one, two or three; whoever takes the last one wins."""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class State(NamedTuple):
    pile: int
    player: int


@dataclass(frozen=True)
class Nim(Game[State]):
    pile: int = 21

    def initial(self) -> State:
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        return (1 << min(3, s.pile)) - 1

    def step(self, s: State, action: int) -> State:
        return State(s.pile - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        return 2 * s.player - 1
