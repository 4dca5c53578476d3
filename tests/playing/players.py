"""Agents that a user might write, sound and faulty, and where they are."""

import time
from pathlib import Path

from mdplay.bits import elements, lowest

FILE = Path(__file__)


class Leftmost:
    def __init__(self, game, skip: int = 0):
        self.game, self.skip = game, skip

    def act(self, state, rng):
        moves = elements(self.game.legal(state))
        return moves[min(self.skip, len(moves) - 1)]


class Counting(Leftmost):
    """Remember the number of its moves: every game must begin with a fresh one."""

    calls = 0

    def act(self, state, rng):
        self.calls += 1
        moves = elements(self.game.legal(state))
        return moves[self.calls % len(moves)]


class Illegal(Leftmost):
    def act(self, state, rng):
        return 99


class Raising(Leftmost):
    def act(self, state, rng):
        if rng.unit() < 0.2:
            raise RuntimeError("out of\nideas")
        return lowest(self.game.legal(state))


class Unmade:
    def __init__(self, game):
        raise OSError("no weights")

    def act(self, state, rng):
        return 0


class Wordy(Leftmost):
    def act(self, state, rng):
        return "left"


class Guessing(Leftmost):
    def values(self, state):
        return {action: action / 10 for action in elements(self.game.legal(state))}


class NoAgent:
    def __init__(self, game):
        pass


def named(cls: str) -> str:
    return f"{FILE}:{cls}"


class Slow(Leftmost):
    """Think for a while about moves drawn at random."""

    def act(self, state, rng):
        time.sleep(0.0005)
        return rng.pick(self.game.legal(state))
