"""Kalah: sow the seeds of a pit, win what comes to your store; a last seed in the store earns another turn.

    player 2     5  4  3  2  1  0          a pit's seeds are sown one by one: into the pits after it, the own
              S                    S       store, the pits of the other player, never the other store
    player 1     0  1  2  3  4  5

A last seed that falls into an empty pit of its own player takes the seeds of the pit opposite, if there are any,
and itself.  When one side is empty the game is over, and what is left belongs to the player on whose side it lies.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game

BITS, FULL = 7, 127  # of a pit


class State(NamedTuple):
    """The seeds in the pits."""

    south: int  # the pits of player 0, 7 bits each, the first pit lowest
    north: int  # the pits of player 1
    player: int


class Sown(NamedTuple):
    """What a move leaves behind, seen by who made it."""

    own: int
    other: int
    earned: int  # seeds that came to the store
    again: bool  # the last one fell into it


@dataclass(frozen=True)
class Kalah(Game[State]):
    """Seeds in the store are points; they are paid at once, so the state need not remember them."""

    pits: Annotated[int, Between(1, 8)] = 6
    seeds: Annotated[int, Between(1, 7)] = 4

    def initial(self) -> State:
        """Return the same number of seeds in every pit."""
        side = 0
        for pit in range(self.pits):
            side |= self.seeds << BITS * pit
        return State(side, side, 0)

    def legal(self, s: State) -> int:
        """Return the own pits that are not empty; none at all when a side is empty."""
        moves, own = 0, s.north if s.player else s.south
        if s.south and s.north:
            for pit in range(self.pits):
                if own >> BITS * pit & FULL:
                    moves |= 1 << pit
        return moves

    def sow(self, s: State, pit: int) -> Sown:
        """Return what sowing a pit comes to."""
        own, other, earned = s.south, s.north, 0
        if s.player:
            own, other = other, own
        left, at = own >> BITS * pit & FULL, pit
        own -= left << BITS * pit
        while left > 0:
            at = (at + 1) % (2 * self.pits + 1)  # the own pits, the own store, the other pits
            if at < self.pits:
                own += 1 << BITS * at
            elif at == self.pits:
                earned += 1
            else:
                other += 1 << BITS * (at - self.pits - 1)
            left -= 1
        if at < self.pits and own >> BITS * at & FULL == 1:
            opposite = BITS * (self.pits - 1 - at)
            taken = other >> opposite & FULL
            if taken:
                own, other, earned = own - (1 << BITS * at), other - (taken << opposite), earned + taken + 1
        return Sown(own, other, earned, at == self.pits)

    def step(self, s: State, action: int) -> State:
        """Return the board after a move; a player whose last seed fell into the store moves again."""
        sown = self.sow(s, action)
        following = s.player if sown.again else 1 - s.player
        if s.player:
            return State(sown.other, sown.own, following)
        return State(sown.own, sown.other, following)

    def reward(self, s: State, action: int) -> int:
        """Return the seeds that the move brings to the store of the player who makes it."""
        return self.sow(s, action).earned

    def result(self, s: State) -> int:
        """Return what is left on the side of player 0, less what is left on the other."""
        total = 0
        for pit in range(self.pits):
            total += (s.south >> BITS * pit & FULL) - (s.north >> BITS * pit & FULL)
        return total

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return the number of the pit, from 1."""
        return str(action + 1)

    def board(self, s: State) -> str:
        """Draw the pits of player 2 from right to left, those of player 1 below."""
        north, south = ([side >> BITS * pit & FULL for pit in range(self.pits)] for side in (s.north, s.south))
        return "\n".join("".join(f"{seeds:4}" for seeds in row) for row in (north[::-1], south))
