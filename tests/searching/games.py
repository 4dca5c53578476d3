"""Games for the tests of search: one whose tree is traced by hand, exact values by brute force."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from mdplay.bits import U64, below, elements
from mdplay.game import Bounds, Game


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


class Track(NamedTuple):
    mine: int
    theirs: int
    rolls: int  # coins still to be thrown
    sum: int
    goal: int
    row: int  # of coins, after each move
    player: int


def track(goal=60, row=2):
    """Return the start of a race; its length is part of the state, so that one kernel runs them all."""
    return Track(0, 0, 0, 2, goal, row, 0)


@dataclass(frozen=True)
class Race(Game[Track]):
    """Throw a row of coins, one after the other; go on by as many steps as fell heads, one at least, or by one."""

    def initial(self) -> Track:
        return Track(0, 0, 0, 2, 60, 2, 0)

    def over(self, s: Track) -> bool:
        return s.mine >= s.goal or s.theirs >= s.goal

    def legal(self, s: Track) -> int:
        return 3 if s.rolls == 0 and not self.over(s) else 0

    def step(self, s: Track, action: int) -> Track:
        steps = max(1, s.sum) if action == 0 else 1
        if s.player == 0:
            return Track(s.mine + steps, s.theirs, s.row, 0, s.goal, s.row, 1)
        return Track(s.mine, s.theirs + steps, s.row, 0, s.goal, s.row, 0)

    def outcomes(self, s: Track) -> int:
        return 3 if s.rolls > 0 and not self.over(s) else 0

    def outcome(self, s: Track, i: int) -> Track:
        return Track(s.mine, s.theirs, s.rolls - 1, s.sum + i, s.goal, s.row, s.player)

    def probability(self, s: Track, i: int) -> float:
        return 0.25 + 0.5 * i

    def result(self, s: Track) -> int:
        return 1 if s.mine >= s.goal else -1

    def heuristic(self, s: Track) -> float:
        return float(s.mine - s.theirs)


@dataclass(frozen=True)
class Chain(Race):
    """Each move is followed by a long row of chance events that change nothing else."""

    def outcomes(self, s: Track) -> int:
        return 1 if s.rolls > 0 and not self.over(s) else 0

    def probability(self, s: Track, i: int) -> float:
        return 1.0


@dataclass(frozen=True)
class EndlessChance(Race):
    """Coins are thrown for ever."""

    def outcome(self, s: Track, i: int) -> Track:
        return Track(s.mine, s.theirs, s.rolls, s.sum + 1, s.goal, s.row, s.player)


class Hand(NamedTuple):
    dealt: int
    count: int
    bet: int
    last: int
    player: int


@dataclass(frozen=True)
class Deal(Game[Hand]):
    """Bet on low or high; then cards are dealt, one after the other, and the last one counts."""

    cards: int = 10

    def initial(self) -> Hand:
        return Hand(0, 0, 0, 0, 0)

    def legal(self, s: Hand) -> int:
        return 3 if s.count == 0 else 0

    def step(self, s: Hand, action: int) -> Hand:
        return Hand(0, 1, action, 0, 1 - s.player)

    def outcomes(self, s: Hand) -> int:
        return ((1 << 52) - 1) & ~s.dealt if 0 < s.count <= self.cards else 0

    def outcome(self, s: Hand, i: int) -> Hand:
        return Hand(s.dealt | 1 << i, s.count + 1, s.bet, i, s.player)

    def probability(self, s: Hand, i: int) -> float:
        return 1.0 / (53 - s.count)

    def result(self, s: Hand) -> int:
        return 1 if (s.last > 30) == (s.bet == 1) else -1


NOTHING, RESULT, REWARD, PROBABILITY, DRAW, BOUNDS_LISTED, PLAYER = range(7)  # what Faulty breaks

LATE = [  # what every search notices of that, and its words
    (RESULT, "a result, reward"),
    (REWARD, "a result, reward"),
    (BOUNDS_LISTED, "bounds list"),
    (PLAYER, "neither 0 nor 1"),
]


class Promised(NamedTuple):
    n: int
    broken: int
    player: int


@dataclass(frozen=True)
class Faulty(Game[Promised]):
    """Count down by one or two, a coin between the moves; later on one promise is broken.

    Which one is part of the state: so the kernels of one game meet them all.
    """

    length: int = 8

    def initial(self) -> Promised:
        return Promised(self.length, NOTHING, 0)

    def breaks(self, s: Promised, broken: int) -> bool:
        return s.broken == broken and s.n <= self.length - 3

    def legal(self, s: Promised) -> int:
        return 3 if s.n > 0 and s.n % 2 == 0 else 0

    def step(self, s: Promised, action: int) -> Promised:
        return Promised(s.n - 1 - 2 * action, s.broken, 1 - s.player)

    def player(self, s: Promised) -> int:
        return 2 if self.breaks(s, PLAYER) else s.player

    def reward(self, s: Promised, action: int) -> float:
        return float("nan") if self.breaks(s, REWARD) else 0.0

    def outcomes(self, s: Promised) -> int:
        return 3 if s.n > 0 and s.n % 2 else 0

    def outcome(self, s: Promised, i: int) -> Promised:
        return Promised(s.n - 1, s.broken, s.player)

    def probability(self, s: Promised, i: int) -> float:
        return 0.25 if self.breaks(s, PROBABILITY) else 0.5

    def draw(self, s: Promised, word: U64) -> int:
        return -1 if self.breaks(s, DRAW) else below(word, 2)

    def bounds(self, s: Promised) -> Bounds:
        if s.n <= 0:
            return Bounds(1, 1, U64(0))
        return Bounds(-1, 1, U64(1 << 40) if self.breaks(s, BOUNDS_LISTED) else U64(3))

    def result(self, s: Promised) -> float:
        return float("nan") if s.broken == RESULT else 1.0

    def heuristic(self, s: Promised) -> float:
        return 0.0


def breaking(broken):
    """Return the start of a game of Faulty that breaks a promise later on."""
    return Faulty().initial()._replace(broken=broken)


class Count(NamedTuple):
    n: int
    player: int


@dataclass(frozen=True)
class Endless(Game[Count]):
    """A game that comes back to where it was; with a large ``around`` it goes on and on instead."""

    around: int = 10

    def initial(self) -> Count:
        return Count(0, 0)

    def legal(self, s: Count) -> int:
        return 3

    def step(self, s: Count, action: int) -> Count:
        return Count((s.n + action + 1) % self.around, 1 - s.player)

    def heuristic(self, s: Count) -> float:
        return float(s.n % 3)


@cache
def exact_value(game, s):
    """Return what a state is worth to player 0, by looking at everything."""
    if outcomes := elements(game.outcomes(s)):
        return sum(game.probability(s, i) * exact_value(game, game.outcome(s, i)) for i in outcomes)
    if not elements(game.legal(s)):
        return game.result(s)
    sign = -1 if game.player(s) else 1
    return sign * max(exact_values(game, s).values())


def exact_values(game, s):
    """Return what each move is worth to the player who makes it."""
    sign = -1 if game.player(s) else 1
    return {a: game.reward(s, a) + sign * exact_value(game, game.step(s, a)) for a in elements(game.legal(s))}


class BruteForce:
    """An oracle for small games."""

    def __init__(self, game):
        self.game = game

    def values(self, state):
        return exact_values(self.game, state)
