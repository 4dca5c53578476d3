"""Flags of games are decided before anything is typed: branches that are never taken are not compiled."""

import secrets
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from mdplay import Game
from mdplay.compiling import inlined, kernel, unpack, words
from mdplay.compiling.cache import identity

pytestmark = pytest.mark.usefixtures("needs_compiler")


class State(NamedTuple):
    n: int


@dataclass(frozen=True)
class Steps(Game[State]):
    """Count up to three, or round and round."""

    around: bool = False

    def initial(self) -> State:
        return State(0)

    def legal(self, s: State) -> int:
        if not self.around and s.n == 3:
            return 0
        return 1

    def step(self, s: State, action: int) -> State:
        n = s.n + 1
        return State(n % 3 if self.around else n)


@inlined
def only_by_chance(game, s):
    """Return what has no type where nothing is random."""
    return game.no_such_rule(s)


@kernel
def ask(game, start, steps):
    """Ask what depends on flags: alone, negated, in a variable, beside something that is no constant."""
    s, found = unpack(game, start), 0
    chance = game.has_outcomes and s.n > 0
    if chance or (game.has_outcomes and steps > 0):
        found = only_by_chance(game, s)
    if not chance:
        found += 1
    if not game.around or steps > 5:
        found += 10
    for _ in range(steps):
        if not game.legal(s):
            return found + 100 * s.n
        s = game.step(s, 0)
    return found + 100 * s.n


@pytest.mark.parametrize(("around", "steps", "found"), [(False, 5, 311), (True, 5, 201), (True, 7, 111)])
def test_branches_by_flags_are_taken_as_in_plain_python(around, steps, found):
    game = Steps(around)
    assert ask(game, words(game.initial()), steps) == ask.py_func(game, game.initial(), steps) == found


@dataclass(frozen=True)
class Unheard(Steps):
    """A game with a number that no cache has seen: what is asked for is known where it is compiled."""

    number: int = 0

    def step(self, s: State, action: int) -> State:
        n = s.n + 1
        return State(n % 3 if self.around else n + self.number)


def test_a_flag_that_was_folded_counts_as_asked_for():
    from mdplay.compiling.numba.instances import ASKED

    game = Unheard(True, secrets.randbits(40))
    ask(game, words(game.initial()), 1)
    assert {"around", "has_outcomes"} <= ASKED[identity(game)]


@dataclass(frozen=True)
class Chancy(Steps):
    """The same with a rule for chance."""

    def outcomes(self, s: State) -> int:
        return 0


def test_a_branch_that_may_be_taken_is_compiled():
    game = Chancy()
    with pytest.raises(Exception, match="no_such_rule"):
        ask(game, words(game.initial()), 1)
