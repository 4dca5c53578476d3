"""A second way to every exact value: plain recursion over the rules with fractions, and small games for tests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from mdplay.bits import elements
from mdplay.game import Game
from tests.nim import Nim, State


def exact_values(game: Game[Any]) -> Any:
    """Return a function from states to exact values for their movers, by recursion."""

    @cache
    def value(s: Any) -> Fraction:
        if outcomes := elements(game.outcomes(s)):
            shares = [Fraction(game.probability(s, i)).limit_denominator(10**6) for i in outcomes]
            assert sum(shares) == 1
            return sum(
                (p * seen_from(s, game.outcome(s, i)) for p, i in zip(shares, outcomes, strict=True)), Fraction(0)
            )
        if actions := elements(game.legal(s)):
            return max(Fraction(game.reward(s, a)) + seen_from(s, game.step(s, a)) for a in actions)
        return Fraction(game.result(s)) * (-1 if game.player(s) else 1)

    def seen_from(s: Any, t: Any) -> Fraction:
        return value(t) if game.player(s) == game.player(t) else -value(t)

    return value


def exact_distances(game: Game[Any], value: Any) -> Any:
    """Return a function from states to plies to the end: the loser delays, others hurry.  No chance."""

    @cache
    def distance(s: Any) -> int:
        best = []
        for a in elements(game.legal(s)):
            t = game.step(s, a)
            seen = value(t) if game.player(s) == game.player(t) else -value(t)
            if game.reward(s, a) + seen == value(s):
                best.append(1 + distance(t))
        return (max if value(s) < 0 else min)(best, default=0)

    return distance


@dataclass(frozen=True)
class Round(Nim):
    """A game that comes back to where it was."""

    def legal(self, s: State) -> int:
        return 1

    def step(self, s: State, action: int) -> State:
        return State((s.pile + 1) % 5, s.player)


@dataclass(frozen=True)
class Grow(Nim):
    """A pile that may grow to more bits than random games ever show: most of them end at once."""

    def legal(self, s: State) -> int:
        return 0 if s.pile == 0 or s.pile >> 40 else 3

    def step(self, s: State, action: int) -> State:
        return State(s.pile * 2 + 1, 1 - s.player) if action == 0 else State(0, 1 - s.player)
