"""Games for the tests of search: one whose tree is traced by hand, exact values by brute force."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from mdplay.bits import members
from mdplay.game import Game


class Place(NamedTuple):
    node: int
    player: int


@dataclass(frozen=True)
class Traced(Game[Place]):
    """A game in which every rollout is forced.

            root             player 0 moves
         /    |    \\
        A     B     C        player 1 moves
        |     |    / \\
        A1    B1  =   =      player 0 moves; draws
       / \\   / \\
      +   + -   -            player 0 has won, player 1 has won
    """

    masks: tuple[int, ...] = (0b111, 1, 1, 0b11, 0b11, 0b11, 0, 0, 0)
    after: tuple[int, ...] = (1, 2, 3, 4, 0, 0, 5, 0, 0, 8, 8, 0, 6, 6, 0, 7, 7, 0)

    def initial(self) -> Place:
        return Place(0, 0)

    def legal(self, s: Place) -> int:
        return self.masks[s.node]

    def step(self, s: Place, action: int) -> Place:
        return Place(self.after[3 * s.node + action], 1 - s.player)

    def result(self, s: Place) -> int:
        return (s.node == 6) - (s.node == 7)


@cache
def exact_value(game, s):
    """Return what a state is worth to player 0, by looking at everything."""
    if outcomes := members(game.outcomes(s)):
        return sum(game.probability(s, i) * exact_value(game, game.outcome(s, i)) for i in outcomes)
    if not members(game.legal(s)):
        return game.result(s)
    sign = -1 if game.player(s) else 1
    return sign * max(exact_values(game, s).values())


def exact_values(game, s):
    """Return what each move is worth to the player who makes it."""
    sign = -1 if game.player(s) else 1
    return {a: game.reward(s, a) + sign * exact_value(game, game.step(s, a)) for a in members(game.legal(s))}


class BruteForce:
    """An oracle for small games."""

    def __init__(self, game):
        self.game = game

    def values(self, state):
        return exact_values(self.game, state)
