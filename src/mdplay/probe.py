"""One question to the compiled rules at a time: how compiled and plain are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mdplay.bits import lowest, members, rest, some
from mdplay.bridge import kernel, pack, unpack, words
from mdplay.contract import checked
from mdplay.errors import GameError
from mdplay.game import Game

ACTIONS = 128
POSITIONS = 300


@kernel
def ask(game: Any, start: Any, out_legal: Any, out_outcomes: Any) -> Any:
    """Mark the legal actions and the outcomes of a state; return its player and result."""
    s = unpack(game, start)
    outcomes, legal = game.outcomes(s), game.legal(s)
    while some(outcomes):
        out_outcomes[lowest(outcomes)] = 1
        outcomes = rest(outcomes)
    while some(legal):
        out_legal[lowest(legal)] = 1
        legal = rest(legal)
    return game.player(s), float(game.result(s))


@kernel
def ask_step(game: Any, start: Any, action: int) -> Any:
    """Return the packed state after an action, and the reward."""
    s = unpack(game, start)
    return pack(game, game.step(s, action)), float(game.reward(s, action))


@kernel
def ask_outcome(game: Any, start: Any, i: int) -> Any:
    """Return the packed state after an outcome, and its probability."""
    s = unpack(game, start)
    return pack(game, game.outcome(s, i)), float(game.probability(s, i))


def compare_with_compiled(game: Game[Any], states: Iterable[Any]) -> None:
    """Ask the compiled rules about the states; raise GameError where plain Python answers otherwise."""
    plain = checked(game)
    for s in list(states)[:POSITIONS]:
        legal, outcomes = np.zeros(ACTIONS, np.uint8), np.zeros(ACTIONS, np.uint8)
        player, result = ask(game, words(s), legal, outcomes)
        _compare("legal", np.flatnonzero(legal).tolist(), members(plain.legal(s)), game, s)
        _compare("outcomes", np.flatnonzero(outcomes).tolist(), members(plain.outcomes(s)), game, s)
        _compare("player", player, plain.player(s), game, s)
        if not some(plain.legal(s)) and not some(plain.outcomes(s)):
            _compare("result", result, plain.result(s), game, s)
        _compare_followers(game, plain, s)


def _compare_followers(game: Game[Any], plain: Game[Any], s: Any) -> None:
    if some(plain.outcomes(s)):
        for i in members(plain.outcomes(s)):
            after, chance = ask_outcome(game, words(s), i)
            _compare(f"outcome {i}", _ints(after), _ints(words(plain.outcome(s, i))), game, s)
            _compare(f"the probability of {i}", chance, plain.probability(s, i), game, s)
        return
    for a in members(plain.legal(s)):
        after, reward = ask_step(game, words(s), a)
        _compare(f"step {a}", _ints(after), _ints(words(plain.step(s, a))), game, s)
        _compare(f"the reward of {a}", reward, plain.reward(s, a), game, s)


def _ints(packed: Any) -> list[int]:
    return [int(w) for w in packed]


def _compare(what: str, compiled: Any, plain: Any, game: Game[Any], s: Any) -> None:
    if compiled != plain:
        raise GameError(f"{what} is {compiled} compiled but {plain} in plain Python, in {game.text(s)}")
