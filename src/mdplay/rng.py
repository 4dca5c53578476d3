"""Random words that one seed repeats: splitmix64 (Steele, Lea and Flood 2014), the same plain and compiled.

The state of a stream is one word that grows by a constant; each word drawn is a scramble of the state.
Kernels carry the state in a variable:

    x = stream(seed, game_number)     # a stream of its own for each game: threads change nothing
    x = advance(x)
    action = pick(mask, scramble(x))
"""

from __future__ import annotations

from collections.abc import Mapping

from mdplay.bits import U64, WORD, Mask, below, nth, popcount, unit

GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2**64 divided by the golden ratio, made odd


def advance(x: U64) -> U64:
    """Return the next state of a stream."""
    return (int(x) + GOLDEN) & WORD


def scramble(x: U64) -> U64:
    """Return the random word of a state."""
    z = int(x) & WORD
    z = ((z ^ z >> 30) * 0xBF58_476D_1CE4_E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D0_49BB_1331_11EB) & WORD
    return z ^ z >> 31


def stream(seed: U64, number: int) -> U64:
    """Return the first state of stream ``number`` of a seed."""
    return scramble(scramble(seed) ^ (int(number) * GOLDEN & WORD))


def pick(mask: Mask, word: U64) -> int:
    """Return an element of the set, chosen by a random word."""
    return nth(mask, below(word, popcount(mask)))


class Random:
    """A stream of random numbers for plain Python code, such as agents."""

    def __init__(self, seed: int, number: int = 0) -> None:
        self._state = stream(seed & WORD, number)

    @classmethod
    def at(cls, state: int) -> Random:
        """Return the stream that goes on from a state."""
        random = cls(0)
        random._state = state & WORD
        return random

    @property
    def state(self) -> int:
        """The state of the stream; ``Random.at(state)`` continues from here."""
        return int(self._state)

    def jump(self, state: int) -> None:
        """Continue from a state."""
        self._state = state & WORD

    def __repr__(self) -> str:
        return f"<Random at {self._state:#x}>"

    def word(self) -> int:
        """Draw a word of 64 random bits."""
        self._state = advance(self._state)
        return scramble(self._state)

    def unit(self) -> float:
        """Draw a number in [0, 1)."""
        return unit(self.word())

    def below(self, n: int) -> int:
        """Draw a number in 0 .. n - 1."""
        return below(self.word(), n)

    def pick(self, mask: Mask) -> int:
        """Draw an element of a set that is not empty."""
        return pick(mask, self.word())

    def draw(self, shares: Mapping[int, float]) -> int:
        """Draw a number by its probability; what rounding left of their sum goes to the last."""
        left = self.unit()
        possible = [(number, share) for number, share in shares.items() if share > 0]
        for number, share in possible:
            left -= share
            if left < 0:
                return number
        return possible[-1][0]
