"""A state as the list of its fields, ``2163200,8454148,0``: how a game without a notation writes and reads one.

Whether a state can come about is not known without playing; whether the rules make sense of it is.  What is read
has the right number of fields, each in its range, a player to move, and rules that answer; a game that numbers its
states knows more, and is asked.
"""

from __future__ import annotations

import typing
from typing import Any

from mdplay.bits import U64, WORD, nonempty
from mdplay.errors import MdplayError, PositionError, short

RANGES = {bool: (0, 1), U64: (0, WORD)}
WHOLE = (-(1 << 63), (1 << 63) - 1)
OR_MOVES = "or the moves played as moves:a,b,c"


def write_fields(s: tuple[Any, ...]) -> str:
    """Return the fields of a state, with commas between them."""
    return ",".join(str(int(v)) for v in s)


def read_fields(game: Any, text: str) -> Any:
    """Return the state that ``write_fields`` wrote, or raise PositionError."""
    kind = type(game.initial())
    names = list(getattr(kind, "_fields", ()))
    words = [word.strip() for word in text.strip().strip("()").split(",")]
    if len(words) != len(names) or not all(_is_whole(word) for word in words):
        raise PositionError(f"{short(text)!r} is not a position; give its fields as {','.join(names)}, {OR_MOVES}")
    hints = typing.get_type_hints(kind)
    s = kind(*(_in_range(name, hints.get(name), int(word)) for name, word in zip(names, words, strict=True)))
    _ask_the_rules(game, s, text)
    return s


def _is_whole(word: str) -> bool:
    return len(word) <= 20 and word.removeprefix("-").isdecimal()


def _in_range(name: str, hint: Any, value: int) -> Any:
    low, high = RANGES.get(hint, WHOLE)
    if not low <= value <= high:
        raise PositionError(f"{name}={value} is out of range; {low} to {high}")
    return bool(value) if hint is bool else value


def _ask_the_rules(game: Any, s: Any, text: str) -> None:
    """Raise PositionError if the rules make nothing of a state, as far as they tell."""
    try:
        if not nonempty(game.outcomes(s)) and not nonempty(game.legal(s)):
            game.result(s)
        player, number = game.player(s), game.index(s) if game.has_size else 0
        size = game.size() if game.has_size else 1
    except MdplayError:
        raise
    except Exception as error:
        raise PositionError(
            f"{text!r} is not a position: the rules raise {type(error).__name__}: {error}"
        ) from None
    if player not in (0, 1):
        raise PositionError(f"{text!r} is not a position: player must be 0 or 1, not {player}")
    if not 0 <= number < size:
        raise PositionError(f"{text!r} is not a position: its number is {number}, outside of 0 .. {size - 1}")
