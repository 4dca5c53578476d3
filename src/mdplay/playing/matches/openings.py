"""How the games of a match come to differ: the first moves are given.

``none``       every game starts at the beginning
``random:N``   N random moves; no opening comes twice before all (or as good as all) have come
``FILE``       a position a line, or ``moves:a,b,c``; taken in turn

Two agents play each opening twice, once from either side.  Opening k depends on the seed and on k alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mdplay.errors import FormatError, MdplayError, UnknownName
from mdplay.files import read, read_text
from mdplay.game import Game
from mdplay.position import Position
from mdplay.rng import Random

TRIES = 50  # draws without anything new before openings may come again
STREAM = 3  # of the seed; games use the streams 4 * number + 0, 1, 2


@dataclass(frozen=True)
class Opening:
    """Where a game starts (None: at the initial state) and the events that are given."""

    start: Any = None
    events: tuple[int, ...] = ()


def make_openings(game: Game[Any], text: str, count: int, seed: int) -> list[Opening]:
    """Return the first ``count`` openings that a text describes, or raise MdplayError."""
    kind, _, number = text.partition(":")
    if text == "none":
        return [Opening()] * count
    if kind == "random" and number.isdecimal():
        return _random_openings(game, int(number), count, Random(seed, STREAM))
    if not Path(text).is_file():
        raise UnknownName(
            f"{text!r} is no kind of opening and no file; give none, random:2 or a file of positions"
        )
    listed = _listed_openings(game, Path(text))
    return [listed[k % len(listed)] for k in range(count)]


def openings_label(text: str) -> str:
    """Return a text that stands for the same openings only: a file is known by its content."""
    path = Path(text)
    return f"sha256:{sha256(read(path)).hexdigest()}" if path.is_file() else text


def _random_openings(game: Game[Any], length: int, count: int, rng: Random) -> list[Opening]:
    found: list[Opening] = []
    seen: set[Any] = set()
    while len(found) < count:
        drawn = _new_opening(game, length, seen, rng)
        if drawn is not None:
            seen.add(drawn.state)
            found.append(Opening(None, drawn.events))
        elif seen:
            seen.clear()
        else:
            raise UnknownName(f"random:{length} leaves no game to play: the games end within {length} moves")
    return found


def _new_opening(game: Game[Any], length: int, seen: set[Any], rng: Random) -> Position[Any] | None:
    for _ in range(TRIES):
        drawn = _random_start(game, length, rng)
        if not drawn.is_over and drawn.state not in seen:
            return drawn
    return None


def _random_start(game: Game[Any], length: int, rng: Random) -> Position[Any]:
    """Play ``length`` random moves, and whatever chance does before the last of them."""
    position, moves = Position.start(game), 0
    while moves < length and not position.is_over:
        if position.is_chance:
            position = position.after(position.draw(rng.word()))
        else:
            position = position.after(rng.pick(game.legal(position.state)))
            moves += 1
    return position


def _listed_openings(game: Game[Any], path: Path) -> list[Opening]:
    lines = [(number, line.strip()) for number, line in enumerate(_lines(path), start=1) if line.strip()]
    if not lines:
        raise FormatError(f"{path} is empty; write a position a line")
    return [_listed(game, path, number, line) for number, line in lines]


def _lines(path: Path) -> list[str]:
    return read_text(path).splitlines()


def _listed(game: Game[Any], path: Path, number: int, line: str) -> Opening:
    try:
        position = Position.parse(game, line)
        if position.is_over:
            raise FormatError("the game is over there")
    except MdplayError as error:
        raise FormatError(f"{path}, line {number}: {error}") from None
    return Opening(None, position.events) if position.before else Opening(position.state)
