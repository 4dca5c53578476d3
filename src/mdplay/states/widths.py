"""What a few random games show of the states of a game: how wide the fields are, and play without end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mdplay.bits import WORD, elements, nonempty
from mdplay.checking.promises import blame_position
from mdplay.errors import GameError, LimitError
from mdplay.game import Game
from mdplay.rng import Random
from mdplay.states.keys import Layout, widths_of

THIN_LEVELS, THIN = 1 << 15, 4  # so many plies with fewer new states each: a game that only counts on, without end
FEW_GAMES, FEW_MOVES = 8, 200  # that show how wide the fields are


def refuse_thin(game: Game[Any], levels: int, known: int) -> None:
    """Raise LimitError if a game goes on and on with hardly a new state at a ply."""
    if levels > THIN_LEVELS and known < THIN * levels:
        name = type(game).__name__
        raise LimitError(f"{name} goes on for more than {THIN_LEVELS:,} plies; does every game end?")


def refuse_endless(game: Game[Any], start: Any) -> None:
    """Raise LimitError if a random game goes on and on, and no state of it comes again."""
    seen = set()
    for s in random_game(game, start, Random(0), THIN_LEVELS + 1):
        if s in seen:
            return
        seen.add(s)
    if len(seen) > THIN_LEVELS:
        name = type(game).__name__
        raise LimitError(
            f"a random game of {name} goes on for more than {THIN_LEVELS:,} plies; does every game end?"
        )


def images_of(game: Game[Any], s: Any, fold: bool) -> list[Any]:
    """Return the images of a state, or only the state itself."""
    return [s, *(game.image(s, k) for k in range(1, game.symmetries()))] if fold else [s]


def widths_needed(game: Game[Any], s: Any, layout: Layout, fold: bool) -> list[int]:
    """Return the widths that the followers of a state need, or raise what is wrong with the game there."""
    widths = widths_of(layout)
    images = [image for t in followers_of(game, s) for image in images_of(game, t, fold)]
    needed = list(map(max, widths, widths_among(images))) if images else widths
    if needed == widths:
        blame_position(game, s)
        raise GameError(f"a rule of {type(game).__name__} changes its answer in {game.text(s)}")
    return needed


def followers_of(game: Game[Any], s: Any) -> list[Any]:
    """Return the states one ply after a state."""
    if nonempty(game.outcomes(s)):
        return [game.outcome(s, i) for i in elements(game.outcomes(s))]
    return [game.step(s, action) for action in elements(game.legal(s))]


def widths_among(states: Sequence[Any]) -> list[int]:
    """Return the bits that each field needs for these states."""
    return [max(1, *(int(v) & WORD for v in column)).bit_length() for column in zip(*states, strict=True)]


def states_seen(game: Game[Any], start: Any) -> list[Any]:
    """Return the states that a few random games in plain Python come to."""
    return [s for seed in range(FEW_GAMES) for s in random_game(game, start, Random(seed), FEW_MOVES)]


def random_game(game: Game[Any], s: Any, rng: Random, plies: int) -> Iterator[Any]:
    """Yield the states of a random game, from the one given on, at most those of so many plies."""
    yield s
    for _ in range(plies):
        outcomes, legal = game.outcomes(s), game.legal(s)
        if nonempty(outcomes):
            s = game.outcome(s, rng.pick(outcomes))
        elif nonempty(legal):
            s = game.step(s, rng.pick(legal))
        else:
            return
        yield s
