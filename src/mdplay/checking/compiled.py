"""One question to the compiled rules at a time: how compiled and plain are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import Mask, elements, lowest, nonempty, without_lowest
from mdplay.compiling import inlined, kernel, pack, unpack, words
from mdplay.compiling.contract import checked, mask_size
from mdplay.errors import GameError
from mdplay.game import Game, State

POSITIONS = 300
Packed = Any  # a state as a tuple of words
Flags = NDArray[np.uint8]


@inlined
def mark(mask: Mask, out: Flags) -> None:
    """Set the entries of a mask's elements; there are as many entries as the mask may have elements."""
    while nonempty(mask):
        out[lowest(mask)] = 1
        mask = without_lowest(mask)


@kernel
def ask(game: Game[Any], start: Packed, out_legal: Flags, out_outcomes: Flags) -> tuple[int, float]:
    """Mark the legal actions and the outcomes of a state; return its player, and its result if it is an end."""
    s = unpack(game, start)
    outcomes, legal = game.outcomes(s), game.legal(s)
    mark(outcomes, out_outcomes)
    mark(legal, out_legal)
    result = 0.0
    if not nonempty(outcomes) and not nonempty(legal):  # in other states the result is undefined
        result = float(game.result(s))
    return game.player(s), result


@kernel
def ask_step(game: Game[Any], start: Packed, action: int) -> tuple[Packed, float]:
    """Return the packed state after an action, and the reward."""
    s = unpack(game, start)
    return pack(game, game.step(s, action)), float(game.reward(s, action))


@kernel
def ask_outcome(game: Game[Any], start: Packed, i: int) -> tuple[Packed, float]:
    """Return the packed state after an outcome, and its probability."""
    s = unpack(game, start)
    return pack(game, game.outcome(s, i)), float(game.probability(s, i))


@kernel
def ask_knowledge(game: Game[Any], start: Packed, action: int, k: int) -> tuple[int, float, int, Packed, Packed]:
    """Return what the game knows of a state: its number, a state with that number, guess, order and image.

    The order is asked only of an action; -1 is none.
    """
    s = unpack(game, start)
    number, order = game.index(s), 0
    if action >= 0:
        order = game.order(s, action)
    twin, image = pack(game, game.state(number)), pack(game, game.image(s, k))
    return number, float(game.heuristic(s)), order, twin, image


@kernel
def ask_bounds(game: Game[Any], start: Packed, out_moves: Flags) -> tuple[float, float]:
    """Mark the moves of a state that must be searched; return the bounds of its value."""
    bounds = game.bounds(unpack(game, start))
    mark(bounds.moves, out_moves)
    return bounds.low, bounds.high


def compare_with_compiled(game: Game[Any], states: Iterable[Any]) -> None:
    """Ask the compiled rules about the states; raise GameError where plain Python answers otherwise."""
    plain = checked(game)
    for number, s in enumerate(list(states)[:POSITIONS]):
        legal, outcomes = np.zeros(mask_size(game), np.uint8), np.zeros(mask_size(game), np.uint8)
        player, result = ask(game, words(s), legal, outcomes)
        _compare("legal", np.flatnonzero(legal).tolist(), elements(plain.legal(s)), game, s)
        _compare("outcomes", np.flatnonzero(outcomes).tolist(), elements(plain.outcomes(s)), game, s)
        _compare("player", player, plain.player(s), game, s)
        if not nonempty(plain.legal(s)) and not nonempty(plain.outcomes(s)):
            _compare("result", result, plain.result(s), game, s)
        _compare_successors(game, plain, s)
        _compare_knowledge(game, plain, s, number % plain.symmetries())


def _compare_successors(game: Game[Any], plain: Game[Any], s: State) -> None:
    if nonempty(plain.outcomes(s)):
        for i in elements(plain.outcomes(s)):
            after, chance = ask_outcome(game, words(s), i)
            _compare(f"outcome {i}", _ints(after), _ints(words(plain.outcome(s, i))), game, s)
            _compare(f"the probability of {i}", chance, plain.probability(s, i), game, s)
        return
    for a in elements(plain.legal(s)):
        after, reward = ask_step(game, words(s), a)
        _compare(f"step {a}", _ints(after), _ints(words(plain.step(s, a))), game, s)
        _compare(f"the reward of {a}", reward, plain.reward(s, a), game, s)


def _compare_knowledge(game: Game[Any], plain: Game[Any], s: State, k: int) -> None:
    plays = nonempty(plain.legal(s)) and not nonempty(plain.outcomes(s))
    action = lowest(plain.legal(s)) if plays else -1
    number, guess, order, twin, image = ask_knowledge(game, words(s), action, k)
    _compare("index", number, plain.index(s), game, s)
    _compare(f"state({number})", _ints(twin), _ints(words(plain.state(plain.index(s)))), game, s)
    _compare("heuristic", round(guess, 9), round(plain.heuristic(s), 9), game, s)
    _compare(f"image {k}", _ints(image), _ints(words(plain.image(s, k))), game, s)
    if plays:
        _compare(f"the order of {action}", order, plain.order(s, action), game, s)
        if plain.has_bounds:
            _compare_bounds(game, plain, s)


def _compare_bounds(game: Game[Any], plain: Game[Any], s: State) -> None:
    moves, bounds = np.zeros(64, np.uint8), plain.bounds(s)
    low, high = ask_bounds(game, words(s), moves)
    _compare("bounds", (low, high, np.flatnonzero(moves).tolist()), (*bounds[:2], elements(bounds.moves)), game, s)


def _ints(packed: Any) -> list[int]:
    return [int(w) for w in packed]


def _compare(what: str, compiled: object, plain: object, game: Game[Any], s: State) -> None:
    if compiled != plain:
        raise GameError(f"{what} is {compiled} compiled but {plain} in plain Python, in {game.text(s)}")
