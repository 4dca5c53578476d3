"""Promises that a game broke in the middle of a search: what the kernels note, and the sentence for it.

A kernel that meets a value it cannot go on with notes the promise and returns; Python raises GameError.  Most
broken promises are found before a search begins, by a sample (mdplay.checking.promises); these checks are for the
rare ones, wherever a value is used as an index, could hang the kernel, or would spoil all that it has added up.
"""

from __future__ import annotations

from typing import Any

from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.words import counted

LARGEST = 1e100  # of results, rewards and guesses, and of sums of their squares: all that is added up stays finite
SUM_ERROR = 1e-6  # by which probabilities may miss 1

KEPT, NUMBERS, PROBABILITY, DRAW, BOUNDS_LISTED, PLAYER, ENDLESS, STOPPED = range(8)
SENTENCES = {
    NUMBERS: f"a result, reward or heuristic is no number from -{LARGEST:g} to {LARGEST:g}",
    PROBABILITY: "the probabilities of a chance event are not all above 0, or their sum is not 1",
    DRAW: "draw gave an outcome that is not among the outcomes",
    BOUNDS_LISTED: "bounds list an action that is not legal",
    PLAYER: "player is neither 0 nor 1",
}


def check_kept(game: Game[Any], code: int, max_moves: int = 0) -> None:
    """Raise GameError for what a kernel noted; nothing for ``KEPT`` and ``STOPPED``."""
    if code in (KEPT, STOPPED):
        return
    if code == ENDLESS:
        way = "does every game end?  If positions repeat, set max_moves of the game or of the call"
        raise GameError(f"a random game did not end within {counted(max_moves, 'move')}; {way}")
    raise GameError(f"{type(game).__name__} breaks a promise: {SENTENCES[code]}; mdplay check tells where")
