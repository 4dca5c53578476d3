"""Kalah: sow the seeds of a pit; the last one in your store gives another turn, in an empty pit of yours captures."""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game


class State(NamedTuple):
    """The seeds in the pits, and who moves; stores are rewards."""

    pits: int  # five bits a pit: the mover's from left to right, then the opponent's
    player: int


@dataclass(frozen=True)
class Kalah(Game[State]):
    """A board of ``num_pits`` pits a side with ``seeds`` in each, at most 31 in all."""

    num_pits: int = 2
    seeds: int = 2

    def initial(self) -> State:
        pits = 0
        for i in range(2 * self.num_pits):
            pits |= self.seeds << 5 * i
        return State(pits, 0)

    def legal(self, s: State) -> int:
        mask = 0
        for i in range(self.num_pits):
            if s.pits >> 5 * i & 31:
                mask |= 1 << i
        return mask

    def sow(self, s: State, action: int) -> int:
        """Return the pits after the move, the mover's first, then the seeds in the mover's store, then again."""
        n = self.num_pits
        hand, pits = s.pits >> 5 * action & 31, s.pits & ~(31 << 5 * action)
        place, store, again = action, 0, 0
        while hand:
            place = (place + 1) % (2 * n + 1)  # place n is the mover's store
            again = 0
            if place == n:
                store += 1
                again = 1
            else:
                pits += 1 << 5 * (place if place < n else place - 1)
            hand -= 1
        if place < n and pits >> 5 * place & 31 == 1:
            across = 2 * n - 1 - place
            taken = pits >> 5 * across & 31
            if taken:
                store += taken + 1
                pits &= ~(31 << 5 * across | 31 << 5 * place)
        return again << 62 | store << 55 | pits

    def step(self, s: State, action: int) -> State:
        n = self.num_pits
        sown = self.sow(s, action)
        pits = sown & (1 << 10 * n) - 1
        if sown >> 62 & 1:
            return State(pits, s.player)
        side = (1 << 5 * n) - 1
        return State(pits >> 5 * n | (pits & side) << 5 * n, 1 - s.player)

    def reward(self, s: State, action: int) -> int:
        return self.sow(s, action) >> 55 & 127

    def result(self, s: State) -> int:
        """Return what is left on the board, which the other player takes."""
        left = 0
        for i in range(2 * self.num_pits):
            left += s.pits >> 5 * i & 31
        return -left if s.player == 0 else left
